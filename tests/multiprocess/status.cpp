// What ranks say of themselves: settings that are checked at start, the start-up block, metrics.
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "support/catch.hpp"
#include "support/ranks.hpp"

using namespace sircl;
using namespace sircl::test;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// The first line that is not of the Prometheus text format; each metric has HELP, TYPE, a sample.
std::string exposition_fault(const std::string& text) {
  static const std::regex block(
      R"re(# HELP ([a-zA-Z_:]\w*) [^\n]+\n# TYPE (\w+) (counter|gauge)\n(\w+))re"
      R"re(\{[a-zA-Z_]\w*="[^"\\\n]*"(,[a-zA-Z_]\w*="[^"\\\n]*")*\} \d+\n)re");
  auto at = text.cbegin();
  std::smatch match;
  while (at != text.cend()) {
    if (!std::regex_search(at, text.cend(), match, block, std::regex_constants::match_continuous) ||
        match[1] != match[2] || match[1] != match[4]) {
      return "not of the format: " + std::string(at, std::find(at, text.cend(), '\n'));
    }
    at = match[0].second;
  }
  return text.empty() ? "empty" : "";
}

void check_all(Ranks& processes) {
  for (const auto& ended : processes.wait_all()) {
    INFO(ended.text);
    CHECK(ended.exit_code == 0);
  }
}

/// The first two processors that this process may run on.
std::vector<int> two_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE && processors.size() < 2; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

std::string bound_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  if (CPU_COUNT(&set) == 1 && CPU_ISSET(processor, &set)) return "";
  return "not bound to processor " + std::to_string(processor);
}

}  // namespace

TEST_CASE("a fabric of another size is refused on every rank, by name") {
  const Meeting meeting;
  Ranks processes(3, [&](int rank) -> std::string {
    auto options = meeting.options(rank, 3, "shm");
    options.set("fabric", "ring:4");
    const auto comm = Communicator::create(options);
    if (comm) return "it was accepted";
    const std::string text = comm.status().to_string();
    const bool clear = comm.status().code() == StatusCode::invalid_setting &&
                       text.find("SIRCL_FABRIC=ring:4") != std::string::npos &&
                       text.find("3 ranks") != std::string::npos;
    return clear ? "" : text;
  });
  check_all(processes);
}

TEST_CASE("the start-up block draws the fabric and names what was set") {
  const Meeting meeting;
  Ranks processes(3, [&](int rank) -> std::string {
    auto options = meeting.options(rank, 3, "shm");
    options.set("fabric", "path:3").set("shm_slots", "8");
    const auto comm = Communicator::create(options);
    if (!comm) return comm.status().to_string();
    const std::string text = comm->describe();
    for (const char* part :
         {"Transport: sircl (shm), NCCL: absent", "fabric: path:3",
          "[rank 0]---[rank 1]---[rank 2]", "SIRCL_SHM_SLOTS=8 (from options)", "large blocks: "}) {
      if (text.find(part) == std::string::npos) return std::string(part) + " is not in\n" + text;
    }
    return "";
  });
  check_all(processes);
}

TEST_CASE("what is wrong on one rank is told on every rank") {
  const Meeting meeting;
  Ranks processes(3, [&](int rank) -> std::string {
    auto options = meeting.options(rank, 3, "shm");
    if (rank == 1) options.set("pin", "0,x");
    const auto comm = Communicator::create(options);
    if (comm) return "it was accepted";
    const std::string text = comm.status().to_string();
    const bool told = text.find("rank 1: SIRCL_PIN=0,x: 'x' is not a") != std::string::npos;
    return told ? "" : text;
  });
  check_all(processes);
}

TEST_CASE("ranks are bound to the processors of SIRCL_PIN in turn, and stay there in a part") {
  const std::vector<int> allowed = two_processors();
  const std::vector<int> reversed(allowed.rbegin(), allowed.rend());
  std::string list;
  for (const int processor : reversed)
    list += (list.empty() ? "" : ",") + std::to_string(processor);
  for (const bool automatic : {true, false}) {
    const Meeting meeting;
    Ranks processes(2, [&](int rank) -> std::string {
      auto options = meeting.options(rank, 2, "shm");
      options.set("pin", automatic ? "auto" : list);
      auto comm = Communicator::create(options);
      if (!comm) return comm.status().to_string();
      const auto own = static_cast<std::size_t>(rank) % allowed.size();
      const int wanted = automatic ? allowed[own] : reversed[own];
      if (std::string text = bound_to(wanted); !text.empty()) return text;
      auto part = comm->split(0, -rank);
      if (!part) return part.status().to_string();
      if (part->rank() == rank) return "the part has the same order";
      return bound_to(wanted);
    });
    INFO((automatic ? "auto" : list));
    check_all(processes);
  }
}

