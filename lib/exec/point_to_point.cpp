#include "exec/point_to_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sircl::exec {

using cable::ChannelUse;

namespace {
// Streams of the point-to-point channel.
constexpr std::uint32_t kData = 0;
constexpr std::uint32_t kProbe = 1;
}  // namespace

PointToPoint::PointToPoint(Channels& channels, int rank, int ranks, std::size_t slot_bytes,
                           LiveCounters& counters)
    : channels_(channels),
      rank_(rank),
      ranks_(ranks),
      slot_bytes_(slot_bytes),
      counters_(counters),
      outgoing_(static_cast<std::size_t>(ranks)),
      incoming_(static_cast<std::size_t>(ranks)) {}

void PointToPoint::post(Transfer transfer) {
  auto& queues = transfer.outgoing ? outgoing_ : incoming_;
  queues[static_cast<std::size_t>(transfer.peer)].push_back(std::move(transfer));
  ++open_;
}

void PointToPoint::finish(std::deque<Transfer>& queue, const Status& status) {
  const auto finished = std::move(queue.front().finished);
  queue.pop_front();
  --open_;
  if (finished) finished(status);
}

int PointToPoint::awaited_peer() const noexcept {
  for (int peer = 0; peer < ranks_; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    if (!incoming_[index].empty() || !outgoing_[index].empty()) return peer;
  }
  return -1;
}

Status PointToPoint::progress(bool& moved) {
  for (int peer = 0; peer < ranks_ && open_ > 0; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    if (incoming_[index].empty() && outgoing_[index].empty()) continue;
    if (Status status = progress_peer(peer, moved); !status.ok()) return status;
  }
  return {};
}

Status PointToPoint::progress_peer(int peer, bool& moved) {
  auto& sends = outgoing_[static_cast<std::size_t>(peer)];
  auto& receives = incoming_[static_cast<std::size_t>(peer)];
  if (peer == rank_) {  // to oneself: both sides are here
    while (!sends.empty() && !receives.empty()) {
      Status status;
      if (sends.front().bytes != receives.front().bytes) {
        status = {StatusCode::mismatch,
                  fmt::format("rank {} sends {} bytes to itself but receives {}", rank_,
                              sends.front().bytes, receives.front().bytes)};
      } else if (sends.front().bytes > 0) {
        std::memmove(receives.front().data, sends.front().data, sends.front().bytes);
      }
      finish(sends, status);
      finish(receives, status);
      moved = true;
      if (!status.ok()) return status;
    }
    return {};
  }
  cable::Channel& channel = channels_.get(peer, ChannelUse::point_to_point);
  while (!sends.empty() && channel.can_send()) {
    Transfer& transfer = sends.front();
    const std::size_t part = std::min(transfer.bytes - transfer.done, slot_bytes_);
    channel.send({}, kData, transfer.bytes, {transfer.data + transfer.done, part});
    LiveCounters::add(counters_.bytes_sent, part);
    transfer.done += part;
    moved = true;
    if (transfer.done == transfer.bytes) finish(sends, {});
  }
  if (!sends.empty() || !receives.empty()) moved = channel.progress() || moved;
  take_probes_from(peer, channel);
  while (!receives.empty()) {
    const auto message = channel.front(kData);
    if (!message) break;
    Transfer& transfer = receives.front();
    const std::size_t part = message.header->bytes;
    if (message.header->total != transfer.bytes || part > transfer.bytes - transfer.done) {
      return {
          StatusCode::mismatch,
          fmt::format("rank {} sent {} bytes to rank {}, which receives {} bytes; both sides must "
                      "name the same count and type",
                      peer, message.header->total, rank_, transfer.bytes)};
    }
    if (part > 0) std::memcpy(transfer.data + transfer.done, message.payload, part);
    LiveCounters::add(counters_.bytes_received, part);
    transfer.done += part;
    channel.pop(message);
    moved = true;
    if (transfer.done == transfer.bytes) finish(receives, {});
  }
  channel.flush_credits();
  if ((channel.failed() || channel.corrupt()) && (!sends.empty() || !receives.empty())) {
    const Status status = channel.status();
    return status.ok() ? Status(StatusCode::internal,
                                fmt::format("rank {} broke the channel protocol", peer))
                       : status;
  }
  return {};
}

void PointToPoint::fail_all(const Status& status) {
  for (auto* queues : {&outgoing_, &incoming_}) {
    for (auto& queue : *queues) {
      while (!queue.empty()) finish(queue, status);
    }
  }
}

void PointToPoint::probe(const transport::OperationTag& tag) {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    cable::Channel& channel = channels_.get(peer, ChannelUse::point_to_point);
    if (channel.can_send()) channel.send(tag, kProbe, 0, {});
  }
}

void PointToPoint::take_probes() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    cable::Channel& channel = channels_.get(peer, ChannelUse::point_to_point);
    channel.progress();
    take_probes_from(peer, channel);
  }
}

void PointToPoint::take_probes_from(int peer, cable::Channel& channel) {
  while (const auto message = channel.front(kProbe)) {
    const transport::OperationTag tag = message.header->tag;
    channel.pop(message);
    if (on_probe_) on_probe_(peer, tag);
  }
}

}  // namespace sircl::exec
