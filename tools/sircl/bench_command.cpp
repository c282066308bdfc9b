// `sircl bench`: becomes ring_allreduce_bench.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "command.hpp"
#include "programs.hpp"

namespace sircl::cli {
namespace {

constexpr const char* kName = "ring_allreduce_bench";

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bench", "Measure collectives: a front to ring_allreduce_bench");
  command->prefix_command();
  command->footer(
      "All arguments are those of ring_allreduce_bench, which is looked for beside sircl and in "
      "PATH;\n"
      "its own help: sircl bench -- --help\n"
      "Example: sircl bench --local 4 -b 1K -e 16M -f 4\n");
}

int run_bench(const std::vector<std::string>& arguments) {
  auto words = arguments;
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  std::string found = self.parent_path() / kName;
  if (access(found.c_str(), X_OK) != 0) found = find_program(kName, path_variable()).value_or("");
  if (found.empty()) {
    return complain(
        "bench",
        fmt::format("{} is neither in {} nor in PATH; it is built with -DSIRCL_BENCH=ON", kName,
                    self.parent_path().string()),
        kNotFound);
  }
  words.insert(words.begin(), kName);
  auto pointers = pointers_to(words);
  execv(found.c_str(), pointers.data());
  return complain("bench", fmt::format("cannot run {}: {}", found, std::strerror(errno)),
                  kCannotRun);
}

}  // namespace sircl::cli