TEST_CASE("the log has one start-up block and names the rank of each line") {
  const Meeting meeting;
  const std::string log = meeting.directory() + "/log";
  Ranks processes(2, [&](int rank) -> std::string {
    auto options = meeting.options(rank, 2, "tcp");
    options.set("debug", "info").set("debug_file", log).set("devices", "mlx5_0");
    const auto comm = Communicator::create(options);
    return comm ? "" : comm.status().to_string();
  });
  check_all(processes);
  const std::string text = read_file(log);
  INFO(text);
  CHECK(occurrences(text, "Transport: sircl (tcp), NCCL: absent") == 1);
  CHECK(occurrences(text, "SIRCL_DEVICES is set (by options), but has no effect") == 1);
  CHECK(occurrences(text, "fabric: pair (assumed, because SIRCL_FABRIC is auto)") == 1);
  CHECK(occurrences(text, "[rank 0]---[rank 1]") == 1);
  CHECK(occurrences(text, " (ranks 0-1)\n") == 1);
  CHECK(occurrences(text, "sircl [rank 0]") >= 2);
}

TEST_CASE("the memory of the start-up block adds up") {
  for (const std::string transport : {"shm", "tcp"}) {
    const Meeting meeting;
    Ranks processes(3, [&](int rank) -> std::string {
      const auto comm = Communicator::create(meeting.options(rank, 3, transport));
      if (!comm) return comm.status().to_string();
      const std::string text = comm->describe();
      const std::size_t at = std::min(text.find("memory: "), text.size());
      const char* const memory = text.c_str() + at;
      unsigned long total = 0;
      unsigned long boards = 0;
      unsigned long half = 0;
      unsigned long windows = 0;
      unsigned long window = 0;
      unsigned long rest = 0;
      bool read = false;
      if (transport == "shm") {
        read = std::sscanf(memory,
                           "memory: %lu bytes, shared by all ranks = %lu boards x 2 x %lu + %lu "
                           "windows x %lu + %lu to meet",
                           &total, &boards, &half, &windows, &window, &rest) == 6 &&
               boards == 3 && windows == 6;
      } else {
        read = std::sscanf(memory, "memory: %lu bytes in each rank = %lu windows x %lu", &total,
                           &windows, &window) == 3 &&
               windows == 2;
      }
      const bool adds_up =
          total == boards * 2 * half + windows * window + rest && total > 100'000 && rest < 65'536;
      return read && adds_up ? "" : text;
    });
    INFO(transport);
    check_all(processes);
  }
}

TEST_CASE("metrics are written when a communicator ends, one file per rank") {
  const Meeting meeting;
  const std::string pattern = meeting.directory() + "/metrics-{rank}.prom";
  Ranks processes(2, [&](int rank) -> std::string {
    auto options = meeting.options(rank, 2, "tcp");
    options.set("metrics_file", pattern);
    auto comm = Communicator::create(options);
    if (!comm) return comm.status().to_string();
    if (comm->algorithm_for("send_recv", 1) != "direct") return "send_recv is not direct";
    if (comm->algorithm_for("all_sum", 1) != "unknown") return "all_sum is known";
    std::vector<float> data(10, 1.0F);
    for (int i = 0; i < 5; ++i) {
      if (Status status = comm->all_reduce(std::span<float>(data)); !status.ok()) {
        return status.to_string();
      }
    }
    return "";
  });
  check_all(processes);
  for (const char* rank : {"0", "1"}) {
    const std::string text = read_file(meeting.directory() + "/metrics-" + rank + ".prom");
    INFO(text);
    CHECK(text.find("# TYPE sircl_operations_total counter\n") != std::string::npos);
    CHECK(exposition_fault(text) == "");
    CHECK(text.find("sircl_operations_total{rank=\"" + std::string(rank) +
                    "\",transport=\"tcp\"} 5\n") != std::string::npos);
  }
  for (const auto& entry : std::filesystem::directory_iterator(meeting.directory())) {
    CHECK(entry.path().extension() != ".part");
  }
}

TEST_CASE("ranks that share a metrics file leave one whole file and no draft") {
  const Meeting meeting;
  Ranks processes(4, [&](int rank) -> std::string {
    auto options = meeting.options(rank, 4, "shm");
    options.set("metrics_file", meeting.directory() + "/shared.prom");
    const auto comm = Communicator::create(options);
    return comm ? "" : comm.status().to_string();
  });
  check_all(processes);
  CHECK(exposition_fault(read_file(meeting.directory() + "/shared.prom")) == "");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(meeting.directory())) {
    if (entry.path().string().find("shared") == std::string::npos) continue;
    ++files;
    CHECK((entry.status().permissions() & std::filesystem::perms::others_read) !=
          std::filesystem::perms::none);
  }
  CHECK(files == 1);
}

TEST_CASE("a metrics file that cannot be written is a warning, not a failure") {
  const Meeting meeting;
  const std::string log = meeting.directory() + "/log";
  Ranks processes(2, [&](int rank) -> std::string {
    auto options = meeting.options(rank, 2, "shm");
    options.set("metrics_file", "/nowhere/metrics").set("debug_file", log);
    options.set("progress_cpu", "1");
    auto comm = Communicator::create(options);
    if (!comm) return comm.status().to_string();
    return comm->barrier().to_string() == "ok" ? "" : "the barrier failed";
  });
  check_all(processes);
  const std::string text = read_file(log);
  INFO(text);
  CHECK(occurrences(text, "cannot write SIRCL_METRICS_FILE /nowhere/metrics: No such file") == 2);
  CHECK(text.find("[rank 1]") != std::string::npos);
  CHECK(text.find("SIRCL_PROGRESS_CPU is set (by options), but has no effect") !=
        std::string::npos);
}
