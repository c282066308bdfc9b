// The log writes whole lines, and nothing that is below its level.
#include "base/log.hpp"

#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace sircl;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("levels, prefix and whole lines from several threads") {
  const std::string path = "/tmp/sircl-log-test-" + std::to_string(getpid());
  REQUIRE(log::set_file(path));
  CHECK_FALSE(log::set_file("/nonexistent/directory/log"));

  log::set_level(log::Level::warn);
  log::info("not shown");
  log::warn("first");
  log::set_rank(2);
  log::warn("second");
  log::set_level(log::Level::none);
  log::warn("not shown either");
  log::set_level(log::Level::info);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 200; ++n) log::info(std::string(100, 'x'));
    });
  }
  for (auto& thread : threads) thread.join();
  log::trace("not shown");

  const auto lines = lines_of(path);
  unlink(path.c_str());
  REQUIRE(lines.size() == 802);
  CHECK(lines[0] == "sircl WARN first");
  CHECK(lines[1] == "sircl [rank 2] WARN second");
  for (std::size_t i = 2; i < lines.size(); ++i) {
    REQUIRE(lines[i] == "sircl [rank 2] INFO " + std::string(100, 'x'));
  }
}

TEST_CASE("names of levels") {
  CHECK(log::parse_level("none") == log::Level::none);
  CHECK(log::parse_level("trace") == log::Level::trace);
  CHECK_FALSE(log::parse_level("loud"));
}
