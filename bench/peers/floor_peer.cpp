// Peer: what this machine's memory and scheduler allow at best. The ranks' buffers themselves lie
// in shared memory, so nothing is copied, announced, checked or negotiated: each rank reduces its
// slice of all inputs into all outputs, between two barriers. No library can do this with buffers
// that it is given. Messages of 1 KiB at most are copied once and take one barrier, which is
// faster. usage: peer_floor SOCKET RANKS [copy]
//
// With `copy` every rank only copies its input to its output: what the memory can do, as a measure
// for algorithms that are bound by the bytes they move.
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "forked_peer.hpp"
#include "half.hpp"
#include "peer_server.hpp"

namespace sircl::bench {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 30;
constexpr std::size_t kTileBytes = 4096;
constexpr std::size_t kSmallBytes = 1024;  // above it the copy costs more than a barrier

struct alignas(128) Flag {
  std::atomic<std::uint64_t> arrived{0};
};

struct Shared {
  int ranks;
  Flag* flags;
  std::byte* buffers;
  std::byte* small;  ///< two tiles per rank

  [[nodiscard]] std::byte* in(int rank) const {
    return buffers + 2 * static_cast<std::size_t>(rank) * kBufferBytes;
  }
  [[nodiscard]] std::byte* out(int rank) const { return in(rank) + kBufferBytes; }
  [[nodiscard]] std::byte* slots(int rank) const {
    return small + 2 * static_cast<std::size_t>(rank) * kTileBytes;
  }
};

/// Adds one tile of all ranks' inputs. `Get` and `Put` convert between storage and arithmetic.
template <typename Storage, typename Value, Value (*Get)(Storage), Storage (*Put)(Value)>
void add_tile(const std::vector<const std::byte*>& inputs, std::size_t offset, std::size_t bytes,
              std::byte* to) {
  alignas(64) Value sum[kTileBytes / sizeof(Storage)];
  const std::size_t n = bytes / sizeof(Storage);
  const auto input = [&](std::size_t rank) {
    return reinterpret_cast<const Storage*>(inputs[rank] + offset);
  };
  const Storage* first = input(0);
  for (std::size_t i = 0; i < n; ++i) sum[i] = Get(first[i]);
  for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
    const Storage* more = input(rank);
    for (std::size_t i = 0; i < n; ++i) sum[i] += Get(more[i]);
  }
  auto* result = reinterpret_cast<Storage*>(to);
  for (std::size_t i = 0; i < n; ++i) result[i] = Put(sum[i]);
}

template <typename T>
T same(T value) {
  return value;
}

using AddTile = void (*)(const std::vector<const std::byte*>&, std::size_t, std::size_t,
                         std::byte*);

AddTile adder(DataType type) {
  switch (type) {
    case DataType::f64:
      return add_tile<double, double, same<double>, same<double>>;
    case DataType::f32:
      return add_tile<float, float, same<float>, same<float>>;
    case DataType::f16:
      return add_tile<std::uint16_t, float, widen_f16, narrow_f16>;
    case DataType::bf16:
      return add_tile<std::uint16_t, float, widen_bf16, narrow_bf16>;
    case DataType::i8:
    case DataType::u8:
      return add_tile<std::uint8_t, std::uint8_t, same<std::uint8_t>, same<std::uint8_t>>;
    case DataType::i32:
    case DataType::u32:
      return add_tile<std::uint32_t, std::uint32_t, same<std::uint32_t>, same<std::uint32_t>>;
    case DataType::i64:
    case DataType::u64:
      return add_tile<std::uint64_t, std::uint64_t, same<std::uint64_t>, same<std::uint64_t>>;
    case DataType::f8e4m3:
    case DataType::f8e5m2:
      return nullptr;
  }
  return nullptr;
}

class FloorPeer final : public Peer {
 public:
  FloorPeer(const Shared& shared, int rank, bool only_copies)
      : shared_(shared), rank_(rank), only_copies_(only_copies) {
    for (int r = 0; r < shared.ranks; ++r) {
      inputs_.push_back(shared.in(r));
      slots_.push_back(shared.slots(r));
    }
  }

  std::unique_ptr<Case> make_case(const Shape& shape, int rank, int ranks) override {
    if (std::max(Case::in_bytes(shape, ranks), Case::out_bytes(shape, ranks)) > kBufferBytes) {
      return nullptr;
    }
    return std::make_unique<Case>(shape, rank, ranks, shared_.in(rank), shared_.out(rank));
  }

