#include "config/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cctype>
#include <fstream>

extern char** environ;

namespace sircl::config {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::string trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return std::string(text);
}

const Setting* find(std::string_view name) {
  for (const Setting& setting : registry()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view name) {
  std::string_view best;
  std::size_t least = SIZE_MAX;
  for (const Setting& setting : registry()) {
    const std::size_t d = distance(name, setting.name);
    if (d < least) {
      least = d;
      best = setting.name;
    }
  }
  return best;
}

/// "64K", "1MiB", "4096".
std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  std::string suffix = upper(std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)));
  int shift = 0;
  if (!suffix.empty()) {
    switch (suffix[0]) {
      case 'K': shift = 10; break;
      case 'M': shift = 20; break;
      case 'G': shift = 30; break;
      case 'T': shift = 40; break;
      case 'B': shift = 0; break;
      default: return std::nullopt;
    }
    const std::string rest = suffix.substr(1);
    if (!(rest.empty() || (suffix[0] != 'B' && (rest == "B" || rest == "IB")))) return std::nullopt;
  }
  if (value > (INT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

std::optional<double> parse_seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e9) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool has_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    choices = bar == std::string_view::npos ? std::string_view() : choices.substr(bar + 1);
  }
  return false;
}

Status malformed(const Setting& setting, std::string_view value, std::string_view source, std::string_view wanted) {
  return {StatusCode::invalid_setting,
          fmt::format("{}={} (from {}): {}", setting.name, setting.secret ? "***" : value, source, wanted)};
}

Status check(const Setting& setting, std::string_view value, std::string_view source) {
  const auto range = [&](std::int64_t number) -> Status {
    if (number >= setting.minimum && number <= setting.maximum) return {};
    return malformed(setting, value, source,
                     fmt::format("must be from {} to {} {}", setting.minimum, setting.maximum, setting.unit));
  };
  switch (setting.type) {
    case SettingType::text:
      return {};
    case SettingType::integer:
      if (const auto number = parse_integer(value)) return range(*number);
      return malformed(setting, value, source, "must be a whole number");
    case SettingType::size_bytes:
      if (const auto number = parse_size(value)) return range(*number);
      return malformed(setting, value, source, "must be a size such as 65536, 64K or 1MiB");
    case SettingType::seconds:
      if (const auto number = parse_seconds(value)) return range(static_cast<std::int64_t>(*number));
      return malformed(setting, value, source, "must be a number of seconds such as 5 or 2.5");
    case SettingType::boolean:
      if (has_choice("0|1|true|false|yes|no|on|off", value)) return {};
      return malformed(setting, value, source, "must be 0 or 1");
    case SettingType::choice:
      if (has_choice(setting.choices, value)) return {};
      return malformed(setting, value, source, fmt::format("must be one of {}", setting.choices));
  }
  return {};
}

}  // namespace

Result<Settings> Settings::load(const std::map<std::string, std::string>& overrides) {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return load(overrides, environment);
}

Result<Settings> Settings::load(const std::map<std::string, std::string>& overrides,
                                const std::map<std::string, std::string>& environment) {
  Settings settings;
  for (const auto& [name, value] : environment) settings.environment_.emplace(name, value);

  // From the weakest source to the strongest; each may only name settings that exist.
  const auto take = [&](std::string_view name, std::string_view value, const std::string& source) -> Status {
    const Setting* setting = find(name);
    if (setting == nullptr) {
      return {StatusCode::invalid_setting,
              fmt::format("unknown setting {} (from {}); did you mean {}?", name, source, nearest(name))};
    }
    if (value.empty()) return {};  // as good as unset
    std::string text(value);
    if (setting->type == SettingType::choice || setting->name == "SIRCL_DEBUG") {
      for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    if (Status status = check(*setting, text, source); !status.ok()) return status;
    settings.values_[std::string(setting->name)] = {text, source};
    return {};
  };
  for (const Setting& setting : registry()) {
    settings.values_[std::string(setting.name)] = {std::string(setting.default_value), "default"};
  }
  std::string file_name;
  if (const auto found = environment.find("SIRCL_CONFIG_FILE"); found != environment.end()) file_name = found->second;
  for (const auto& [name, value] : overrides) {
    if (upper(name) == "CONFIG_FILE" || upper(name) == "SIRCL_CONFIG_FILE") file_name = value;
  }
  if (!file_name.empty()) {
    std::ifstream file(file_name);
    if (!file) {
      return {StatusCode::invalid_setting, fmt::format("cannot read SIRCL_CONFIG_FILE {}", file_name)};
    }
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      line = trim(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      const std::string source = fmt::format("file {} line {}", file_name, number);
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos) {
        return {StatusCode::invalid_setting, fmt::format("{}: '{}' is not of the form NAME=value", source, line)};
      }
      if (Status status = take(trim(line.substr(0, equals)), trim(line.substr(equals + 1)), source); !status.ok()) {
        return status;
      }
    }
  }
  for (const Setting& setting : registry()) {
    if (setting.fallback.empty()) continue;
    if (const auto found = environment.find(std::string(setting.fallback)); found != environment.end()) {
      if (Status status = take(setting.name, found->second, fmt::format("environment {}", setting.fallback)); !status.ok()) {
        return status;
      }
    }
  }
  for (const auto& [name, value] : environment) {
    if (name.rfind("SIRCL_", 0) != 0) continue;
    if (Status status = take(name, value, "environment"); !status.ok()) return status;
  }
  for (const auto& [name, value] : overrides) {
    std::string full = upper(name);
    if (full.rfind("SIRCL_", 0) != 0) full = "SIRCL_" + full;
    if (Status status = take(full, value, "options"); !status.ok()) return status;
  }
  return settings;
}

std::string Settings::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second.text;
}

std::int64_t Settings::integer(std::string_view name) const {
  return parse_size(text(name)).value_or(parse_integer(text(name)).value_or(0));
}

std::chrono::milliseconds Settings::duration(std::string_view name) const {
  return std::chrono::milliseconds(static_cast<std::int64_t>(parse_seconds(text(name)).value_or(0) * 1000));
}

bool Settings::boolean(std::string_view name) const { return has_choice("1|true|yes|on", text(name)); }

bool Settings::is_default(std::string_view name) const { return source(name) == "default"; }

std::string Settings::source(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string("default") : found->second.source;
}

std::optional<std::string> Settings::foreign(std::string_view name) const {
  const auto found = environment_.find(name);
  if (found == environment_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::vector<std::pair<std::string, std::string>> Settings::wire_values() const {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const Setting& setting : registry()) {
    if (setting.wire) fields.emplace_back(setting.name, text(setting.name));
  }
  return fields;
}

}  // namespace sircl::config
