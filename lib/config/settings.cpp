#include "config/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "config/parse.hpp"

extern char** environ;

namespace sircl::config {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

const Setting* find(std::string_view name) {
  for (const Setting& setting : registry()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::string_view nearest(std::string_view name) {
  name = name.substr(0, 64);  // nothing longer is near to any name
  std::string_view best;
  std::size_t least = SIZE_MAX;
  for (const Setting& setting : registry()) {
    const std::size_t d = edit_distance(name, setting.name);
    if (d < least) {
      least = d;
      best = setting.name;
    }
  }
  return best;
}

Status malformed(const Setting& setting, std::string_view value, std::string_view source,
                 std::string_view wanted) {
  return {StatusCode::invalid_setting, fmt::format("{}={} (from {}): {}", setting.name,
                                                   setting.secret ? "***" : value, source, wanted)};
}

std::string allowed_range(const Setting& setting) {
  const std::string_view space = setting.unit.empty() ? "" : " ";
  if (setting.maximum == INT64_MAX) {
    return fmt::format("must be at least {}{}{}", setting.minimum, space, setting.unit);
  }
  return fmt::format("must be from {} to {}{}{}", setting.minimum, setting.maximum, space,
                     setting.unit);
}

Status check(const Setting& setting, std::string_view value, std::string_view source) {
  const auto range = [&](std::int64_t number) -> Status {
    if (number >= setting.minimum && number <= setting.maximum) return {};
    return malformed(setting, value, source, allowed_range(setting));
  };
  switch (setting.type) {
    case SettingType::text:
      return {};
    case SettingType::integer:
      if (has_choice(setting.choices, value)) return {};
      if (const auto number = parse_integer(value)) return range(*number);
      return malformed(setting, value, source,
                       setting.choices.empty()
                           ? std::string("must be a whole number")
                           : fmt::format("must be a whole number or {}", setting.choices));
    case SettingType::size_bytes:
      if (const auto number = parse_size(value)) return range(*number);
      return malformed(setting, value, source, "must be a size such as 65536, 64K or 1MiB");
    case SettingType::seconds:
      if (const auto number = parse_seconds(value))
        return range(static_cast<std::int64_t>(*number));
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
  const auto take = [&](std::string_view name, std::string_view value,
                        const std::string& source) -> Status {
    const Setting* setting = find(name);
    if (setting == nullptr) {
      return {StatusCode::invalid_setting,
              fmt::format("unknown setting {} (from {}); did you mean {}?", name, source,
                          nearest(name))};
    }
    if (value.empty()) return {};  // as good as unset
    std::string text(value);
    if (setting->type == SettingType::choice || setting->type == SettingType::boolean ||
        has_choice(setting->choices, lower(text))) {
      text = lower(text);
    }
    if (Status status = check(*setting, text, source); !status.ok()) return status;
    settings.values_[std::string(setting->name)] = {text, source};
    return {};
  };
  for (const Setting& setting : registry()) {
    settings.values_[std::string(setting.name)] = {std::string(setting.default_value), "default"};
  }
  std::string file_name;
  if (const auto found = environment.find("SIRCL_CONFIG_FILE"); found != environment.end())
    file_name = found->second;
  for (const auto& [name, value] : overrides) {
    if (upper(name) == "CONFIG_FILE" || upper(name) == "SIRCL_CONFIG_FILE") file_name = value;
  }
  if (!file_name.empty()) {
    std::ifstream file(file_name);
    if (file) file.peek();  // a directory opens well and fails here
    if (file.bad() || !file.is_open()) {
      return {StatusCode::invalid_setting,
              fmt::format("cannot read SIRCL_CONFIG_FILE {}", file_name)};
    }
    std::stringstream content;
    content << file.rdbuf();
    const auto lines = parse_lines(content.str());
    if (!lines) {
      return {StatusCode::invalid_setting,
              fmt::format("SIRCL_CONFIG_FILE {}: {}", file_name, lines.status().message())};
    }
    for (const Line& line : *lines) {
      const std::string source = fmt::format("file {} line {}", file_name, line.number);
      if (line.name == "SIRCL_CONFIG_FILE") {
        return {StatusCode::invalid_setting,
                fmt::format("{}: a file of settings cannot name another one", source)};
      }
      if (Status status = take(line.name, line.value, source); !status.ok()) return status;
    }
  }
  for (const Setting& setting : registry()) {
    if (setting.fallback.empty()) continue;
    if (const auto found = environment.find(std::string(setting.fallback));
        found != environment.end()) {
      if (Status status =
              take(setting.name, found->second, fmt::format("environment {}", setting.fallback));
          !status.ok()) {
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
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(parse_seconds(text(name)).value_or(0) * 1000));
}

bool Settings::boolean(std::string_view name) const {
  return has_choice("1|true|yes|on", text(name));
}

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
    if (!setting.wire) continue;
    // The same size may be written as 64K or as 65536.
    const bool is_size = setting.type == SettingType::size_bytes;
    fields.emplace_back(setting.name,
                        is_size ? std::to_string(integer(setting.name)) : text(setting.name));
  }
  return fields;
}

}  // namespace sircl::config
