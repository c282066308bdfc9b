// Sends and receives, asynchronous work, groups, split, several communicators, unique ids.
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/ranks.hpp"

using namespace sircl;
using namespace sircl::test;

namespace {

void expect_all_fine(int ranks, const std::string& transport,
                     const std::function<std::string(Communicator&)>& body,
                     const std::vector<std::pair<std::string, std::string>>& settings = {}) {
  const Meeting meeting;
  Ranks processes(ranks, [&](int rank) -> std::string {
    auto options = meeting.options(rank, ranks, transport);
    for (const auto& [name, value] : settings) options.set(name, value);
    auto comm = Communicator::create(options);
    if (!comm) return comm.status().to_string();
    return body(*comm);
  });
  const auto ended = processes.wait_all();
  for (int rank = 0; rank < ranks; ++rank) {
    INFO("rank " << rank << " over " << transport << ": " << ended[static_cast<std::size_t>(rank)].text);
    CHECK(ended[static_cast<std::size_t>(rank)].exit_code == 0);
  }
}

std::string all_reduce_once(Communicator& comm) {
  std::vector<float> data(1000, static_cast<float>(comm.rank() + 1));
  if (Status status = comm.all_reduce(std::span<float>(data)); !status.ok()) return status.to_string();
  const auto expected = static_cast<float>(comm.size() * (comm.size() + 1) / 2);
  for (const float value : data) {
    if (value != expected) return "all_reduce gave " + std::to_string(value);
  }
  return "";
}

}  // namespace

TEST_CASE("all pairs send large messages at once, both sides first") {
  for (const std::string transport : {"shm", "tcp"}) {
    expect_all_fine(4, transport, [](Communicator& comm) -> std::string {
      const std::size_t count = 300'000;
      std::vector<std::vector<std::int32_t>> in(4), out(4);
      if (Status status = group_start(); !status.ok()) return status.to_string();
      for (int peer = 0; peer < 4; ++peer) {
        const auto index = static_cast<std::size_t>(peer);
        in[index].assign(count, comm.rank() * 100 + peer);
        out[index].assign(count, -1);
        (void)comm.send(in[index].data(), count, DataType::i32, peer);
        (void)comm.receive(out[index].data(), count, DataType::i32, peer);
      }
      if (Status status = group_end(); !status.ok()) return status.to_string();
      for (int peer = 0; peer < 4; ++peer) {
        for (const std::int32_t value : out[static_cast<std::size_t>(peer)]) {
          if (value != peer * 100 + comm.rank()) return "wrong value from rank " + std::to_string(peer);
        }
      }
      return "";
    });
  }
}

