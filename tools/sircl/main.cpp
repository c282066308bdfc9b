#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "command.hpp"
#include "sircl/communicator.hpp"

namespace sircl::cli {

int complain(const std::string& command, const std::string& text, int code) {
  fmt::print(stderr, "sircl{}{}: {}\n", command.empty() ? "" : " ", command, text);
  return code;
}

namespace {

int run(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "bench") {
    words.erase(words.begin());
    if (words.empty() || (words.front() != "--help" && words.front() != "-h")) {
      return run_bench(words);
    }
    words = {"bench", "--help"};
  }
  // What follows "--" belongs to the program that is started.
  std::vector<std::string> program;
  if (const auto dashes = std::find(words.begin(), words.end(), "--"); dashes != words.end()) {
    program.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }

  Action action;
  CLI::App app("Ring collectives for machines that are cabled to each other without a switch",
               "sircl");
  app.set_version_flag("--version", fmt::format("sircl {}", version()));
  app.require_subcommand(1);
  add_env(app, action);
  add_launch(app, action, program);
  add_bench(app);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (!words.empty() && words.front().rfind('-', 0) != 0 &&
      std::find(names.begin(), names.end(), words.front()) == names.end()) {
    return complain(
        "",
        fmt::format("there is no command {}; known are {}", words.front(), fmt::join(names, ", ")),
        kUsage);
  }
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string name = chosen.empty() ? "" : chosen.front()->get_name();
    return complain(
        name, fmt::format("{}; see sircl {}{}--help", error.what(), name, name.empty() ? "" : " "),
        kUsage);
  }
  return action ? action() : kFailed;
}

}  // namespace
}  // namespace sircl::cli

int main(int argc, char** argv) {
  return sircl::cli::run(std::vector<std::string>(argv + 1, argv + argc));
}
