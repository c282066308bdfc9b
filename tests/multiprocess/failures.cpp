// Dead, stopped, diverging and leaving ranks: a named error on every survivor, in bounded time.
#include <chrono>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/ranks.hpp"

using namespace sircl;
using namespace sircl::test;

namespace {

using Clock = std::chrono::steady_clock;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Result<Communicator> join(const Meeting& meeting, int rank, int ranks,
                          const std::string& transport) {
  return Communicator::create(meeting.options(rank, ranks, transport));
}

}  // namespace

// Sanitizers need several times the memory.
#ifdef SIRCL_SANITIZED
constexpr std::size_t kLargeBytes = std::size_t{64} << 20;
#else
constexpr std::size_t kLargeBytes = std::size_t{1} << 30;
#endif

TEST_CASE("a rank killed in the middle of a large all-reduce is named by every survivor") {
  for (const std::string transport : {"shm", "tcp"}) {
    for (const int victim : {0, 2}) {
      const Meeting meeting;
      Ranks ranks(4, [&](int rank) -> std::string {
        auto comm = join(meeting, rank, 4, transport);
        if (!comm) return comm.status().to_string();
        std::vector<float> data(kLargeBytes / sizeof(float), 1.0F);
        // Rank `victim` is killed while these run; nobody gets to the end.
        for (int i = 0; i < 10'000; ++i) {
          if (Status status = comm->all_reduce(std::span<float>(data)); !status.ok())
            return status.to_string();
        }
        return "";
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(4000));
      const auto killed = Clock::now();
      ranks.signal(victim, SIGKILL);
      for (int rank = 0; rank < 4; ++rank) {
        const Ended ended = ranks.wait(rank);
        if (rank == victim) continue;
        INFO("rank " << rank << " over " << transport << ": " << ended.text);
        CHECK(ended.exit_code == 1);
        CHECK(contains(ended.text, "rank " + std::to_string(victim)));
        CHECK(Clock::now() - killed < std::chrono::seconds(5));
      }
    }
  }
}

TEST_CASE("a rank that is stopped for three seconds is waited for") {
  for (const std::string transport : {"shm", "tcp"}) {
    const Meeting meeting;
    Ranks ranks(4, [&](int rank) -> std::string {
      auto comm = join(meeting, rank, 4, transport);
      if (!comm) return comm.status().to_string();
      std::vector<float> data(1 << 20, 1.0F);
      const auto begin = Clock::now();
      int rounds = 0;
      float keep_going = 1;
      while (keep_going > 0) {
        data.assign(data.size(), 1.0F);
        if (Status s = comm->all_reduce(std::span<float>(data)); !s.ok()) return s.to_string();
        if (data[12345] != 4.0F) return "wrong sum";
        ++rounds;
        // All leave after the same round.
        keep_going = Clock::now() - begin < std::chrono::seconds(5) ? 1.0F : 0.0F;
        if (Status s = comm->all_reduce(&keep_going, &keep_going, 1, DataType::f32, ReduceOp::min);
            !s.ok()) {
          return s.to_string();
        }
      }
      return rounds > 1 ? "" : "only one round";
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    ranks.signal(1, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(3000));
    ranks.signal(1, SIGCONT);
    for (const Ended& ended : ranks.wait_all()) {
      INFO(transport << ": " << ended.text);
      CHECK(ended.exit_code == 0);
    }
  }
}

TEST_CASE("different calls end in one error that names both, on every rank") {
  struct Divergence {
    std::string name;
    std::function<Status(Communicator&, std::vector<float>&)> usual, odd;
    std::string first, second;
  };
  const auto reduce_of = [](std::size_t count, DataType type, ReduceOp op) {
    return [=](Communicator& comm, std::vector<float>& data) {
      return comm.all_reduce(data.data(), data.data(), count, type, op);
    };
  };
  const std::vector<Divergence> divergences = {
      {"count", reduce_of(1000, DataType::f32, ReduceOp::sum),
       reduce_of(1001, DataType::f32, ReduceOp::sum), "count 1000", "count 1001"},
      {"large count", reduce_of(1'000'000, DataType::f32, ReduceOp::sum),
       reduce_of(999'999, DataType::f32, ReduceOp::sum), "count 1000000", "count 999999"},
      {"type", reduce_of(1000, DataType::f32, ReduceOp::sum),
       reduce_of(1000, DataType::i32, ReduceOp::sum), "f32", "i32"},
      {"operation", reduce_of(1000, DataType::f32, ReduceOp::sum),
       reduce_of(1000, DataType::f32, ReduceOp::max), "sum", "max"},
      {"collective", reduce_of(1000, DataType::f32, ReduceOp::sum),
       [](Communicator& comm, std::vector<float>& data) {
         return comm.broadcast(data.data(), data.data(), 1000, DataType::f32, 2);
       },
       "all_reduce", "broadcast"},
      {"barrier", reduce_of(1000, DataType::f32, ReduceOp::sum),
       [](Communicator& comm, std::vector<float>&) { return comm.barrier(); }, "all_reduce",
       "barrier"},
      {"root",
       [](Communicator& comm, std::vector<float>& data) {
         return comm.broadcast(data.data(), data.data(), 1000, DataType::f32, 0);
       },
       [](Communicator& comm, std::vector<float>& data) {
         return comm.broadcast(data.data(), data.data(), 1000, DataType::f32, 2);
       },
       "root 0", "root 2"},
  };
  for (const std::string transport : {"shm", "tcp"}) {
    for (const Divergence& divergence : divergences) {
      const Meeting meeting;
      Ranks ranks(4, [&](int rank) -> std::string {
        auto comm = join(meeting, rank, 4, transport);
        if (!comm) return comm.status().to_string();
        std::vector<float> data(1'000'000, 1.0F);
        Status status;
        // A rank whose own call needs nobody may return well; it hears of the failure at its next
        // call.
        for (int i = 0; i < 3 && status.ok(); ++i) {
          status =
              rank == 2 && i == 0 ? divergence.odd(*comm, data) : divergence.usual(*comm, data);
        }
        return status.to_string();
      });
      const auto ended = ranks.wait_all();
      for (std::size_t rank = 0; rank < 4; ++rank) {
        INFO(transport << ", " << divergence.name << ", rank " << rank << ": " << ended[rank].text);
        CHECK(contains(ended[rank].text, "mismatch"));
        CHECK(contains(ended[rank].text, divergence.first));
        CHECK(contains(ended[rank].text, divergence.second));
        CHECK(contains(ended[rank].text, "rank 2"));
        CHECK(ended[rank].text == ended[0].text);
      }
    }
  }
}

TEST_CASE("abort ends all ranks with its reason") {
  for (const std::string transport : {"shm", "tcp"}) {
    const Meeting meeting;
    Ranks ranks(3, [&](int rank) -> std::string {
      auto comm = join(meeting, rank, 3, transport);
      if (!comm) return comm.status().to_string();
      if (rank == 1) {
        comm->abort("the user gave up");
        return comm->status().to_string();
      }
      return comm->barrier().to_string();
    });
    for (const Ended& ended : ranks.wait_all()) {
      INFO(transport << ": " << ended.text);
      CHECK(contains(ended.text, "aborted: rank 1 called abort(): the user gave up"));
    }
  }
}

TEST_CASE("a rank that leaves early is named by those who need it") {
  for (const std::string transport : {"shm", "tcp"}) {
    const Meeting meeting;
    Ranks ranks(3, [&](int rank) -> std::string {
      auto comm = join(meeting, rank, 3, transport);
      if (!comm) return comm.status().to_string();
      if (rank == 2) return "left";
      return comm->barrier().to_string();
    });
    const auto ended = ranks.wait_all();
    for (std::size_t rank = 0; rank < 2; ++rank) {
      INFO(transport << ": " << ended[rank].text);
      CHECK(contains(ended[rank].text, "peer_lost"));
      CHECK(contains(ended[rank].text, "rank 2"));
    }
  }
}

TEST_CASE("bad arguments are one clear error and leave the communicator usable") {
  Options options;
  options.rank(0).size(1);
  auto comm = Communicator::create(options);
  REQUIRE(comm.ok());
  std::vector<float> data(16, 2.0F);
  const auto code = [](const Status& status) { return status.code(); };
  CHECK(code(comm->all_reduce(nullptr, data.data(), 4, DataType::f32)) ==
        StatusCode::invalid_argument);
  CHECK(code(comm->all_reduce(data.data(), data.data() + 1, 4, DataType::f32)) ==
        StatusCode::invalid_argument);
  CHECK(code(comm->all_reduce(data.data(), data.data(), 4, static_cast<DataType>(99))) ==
        StatusCode::invalid_argument);
  CHECK(code(comm->all_reduce(data.data(), data.data(), SIZE_MAX, DataType::f32)) ==
        StatusCode::invalid_argument);
  CHECK(code(comm->broadcast(data.data(), data.data(), 4, DataType::f32, 1)) ==
        StatusCode::invalid_argument);
  CHECK(code(comm->send(data.data(), 4, DataType::f32, -1)) == StatusCode::invalid_argument);
  CHECK(code(group_end()) == StatusCode::invalid_argument);
  CHECK(comm->all_reduce(data.data(), data.data(), 16, DataType::f32).ok());
  CHECK(data[3] == 2.0F);

  options.set("transprot", "shm");
  const auto typo = Communicator::create(options);
  REQUIRE(!typo.ok());
  CHECK(typo.status().code() == StatusCode::invalid_setting);
  CHECK(contains(typo.status().message(), "SIRCL_TRANSPORT"));
}
