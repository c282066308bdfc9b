// `sircl launch`: N ranks of a program on this host.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>

#include "command.hpp"
#include "config/settings.hpp"
#include "programs.hpp"
#include "rank_set.hpp"

extern char** environ;

namespace sircl::cli {
namespace {

constexpr const char* kName = "launch";
constexpr std::array kSetHere = {"SIRCL_RANK", "SIRCL_SIZE", "SIRCL_LOCAL_RANK", "SIRCL_ROOT"};

struct LaunchOptions {
  int ranks = 0;
  std::string pin = "none";
  std::vector<std::string> variables;
  bool prefix = false;
  double grace_s = 10;
};

bool is_set_here(const std::string& name) {
  for (const char* const own : kSetHere) {
    if (name == own) return true;
  }
  return false;
}

using Variables = std::map<std::string, std::string>;

Result<Variables> variables_of_ranks(const LaunchOptions& options) {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || is_set_here(text.substr(0, equals))) continue;
    variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const std::string& text : options.variables) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return {StatusCode::invalid_argument, fmt::format("--env {}: must be NAME=VALUE", text)};
    }
    const std::string name = text.substr(0, equals);
    if (is_set_here(name)) {
      return {StatusCode::invalid_argument,
              fmt::format("--env {}: the launcher sets {} itself; leave it out", text, name)};
    }
    variables[name] = text.substr(equals + 1);
  }
  // One clear line here instead of the same one from every rank.
  if (const auto settings = config::Settings::load({}, variables); !settings)
    return settings.status();
  return variables;
}

int launch(const LaunchOptions& options, const std::vector<std::string>& program) {
  if (program.empty()) {
    return complain(
        kName,
        "no program is named; it stands after --, for example: sircl launch -n 4 -- ./program",
        kUsage);
  }
  const auto variables = variables_of_ranks(options);
  if (!variables) return complain(kName, variables.status().message(), kUsage);
  const auto path = variables->find("PATH");
  const auto found =
      find_program(program.front(), path == variables->end() ? path_variable() : path->second);
  if (!found) {
    return complain(
        kName,
        fmt::format(
            "{} is not there{}", program.front(),
            program.front().find('/') == std::string::npos ? " (looked for it in PATH)" : ""),
        kNotFound);
  }
  RankSet set;
  set.ranks = options.ranks;
  set.program = *found;
  set.arguments = program;
  for (const auto& [name, value] : *variables)
    set.environment.push_back(fmt::format("{}={}", name, value));
  set.pin = options.pin == "cores" ? Pin::cores : Pin::none;
  set.output = options.prefix ? Output::prefixed : Output::as_it_is;
  set.grace = std::chrono::milliseconds(static_cast<std::int64_t>(options.grace_s * 1000));
  return run_ranks(set);
}

}  // namespace

void add_launch(CLI::App& app, Action& action, const std::vector<std::string>& program) {
  CLI::App* command = app.add_subcommand("launch", "Start ranks of a program on this host");
  const auto options = std::make_shared<LaunchOptions>();
  command->add_option("-n,--ranks", options->ranks, "How many ranks")
      ->required()
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--pin", options->pin,
                   "none, or cores: rank r on allowed core r mod the number of cores")
      ->check(CLI::IsMember({"none", "cores"}))
      ->capture_default_str();
  command->add_option("--env", options->variables, "NAME=VALUE for the ranks; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--prefix", options->prefix, "Write the rank before each line of output");
  command
      ->add_option("--grace", options->grace_s,
                   "Seconds that a failure leaves the other ranks to report, and a signal all of "
                   "them to end")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  command->footer(
      "Usage: sircl launch -n N [OPTIONS] -- PROGRAM [ARGUMENTS...]\n"
      "Ranks find each other through SIRCL_RANK, SIRCL_SIZE, SIRCL_LOCAL_RANK and SIRCL_ROOT; "
      "their\n"
      "standard input is empty. SIGINT, SIGTERM and SIGHUP are passed on; a second one kills. The "
      "exit\n"
      "status is that of the first rank that failed (128 + signal if one ended it), else 0.\n"
      "Example: sircl launch -n 4 --prefix --env SIRCL_DEBUG=info -- ./program --size 1M\n");
  command->callback([options, program, &action] {
    action = [options, program] { return launch(*options, program); };
  });
}

}  // namespace sircl::cli
