#include "exec/board_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "reduce/reduce.hpp"

namespace sircl::exec {
namespace {

constexpr std::size_t kPlanEntries = 64;
constexpr int kFlagBits = 24;  // flags of one operation; the rest of the word counts operations

// Outputs from here on go past the caches: they are larger than what the next reader would find
// there, and the boards stay in. Measured with ring_allreduce_bench: 4 % at 2 MiB, 15 % at 64 MiB.
constexpr std::size_t kStreamingBytes = 2U << 20;

void copy_cached(void* out, const void* in, std::size_t bytes) noexcept {
  std::memcpy(out, in, bytes);
}

std::uint64_t first_flag(const Operation& operation) {
  return (operation.tag.sequence << kFlagBits) | 1;
}

}  // namespace

BoardExecutor::BoardExecutor(transport::Board& board, std::size_t piece_bytes, Waiter& waiter,
                             LiveCounters& counters)
    : board_(board),
      piece_bytes_(piece_bytes),
      waiter_(waiter),
      counters_(counters),
      plans_(kPlanEntries),
      inputs_(static_cast<std::size_t>(board.ranks())),
      checked_(static_cast<std::size_t>(board.ranks()), 0) {}

Result<const BoardPlan*> BoardExecutor::plan_for(const Operation& operation, std::size_t begin,
                                                 std::size_t length) {
  const bool odd = !operation.counts.empty();
  const auto element_bytes = static_cast<std::uint8_t>(size_of(operation.type));
  const std::uint64_t count =
      odd ? 0 : std::min(length, operation.count - std::min(operation.count, begin));
  const Key key{static_cast<std::uint8_t>(operation.collective),
                static_cast<std::uint8_t>(operation.algorithm), element_bytes, operation.root,
                count};
  const std::uint64_t hash = (count * 0x9E3779B97F4A7C15ull) ^
                             (static_cast<std::uint64_t>(key.collective) * 0xC2B2AE3D27D4EB4Full) ^
                             (static_cast<std::uint64_t>(operation.root) << 40) ^ key.algorithm;
  Entry& entry = plans_[(hash >> 32) % kPlanEntries];
  if (!odd && entry.plan && entry.key == key) return entry.plan.get();

  schedule::Request request;
  request.collective = operation.collective;
  request.algorithm = operation.algorithm;
  request.wiring = schedule::Wiring::mesh;
  request.size = board_.ranks();
  request.root = operation.root;
  fill_piece_counts(operation, request.size, begin, length, counts_);
  request.counts = counts_;
  auto plan = compile(request, board_.rank(), element_bytes, board_.half_bytes());
  if (!plan) return plan.status();
  if (scratch_.size() < plan->scratch_elements * element_bytes) {
    scratch_.resize(plan->scratch_elements * element_bytes);
  }
  auto owned = std::make_unique<BoardPlan>(*std::move(plan));
  if (odd) {
    odd_plan_ = std::move(owned);
    return odd_plan_.get();
  }
  entry.key = key;
  entry.plan = std::move(owned);
  return entry.plan.get();
}

Status BoardExecutor::compare(const Operation& operation, int peer) const {
  const std::uint64_t sequence = operation.tag.sequence;
  if (board_.signature(peer, sequence) == operation.tag.signature()) return {};
  return mismatch(board_.rank(), operation.tag, peer, board_.tag(peer, sequence));
}

Status BoardExecutor::await(const Operation& operation, int peer, std::uint64_t value) {
  if (!board_.reached(peer, value)) {
    if (Status status = waiter_.wait(peer, [&] { return board_.reached(peer, value); });
        !status.ok()) {
      return status;
    }
  }
  std::uint64_t& checked = checked_[static_cast<std::size_t>(peer)];
  if (checked == operation.tag.sequence || value < first_flag(operation)) return {};
  checked = operation.tag.sequence;
  return compare(operation, peer);
}

void BoardExecutor::enter(const Operation& operation) noexcept {
  board_.announce(operation.tag);
  previous_ = entered_;
  entered_ = first_flag(operation);
  ++pieces_;
  board_.raise(entered_);
}

Status BoardExecutor::check_all(const Operation& operation) {
  for (int peer = 0; peer < board_.ranks(); ++peer) {
    if (peer == board_.rank()) continue;
    if (Status status = await(operation, peer, first_flag(operation)); !status.ok()) return status;
  }
  return {};
}

Status BoardExecutor::run(const Operation& operation) {
  const std::size_t element = size_of(operation.type);
  const bool wide = wide_input(operation.collective);
  const std::size_t room =
      piece_bytes_ / (element * (wide ? static_cast<std::size_t>(board_.ranks()) : 1));
  const std::size_t length = longest_block(operation);
  const std::size_t piece = room >= 64 ? room / 64 * 64 : std::max<std::size_t>(1, room);

  const std::size_t blocks =
      wide_output(operation.collective) ? static_cast<std::size_t>(board_.ranks()) : 1;
  streaming_ = length * blocks * element >= kStreamingBytes;

  board_.announce(operation.tag);
  std::size_t begin = 0;
  std::uint64_t base = first_flag(operation);
  do {
    auto plan = plan_for(operation, begin, piece);
    if (!plan) return plan.status();
    Addresses addresses(operation, scratch_.data());
    addresses.begin_piece(begin);
    previous_ = entered_;
    entered_ = base;
    ++pieces_;
    if (Status status = run_piece(operation, **plan, base, addresses); !status.ok()) return status;
    base += (*plan)->flags_per_piece;
    begin += piece;
  } while (begin < length);
  return check_all(operation);
}

Status BoardExecutor::run_piece(const Operation& operation, const BoardPlan& plan,
                                std::uint64_t base, const Addresses& addresses) {
  // This half was read in the piece before the previous one. Whoever has entered the previous piece
  // has finished that one: then nobody reads here any more.
  for (int peer = 0; peer < board_.ranks(); ++peer) {
    if (peer == board_.rank()) continue;
    if (Status status = await(operation, peer, previous_); !status.ok()) return status;
  }
  for (const BoardAction& action : plan.actions) {
    if (action.kind == BoardAction::Kind::raise) {
      board_.raise(base + action.flag);
    } else if (Status status = move(operation, plan, action, base, addresses); !status.ok()) {
      return status;
    }
  }
  return {};
}

Status BoardExecutor::move(const Operation& operation, const BoardPlan& plan,
                           const BoardAction& action, std::uint64_t base,
                           const Addresses& addresses) {
  const std::size_t bytes = action.count * size_of(operation.type);
  const int half = static_cast<int>(pieces_ & 1);
  for (std::uint32_t i = 0; i < action.source_count; ++i) {
    const BoardSource& source = plan.sources[action.first_source + i];
    if (source.peer == schedule::kLocal) {
      inputs_[i] = addresses(source.range);
      continue;
    }
    if (Status status = await(operation, source.peer, base + source.flag); !status.ok())
      return status;
    inputs_[i] = board_.half(source.peer, half) + source.board_offset;
    LiveCounters::add(counters_.bytes_received, bytes);
  }
  if (bytes == 0) return {};
  std::byte* published =
      action.publish ? board_.half(board_.rank(), half) + action.publish_offset : nullptr;
  std::byte* value = action.keep ? addresses(action.store) : published;
  const bool average = operation.op == ReduceOp::average && action.finish;
  if (action.source_count == 1 && !average) {
    if (value != inputs_[0]) {
      (action.keep && streaming_ ? reduce::copy_streaming : copy_cached)(value, inputs_[0], bytes);
    }
  } else {
    reduce::kernel(operation.type, operation.op)(
        inputs_.data(), action.source_count, value, action.count,
        average ? static_cast<std::uint32_t>(board_.ranks()) : 1);
  }
  if (published != nullptr) {
    if (value != published) std::memcpy(published, value, bytes);
    LiveCounters::add(counters_.bytes_sent, bytes);
  }
  return {};
}

}  // namespace sircl::exec
