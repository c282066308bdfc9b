// `sircl env`: every setting, its value here and where it came from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bootstrap/launch.hpp"
#include "command.hpp"
#include "config/settings.hpp"

namespace sircl::cli {
namespace {

using bootstrap::Launch;
using config::Setting;
using config::Settings;

std::string shown_value(const Settings& settings, const Setting& setting) {
  const std::string value = settings.text(setting.name);
  return setting.secret && !value.empty() ? "***" : value;
}

std::string root_text(const Launch& launch) {
  if (!launch.root.file.empty()) return "file:" + launch.root.file;
  if (launch.root.host.empty()) return "";
  const bool v6 = launch.root.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", launch.root.host, v6 ? "]" : "", launch.root.port);
}

std::vector<std::string> warnings_of(const Settings& settings) {
  std::vector<std::string> warnings;
  for (const Setting& setting : config::registry()) {
    if (settings.is_default(setting.name) || setting.has_effect()) continue;
    warnings.push_back(fmt::format("{} is set (from {}) but has no effect in this version",
                                   setting.name, settings.source(setting.name)));
  }
  return warnings;
}

nlohmann::ordered_json to_json(const Settings& settings, const Launch& launch) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Setting& setting : config::registry()) {
    rows.push_back({{"name", setting.name},
                    {"value", shown_value(settings, setting)},
                    {"source", settings.source(setting.name)},
                    {"unit", setting.unit},
                    {"default", setting.default_value},
                    {"same_on_all_ranks", setting.wire},
                    {"has_effect", setting.has_effect()},
                    {"doc", setting.doc}});
  }
  return {{"launch",
           {{"source", launch.source},
            {"rank", launch.rank},
            {"size", launch.size},
            {"local_rank", launch.local_rank},
            {"root", root_text(launch)}}},
          {"settings", rows},
          {"warnings", warnings_of(settings)}};
}

void print_text(const Settings& settings, const Launch& launch) {
  const std::string root = root_text(launch);
  fmt::print("launcher: {}, rank {} of {}, local rank {}, root {}\n\n", launch.source, launch.rank,
             launch.size, launch.local_rank, root.empty() ? "none" : root);
  struct Row {
    std::string name, value, source, standard, doc;
  };
  std::vector<Row> rows = {{"setting", "value", "source", "default", "meaning"}};
  for (const Setting& setting : config::registry()) {
    const auto dash = [](std::string text) { return text.empty() ? std::string("-") : text; };
    std::string value = shown_value(settings, setting);
    std::string standard(setting.default_value);
    if (!setting.unit.empty()) {
      for (std::string* text : {&value, &standard}) {
        if (!text->empty() && text->find_first_not_of("0123456789.") == std::string::npos)
          *text += fmt::format(" {}", setting.unit);
      }
    }
    rows.push_back({std::string(setting.name), dash(value), settings.source(setting.name),
                    dash(standard), std::string(setting.doc)});
  }
  std::size_t name = 0, value = 0, source = 0, standard = 0;
  constexpr std::size_t kWidest = 32;  // longer ones break out of their column
  for (const Row& row : rows) {
    name = std::max(name, row.name.size());
    value = std::max(value, std::min(row.value.size(), kWidest));
    source = std::max(source, std::min(row.source.size(), kWidest));
    standard = std::max(standard, std::min(row.standard.size(), kWidest));
  }
  for (const Row& row : rows) {
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {}\n", row.name, name, row.value, value, row.source,
               source, row.standard, standard, row.doc);
  }
}

int show(bool as_json) {
  const auto settings = Settings::load();
  if (!settings) return complain("env", settings.status().message(), kFailed);
  const auto launch = bootstrap::detect_launch(*settings);
  if (!launch) return complain("env", launch.status().message(), kFailed);
  if (as_json) {
    fmt::print(
        "{}\n",
        to_json(*settings, *launch).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print_text(*settings, *launch);
  }
  for (const std::string& warning : warnings_of(*settings)) {
    fmt::print(stderr, "sircl env: warning: {}\n", warning);
  }
  return kDone;
}

}  // namespace

void add_env(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("env", "Every setting, its value here and where it came from");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "As JSON");
  command->footer("Example: SIRCL_DEBUG=info sircl env --json\n");
  command->callback([as_json, &action] { action = [as_json] { return show(*as_json); }; });
}

}  // namespace sircl::cli
