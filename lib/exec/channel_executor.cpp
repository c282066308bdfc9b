#include "exec/channel_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "reduce/reduce.hpp"

namespace sircl::exec {

using cable::ChannelUse;
using schedule::Algorithm;

namespace {
constexpr std::size_t kProgramLimit = 256;
constexpr std::uint32_t kGreeting = 0xFFFFFFFF;  // a stream of its own
// On cables a step is cut into so many messages that the next hop starts early and every lane has
// its part, as long as they are not too small to be worth their headers.
constexpr std::uint64_t kMessagesOfStep = 16;
constexpr std::size_t kLeastMessageBytes = 4096;

/// A schedule counts on room for four messages of its longest step.
std::size_t step_room(std::uint32_t slots, std::size_t slot_bytes) {
  return std::max<std::size_t>(1, slots / 4) * slot_bytes;
}

}  // namespace

ChannelExecutor::ChannelExecutor(Channels& channels, int rank, int ranks, const Wires& wires,
                                 Waiter& waiter, LiveCounters& counters)
    : channels_(channels),
      rank_(rank),
      ranks_(ranks),
      order_(wires.order),
      waiter_(waiter),
      counters_(counters),
      slot_bytes_(wires.shape.slot_bytes),
      step_bytes_(step_room(wires.shape.slots, slot_bytes_)),
      direct_step_bytes_(step_room(std::min(wires.shape.slots, wires.far_slots), slot_bytes_)),
      min_slice_bytes_(std::min(wires.min_slice_bytes, step_bytes_ / 2)),
      inputs_(static_cast<std::size_t>(ranks)) {}

void ChannelExecutor::set_order(Order order) {
  order_ = std::move(order);
  programs_.clear();
}

std::size_t ChannelExecutor::parts_of_piece(const Operation& operation) const noexcept {
  const bool all_reduce = operation.collective == schedule::Collective::all_reduce;
  const auto ranks = static_cast<std::size_t>(ranks_);
  switch (operation.algorithm) {
    case Algorithm::ring:
      return all_reduce ? 2 * ranks : 2;
    case Algorithm::recursive_doubling:
    case Algorithm::halving_doubling:
      return 2;
    case Algorithm::direct:
      return all_reduce ? ranks : 1;
    case Algorithm::exchange:
    case Algorithm::path:
      return 1;
  }
  return 1;
}

std::size_t ChannelExecutor::piece_elements(const Operation& operation) const noexcept {
  const bool direct = operation.algorithm == Algorithm::direct;
  const std::size_t room = (direct ? direct_step_bytes_ : step_bytes_) / size_of(operation.type);
  const std::size_t piece =
      room > 128 ? (room - 64) / 64 * 64 : room;  // slices are rounded up to 64
  return std::max<std::size_t>(1, piece) * parts_of_piece(operation);
}

// One size for all steps of a piece: the room that the schedule counts on is that of its longest
// steps, so shorter ones must not take as many slots.
std::uint64_t ChannelExecutor::message_elements(const Operation& operation,
                                                std::size_t length) const noexcept {
  const std::size_t element = size_of(operation.type);
  const std::uint64_t most = slot_bytes_ / element;
  if (order_.wiring == schedule::Wiring::mesh) return most;
  const std::size_t longest = length / parts_of_piece(operation) + 1;
  const std::uint64_t share = (longest + kMessagesOfStep - 1) / kMessagesOfStep;
  return std::min(most, std::max<std::uint64_t>(share, kLeastMessageBytes / element));
}

Result<std::shared_ptr<const schedule::Program>> ChannelExecutor::program_for(
    const Operation& operation, std::size_t begin, std::size_t length) {
  fill_piece_counts(operation, ranks_, begin, length, counts_);
  std::string key(3 + sizeof(int) + counts_.size() * sizeof(std::uint64_t), '\0');
  key[0] = static_cast<char>(operation.collective);
  key[1] = static_cast<char>(operation.algorithm);
  key[2] = static_cast<char>(size_of(operation.type));
  std::memcpy(key.data() + 3, &operation.root, sizeof(int));
  if (!counts_.empty()) {
    std::memcpy(key.data() + 3 + sizeof(int), counts_.data(),
                counts_.size() * sizeof(std::uint64_t));
  }
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  schedule::Request request;
  request.collective = operation.collective;
  request.algorithm = operation.algorithm;
  // Through relays everybody reaches everybody.
  request.wiring =
      operation.algorithm == Algorithm::direct ? schedule::Wiring::mesh : order_.wiring;
  request.size = ranks_;
  request.root = operation.root;
  request.counts = counts_;
  request.min_slice = min_slice_bytes_ / size_of(operation.type);
  std::span<const int> placed;
  if (request.wiring != schedule::Wiring::mesh) placed = order_.rank_at_position;
  auto program = schedule::build_placed(request, placed, rank_);
  if (!program) return program.status();
  if (programs_.size() >= kProgramLimit) programs_.clear();
  auto owned = std::make_shared<const schedule::Program>(*std::move(program));
  programs_[key] = owned;
  return owned;
}

template <typename Call>
Status ChannelExecutor::each_counterpart(const Operation& operation, bool sending_side,
                                         Call&& call) {
  using schedule::Collective;
  const bool from_root =
      operation.collective == Collective::broadcast || operation.collective == Collective::scatter;
  const bool to_root =
      operation.collective == Collective::reduce || operation.collective == Collective::gather;
  if (!from_root && !to_root) return {};
  const bool is_root = rank_ == operation.root;
  const bool sends = is_root == from_root;
  if (sends != sending_side) return {};
  if (!is_root) return call(operation.root);
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    if (Status status = call(peer); !status.ok()) return status;
  }
  return {};
}