  std::function<bool()> prepare(const Case& measured, std::string& reason) override {
    const Shape& shape = measured.shape();
    const std::size_t bytes = measured.count() * size_of(shape.type);
    if (shape.collective == Collective::barrier) {
      return [this] { return barrier(); };
    }
    if (only_copies_) {
      reason = "copies are as large as an all_reduce";
      if (shape.collective != Collective::all_reduce || shape.in_place) return {};
      return [this, bytes] {
        std::memcpy(shared_.out(rank_), shared_.in(rank_), bytes);
        return barrier();
      };
    }
    reason = "the floor has all_reduce of sums and all_gather, out of place";
    if (shape.in_place) return {};
    if (shape.collective == Collective::all_gather) {
      return [this, bytes] { return all_gather(bytes); };
    }
    const AddTile add = adder(shape.type);
    if (shape.collective == Collective::all_reduce && shape.op == ReduceOp::sum && add != nullptr) {
      if (bytes <= kSmallBytes) {
        return [this, bytes, add] { return all_reduce_small(bytes, add); };
      }
      return [this, bytes, add] { return all_reduce(bytes, add); };
    }
    return {};
  }

 private:
  bool barrier() {
    ++epoch_;
    shared_.flags[rank_].arrived.store(epoch_, std::memory_order_release);
    for (int r = 0; r < shared_.ranks; ++r) {
      while (shared_.flags[r].arrived.load(std::memory_order_acquire) < epoch_) sched_yield();
    }
    return true;
  }

  bool all_reduce(std::size_t bytes, AddTile add) {
    barrier();
    const auto ranks = static_cast<std::size_t>(shared_.ranks);
    const std::size_t slice = (bytes / ranks + 63) / 64 * 64;
    const std::size_t end = std::min(bytes, slice * static_cast<std::size_t>(rank_ + 1));
    for (std::size_t at = slice * static_cast<std::size_t>(rank_); at < end; at += kTileBytes) {
      const std::size_t tile = std::min(kTileBytes, end - at);
      add(inputs_, at, tile, shared_.out(rank_) + at);
      for (int r = 0; r < shared_.ranks; ++r) {
        if (r != rank_) std::memcpy(shared_.out(r) + at, shared_.out(rank_) + at, tile);
      }
    }
    return barrier();
  }

  /// For small messages one barrier is enough: everybody leaves a copy in one of two alternating
  /// slots, so that a slow reader is never overtaken, and adds all of it for itself.
  bool all_reduce_small(std::size_t bytes, AddTile add) {
    const std::size_t slot = ((epoch_ + 1) & 1) * kTileBytes;
    std::memcpy(shared_.slots(rank_) + slot, shared_.in(rank_), bytes);
    barrier();
    add(slots_, slot, bytes, shared_.out(rank_));
    return true;
  }

  bool all_gather(std::size_t bytes) {
    barrier();
    const std::size_t at = bytes * static_cast<std::size_t>(rank_);
    for (std::size_t done = 0; done < bytes; done += kTileBytes) {
      const std::size_t tile = std::min(kTileBytes, bytes - done);
      for (int r = 0; r < shared_.ranks; ++r) {
        std::memcpy(shared_.out(r) + at + done, shared_.in(rank_) + done, tile);
      }
    }
    return barrier();
  }

  Shared shared_;
  int rank_;
  bool only_copies_;
  std::uint64_t epoch_ = 0;
  std::vector<const std::byte*> inputs_;
  std::vector<const std::byte*> slots_;
};

std::byte* map_shared(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("peer_floor: mmap");
    std::exit(1);
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace
}  // namespace sircl::bench

int main(int argc, char** argv) {
  using namespace sircl::bench;
  const bool only_copies = argc == 4 && std::strcmp(argv[3], "copy") == 0;
  if (argc != (only_copies ? 4 : 3) || std::atoi(argv[2]) < 1) {
    std::fprintf(stderr, "usage: %s SOCKET RANKS [copy], started by the bench\n", argv[0]);
    return 2;
  }
  const int ranks = std::atoi(argv[2]);
  const auto n = static_cast<std::size_t>(ranks);
  Shared shared{ranks, nullptr, map_shared(2 * n * kBufferBytes), map_shared(2 * n * kTileBytes)};
  shared.flags = new (map_shared(n * sizeof(Flag))) Flag[n];
  return fork_ranks(ranks, [&](int rank) {
    FloorPeer peer(shared, rank, only_copies);
    return serve(argv[1], rank, ranks, peer);
  });
}
