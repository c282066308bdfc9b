// Which ranks share a host, and on which processors they run there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sircl::detail {

/// Where one rank runs. Ranks exchange it as text.
struct Place {
  std::string key;              ///< equal for ranks that share a host, see sys::host_key()
  std::string name;             ///< of the host, for people
  std::vector<int> processors;  ///< that the rank may run on

  [[nodiscard]] static Place here(std::vector<int> processors);
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static Place from_text(std::string_view text);
};

class Hosts {
 public:
  Hosts() = default;
  Hosts(std::vector<Place> by_rank, int rank) : places_(std::move(by_rank)), rank_(rank) {}

  /// Ranks on the host of this rank.
  [[nodiscard]] int ranks_here() const;
  [[nodiscard]] bool one_host() const { return ranks_here() == static_cast<int>(places_.size()); }
  /// How many ranks of this host have a lower number than this one.
  [[nodiscard]] int local_index() const;
  /// Processors that at least one rank of this host may run on.
  [[nodiscard]] int processors_here() const;
  /// "alpha (ranks 0-1), beta (rank 2)"
  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<Place> places_;
  int rank_ = 0;
};

}  // namespace sircl::detail
