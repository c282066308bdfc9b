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
  std::string host;  ///< empty with a file
  std::uint16_t port = 0;
  std::string
      file;  ///< "file:PATH": rank 0 writes host and port there atomically, others wait for it
};

struct Launch {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< rank among those of this host when the launcher says so, else rank
  RootAddress root;
  std::string group;           ///< job name, so that two jobs on one host cannot meet by mistake
  bool hub_elsewhere = false;  ///< the hub runs already (unique id): rank 0 does not start one
  bool part = false;           ///< of a group that was made before: by split()
  std::string
      source;  ///< "SIRCL_*", "torchrun", "Open MPI", "PMI", "PMIx", "Slurm", or "single process"
};

/// "host:port", "[address]:port" or "file:PATH".
Result<RootAddress> parse_root(const std::string& text);

/// Decides from the settings: SIRCL_RANK and SIRCL_SIZE first, then the launchers' variables, all
/// read through config. Incomplete or contradictory variables are one clear error that names them;
/// none at all are a single process. Where the root is, unless SIRCL_ROOT says so:
/// - torchrun: MASTER_ADDR and the port after MASTER_PORT, which the launcher's own store occupies;
/// - Slurm on several hosts: the first host of the step, a port from 20000 worked out of job and
/// step;
/// - one host: a file in a directory of this user, named after the job (or after the parent
/// process);
/// - Open MPI, PMI and PMIx on several hosts: nobody knows, so SIRCL_ROOT is asked for.
Result<Launch> detect_launch(const config::Settings& settings);

}  // namespace sircl::bootstrap
