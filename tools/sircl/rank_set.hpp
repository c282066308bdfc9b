// N ranks of one program on this host, from their start to the end of the last one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace sircl::cli {

enum class Pin : std::uint8_t { none, cores };
enum class Output : std::uint8_t { as_it_is, prefixed };

struct RankSet {
  int ranks = 1;
  std::string program;                   ///< path of the executable
  std::vector<std::string> arguments;    ///< with its name
  std::vector<std::string> environment;  ///< NAME=VALUE, without what says who a rank is
  Pin pin = Pin::none;
  Output output = Output::as_it_is;
  std::chrono::milliseconds grace{10'000};  ///< what a failure leaves the others, and a signal all
};

/// Starts them and waits. The exit status of the first rank that failed, else 0.
int run_ranks(const RankSet& set);

}  // namespace sircl::cli
