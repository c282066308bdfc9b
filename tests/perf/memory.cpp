// What a communicator of four ranks on shared memory costs them all together, after every pair has
// exchanged large blocks: by its own account, and as the growth of the processes' memory.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace {

using namespace sircl;
using namespace sircl::test;

constexpr int kRanks = 4;
constexpr long kLimitKib = 64L * 1024;
constexpr int kSkipped = 77;

/// Memory of this process, shared pages divided by their users; -1 if the system does not tell.
long proportional_kib() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  while (file >> word) {
    long kib = 0;
    if (word == "Pss:" && file >> kib) return kib;
  }
  return -1;
}

std::string measure(const Meeting& meeting, int rank) {
  constexpr std::size_t kCount = 1U << 20;  // per pair
  std::vector<float> in(kRanks * kCount, 1.0F);
  std::vector<float> out(kRanks * kCount, 1.0F);
  auto comm = Communicator::create(meeting.options(rank, kRanks, "shm"));
  if (!comm) return comm.status().to_string();
  // All processes are there and their buffers are touched: what grows from here on is the library.
  // The boards are there already; they are counted as their own account says.
  if (Status s = comm->all_to_all(in.data(), out.data(), kCount, DataType::f32); !s.ok()) {
    return s.to_string();
  }
  for (int step = 1; step < kRanks; ++step) {
    const int to = (rank + step) % kRanks;
    const int from = (rank + kRanks - step) % kRanks;
    auto sent = comm->send_async(in.data(), kCount, DataType::f32, to);
    auto received = comm->receive_async(out.data(), kCount, DataType::f32, from);
    if (!sent || !received || !sent->wait().ok() || !received->wait().ok()) return "send failed";
  }
  if (Status s = comm->all_reduce(in.data(), out.data(), in.size(), DataType::f32); !s.ok()) {
    return s.to_string();
  }
  if (Status s = comm->barrier(); !s.ok()) return s.to_string();
  const long with = proportional_kib();
  if (Status s = comm->barrier(); !s.ok()) return s.to_string();
  const std::string account = comm->describe();
  { const Communicator ended = std::move(*comm); }
  const long without = proportional_kib();
  const std::size_t at = account.find("memory: ");
  if (at == std::string::npos) return "describe() does not tell the memory";
  return (with < 0 ? "unknown " : std::to_string(with - without) + " ") +
         account.substr(at, account.find('\n', at) - at);
}

}  // namespace

int main() {
  const Meeting meeting;
  Ranks ranks(kRanks, [&](int rank) { return measure(meeting, rank); });
  long grown_kib = 0;
  std::string account;
  for (const Ended& ended : ranks.wait_all()) {
    const std::size_t at = ended.text.find(" memory: ");
    if (at == std::string::npos) {
      std::printf("%s\n", ended.text.c_str());
      return 1;
    }
    if (ended.text.rfind("unknown", 0) == 0) {
      std::printf("SKIPPED: the system does not tell proportional memory\n");
      return kSkipped;
    }
    grown_kib += std::stol(ended.text);
    account = ended.text.substr(at + 1);
  }
  const long account_bytes = std::stol(account.substr(account.find(' ')));
  std::printf("by its own account %s; measured %.1f MiB; limit %ld MiB\n", account.c_str(),
              static_cast<double>(grown_kib) / 1024, kLimitKib / 1024);
  // The account leaves out stacks and plans, 2 MiB a rank at most; more would be memory that it
  // hides.
  const bool honest = grown_kib <= account_bytes / 1024 + kRanks * 2048;
  return honest && account_bytes / 1024 <= kLimitKib && grown_kib <= kLimitKib ? 0 : 1;
}
