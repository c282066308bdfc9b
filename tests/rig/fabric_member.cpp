// A rank on a fabric: what the scripts of this folder run on every node. Public headers only.
//   fabric_member collectives              every collective, type and kind of group, checked
//   fabric_member loop SECONDS [LARGEST]   checked all-reduces of 64 bytes to LARGEST, a line for
//   each fabric_member flood BYTES              everybody sends to everybody at once, then receives
//   fabric_member opposite BYTES TIMES     ranks half a ring apart send to each other
//   fabric_member measure COLLECTIVE BYTES TIMES GATE   between the appearance and the end of a
//   file
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "sircl/sircl.hpp"
#include "support/cases.hpp"

namespace {

using namespace sircl;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPeriod = 17;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Of the day, for comparison with other processes.
double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

int give_up(const std::string& why) {
  std::printf("at %.3f: %s\n", now_s(), why.c_str());
  return 1;
}

/// Small enough that sums over any ranks are exact; another one for every round, so that nothing
/// left over from the last one passes for right.
float element(int rank, std::size_t index, int round) {
  return static_cast<float>(
      (index * 5 + static_cast<std::size_t>(rank) * 3 + static_cast<std::size_t>(round) * 7) %
      kPeriod);
}

void fill(std::span<float> data, int rank, int round) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = element(rank, i % kPeriod, round);
}

std::size_t wrong_elements(std::span<const float> data, const std::vector<int>& ranks, int round) {
  std::array<float, kPeriod> expected{};
  for (std::size_t i = 0; i < kPeriod; ++i) {
    for (const int rank : ranks) expected[i] += element(rank, i, round);
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < data.size(); ++i) wrong += data[i] != expected[i % kPeriod] ? 1 : 0;
  return wrong;
}

