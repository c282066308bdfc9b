// Settings that need the group's size to be judged, and what the README says of settings.
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "comm/checks.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::detail;

namespace {

Result<Checked> check(const std::map<std::string, std::string>& values, int size) {
  const auto settings = config::Settings::load(values, {});
  if (!settings) return settings.status();
  return check_settings(*settings, size);
}

std::string message(const std::map<std::string, std::string>& values, int size) {
  const auto checked = check(values, size);
  if (checked) return "accepted";
  CHECK(checked.status().code() == StatusCode::invalid_setting);
  return checked.status().message();
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a fabric must have as many positions as the group has ranks") {
  using topology::Fabric;
  using topology::FabricKind;
  CHECK(check({{"FABRIC", "ring:4"}}, 4)->fabric == Fabric{FabricKind::ring, 4});
  CHECK(check({{"FABRIC", "path:3"}}, 3)->fabric == Fabric{FabricKind::path, 3});
  CHECK(check({{"FABRIC", "pair"}}, 2)->fabric == Fabric{FabricKind::pair, 2});
  CHECK_FALSE(check({{"FABRIC", "auto"}}, 5)->fabric.has_value());

  const std::string text = message({{"FABRIC", "path:3"}}, 4);
  CHECK(has(text, "SIRCL_FABRIC=path:3 has 3 positions"));
  CHECK(has(text, "4 ranks"));
  CHECK(has(text, "set it to auto"));
  CHECK(has(message({{"FABRIC", "pair"}}, 1), "1 rank;"));
  CHECK(has(message({{"FABRIC", "torus:4"}}, 4), "torus:4"));
}

TEST_CASE("exact numerics go with algorithms that round once, and only with those") {
  using schedule::Algorithm;
  for (const char* good : {"direct", "exchange", "auto"}) {
    INFO(good);
    CHECK(check({{"NUMERICS", "exact"}, {"ALGORITHM", good}}, 4).ok());
  }
  for (const char* bad : {"ring", "path", "recursive_doubling", "halving_doubling"}) {
    INFO(bad);
    CHECK(has(message({{"NUMERICS", "exact"}, {"ALGORITHM", bad}}, 4),
              std::string("SIRCL_ALGORITHM=") + bad));
    CHECK(check({{"ALGORITHM", bad}}, 4)->algorithm.has_value());
  }
  CHECK(check({{"ALGORITHM", "ring"}}, 4)->algorithm == Algorithm::ring);
  CHECK_FALSE(check({}, 4)->algorithm.has_value());
}

TEST_CASE("an instruction set that this machine lacks is refused") {
  CHECK(has(message({{"SIMD", "abacus"}}, 1), "abacus"));
}

TEST_CASE("the README's settings exist and do something") {
  std::ifstream file(SIRCL_README);
  REQUIRE(file.is_open());
  std::stringstream content;
  content << file.rdbuf();
  std::string text = content.str();
  const std::size_t begin = text.find("<!-- settings -->");
  const std::size_t end = text.find("<!-- /settings -->");
  REQUIRE(begin < end);
  REQUIRE(end != std::string::npos);
  text = text.substr(begin, end - begin);
  int found = 0;
  for (std::size_t at = text.find("SIRCL_"); at != std::string::npos;
       at = text.find("SIRCL_", at + 1)) {
    const std::string name =
        text.substr(at, text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at) - at);
    INFO(name);
    bool works = false;
    for (const config::Setting& setting : config::registry()) {
      works = works || (setting.name == name && setting.has_effect());
    }
    CHECK(works);
    ++found;
  }
  CHECK(found > 10);
}
