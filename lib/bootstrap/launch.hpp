// Who am I: rank, size and root from SIRCL_*, torchrun, Open MPI, PMI/PMIx or Slurm variables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "sircl/status.hpp"

namespace sircl::bootstrap {

/// Where the hub is to be found: an address, or a file in which rank 0 publishes it.
struct RootAddress {
  std::string host;        ///< empty with a file
  std::uint16_t port = 0;
  std::string file;        ///< "file:PATH": rank 0 writes host and port there atomically, others wait for it
};

struct Launch {
  int rank = 0;
  int size = 1;
  int local_rank = 0;      ///< rank among those of this host when the launcher says so, else rank
  RootAddress root;
  std::string group;       ///< job name, so that two jobs on one host cannot meet by mistake
  bool hub_elsewhere = false;  ///< the hub runs already (unique id): rank 0 does not start one
  std::string source;      ///< "SIRCL_*", "torchrun", "Open MPI", "PMI", "PMIx", "Slurm", or "single process"
};

/// Decides from the settings (explicit SIRCL_RANK/SIRCL_SIZE/SIRCL_ROOT first, then the launchers' variables,
/// all read through config). Incomplete or contradictory variables are one clear error that names
/// them. Without a launcher's address (Open MPI, PMI, Slurm on one host) the root is a file in a
/// private directory derived from the job id and user, so that nothing needs to be configured on one host.
Result<Launch> detect_launch(const config::Settings& settings);

}  // namespace sircl::bootstrap