TEST_CASE("blocking sends go round a ring, rank 0 first") {
  for (const std::string transport : {"shm", "tcp"}) {
    expect_all_fine(3, transport, [](Communicator& comm) -> std::string {
      std::vector<std::int64_t> data(200'000);
      const int next = (comm.rank() + 1) % 3;
      const int before = (comm.rank() + 2) % 3;
      if (comm.rank() == 0) {
        std::iota(data.begin(), data.end(), 0);
        if (Status s = comm.send(data.data(), data.size(), DataType::i64, next); !s.ok()) return s.to_string();
        if (Status s = comm.receive(data.data(), data.size(), DataType::i64, before); !s.ok()) return s.to_string();
      } else {
        if (Status s = comm.receive(data.data(), data.size(), DataType::i64, before); !s.ok()) return s.to_string();
        for (auto& value : data) ++value;
        if (Status s = comm.send(data.data(), data.size(), DataType::i64, next); !s.ok()) return s.to_string();
      }
      if (comm.rank() == 0 && (data[5] != 7 || data.back() != 200'001)) return "wrong values";
      return "";
    });
  }
}

TEST_CASE("asynchronous work beside blocking calls") {
  for (const std::string transport : {"shm", "tcp"}) {
    expect_all_fine(4, transport, [](Communicator& comm) -> std::string {
      const int peer = comm.rank() ^ 1;
      std::vector<std::int32_t> mine(500'000, comm.rank()), theirs(500'000, -1);
      // The sends cannot finish before the receives are posted, and collectives run in between.
      auto sending = comm.send_async(mine.data(), mine.size(), DataType::i32, peer);
      if (!sending) return sending.status().to_string();
      for (int i = 0; i < 1000; ++i) {
        const std::string wrong = all_reduce_once(comm);
        if (!wrong.empty()) return wrong;
      }
      auto receiving = comm.receive_async(theirs.data(), theirs.size(), DataType::i32, peer);
      if (!receiving) return receiving.status().to_string();
      std::vector<float> a(5000, 1.0F), b(5000, 2.0F);
      auto first = comm.all_reduce_async(a.data(), a.data(), a.size(), DataType::f32);
      auto second = comm.all_reduce_async(b.data(), b.data(), b.size(), DataType::f32);
      if (!first || !second) return "submitting failed";
      if (Status s = second->wait(); !s.ok()) return s.to_string();
      if (!first->done()) return "the first finished after the second";
      if (Status s = receiving->wait(); !s.ok()) return s.to_string();
      if (Status s = sending->wait(); !s.ok()) return s.to_string();
      if (a[17] != 4.0F || b[17] != 8.0F) return "wrong sums";
      for (const std::int32_t value : theirs) {
        if (value != peer) return "wrong value received";
      }
      return "";
    });
  }
}

TEST_CASE("split makes independent communicators") {
  for (const std::string transport : {"shm", "tcp"}) {
    expect_all_fine(5, transport, [](Communicator& comm) -> std::string {
      auto half = comm.split(comm.rank() % 2, -comm.rank());
      if (!half) return half.status().to_string();
      const int expected_size = comm.rank() % 2 == 0 ? 3 : 2;
      if (half->size() != expected_size) return "the part has " + std::to_string(half->size()) + " ranks";
      if (half->rank() != (expected_size - 1) - comm.rank() / 2) return "key order is wrong";
      for (int i = 0; i < 20; ++i) {
        for (Communicator* each : {&comm, &*half}) {
          const std::string wrong = all_reduce_once(*each);
          if (!wrong.empty()) return wrong;
        }
      }
      return "";
    });
  }
}

TEST_CASE("threads of one process as ranks, by a unique id, also from one thread in a group") {
  for (const std::string transport : {"shm", "tcp"}) {
    const int ranks = 3;
    Options options;
    options.set("transport", transport);
    const auto id = make_unique_id(ranks, options);
    REQUIRE(id.ok());
    std::vector<std::unique_ptr<Communicator>> comms(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        auto comm = Communicator::create(*id, rank, ranks, options);
        if (comm) comms[static_cast<std::size_t>(rank)] = std::make_unique<Communicator>(*std::move(comm));
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& comm : comms) REQUIRE(comm);

    std::vector<std::vector<float>> data(ranks, std::vector<float>(100'000, 1.5F));
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (auto& each : data) each.assign(each.size(), 1.5F);
      REQUIRE(group_start().ok());
      for (int rank = 0; rank < ranks; ++rank) {
        auto& buffer = data[static_cast<std::size_t>(rank)];
        CHECK(comms[static_cast<std::size_t>(rank)]->all_reduce(std::span<float>(buffer)).ok());
      }
      const Status status = group_end();
      INFO(status.to_string());
      REQUIRE(status.ok());
      for (const auto& each : data) CHECK(each[99'999] == 4.5F);
    }
  }
}

TEST_CASE("a hundred thousand tiny all-reduces with the smallest queues") {
  expect_all_fine(
      4, "shm",
      [](Communicator& comm) -> std::string {
        float value = 0;
        for (int i = 0; i < 100'000; ++i) {
          value = 1;
          if (Status s = comm.all_reduce(&value, &value, 1, DataType::f32); !s.ok()) return s.to_string();
          if (value != 4) return "wrong sum in round " + std::to_string(i);
        }
        return comm.counters().operations == 100'000 ? "" : "the counter is wrong";
      },
      {{"shm_slots", "2"}, {"shm_slot_bytes", "1024"}, {"shm_piece_bytes", "4096"}});
}

TEST_CASE("rings survive the smallest queues") {
  for (const std::string transport : {"shm", "tcp"}) {
    expect_all_fine(
        4, transport,
        [](Communicator& comm) -> std::string {
          for (int i = 0; i < 2000; ++i) {
            const std::string wrong = all_reduce_once(comm);
            if (!wrong.empty()) return wrong;
          }
          return "";
        },
        {{"algorithm", "ring"}, {"shm_slots", "2"}, {"shm_slot_bytes", "1024"}, {"tcp_slots", "2"}, {"tcp_slot_bytes", "1024"}});
  }
}
