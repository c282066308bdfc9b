#include "exec/single_copy_executor.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "reduce/reduce.hpp"
#include "schedule/steps.hpp"

namespace sircl::exec {
namespace {

// The tiles of all peers together stay in the second cache level between copy and sum.
constexpr std::size_t kTilesBytes = 192U << 10;
// Between two looks at the failure flag.
constexpr std::size_t kFetchBytes = 1U << 20;

bool must_wait(const BoardSource& source) {
  return source.peer != schedule::kLocal && source.remote.buffer != schedule::Buffer::input;
}

}  // namespace

SingleCopyExecutor::SingleCopyExecutor(transport::Board& board, const transport::PeerMemory& memory,
                                       std::size_t min_bytes, BoardSync& sync,
                                       BoardExecutor& boards, const Failure& failure,
                                       LiveCounters& counters)
    : board_(board),
      memory_(memory),
      min_bytes_(min_bytes),
      sync_(sync),
      boards_(boards),
      failure_(failure),
      counters_(counters),
      plans_(board.rank(), board.ranks(), std::numeric_limits<std::size_t>::max()),
      inputs_(static_cast<std::size_t>(board.ranks())) {}

bool SingleCopyExecutor::suits(const Operation& operation) const noexcept {
  // A sum of many copies its inputs into tiles all the same, as a board does more cheaply.
  if (schedule::reduces(operation.collective) && board_.ranks() > 2) return false;
  const std::size_t blocks = wide_input(operation.collective) || wide_output(operation.collective)
                                 ? static_cast<std::size_t>(board_.ranks())
                                 : 1;
  return operation.algorithm == schedule::Algorithm::direct &&
         operation.collective != schedule::Collective::barrier &&
         longest_block(operation) * blocks * size_of(operation.type) >= min_bytes_;
}

transport::shm::UserBuffers SingleCopyExecutor::offer(const Operation& operation) const noexcept {
  // Buffers that this rank does not have (the root's output, on others) are null and not looked at.
  const std::size_t ranks = static_cast<std::size_t>(board_.ranks());
  std::size_t block = operation.count;
  std::size_t all = operation.count * ranks;
  if (!operation.counts.empty()) {
    block = operation.counts[static_cast<std::size_t>(board_.rank())];
    all = 0;
    for (const std::size_t count : operation.counts) all += count;
  }
  const std::size_t element = size_of(operation.type);
  const std::size_t in_bytes = element * (wide_input(operation.collective) ? all : block);
  const std::size_t out_bytes = element * (wide_output(operation.collective) ? all : block);
  if (operation.in != nullptr && !memory_.offers(operation.in, in_bytes)) return {};
  if (operation.out != nullptr && !memory_.offers(operation.out, out_bytes)) return {};
  return {reinterpret_cast<std::uintptr_t>(operation.in),
          reinterpret_cast<std::uintptr_t>(operation.out)};
}

Status SingleCopyExecutor::run(const Operation& operation) {
  auto compiled = plans_.plan_for(operation, 0, std::numeric_limits<std::size_t>::max());
  if (!compiled) return compiled.status();
  const BoardPlan& plan = **compiled;

  const std::uint64_t entered = BoardSync::first_flag(operation);
  const transport::shm::UserBuffers mine = offer(operation);
  sync_.announce(operation, mine);
  sync_.begin_piece(entered);
  board_.raise(entered);
  if (Status status = sync_.check_all(operation); !status.ok()) return status;
  bool readable = plan.in_place && (mine.in != 0 || mine.out != 0);
  for (int peer = 0; peer < board_.ranks(); ++peer) {
    const auto theirs = board_.buffers(peer, operation.tag.sequence);
    readable = readable && (theirs.in != 0 || theirs.out != 0);
  }
  if (!readable) return boards_.run_from(operation, entered + 1);

  LiveCounters::add(counters_.single_copies, 1);
  const Addresses addresses(operation, nullptr);
  const std::uint64_t base = entered + 1;
  for (const BoardAction& action : plan.actions) {
    Status status;
    if (action.kind == BoardAction::Kind::move) {
      status = move(operation, plan, action, base, addresses);
    } else if (action.computed) {  // inputs were readable when their owner entered
      board_.raise(base + action.flag);
    }
    if (!status.ok()) return status;
  }
  const std::uint64_t done = base + plan.flags_per_piece;
  board_.raise(done);
  return sync_.await_all(operation, done);
}

Status SingleCopyExecutor::fetch(const Operation& operation, const BoardSource& source,
                                 std::size_t skip, std::byte* to, std::size_t bytes,
                                 const Addresses& addresses) {
  const auto buffers = board_.buffers(source.peer, operation.tag.sequence);
  const std::uint64_t from =
      (source.remote.buffer == schedule::Buffer::input ? buffers.in : buffers.out) +
      addresses.offset(source.remote) + skip;
  for (std::size_t at = 0; at < bytes; at += kFetchBytes) {
    if (failure_.failed()) return failure_.status();
    const std::size_t part = std::min(kFetchBytes, bytes - at);
    if (Status status = memory_.read(source.peer, to + at, from + at, part); !status.ok()) {
      return failure_.failed() ? failure_.status() : status;
    }
  }
  LiveCounters::add(counters_.bytes_received, bytes);
  return {};
}

Status SingleCopyExecutor::move(const Operation& operation, const BoardPlan& plan,
                                const BoardAction& action, std::uint64_t base,
                                const Addresses& addresses) {
  const std::size_t element = size_of(operation.type);
  const std::size_t bytes = action.count * element;
  if (!action.keep || bytes == 0) return {};  // its readers fetch it from where it lies
  const auto sources = std::span(plan.sources).subspan(action.first_source, action.source_count);
  for (const BoardSource& source : sources) {
    if (!must_wait(source)) continue;
    if (Status status = sync_.await(operation, source.peer, base + source.flag); !status.ok()) {
      return status;
    }
  }
  std::byte* const store = addresses(action.store);
  const bool average = operation.op == ReduceOp::average && action.finish;
  if (sources.size() == 1 && !average) {
    if (sources[0].peer != schedule::kLocal) {
      return fetch(operation, sources[0], 0, store, bytes, addresses);
    }
    const std::byte* from = addresses(sources[0].range);
    if (from != store) std::memcpy(store, from, bytes);
    return {};
  }

  const std::size_t tile = kTilesBytes / sources.size() / 64 * 64;
  if (tiles_.size() < tile * sources.size()) tiles_.resize(tile * sources.size());
  const reduce::Kernel kernel = reduce::kernel(operation.type, operation.op);
  const auto divide_by = average ? static_cast<std::uint32_t>(board_.ranks()) : 1;
  for (std::size_t at = 0; at < bytes; at += tile) {
    const std::size_t part = std::min(tile, bytes - at);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      std::byte* const here = tiles_.data() + i * tile;
      inputs_[i] = here;
      if (sources[i].peer == schedule::kLocal) {
        inputs_[i] = addresses(sources[i].range) + at;
      } else if (Status status = fetch(operation, sources[i], at, here, part, addresses);
                 !status.ok()) {
        return status;
      }
    }
    kernel(inputs_.data(), sources.size(), store + at, part / element, divide_by);
  }
  return {};
}

}  // namespace sircl::exec
