// Every collective, type and operation between real processes, over both transports.
#include <array>
#include <string>
#include <vector>

#include "support/cases.hpp"
#include "support/catch.hpp"
#include "support/ranks.hpp"

using namespace sircl;
using namespace sircl::test;

namespace {

const std::vector<std::string> kCollectives = {"all_reduce", "all_gather", "reduce_scatter",
                                               "broadcast",  "reduce",     "gather",
                                               "scatter",    "all_to_all"};

bool reduces(const std::string& collective) {
  return collective == "all_reduce" || collective == "reduce" || collective == "reduce_scatter";
}

std::string sweep(Communicator& comm, const std::vector<std::size_t>& counts) {
  for (const std::string& collective : kCollectives) {
    for (int type = 0; type < kDataTypeCount; ++type) {
      for (int op = 0; op < (reduces(collective) ? kReduceOpCount : 1); ++op) {
        for (const std::size_t count : counts) {
          Case c;
          c.type = static_cast<DataType>(type);
          c.op = static_cast<ReduceOp>(op);
          c.count = count;
          c.root = static_cast<int>(count) % comm.size();
          c.misalign = count % 3;
          const std::string wrong = run_case(comm, collective, c);
          if (!wrong.empty()) return wrong;
        }
      }
    }
  }
  return "";
}

void expect_all_fine(int ranks, const std::string& transport, const std::string& algorithm,
                     const std::function<std::string(Communicator&)>& body) {
  const Meeting meeting;
  Ranks processes(ranks, [&](int rank) -> std::string {
    auto options = meeting.options(rank, ranks, transport);
    options.set("algorithm", algorithm);
    if (algorithm != "auto") {  // small pieces and slots: a few thousand elements already take many
      options.set("shm_piece_bytes", "8192")
          .set("shm_slot_bytes", "1024")
          .set("tcp_slot_bytes", "1024");
    }
    auto comm = Communicator::create(options);
    if (!comm) return comm.status().to_string();
    return body(*comm);
  });
  const auto ended = processes.wait_all();
  for (int rank = 0; rank < ranks; ++rank) {
    INFO("rank " << rank << " of " << ranks << " over " << transport << ", " << algorithm << ": "
                 << ended[static_cast<std::size_t>(rank)].text);
    CHECK(ended[static_cast<std::size_t>(rank)].exit_code == 0);
  }
}

// ThreadSanitizer makes every access many times dearer: fewer groups suffice to look for races.
#if defined(SIRCL_SANITIZED_THREAD)
constexpr std::array kManyRanks = {2, 4};
constexpr int kLargeGroup = 6;
#else
constexpr std::array kManyRanks = {1, 2, 3, 4, 5, 8};
constexpr int kLargeGroup = 16;
#endif

}  // namespace

TEST_CASE("every collective, type and operation is right") {
  for (const std::string transport : {"shm", "tcp"}) {
    for (const int ranks : kManyRanks) {
      if (ranks == 1 && transport == "tcp") continue;
      expect_all_fine(ranks, transport, "auto", [](Communicator& comm) {
        return sweep(comm, {0, 1, 7, 1000});
      });
    }
  }
}

TEST_CASE("a large group is right") {
  for (const std::string transport : {"shm", "tcp"}) {
    expect_all_fine(kLargeGroup, transport, "auto", [](Communicator& comm) {
      return sweep(comm, {3, 130});
    });
  }
}

TEST_CASE("every algorithm is right, also in many pieces and in place") {
  for (const std::string transport : {"shm", "tcp"}) {
    for (const std::string algorithm :
         {"direct", "exchange", "recursive_doubling", "halving_doubling", "ring", "path"}) {
      for (const int ranks : {2, 4, 5}) {
        expect_all_fine(ranks, transport, algorithm, [](Communicator& comm) -> std::string {
          for (const std::string& collective : kCollectives) {
            for (const std::size_t count :
                 {std::size_t{1}, std::size_t{4097}, std::size_t{20'011}}) {
              for (const bool in_place : {false, true}) {
                if (in_place && collective == "all_to_all") continue;
                Case c;
                c.count = count;
                c.root = comm.size() - 1;
                c.in_place = in_place;
                const std::string wrong = run_case(comm, collective, c);
                if (!wrong.empty()) return wrong;
              }
            }
          }
          return "";
        });
      }
    }
  }
}

TEST_CASE("ranks that read each other's buffers get the same as those that must not") {
  const auto run_all = [](Communicator& comm) -> std::string {
    for (const std::string& collective : kCollectives) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{400'001}}) {
        for (const bool in_place : {false, true}) {
          if (in_place && collective == "all_to_all") continue;
          for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
            Case c;
            c.count = count;
            c.op = op;
            c.root = comm.size() - 1;
            c.in_place = in_place;
            c.misalign = count % 3;
            const std::string wrong = run_case(comm, collective, c);
            if (!wrong.empty()) return wrong;
          }
        }
      }
    }
    return "";
  };
  for (const std::string single_copy : {"permit", "never"}) {
    for (const int ranks : {2, 4, 5}) {
      const Meeting meeting;
      Ranks processes(ranks, [&](int rank) -> std::string {
        auto options = meeting.options(rank, ranks, "shm");
        options.set("shm_single_copy", single_copy).set("shm_single_copy_min_bytes", "1");
        options.set("algorithm", "direct");
        auto comm = Communicator::create(options);
        if (!comm) return comm.status().to_string();
        const std::string wrong = run_all(*comm);
        if (!wrong.empty()) return wrong;
        const std::uint64_t used = comm->counters().single_copies;
        if ((single_copy == "permit") != (used > 0)) {
          return "single copies: " + std::to_string(used);
        }
        return "";
      });
      const auto ended = processes.wait_all();
      for (int rank = 0; rank < ranks; ++rank) {
        INFO("rank " << rank << " of " << ranks << ", " << single_copy << ": "
                     << ended[static_cast<std::size_t>(rank)].text);
        CHECK(ended[static_cast<std::size_t>(rank)].exit_code == 0);
      }
    }
  }
}