std::vector<int> everybody(const Communicator& comm) {
  std::vector<int> ranks(static_cast<std::size_t>(comm.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// A message for every pair, with all sends before all receives. "" or what is wrong.
std::string all_pairs(Communicator& comm, std::size_t count) {
  std::vector<std::vector<float>> sent, received;
  std::vector<Work> work;
  const auto start = [&](Result<Work> begun) {
    if (begun) work.push_back(*begun);
    return begun.status();
  };
  for (int peer = 0; peer < comm.size(); ++peer) {
    sent.emplace_back(count);
    received.emplace_back(count);
    fill(sent.back(), comm.rank(), peer);
  }
  for (int peer = 0; peer < comm.size(); ++peer) {
    if (peer == comm.rank()) continue;
    const auto& data = sent[static_cast<std::size_t>(peer)];
    const Status status = start(comm.send_async(data.data(), count, DataType::f32, peer));
    if (!status.ok()) return status.to_string();
  }
  for (int peer = 0; peer < comm.size(); ++peer) {
    if (peer == comm.rank()) continue;
    auto& data = received[static_cast<std::size_t>(peer)];
    const Status status = start(comm.receive_async(data.data(), count, DataType::f32, peer));
    if (!status.ok()) return status.to_string();
  }
  for (Work& one : work) {
    if (const Status status = one.wait(); !status.ok()) return status.to_string();
  }
  for (int peer = 0; peer < comm.size(); ++peer) {
    if (peer == comm.rank()) continue;
    if (wrong_elements(received[static_cast<std::size_t>(peer)], {peer}, comm.rank()) != 0) {
      return "wrong message from rank " + std::to_string(peer);
    }
  }
  return "";
}

/// Blocks of different lengths: rank r gives r * step + 1 elements to everybody.
std::string unequal(Communicator& comm, std::size_t step) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto length = [step](std::size_t rank) { return rank * step + 1; };
  std::vector<std::size_t> lengths(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) lengths[rank] = length(rank);
  const std::size_t total = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  const std::size_t own = lengths[static_cast<std::size_t>(comm.rank())];

  std::vector<float> mine(own), gathered(total);
  fill(mine, comm.rank(), 0);
  Status status = comm.all_gather(mine.data(), gathered.data(), lengths, DataType::f32);
  if (!status.ok()) return status.to_string();
  const std::vector<std::size_t> same(ranks, own);
  std::vector<float> out(own * ranks), in(total);
  for (std::size_t to = 0; to < ranks; ++to) {
    fill(std::span(out).subspan(to * own, own), comm.rank(), static_cast<int>(to) + 1);
  }
  status = comm.all_to_all(out.data(), in.data(), same, lengths, DataType::f32);
  if (!status.ok()) return status.to_string();
  std::size_t at = 0;
  for (std::size_t from = 0; from < ranks; ++from) {
    const auto block = [&](std::vector<float>& all) {
      return std::span<const float>(all).subspan(at, lengths[from]);
    };
    if (wrong_elements(block(gathered), {static_cast<int>(from)}, 0) != 0)
      return "unequal all_gather is wrong";
    if (wrong_elements(block(in), {static_cast<int>(from)}, comm.rank() + 1) != 0) {
      return "unequal all_to_all is wrong";
    }
    at += lengths[from];
  }
  return "";
}

std::string every_collective(Communicator& comm) {
  for (const std::string collective : {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                       "reduce", "gather", "scatter", "all_to_all"}) {
    const bool reduces = collective == "all_reduce" || collective.starts_with("reduce");
    for (int type = 0; type < kDataTypeCount; ++type) {
      for (int op = 0; op < (reduces ? kReduceOpCount : 1); ++op) {
        // Every type and operation once; f32 sums also in sizes that take another algorithm.
        std::vector<std::size_t> counts = {1000};
        if (type == static_cast<int>(DataType::f32) && op == 0)
          counts = {0, 1, 33, 30'000, 300'001};
        for (const std::size_t count : counts) {
          test::Case c;
          c.type = static_cast<DataType>(type);
          c.op = static_cast<ReduceOp>(op);
          c.count = count;
          c.root = (type + op + static_cast<int>(count)) % comm.size();
          c.misalign = count % 3;
          const std::string wrong = test::run_case(comm, collective, c);
          if (!wrong.empty()) return wrong;
        }
      }
    }
  }
  if (const Status status = comm.barrier(); !status.ok()) return status.to_string();
  return "";
}

std::string collectives(Communicator& comm) {
  std::string wrong = every_collective(comm);
  if (wrong.empty()) wrong = unequal(comm, 3000);
  if (wrong.empty()) wrong = all_pairs(comm, 100'000);
  if (!wrong.empty() || comm.size() < 4) return wrong;
  // Ranks with the same parity: on a ring of four, none are neighbours.
  auto part = comm.split(comm.rank() % 2, comm.rank());
  if (!part) return part.status().to_string();
  wrong = every_collective(*part);
  if (wrong.empty()) wrong = all_pairs(*part, 100'000);
  return wrong.empty() ? "" : "in a part: " + wrong;
}

int loop(Communicator& comm, const std::string& until, std::size_t largest) {
  const double seconds = std::strtod(until.c_str(), nullptr);
  const auto begin = Clock::now();
  const std::vector<int> ranks = everybody(comm);
  std::vector<float> data;
  std::size_t bytes = 64;
  int round = 0;
  for (std::int32_t go_on = 1;; ++round) {
    data.resize(bytes / sizeof(float));
    fill(data, comm.rank(), round);
    const auto start = Clock::now();
    Status status = comm.all_reduce(std::span<float>(data));
    const double took = seconds_since(start);
    if (!status.ok()) return give_up("failed: " + status.to_string());
    if (const std::size_t wrong = wrong_elements(data, ranks, round); wrong != 0) {
      return give_up(std::to_string(wrong) + " elements wrong of " + std::to_string(bytes) +
                     " bytes");
    }
    std::printf("at %.3f: %d of %zu bytes in %.6f s\n", now_s(), round, bytes, took);
    std::fflush(stdout);
    bytes = bytes < largest ? std::min(bytes * 8, largest) : 64;
    if (bytes != 64) continue;
    // One rank decides for everybody.
    const bool over =
        seconds > 0 ? seconds_since(begin) >= seconds : access(until.c_str(), F_OK) == 0;
    go_on = over ? 0 : 1;
    status = comm.broadcast(&go_on, &go_on, 1, DataType::i32, 0);
    if (!status.ok()) return give_up("failed: " + status.to_string());
    if (go_on == 0) break;
  }
  std::printf("all %d right\n", round + 1);
  return 0;
}

int opposite(Communicator& comm, std::size_t bytes, int times) {
  const int peer = (comm.rank() + comm.size() / 2) % comm.size();
  std::vector<float> out(bytes / sizeof(float)), in(out.size());
  for (int round = 0; round < times; ++round) {
    fill(out, comm.rank(), round);
    if (const Status status = comm.barrier(); !status.ok()) return give_up(status.to_string());
    const auto start = Clock::now();
    auto sent = comm.send_async(out.data(), out.size(), DataType::f32, peer);
    if (!sent) return give_up(sent.status().to_string());
    Status status = comm.receive(in.data(), in.size(), DataType::f32, peer);
    if (status.ok()) status = sent->wait();
    if (!status.ok()) return give_up(status.to_string());
    std::printf("%zu bytes each way in %.6f s\n", bytes, seconds_since(start));
    if (wrong_elements(in, {peer}, round) != 0) return give_up("a wrong message");
  }
  return 0;
}

void wait_for_file(const char* path, bool present) {
  while ((access(path, F_OK) == 0) != present) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// The size is that of all ranks' blocks together, except for all_reduce.
int measure(Communicator& comm, const std::string& collective, std::size_t bytes, int times,
            const char* gate) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t count = bytes / sizeof(float);
  std::vector<float> in(count), out(count);
  const auto once = [&]() -> Status {
    if (collective == "all_reduce")
      return comm.all_reduce(in.data(), out.data(), count, DataType::f32);
    if (collective == "all_gather") {
      return comm.all_gather(in.data(), out.data(), count / ranks, DataType::f32);
    }
    return comm.reduce_scatter(in.data(), out.data(), count / ranks, DataType::f32);
  };
  if (const Status status = once(); !status.ok()) return give_up(status.to_string());
  if (const Status status = comm.barrier(); !status.ok()) return give_up(status.to_string());
  std::printf("ready\n");
  std::fflush(stdout);
  wait_for_file(gate, true);
  for (int i = 0; i < times; ++i) {
    if (const Status status = once(); !status.ok()) return give_up(status.to_string());
  }
  std::printf("finished\n");
  std::fflush(stdout);
  wait_for_file(gate, false);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t at) {
    return std::strtoull(words.at(at).c_str(), nullptr, 10);
  };
  const auto begin = Clock::now();
  auto comm = Communicator::create();
  if (!comm) return give_up(comm.status().to_string());
  std::printf("up after %.3f s\n%s\n", seconds_since(begin), comm->describe().c_str());
  std::fflush(stdout);
  int code = 2;
  const std::string mode = words.empty() ? "" : words[0];
  if (mode == "collectives" || (mode == "flood" && words.size() == 2)) {
    const std::string wrong =
        mode == "flood" ? all_pairs(*comm, number(1) / sizeof(float)) : collectives(*comm);
    code = wrong.empty() ? 0 : give_up(wrong);
  } else if (mode == "loop" && words.size() >= 2) {
    code = loop(*comm, words[1], words.size() > 2 ? number(2) : std::size_t{16} << 20);
  } else if (mode == "opposite" && words.size() == 3) {
    code = opposite(*comm, number(1), static_cast<int>(number(2)));
  } else if (mode == "measure" && words.size() == 5) {
    code = measure(*comm, words[1], number(2), static_cast<int>(number(3)), words[4].c_str());
  } else {
    std::printf("unknown mode, or not its arguments\n");
  }
  std::printf("%s\n", comm->counters_json().c_str());
  if (code == 0) std::printf("right\n");
  return code;
}