// Where bytes flow one way only, the sender would never hear what the others called. So whoever
// only receives greets those it receives from, and they wait for that before they return.
Status ChannelExecutor::greet(const Operation& operation) {
  return each_counterpart(operation, false, [&](int peer) {
    cable::Channel& channel = channels_.get(peer, ChannelUse::collective);
    Status status = waiter_.wait(peer, [&] {
      return channel.can_send() || channel.failed() || (channel.progress() && channel.can_send());
    });
    if (!status.ok()) return status;
    if (channel.failed()) return lane_lost(peer);
    channel.send(operation.tag, kGreeting, 0, {});
    return status;
  });
}

Status ChannelExecutor::await_greetings(const Operation& operation) {
  return each_counterpart(operation, true, [&](int peer) {
    cable::Channel& channel = channels_.get(peer, ChannelUse::collective);
    cable::Channel::Message message;
    Status status = waiter_.wait(peer, [&] {
      message = channel.front(kGreeting);
      if (!message && channel.progress()) message = channel.front(kGreeting);
      return static_cast<bool>(message) || channel.failed() || channel.corrupt();
    });
    if (!status.ok()) return status;
    if (!message) return lane_lost(peer);
    const transport::OperationTag tag = message.header->tag;
    channel.pop(message);
    if (tag.signature() != operation.tag.signature()) {
      status = mismatch(rank_, operation.tag, peer, tag);
    }
    return status;
  });
}

Status ChannelExecutor::run(const Operation& operation) {
  const Status status = run_pieces(operation);
  if (!status.ok()) {
    // The user's buffers are the user's again: nothing may arrive there any more.
    for (int peer = 0; peer < ranks_; ++peer) {
      if (peer != rank_) channels_.get(peer, ChannelUse::collective).forget();
    }
  }
  return status;
}

Status ChannelExecutor::run_pieces(const Operation& operation) {
  const std::size_t length = longest_block(operation);
  const std::size_t piece = piece_elements(operation);
  std::size_t begin = 0;
  if (Status status = greet(operation); !status.ok()) return status;
  do {
    auto program = program_for(operation, begin, piece);
    if (!program) return program.status();
    const std::size_t scratch = (*program)->scratch_elements * size_of(operation.type);
    if (scratch_.size() < scratch) scratch_.resize(scratch);
    Addresses addresses(operation, scratch_.data());
    addresses.begin_piece(begin);
    message_elements_ = message_elements(operation, std::min(piece, length - begin));
    if (Status status = run_piece(operation, **program, addresses); !status.ok()) return status;
    begin += piece;
  } while (begin < length);
  return await_greetings(operation);
}

Status ChannelExecutor::run_piece(const Operation& operation, const schedule::Program& program,
                                  const Addresses& addresses) {
  cursors_.assign(program.streams.size(), Cursor{});
  std::size_t open = program.streams.size();
  failure_ = {};
  std::size_t moved = 0;
  // One sweep over the streams; true when all are done or something failed. Counts what it moved.
  const auto sweep = [&] {
    moved = 0;
    open = 0;
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
      const schedule::Stream& stream = program.streams[s];
      while (cursors_[s].step < stream.steps.size()) {
        const Move result =
            advance(operation, stream, static_cast<std::uint32_t>(s), cursors_[s], addresses);
        if (result == Move::failed) return true;
        if (result == Move::blocked) break;
        ++moved;
      }
      if (cursors_[s].step < stream.steps.size()) ++open;
    }
    return open == 0;
  };
  while (true) {
    if (sweep()) break;
    if (moved > 0) continue;
    Status status = waiter_.wait(blocked_on_, [&] {
      const bool ended = sweep();
      return ended || moved > 0;
    });
    if (!status.ok()) return status;
    if (open == 0 || !failure_.ok()) break;
  }
  return failure_;
}

