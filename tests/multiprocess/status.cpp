// What ranks say of themselves: settings that are checked at start, the start-up block, metrics.
#include <filesystem>
#include <fstream>
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
  for (const auto& ended : processes.wait_all()) {
    INFO(ended.text);
    CHECK(ended.exit_code == 0);
  }
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
  for (const auto& ended : processes.wait_all()) {
    INFO(ended.text);
    CHECK(ended.exit_code == 0);
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
    std::vector<float> data(10, 1.0F);
    for (int i = 0; i < 5; ++i) {
      if (Status status = comm->all_reduce(std::span<float>(data)); !status.ok()) {
        return status.to_string();
      }
    }
    return "";
  });
  for (const auto& ended : processes.wait_all()) {
    INFO(ended.text);
    CHECK(ended.exit_code == 0);
  }
  for (const char* rank : {"0", "1"}) {
    const std::string text = read_file(meeting.directory() + "/metrics-" + rank + ".prom");
    INFO(text);
    CHECK(text.find("# TYPE sircl_operations_total counter\n") != std::string::npos);
    CHECK(text.find("sircl_operations_total{rank=\"" + std::string(rank) +
                    "\",transport=\"tcp\"} 5\n") != std::string::npos);
  }
  for (const auto& entry : std::filesystem::directory_iterator(meeting.directory())) {
    CHECK(entry.path().extension() != ".part");
  }
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
  for (const auto& ended : processes.wait_all()) {
    INFO(ended.text);
    CHECK(ended.exit_code == 0);
  }
  const std::string text = read_file(log);
  INFO(text);
  CHECK(text.find("SIRCL_METRICS_FILE /nowhere/metrics") != std::string::npos);
  CHECK(text.find("[rank 1]") != std::string::npos);
  CHECK(text.find("SIRCL_PROGRESS_CPU is set (by options), but has no effect") !=
        std::string::npos);
}

TEST_CASE("exact numerics: one rounding of the sum in rank order, whatever the size") {
  const auto input = [](int rank, std::size_t i) {
    return static_cast<float>(1 + (i * 7 + static_cast<std::size_t>(rank) * 13) % 1000) * 0.37F;
  };
  for (const std::string transport : {"shm", "tcp"}) {
    const Meeting meeting;
    Ranks processes(4, [&](int rank) -> std::string {
      auto options = meeting.options(rank, 4, transport);
      options.set("numerics", "exact").set("shm_piece_bytes", "4096").set("tcp_slot_bytes", "1024");
      auto comm = Communicator::create(options);
      if (!comm) return comm.status().to_string();
      for (const std::size_t count : {std::size_t{1}, std::size_t{999}, std::size_t{100'003}}) {
        std::vector<float> data(count);
        for (std::size_t i = 0; i < count; ++i) data[i] = input(rank, i);
        std::vector<float> scattered(count / 4);
        std::vector<float> reduced(count);
        Status status =
            comm->reduce(data.data(), reduced.data(), count, DataType::f32, ReduceOp::sum, 1);
        if (status.ok()) {
          status = comm->reduce_scatter(data.data(), scattered.data(), count / 4, DataType::f32);
        }
        if (status.ok()) status = comm->all_reduce(std::span<float>(data));
        if (!status.ok()) return status.to_string();
        for (std::size_t i = 0; i < count; ++i) {
          const auto sum = [&](std::size_t k) {
            return ((input(0, k) + input(1, k)) + input(2, k)) + input(3, k);
          };
          const std::size_t block = static_cast<std::size_t>(rank) * (count / 4);
          if (data[i] != sum(i)) return "all_reduce differs at " + std::to_string(i);
          if (rank == 1 && reduced[i] != sum(i)) return "reduce differs at " + std::to_string(i);
          if (i < count / 4 && scattered[i] != sum(block + i)) {
            return "reduce_scatter differs at " + std::to_string(i);
          }
        }
      }
      return "";
    });
    for (const auto& ended : processes.wait_all()) {
      INFO(transport << ": " << ended.text);
      CHECK(ended.exit_code == 0);
    }
  }
}

TEST_CASE("exact numerics refuse an algorithm that rounds on the way") {
  const auto comm = Communicator::create(
      Options().rank(0).size(1).set("numerics", "exact").set("algorithm", "ring"));
  REQUIRE(!comm);
  CHECK(comm.status().code() == StatusCode::invalid_setting);
  CHECK(comm.status().message().find("SIRCL_ALGORITHM=ring") != std::string::npos);
}
