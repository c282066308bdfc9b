// On shared memory, once warm, an operation makes no allocation, takes no lock and makes no system
// call but yielding to its peers. The probes are tried first, so that a blind one is noticed.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "probes.hpp"
#include "support/ranks.hpp"

namespace {

using namespace sircl;
using namespace sircl::test;

constexpr int kRanks = 4;
constexpr int kSkipped = 77;

struct Operation {
  const char* name;
  std::function<Status(Communicator&, float* in, float* out)> call;
};

std::vector<Operation> operations() {
  std::vector<Operation> all;
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{12'288}, std::size_t{65'536}}) {
    all.push_back({bytes == 4        ? "all_reduce of 4 bytes"
                   : bytes == 12'288 ? "all_reduce of 12,288 bytes"
                                     : "all_reduce of 65,536 bytes",
                   [bytes](Communicator& comm, float* in, float* out) {
                     return comm.all_reduce(in, out, bytes / 4, DataType::f32);
                   }});
  }
  all.push_back({"all_gather", [](Communicator& comm, float* in, float* out) {
                   return comm.all_gather(in, out, 1000, DataType::f32);
                 }});
  all.push_back({"reduce_scatter", [](Communicator& comm, float* in, float* out) {
                   return comm.reduce_scatter(in, out, 1000, DataType::f32);
                 }});
  all.push_back({"broadcast", [](Communicator& comm, float* in, float* out) {
                   return comm.broadcast(in, out, 1000, DataType::f32, 1);
                 }});
  all.push_back({"barrier", [](Communicator& comm, float*, float*) { return comm.barrier(); }});
  return all;
}

std::string try_probes() {
  // volatile: the compiler may leave out an allocation that nobody uses.
  perf::start_counting();
  void* volatile block = std::malloc(100);
  std::free(block);
  if (perf::stop_counting().rfind("1 allocations, 0 locks, 0 system", 0) != 0) {
    return "the probe does not see an allocation";
  }
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  perf::start_counting();
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  if (perf::stop_counting().rfind("0 allocations, 1 locks, 0 system", 0) != 0) {
    return "the probe does not see a lock";
  }
  perf::start_counting();
  (void)getppid();
  if (perf::stop_counting().rfind("0 allocations, 0 locks, 1 system", 0) != 0) {
    return "the probe does not see a system call";
  }
  return "";
}

std::string measure(const Meeting& meeting, int rank) {
  Options options = meeting.options(rank, kRanks, "shm");
  // A wait that lasts long sleeps and asks what is wrong, which is not the path that is meant here.
  options.set("yield_us", "10000000");
  auto comm = Communicator::create(options);
  if (!comm) return comm.status().to_string();
  std::vector<float> in(100'000, 1.0F);
  std::vector<float> out(100'000);
  const std::vector<Operation> all = operations();
  const auto run_all = [&](std::string& problem) {
    for (const Operation& operation : all) {
      perf::start_counting();
      bool ok = true;
      for (int i = 0; i < 100 && ok; ++i) ok = operation.call(*comm, in.data(), out.data()).ok();
      const std::string seen = perf::stop_counting();
      if (!ok) problem = std::string(operation.name) + " failed";
      if (!seen.empty() && problem.empty()) problem = std::string(operation.name) + ": " + seen;
    }
  };
  std::string problem;
  run_all(problem);  // the first calls make plans
  if (!perf::refuse_system_calls()) return "cannot refuse system calls";
  problem = try_probes();
  if (!problem.empty()) return problem;
  run_all(problem);
  if (problem.empty() && out[0] != 1.0F) problem = "wrong result";
  // Ending a communicator needs system calls; the process ends without that.
  const std::string text = problem.empty() ? "quiet" : problem;
  if (write(STDOUT_FILENO, (text + "\n").c_str(), text.size() + 1) < 0) _exit(3);
  _exit(problem.empty() ? 0 : 1);
}

}  // namespace

int main() {
  const Meeting meeting;
  Ranks ranks(kRanks, [&](int rank) { return measure(meeting, rank); });
  int failed = 0;
  for (const Ended& ended : ranks.wait_all()) {
    if (ended.text == "cannot refuse system calls") {
      std::printf("SKIPPED: this kernel does not let a process refuse system calls\n");
      return kSkipped;
    }
    if (ended.exit_code != 0) ++failed;
    if (!ended.text.empty()) std::printf("%s\n", ended.text.c_str());
  }
  std::printf("%d of %d ranks were quiet\n", kRanks - failed, kRanks);
  return failed == 0 ? 0 : 1;
}
