#include "transport/shm/shm_transport.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "sys/futex.hpp"
#include "sys/shared_memory.hpp"
#include "transport/shm/board.hpp"
#include "transport/shm/peer_memory.hpp"

namespace sircl::transport {

void Board::ring_bell() noexcept {
  auto& header = *std::launder(reinterpret_cast<shm::Header*>(segment_));
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (header.sleepers.load(std::memory_order_relaxed) == 0) return;
  header.bell.fetch_add(1, std::memory_order_release);
  sys::futex_wake_all(header.bell);
}

namespace shm {
namespace {

/// A put is a store into the peer's window.
class ShmLane final : public Lane {
 public:
  ShmLane(std::byte* own, std::byte* peers, Board& board)
      : own_(own), peers_(peers), board_(board) {}

  std::byte* window() noexcept override { return own_; }
  bool can_put() noexcept override { return true; }
  void put(std::uint64_t offset, std::span<const std::byte> head, std::span<const std::byte> body,
           std::uint64_t flag_offset, std::uint64_t flag_value) noexcept override {
    if (!head.empty()) std::memcpy(peers_ + offset, head.data(), head.size());
    if (!body.empty()) std::memcpy(peers_ + offset + head.size(), body.data(), body.size());
    // Release: the bytes above are visible to whoever acquires the flag.
    flag_at(peers_, flag_offset).store(flag_value, std::memory_order_release);
    board_.ring_bell();
  }
  std::byte* mapped_peer() noexcept override { return peers_; }
  bool progress() noexcept override { return false; }
  Status status() const override { return {}; }
  bool failed() const noexcept override { return false; }
  bool cheap_flags() const noexcept override { return true; }

 private:
  std::byte* own_;
  std::byte* peers_;
  Board& board_;
};

class ShmTransportImpl final : public ShmTransport {
 public:
  ShmTransportImpl(const Parameters& parameters, const Layout& layout, sys::SharedMemory memory)
      : memory_(std::move(memory)),
        board_(memory_.data(), layout, parameters.rank),
        token_(parameters.token) {
    board_.introduce(getpid(), &token_);
    for (int peer = 0; peer < parameters.ranks; ++peer) {
      if (peer == parameters.rank) {
        lanes_.push_back(nullptr);
        continue;
      }
      lanes_.push_back(
          std::make_unique<ShmLane>(memory_.data() + layout.window(parameters.rank, peer),
                                    memory_.data() + layout.window(peer, parameters.rank), board_));
    }
  }

  std::string name() const override { return "shm"; }
  Lane* lane(int peer) noexcept override { return lanes_[static_cast<std::size_t>(peer)].get(); }
  Board* board() noexcept override { return &board_; }
  std::size_t memory_bytes() const noexcept override { return memory_.size(); }
  std::string local_address() const override {
    return fmt::format("{}:{}", getpid(), memory_.fd());
  }
  void connected() noexcept override { memory_.close_fd(); }

  Status probe_peer_memory() override {
    std::vector<pid_t> processes;
    for (int rank = 0; rank < board_.ranks(); ++rank) processes.push_back(board_.process(rank));
    auto memory = std::make_unique<PeerMemory>(board_.rank(), std::move(processes));
    for (int rank = 0; rank < board_.ranks(); ++rank) {
      std::uint64_t word = 0;
      if (Status status = memory->read(rank, &word, board_.probe(rank), sizeof word);
          !status.ok()) {
        return status;
      }
      if (word != token_) {
        return {StatusCode::resource, fmt::format("process {} here is another one than rank {}",
                                                  board_.process(rank), rank)};
      }
    }
    peer_memory_ = std::move(memory);
    return {};
  }
  void use_peer_memory() noexcept override { board_.set_peer_memory(peer_memory_.get()); }

  void prepare_sleep() noexcept override {
    header().sleepers.fetch_add(1, std::memory_order_seq_cst);
    bell_ = header().bell.load(std::memory_order_acquire);
  }
  void cancel_sleep() noexcept override {
    header().sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  void sleep(std::chrono::milliseconds limit) noexcept override {
    sys::futex_wait(header().bell, bell_, limit);
    header().sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  void wake() noexcept override { board_.ring_bell(); }
  void close(std::chrono::milliseconds) noexcept override {}

 private:
  Header& header() noexcept { return *std::launder(reinterpret_cast<Header*>(memory_.data())); }

  sys::SharedMemory memory_;
  Board board_;
  const std::uint64_t token_;  ///< the others read it to see that they read the right process
  std::unique_ptr<PeerMemory> peer_memory_;
  std::vector<std::unique_ptr<ShmLane>> lanes_;
  std::uint32_t bell_ = 0;
};

Layout layout_of(const Parameters& parameters) {
  return {parameters.ranks, parameters.half_bytes, parameters.shape.window_bytes};
}

}  // namespace

Result<std::unique_ptr<ShmTransport>> ShmTransport::create(const Parameters& parameters) {
  const Layout layout = layout_of(parameters);
  auto memory = sys::SharedMemory::create(layout.total());
  if (!memory) return memory.status();
  auto* header = new (memory->data()) Header{};
  header->ranks = static_cast<std::uint32_t>(parameters.ranks);
  header->token = parameters.token;
  header->magic = kMagic;
  return std::unique_ptr<ShmTransport>(
      std::make_unique<ShmTransportImpl>(parameters, layout, *std::move(memory)));
}

Result<std::unique_ptr<ShmTransport>> ShmTransport::connect(const Parameters& parameters,
                                                            const std::string& address) {
  int pid = 0;
  int fd = 0;
  if (std::sscanf(address.c_str(), "%d:%d", &pid, &fd) != 2) {
    return {StatusCode::internal, fmt::format("malformed shared memory address '{}'", address)};
  }
  const Layout layout = layout_of(parameters);
  auto memory = sys::SharedMemory::open(pid, fd, layout.total());
  if (!memory) return memory.status();
  const auto* header = reinterpret_cast<const Header*>(memory->data());
  if (header->magic != kMagic || header->token != parameters.token) {
    return {StatusCode::resource,
            fmt::format("descriptor {} of process {} is not this group's shared memory", fd, pid)};
  }
  return std::unique_ptr<ShmTransport>(
      std::make_unique<ShmTransportImpl>(parameters, layout, *std::move(memory)));
}

}  // namespace shm
}  // namespace sircl::transport
