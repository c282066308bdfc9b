// Counters as text: the Prometheus exposition format and JSON, and that they count.
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "sircl/sircl.hpp"
#include "support/catch.hpp"

using namespace sircl;

namespace {

Communicator single() {
  Options options;
  options.rank(0).size(1);
  auto comm = Communicator::create(options);
  INFO(comm.status().to_string());
  REQUIRE(comm.ok());
  return *std::move(comm);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::uint64_t value_of(const std::string& text, const std::string& metric) {
  for (const std::string& line : lines_of(text)) {
    if (line.rfind(metric + "{", 0) == 0) return std::stoull(line.substr(line.rfind(' ') + 1));
  }
  FAIL(metric << " is missing");
  return 0;
}

}  // namespace

TEST_CASE("the Prometheus text keeps to its format") {
  auto comm = single();
  const std::string text = comm.counters_prometheus();
  REQUIRE_FALSE(text.empty());
  CHECK(text.back() == '\n');
  CHECK(text.find('\r') == std::string::npos);
  const std::regex help(R"(# HELP ([a-z_]+) [A-Z][^\n]*)");
  const std::regex type(R"(# TYPE ([a-z_]+) counter)");
  const std::regex sample(R"(([a-z_]+)\{rank="0",transport="[a-z]+"\} [0-9]+)");
  const auto lines = lines_of(text);
  REQUIRE(lines.size() % 3 == 0);
  std::set<std::string> names;
  for (std::size_t i = 0; i < lines.size(); i += 3) {
    INFO(lines[i] << "\n" << lines[i + 1] << "\n" << lines[i + 2]);
    std::smatch a, b, c;
    REQUIRE(std::regex_match(lines[i], a, help));
    REQUIRE(std::regex_match(lines[i + 1], b, type));
    REQUIRE(std::regex_match(lines[i + 2], c, sample));
    CHECK(a[1] == b[1]);
    CHECK(b[1] == c[1]);
    const std::string name = c[1];
    CHECK(names.insert(name).second);
    // The convention for counters.
    CHECK(name.rfind("sircl_", 0) == 0);
    CHECK(name.size() > 12);
    CHECK(name.substr(name.size() - 6) == "_total");
  }
  CHECK(names.size() >= 8);
}

TEST_CASE("counters count operations and failures") {
  auto comm = single();
  std::vector<float> data(100, 1.0F);
  for (int i = 0; i < 5; ++i) REQUIRE(comm.all_reduce(std::span<float>(data)).ok());
  CHECK(comm.counters().operations == 5);
  CHECK(value_of(comm.counters_prometheus(), "sircl_operations_total") == 5);
  CHECK(value_of(comm.counters_prometheus(), "sircl_bytes_in_total") == 5 * 400);
  CHECK(value_of(comm.counters_prometheus(), "sircl_failures_total") == 0);
  comm.abort("enough");
  CHECK_FALSE(comm.barrier().ok());
  CHECK(comm.counters().operations == 5);
}

TEST_CASE("JSON and Prometheus show the same numbers") {
  auto comm = single();
  REQUIRE(comm.barrier().ok());
  const std::string json = comm.counters_json();
  INFO(json);
  CHECK(std::regex_match(
      json, std::regex(R"(\{"rank":0,"size":1,"transport":"[a-z]+"(,"[a-z_]+":[0-9]+)+\})")));
  const std::string prometheus = comm.counters_prometheus();
  const std::regex field(R"re("([a-z_]+)":([0-9]+))re");
  int compared = 0;
  for (auto at = std::sregex_iterator(json.begin(), json.end(), field);
       at != std::sregex_iterator(); ++at) {
    const std::string name = (*at)[1];
    if (name == "rank" || name == "size") continue;
    CHECK(value_of(prometheus, "sircl_" + name + "_total") == std::stoull((*at)[2]));
    ++compared;
  }
  CHECK(compared >= 8);
}

TEST_CASE("the start-up block names what runs, and hides the secret") {
  Options options;
  options.rank(0).size(1).set("secret", "open sesame").set("yield_us", "1234");
  auto comm = Communicator::create(options);
  REQUIRE(comm.ok());
  const std::string text = comm->describe();
  INFO(text);
  CHECK(text.rfind("sircl " + std::string(version()) + ": 1 ranks, this is rank 0", 0) == 0);
  CHECK(text.find("\n  Transport: sircl (shm), NCCL: absent\n") != std::string::npos);
  CHECK(text.find("\n  all_reduce: 4 KiB by exchange, 1 MiB by direct; kernels: ") !=
        std::string::npos);
  CHECK(text.find("SIRCL_YIELD_US=1234 (from options)") != std::string::npos);
  CHECK(text.find("SIRCL_SECRET=*** (from options)") != std::string::npos);
  CHECK(text.find("sesame") == std::string::npos);
  CHECK(text.back() != '\n');
  const auto lines = lines_of(text);
  for (std::size_t i = 1; i < lines.size(); ++i) CHECK(lines[i].rfind("  ", 0) == 0);
}
