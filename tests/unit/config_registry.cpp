// The registry keeps its own rules, and the README's table says what it says.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "config/parse.hpp"
#include "config/settings.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::config;

namespace {

std::string_view type_name(SettingType type) {
  switch (type) {
    case SettingType::text:
      return "text";
    case SettingType::integer:
      return "integer";
    case SettingType::size_bytes:
      return "size";
    case SettingType::seconds:
      return "seconds";
    case SettingType::boolean:
      return "yes or no";
    case SettingType::choice:
      return "choice";
  }
  return "";
}

/// One row of the table in lib/config/README.md.
std::string row(const Setting& setting) {
  std::string value = setting.default_value.empty() ? "-" : std::string(setting.default_value);
  if (!setting.unit.empty() && value != "-") value += fmt::format(" {}", setting.unit);
  std::string text = std::string(setting.doc);
  if (!setting.choices.empty()) {
    std::string choices(setting.choices);
    std::replace(choices.begin(), choices.end(), '|', ' ');
    text += fmt::format(" ({})", choices);
  }
  if (!setting.fallback.empty()) text += fmt::format("; else {}", setting.fallback);
  if (setting.wire) text += "; same on all ranks";
  return fmt::format("| {} | {} | {} | {} |", setting.name, type_name(setting.type), value, text);
}

}  // namespace

TEST_CASE("names are sorted, unique and ours") {
  std::string before;
  for (const Setting& setting : registry()) {
    INFO(setting.name);
    CHECK(before < setting.name);
    CHECK(setting.name.substr(0, 6) == "SIRCL_");
    CHECK_FALSE(setting.doc.empty());
    CHECK(setting.doc.find('|') == std::string_view::npos);
    CHECK((setting.type != SettingType::choice ||
           has_choice(setting.choices, setting.default_value)));
    CHECK_FALSE((setting.wire && setting.secret));
    before = setting.name;
  }
}

TEST_CASE("every default is a value that would be accepted") {
  for (const Setting& setting : registry()) {
    if (setting.default_value.empty()) continue;
    INFO(setting.name);
    CHECK(
        Settings::load({{std::string(setting.name), std::string(setting.default_value)}}, {}).ok());
  }
}

TEST_CASE("the README's table is the registry") {
  std::ifstream file(SIRCL_CONFIG_README);
  REQUIRE(file.is_open());
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| SIRCL_", 0) == 0) found.push_back(line);
  }
  std::vector<std::string> wanted;
  std::string table;
  for (const Setting& setting : registry()) {
    wanted.push_back(row(setting));
    table += wanted.back() + "\n";
  }
  INFO("the table should be:\n" << table);
  CHECK(found == wanted);
}