ChannelExecutor::Move ChannelExecutor::fail(Status status) {
  failure_ = std::move(status);
  return Move::failed;
}

Status ChannelExecutor::lane_lost(int peer) {
  const Status status = channels_.get(peer, ChannelUse::collective).status();
  return status.ok()
             ? Status(StatusCode::internal, fmt::format("rank {} broke the channel protocol", peer))
             : status;
}

ChannelExecutor::Move ChannelExecutor::advance(const Operation& operation,
                                               const schedule::Stream& stream, std::uint32_t number,
                                               Cursor& cursor, const Addresses& addresses) {
  const schedule::Step& step = stream.steps[cursor.step];
  const std::size_t element = size_of(operation.type);
  const std::uint64_t count = std::min(step.count - cursor.done, message_elements_);
  const std::size_t bytes = count * element;

  const bool average = operation.op == ReduceOp::average && step.finish;
  const bool combine = step.operands.size() > 1 || average;

  // Everything must be there before anything is done, so that a blocked step can simply be tried
  // again.
  taken_.clear();
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const schedule::Operand& operand = step.operands[i];
    if (operand.from == schedule::kLocal) {
      inputs_[i] = addresses(operand.range, cursor.done);
      continue;
    }
    cable::Channel& channel = channels_.get(operand.from, ChannelUse::collective);
    auto message = channel.front(number);
    if (!message && step.store && !combine) {
      channel.expect(number, {addresses(*step.store, cursor.done), bytes});
    }
    if (!message && channel.progress()) message = channel.front(number);
    if (!message) {
      blocked_on_ = operand.from;
      if (channel.corrupt() || channel.failed()) return fail(lane_lost(operand.from));
      channel.flush_credits();
      return Move::blocked;
    }
    if (message.header->tag.signature() != operation.tag.signature()) {
      return fail(mismatch(rank_, operation.tag, operand.from, message.header->tag));
    }
    if (message.header->bytes != bytes) {
      return fail({StatusCode::internal, fmt::format("rank {} sent {} bytes where {} were due",
                                                     operand.from, message.header->bytes, bytes)});
    }
    inputs_[i] = message.payload;
    taken_.emplace_back(operand.from, message);
  }
  for (const int to : step.send_to) {
    cable::Channel& channel = channels_.get(to, ChannelUse::collective);
    if (channel.can_send()) continue;
    if (channel.progress() && channel.can_send()) continue;
    blocked_on_ = to;
    if (channel.failed()) return fail(lane_lost(to));
    return Move::blocked;
  }

  const auto combine_into = [&](std::byte* value) {
    if (bytes == 0) return;
    if (combine) {
      reduce::kernel(operation.type, operation.op)(
          inputs_.data(), step.operands.size(), value, count,
          average ? static_cast<std::uint32_t>(ranks_) : 1);
    } else if (value != inputs_[0]) {
      std::memcpy(value, inputs_[0], bytes);
    }
  };
  if (step.store || step.send_to.size() != 1 || !combine) {
    std::span<const std::byte> value(static_cast<const std::byte*>(inputs_[0]), bytes);
    if (step.store) {
      std::byte* kept = addresses(*step.store, cursor.done);
      combine_into(kept);
      value = {kept, bytes};
    } else if (combine) {
      built_.resize(slot_bytes_);  // allocates once
      combine_into(built_.data());
      value = {built_.data(), bytes};
    }
    for (const int to : step.send_to) {
      channels_.get(to, ChannelUse::collective).send(operation.tag, number, bytes, value);
    }
  } else {
    // Receive, reduce and forward in one pass: the sum is built in the slot of the next rank.
    cable::Channel& channel = channels_.get(step.send_to.front(), ChannelUse::collective);
    combine_into(channel.reserve());
    channel.send_reserved(operation.tag, number, bytes, bytes);
  }
  LiveCounters::add(counters_.bytes_sent, bytes * step.send_to.size());
  LiveCounters::add(counters_.bytes_received, bytes * taken_.size());
  for (const auto& [peer, message] : taken_) {
    channels_.get(peer, ChannelUse::collective).pop(message);
  }
  cursor.done += count;
  if (cursor.done >= step.count) cursor = {cursor.step + 1, 0};
  return Move::advanced;
}

}  // namespace sircl::exec
