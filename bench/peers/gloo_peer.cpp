// Peer: Gloo over TCP on the loopback interface, with its halving-doubling all-reduce, pairs in
// synchronous busy-polling mode: the fastest of its variants here.
// usage: peer_gloo SOCKET RANKS DIRECTORY
#include <gloo/allgather_ring.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "forked_peer.hpp"
#include "peer_server.hpp"

namespace sircl::bench {
namespace {

using GlooContext = std::shared_ptr<gloo::rendezvous::Context>;

class GlooPeer final : public Peer {
 public:
  explicit GlooPeer(GlooContext context) : context_(std::move(context)) {}

  std::function<bool()> prepare(const Case& measured, std::string& reason) override {
    const Shape& shape = measured.shape();
    if (shape.collective == Collective::barrier) {
      return runner(std::make_shared<gloo::BarrierAllToAll>(context_));
    }
    switch (shape.type) {
      case DataType::f64:
        return prepare_typed<double>(measured, reason);
      case DataType::f32:
        return prepare_typed<float>(measured, reason);
      case DataType::f16:
        return prepare_typed<gloo::float16>(measured, reason);
      case DataType::i8:
        return prepare_typed<std::int8_t>(measured, reason);
      case DataType::u8:
        return prepare_typed<std::uint8_t>(measured, reason);
      case DataType::i32:
        return prepare_typed<std::int32_t>(measured, reason);
      case DataType::u32:
        return prepare_typed<std::uint32_t>(measured, reason);
      case DataType::i64:
        return prepare_typed<std::int64_t>(measured, reason);
      case DataType::u64:
        return prepare_typed<std::uint64_t>(measured, reason);
      case DataType::bf16:
      case DataType::f8e4m3:
      case DataType::f8e5m2:
        reason = "Gloo has no such type";
        return {};
    }
    return {};
  }

 private:
  /// `before` runs in every iteration, ahead of the algorithm.
  template <typename Algorithm>
  static std::function<bool()> runner(std::shared_ptr<Algorithm> algorithm,
                                      std::function<void()> before = {}) {
    return [algorithm, before] {
      try {
        if (before) before();
        algorithm->run();
        return true;
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "gloo: %s\n", failure.what());
        return false;
      }
    };
  }

  template <typename T>
  static const gloo::ReductionFunction<T>* function(ReduceOp op) {
    switch (op) {
      case ReduceOp::sum:
        return gloo::ReductionFunction<T>::sum;
      case ReduceOp::product:
        return gloo::ReductionFunction<T>::product;
      case ReduceOp::min:
        return gloo::ReductionFunction<T>::min;
      case ReduceOp::max:
        return gloo::ReductionFunction<T>::max;
      case ReduceOp::average:
        return nullptr;
    }
    return nullptr;
  }

  template <typename T>
  std::function<bool()> prepare_typed(const Case& measured, std::string& reason) {
    const Shape& shape = measured.shape();
    const auto count = static_cast<int>(measured.count());
    const auto* in = reinterpret_cast<const T*>(measured.in());
    auto* out = reinterpret_cast<T*>(measured.out());
    if (shape.collective == Collective::all_gather && !shape.in_place) {
      return runner(std::make_shared<gloo::AllgatherRing<T>>(context_, std::vector<const T*>{in},
                                                             out, count));
    }
    if (shape.collective != Collective::all_reduce) {
      reason = "only all_reduce, all_gather and barrier are measured with Gloo";
      return {};
    }
    const gloo::ReductionFunction<T>* op = function<T>(shape.op);
    if (op == nullptr) {
      reason = "Gloo has no such operation";
      return {};
    }
    auto algorithm = std::make_shared<gloo::AllreduceHalvingDoubling<T>>(
        context_, std::vector<T*>{out}, count, op);
    if (shape.in_place) return runner(std::move(algorithm));
    // The algorithm works in place, so out of place begins with a copy.
    return runner(std::move(algorithm), [=] { std::copy_n(in, count, out); });
  }

  GlooContext context_;
};

GlooContext connect(int rank, int ranks, const std::string& directory) {
  gloo::transport::tcp::attr where;
  where.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(where);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  gloo::rendezvous::FileStore store(directory);
  context->connectFullMesh(store, device);
  for (int other = 0; other < ranks; ++other) {
    if (other != rank) context->getPair(other)->setSync(true, true);
  }
  return context;
}

}  // namespace
}  // namespace sircl::bench

/// Stands before the C library's recv, also for Gloo: a busy-polling receive that finds nothing
/// yields, because otherwise it keeps the core from the rank that it waits for.
extern "C" ssize_t recv(int fd, void* buffer, size_t bytes, int flags) {
  const ssize_t got = recvfrom(fd, buffer, bytes, flags, nullptr, nullptr);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    sched_yield();
    errno = EAGAIN;
  }
  return got;
}

int main(int argc, char** argv) {
  using namespace sircl::bench;
  if (argc != 4 || std::atoi(argv[2]) < 1) {
    std::fprintf(stderr, "usage: %s SOCKET RANKS DIRECTORY, started by the bench\n", argv[0]);
    return 2;
  }
  const int ranks = std::atoi(argv[2]);
  return fork_ranks(ranks, [&](int rank) {
    try {
      GlooPeer peer(connect(rank, ranks, argv[3]));
      return serve(argv[1], rank, ranks, peer);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "gloo: %s\n", failure.what());
      return 1;
    }
  });
}
