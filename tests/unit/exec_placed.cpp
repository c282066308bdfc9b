// Collectives over cables on which the ranks sit in any order, and change it between operations.
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "exec/channel_executor.hpp"
#include "support/catch.hpp"
#include "support/loopback_fabric.hpp"

using namespace sircl;
using namespace sircl::test;
using exec::Operation;
using exec::Order;
using schedule::Algorithm;
using schedule::Collective;
using schedule::Wiring;
using topology::Fabric;
using topology::FabricKind;

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[at(order[i])] = static_cast<int>(i);
  return result;
}

/// A rank's executor and what it stands on.
struct Node {
  Node(relay::Network& net, int number, int size, const exec::Wires& wires)
      : network(net),
        rank(number),
        waiter({{}, std::chrono::milliseconds(20'000), size}, failure, &net, counters),
        channels(net, size, wires.shape),
        executor(channels, number, size, wires, waiter, counters) {
    waiter.set_idle([this] { serve(); });
  }
  void serve() {
    network.serve();
    channels.tend();
  }

  relay::Network& network;
  int rank;
  Failure failure;
  exec::LiveCounters counters;
  exec::Waiter waiter;
  exec::Channels channels;
  exec::ChannelExecutor executor;
};

/// All ranks of a fabric, each with a thread while an operation runs.
class Group {
 public:
  explicit Group(Fabric kind, const std::vector<int>& rank_at_position)
      : shape_(cable::window_shape(8, 2048)), fabric_(kind, 2, shape_, inverse(rank_at_position)) {
    const auto wiring = kind.kind == FabricKind::path ? Wiring::path : Wiring::ring;
    for (int rank = 0; rank < kind.size; ++rank) {
      const exec::Wires wires{{wiring, rank_at_position}, shape_, 8, 0};
      nodes_.push_back(std::make_unique<Node>(fabric_.network(rank), rank, kind.size, wires));
    }
  }
  [[nodiscard]] int size() const { return fabric_.size(); }
  void set_order(const Order& order) {
    for (const auto& node : nodes_) node->executor.set_order(order);
  }

  /// Takes a cable away, or gives it back and waits for it.
  void set_cable(int cable, bool up) {
    for (int lane = 0; lane < 2; ++lane) fabric_.set_lane(cable, lane, up);
    std::vector<bool> cables(nodes_.size(), true);
    cables[at(cable)] = up;
    fabric_.announce_cables(cables);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    bool as_told = false;
    while (!as_told && std::chrono::steady_clock::now() < limit) {
      as_told = true;
      for (const auto& node : nodes_) {
        node->serve();
        if (up) as_told = as_told && !node->network.cable_lost(cable);
      }
    }
    REQUIRE(as_told);
  }
  /// Bytes that ranks passed on for others.
  [[nodiscard]] std::uint64_t forwarded() const {
    std::uint64_t sum = 0;
    for (const auto& node : nodes_) sum += node->network.bytes_forwarded();
    return sum;
  }

  /// `describe` gives a rank's operation. Whoever is ready passes on for the others.
  template <typename Describe>
  void run(const Describe& describe) {
    ++sequence_;
    std::atomic<int> open = size();
    std::vector<std::string> problems(nodes_.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      threads.emplace_back([&, i] {
        Operation operation = describe(static_cast<int>(i));
        operation.tag.sequence = sequence_;
        problems[i] = nodes_[i]->executor.run(operation).message();
        for (--open; open > 0; std::this_thread::yield()) nodes_[i]->serve();
      });
    }
    for (auto& thread : threads) thread.join();
    for (const std::string& problem : problems) {
      INFO(problem);
      REQUIRE(problem.empty());
    }
  }

 private:
  transport::WindowShape shape_;
  LoopbackFabric fabric_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::uint64_t sequence_ = 0;
};

/// What rank `rank` gives as element i of its block `block`; sums of all are exact.
float given(int rank, int block, std::size_t i) {
  return static_cast<float>((i * 5 + at(rank) * 3 + at(block) * 11) % 23);
}

/// One collective on all ranks: its buffers, and what has to be in them.
class Call {
 public:
  Call(Group& group, Collective collective, Algorithm algorithm, std::size_t count, int root)
      : collective_(collective), size_(group.size()), count_(count), root_(root) {
    const int in_blocks = schedule::wide_input(collective) ? size_ : 1;
    const int out_blocks = schedule::wide_output(collective) ? size_ : 1;
    for (int rank = 0; rank < size_; ++rank) {
      std::vector<float>& in = in_.emplace_back();
      for (int block = 0; block < in_blocks; ++block) {
        for (std::size_t i = 0; i < count; ++i) in.push_back(given(rank, block, i));
      }
      out_.emplace_back(at(out_blocks) * count, -1.0F);
    }
    group.run([&](int rank) {
      Operation operation;
      operation.collective = collective;
      operation.algorithm = algorithm;
      operation.type = DataType::f32;
      operation.root = root;
      operation.in = in_[at(rank)].data();
      operation.out = out_[at(rank)].data();
      operation.count = count;
      return operation;
    });
  }

  [[nodiscard]] std::size_t wrong() const {
    std::size_t wrong = 0;
    for (int rank = 0; rank < size_; ++rank) {
      const bool only_root = collective_ == Collective::reduce || collective_ == Collective::gather;
      if (only_root && rank != root_) continue;
      for (std::size_t i = 0; i < out_[at(rank)].size(); ++i) {
        const auto block = static_cast<int>(i / count_);
        wrong += out_[at(rank)][i] != expected(rank, block, i % count_) ? 1 : 0;
      }
    }
    return wrong;
  }

 private:
  [[nodiscard]] float expected(int rank, int block, std::size_t i) const {
    const auto sum = [&](int of_block) {
      float all = 0;
      for (int from = 0; from < size_; ++from) all += given(from, of_block, i);
      return all;
    };
    switch (collective_) {
      case Collective::all_reduce:
      case Collective::reduce:
        return sum(0);
      case Collective::reduce_scatter:
        return sum(rank);
      case Collective::broadcast:
        return given(root_, 0, i);
      case Collective::scatter:
        return given(root_, rank, i);
      case Collective::all_gather:
      case Collective::gather:
        return given(block, 0, i);
      case Collective::all_to_all:
        return given(block, rank, i);
      case Collective::barrier:
        return 0;
    }
    return 0;
  }

  Collective collective_;
  int size_;
  std::size_t count_;
  int root_;
  std::vector<std::vector<float>> in_, out_;
};

bool rooted(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce ||
         collective == Collective::gather || collective == Collective::scatter;
}

enum class Only { everything, neighbours };

/// `neighbours`: leaves out what goes to ranks that are no neighbours by its nature.
void check_collectives(Group& group, Wiring wiring, Only only) {
  for (int c = 0; c < schedule::kCollectiveCount; ++c) {
    for (int a = 0; a < schedule::kAlgorithmCount; ++a) {
      schedule::Request request;
      request.collective = static_cast<Collective>(c);
      request.algorithm = static_cast<Algorithm>(a);
      const bool direct = request.algorithm == Algorithm::direct;
      request.wiring = direct ? Wiring::mesh : wiring;
      request.size = group.size();
      request.counts.assign(schedule::block_count(request.collective, at(group.size())), 1);
      if (request.collective == Collective::barrier || !schedule::supports(request).ok()) continue;
      if (only == Only::neighbours && (direct || rooted(request.collective))) continue;
      for (const std::size_t count : {3U, 5001U}) {
        for (int root = 0; root < (rooted(request.collective) ? group.size() : 1); ++root) {
          const Call call(group, request.collective, request.algorithm, count, root);
          INFO(schedule::to_string(request.collective)
               << " " << schedule::to_string(request.algorithm) << " count " << count << " root "
               << root);
          CHECK(call.wrong() == 0);
        }
      }
    }
  }
}

/// Less than any of the larger operations: credits may go around a cable that is lost.
constexpr std::uint64_t kLittle = 5000;

/// The bits of a sum that depends on the order in which it is formed.
std::vector<std::uint32_t> bits_of_sum(Group& group) {
  const std::vector<float> ranks[] = {{1e30F, 1.5F, 3e8F, 1},
                                      {3.25F, -1e30F, 0.3F, 1e20F},
                                      {-1e30F, 0.1F, -3e8F, 7},
                                      {0.7F, 1e30F, 1e-3F, -1e20F}};
  std::vector<std::vector<float>> out(4, std::vector<float>(4));
  group.run([&](int rank) {
    Operation operation;
    operation.algorithm = Algorithm::exchange;
    operation.type = DataType::f32;
    operation.in = ranks[rank].data();
    operation.out = out[at(rank)].data();
    operation.count = 4;
    return operation;
  });
  std::vector<std::uint32_t> bits;
  for (const float value : out[0]) bits.push_back(std::bit_cast<std::uint32_t>(value));
  for (const auto& other : out) CHECK(std::memcmp(other.data(), out[0].data(), 16) == 0);
  return bits;
}

}  // namespace

TEST_CASE("every collective is right wherever the ranks sit") {
  for (const std::vector<int>& order : {std::vector<int>{0, 1, 2, 3}, {2, 0, 3, 1}, {1, 0, 2, 3}}) {
    INFO(order[0] << order[1] << order[2] << order[3]);
    for (const Wiring wiring : {Wiring::ring, Wiring::path}) {
      Group group({wiring == Wiring::ring ? FabricKind::ring : FabricKind::path, 4}, order);
      check_collectives(group, wiring, Only::neighbours);
      CHECK(group.forwarded() == 0);
      check_collectives(group, wiring, Only::everything);
      CHECK(group.forwarded() > 0);
    }
  }
}

TEST_CASE("the order changes between operations, and only cables that are left are used") {
  Group group({FabricKind::ring, 4}, {2, 0, 3, 1});
  check_collectives(group, Wiring::ring, Only::neighbours);
  group.set_cable(1, false);  // between ranks 0 and 3
  group.set_order({Wiring::path, {3, 1, 2, 0}});
  check_collectives(group, Wiring::path, Only::neighbours);
  CHECK(group.forwarded() < kLittle);
  group.set_cable(1, true);
  group.set_order({Wiring::ring, {2, 0, 3, 1}});
  check_collectives(group, Wiring::ring, Only::neighbours);
  CHECK(group.forwarded() < kLittle);
}

TEST_CASE("exact sums have the same bits on any cabling") {
  Group in_order({FabricKind::ring, 4}, {0, 1, 2, 3});
  const auto bits = bits_of_sum(in_order);
  for (const std::vector<int>& order : {std::vector<int>{0, 2, 1, 3}, {3, 1, 0, 2}}) {
    Group ring({FabricKind::ring, 4}, order);
    CHECK(bits_of_sum(ring) == bits);
    Group path({FabricKind::path, 4}, order);
    CHECK(bits_of_sum(path) == bits);
  }
}
