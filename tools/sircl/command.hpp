// The sub-commands. Each adds itself to the command line; what it does runs after parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace sircl::cli {

/// Exit statuses beside those of started programs.
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;        ///< the command line is wrong
constexpr int kCannotRun = 126;  ///< as shells say it
constexpr int kNotFound = 127;

/// Set by the sub-command that the command line names.
using Action = std::function<int()>;

/// One line on stderr, "sircl COMMAND: TEXT"; returns `code`.
int complain(const std::string& command, const std::string& text, int code);

void add_env(CLI::App& app, Action& action);
/// `program` is what stands after "--".
void add_launch(CLI::App& app, Action& action, const std::vector<std::string>& program);
void add_bench(CLI::App& app);

/// `sircl bench ARGS...`: every argument is the bench's.
int run_bench(const std::vector<std::string>& arguments);

}  // namespace sircl::cli