TEST_CASE("a buffer that cannot be read by others takes the boards, on every rank") {
  const Meeting meeting;
  Ranks processes(2, [&](int rank) -> std::string {
    auto options = meeting.options(rank, 2, "shm");
    options.set("shm_single_copy", "permit").set("shm_single_copy_min_bytes", "1");
    auto comm = Communicator::create(options);
    if (!comm) return comm.status().to_string();
    // Rank 1's input is not read in a broadcast, so it may be anything.
    std::vector<std::int32_t> in(50'000, 7);
    std::vector<std::int32_t> out(50'000, 0);
    const void* from = rank == 0 ? in.data() : reinterpret_cast<const void*>(64);
    for (int round = 0; round < 3; ++round) {
      std::fill(out.begin(), out.end(), 0);
      if (Status status = comm->broadcast(from, out.data(), out.size(), DataType::i32, 0);
          !status.ok()) {
        return status.to_string();
      }
      if (out != in) return "wrong";
      if (Status status = comm->all_gather(in.data(), out.data(), 25'000, DataType::i32);
          !status.ok()) {
        return status.to_string();
      }
      if (out != in) return "wrong after all_gather";
    }
    const std::uint64_t used = comm->counters().single_copies;
    return used == 3 ? "" : "single copies: " + std::to_string(used);
  });
  for (const auto& ended : processes.wait_all()) {
    INFO(ended.text);
    CHECK(ended.exit_code == 0);
  }
}

TEST_CASE("unequal counts, with empty ones") {
  for (const std::string transport : {"shm", "tcp"}) {
    expect_all_fine(4, transport, "auto", [](Communicator& comm) -> std::string {
      const std::vector<std::size_t> counts = {3, 0, 200'000, 17};
      const auto me = static_cast<std::size_t>(comm.rank());
      std::vector<std::int32_t> in(counts[me], comm.rank() + 1);
      std::vector<std::int32_t> out(200'020, -1);
      if (Status status = comm.all_gather(in.data(), out.data(), counts, DataType::i32);
          !status.ok()) {
        return status.to_string();
      }
      std::size_t at = 0;
      for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        for (std::size_t i = 0; i < counts[rank]; ++i) {
          if (out[at++] != static_cast<std::int32_t>(rank) + 1)
            return "all_gather: element " + std::to_string(at);
        }
      }
      // Rank s sends (s + 1) * (d + 2) % 5 elements to rank d.
      const auto pair_count = [](std::size_t s, std::size_t d) { return (s + 1) * (d + 2) % 5; };
      std::vector<std::size_t> sends(4), receives(4);
      std::vector<std::int64_t> from;
      for (std::size_t d = 0; d < 4; ++d) {
        sends[d] = pair_count(me, d);
        receives[d] = pair_count(d, me);
        from.insert(from.end(), sends[d], static_cast<std::int64_t>(me * 10 + d));
      }
      std::vector<std::int64_t> to(100, -1);
      if (Status status = comm.all_to_all(from.data(), to.data(), sends, receives, DataType::i64);
          !status.ok()) {
        return status.to_string();
      }
      at = 0;
      for (std::size_t s = 0; s < 4; ++s) {
        for (std::size_t i = 0; i < receives[s]; ++i) {
          if (to[at++] != static_cast<std::int64_t>(s * 10 + me))
            return "all_to_all: element " + std::to_string(at);
        }
      }
      return "";
    });
  }
}
