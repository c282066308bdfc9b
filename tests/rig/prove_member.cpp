// All ranks of a proof, a thread in each network namespace: prove_member LIMIT_MS PID...
// A PID is any process of a node, in order of rank. Prints what was heard as lines
// "BY_RANK BY_INTERFACE FROM_RANK FROM_INTERFACE addressed|link", then "took MILLISECONDS".
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "probe/functions.hpp"
#include "probe/prove.hpp"
#include "sys/fd.hpp"

using namespace sircl;
using topology::Candidate;
using topology::Functions;

namespace {

void require(bool good, const std::string& what) {
  if (good) return;
  fmt::print("{}\n", what);
  std::exit(1);
}

/// What this thread opens from now on belongs to the namespace of that process.
void enter(const std::string& pid) {
  const sys::Fd space(open(("/proc/" + pid + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
  require(space && setns(space.get(), CLONE_NEWNET) == 0, "cannot enter the namespace of " + pid);
}

bool joined(const topology::Address& a, const topology::Address& b) {
  return a.family == topology::AddressFamily::v4 && b.family == a.family &&
         std::equal(a.bytes.begin(), a.bytes.begin() + 3, b.bytes.begin());
}

/// All pairs with addresses in one /24.
std::vector<Candidate> pairs(const std::vector<Functions>& by_rank) {
  std::vector<std::pair<topology::FunctionId, topology::Address>> all;
  for (int rank = 0; rank < static_cast<int>(by_rank.size()); ++rank) {
    const auto& mine = by_rank[static_cast<std::size_t>(rank)];
    for (int at = 0; at < static_cast<int>(mine.size()); ++at) {
      for (const auto& address : mine[static_cast<std::size_t>(at)].addresses) {
        all.push_back({{rank, at}, address});
      }
    }
  }
  std::vector<Candidate> result;
  for (const auto& [first, first_address] : all) {
    for (const auto& [second, second_address] : all) {
      if (first.rank < second.rank && joined(first_address, second_address)) {
        result.push_back({first, second, first_address, second_address});
      }
    }
  }
  return result;
}

struct Rank {
  Functions functions;
  std::unique_ptr<probe::Prover> prover;
  std::vector<topology::Heard> heard;
};

void prepare(Rank& rank, int number, std::chrono::milliseconds limit, const std::string& pid) {
  enter(pid);
  auto found = probe::functions(*sys::kernel_links(), "/proc/" + pid + "/root/sys", {"", "lan"});
  require(found.ok(), found.status().to_string());
  rank.functions = found->functions;
  auto prover = probe::Prover::open({number, {}, limit, {}}, rank.functions);
  require(prover.ok(), prover.status().to_string());
  rank.prover = *std::move(prover);
}

template <typename Body>
void on_all(std::vector<Rank>& ranks, const Body& body) {
  std::vector<std::thread> threads;
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    threads.emplace_back([&, at] { body(ranks[at], at); });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace

int main(int count, char** words) {
  require(count > 2, "usage: prove_member LIMIT_MS PID...");
  const std::chrono::milliseconds limit(std::atoi(words[1]));
  std::vector<Rank> ranks(static_cast<std::size_t>(count - 2));
  on_all(ranks, [&](Rank& rank, std::size_t at) {
    prepare(rank, static_cast<int>(at), limit, words[at + 2]);
  });
  std::vector<Functions> by_rank;
  std::vector<std::string> addresses;
  for (const Rank& rank : ranks) {
    by_rank.push_back(rank.functions);
    addresses.push_back(rank.prover->address());
  }
  const auto candidates = pairs(by_rank);
  const auto start = std::chrono::steady_clock::now();
  on_all(ranks, [&](Rank& rank, std::size_t) {
    rank.heard = rank.prover->run(by_rank, candidates, addresses);
  });
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  const auto name = [&](const topology::FunctionId& id) {
    return fmt::format("{} {}", id.rank,
                       ranks[static_cast<std::size_t>(id.rank)]
                           .functions[static_cast<std::size_t>(id.index)]
                           .interface);
  };
  for (const Rank& rank : ranks) {
    for (const auto& one : rank.heard) {
      fmt::print("{} {} {}\n", name(one.by), name(one.from), one.addressed ? "addressed" : "link");
    }
  }
  fmt::print("took {:.1f}\n", took.count());
  return 0;
}
