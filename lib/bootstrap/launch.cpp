#include "bootstrap/launch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include "bootstrap/nodelist.hpp"

namespace sircl::bootstrap {
namespace {

using config::Settings;

std::optional<int> number(std::string_view text) {
  int value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

/// One launcher: the variables that say who a rank is.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;          ///< ranks on this host: fewer than size means several hosts
  std::array<const char*, 2> job;  ///< the first that is set identifies the job
  const char* required = nullptr;  ///< without it, the others say nothing
};

// torchrun first: its workers may themselves run under another launcher, whose ranks are then
// nodes. PMI before PMIx: MPICH sets PMI_*; Open MPI sets OMPI_* and PMIX_*. Slurm's variables also
// stand in shells and batch scripts, where only the step id of srun says that this is a rank.
constexpr Launcher kLaunchers[] = {
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {nullptr, nullptr},
     "MASTER_ADDR"},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", {"PMI_JOBID", nullptr}},
    {"PMIx",
     "PMIX_RANK",
     "PMIX_SIZE",
     "PMIX_LOCAL_RANK",
     "PMIX_LOCAL_SIZE",
     {"PMIX_NAMESPACE", nullptr},
     "PMIX_SIZE"},
    {"Slurm",
     "SLURM_PROCID",
     "SLURM_NTASKS",
     "SLURM_LOCALID",
     nullptr,
     {"SLURM_JOB_ID", nullptr},
     "SLURM_STEP_ID"},
};

/// The parent's process id and start time: the same for all ranks that one launcher started here.
std::string parent_identity() {
  const int parent = getppid();
  std::ifstream file(fmt::format("/proc/{}/stat", parent));
  std::string line;
  std::getline(file, line);
  // After the command's name, which may hold spaces, the start time is the 20th field.
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 2)));
  std::string field;
  for (int i = 0; i < 20 && fields >> field; ++i) {
  }
  return fmt::format("{}-{}", parent, field);
}

/// A directory that only this user can write to, for rendezvous files.
Result<std::string> private_directory(const Settings& settings) {
  std::string path = settings.foreign("XDG_RUNTIME_DIR").value_or("");
  struct stat info {};
  if (path.empty() || stat(path.c_str(), &info) != 0 || info.st_uid != geteuid()) {
    path = fmt::format("/tmp/sircl-{}", geteuid());
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return {StatusCode::resource, fmt::format("cannot make {} ({}); set SIRCL_ROOT to host:port",
                                                path, std::strerror(errno))};
    }
  }
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 022) != 0) {
    return {StatusCode::resource,
            fmt::format("{} is not a directory that only this user can write to; remove it or set "
                        "SIRCL_ROOT to host:port",
                        path)};
  }
  return path;
}

Result<int> count_of(const Settings& settings, const char* name) {
  const std::string text = settings.foreign(name).value_or("");
  const auto value = number(text);
  if (!value || *value < 0) {
    return {StatusCode::invalid_setting,
            fmt::format("{}={}: must be a whole number from 0", name, text)};
  }
  return *value;
}

struct Found {
  const Launcher* launcher = nullptr;
  bool several_hosts = false;
};

/// Fills in rank, size and local rank from the first launcher that says so.
Result<Found> ask_launchers(const Settings& settings, Launch& launch) {
  for (const Launcher& launcher : kLaunchers) {
    if (launcher.required != nullptr && !settings.foreign(launcher.required)) continue;
    const bool has_rank = settings.foreign(launcher.rank).has_value();
    if (has_rank != settings.foreign(launcher.size).has_value()) {
      return {StatusCode::invalid_setting,
              fmt::format("{} is set but {} is not: the variables of {} are incomplete",
                          has_rank ? launcher.rank : launcher.size,
                          has_rank ? launcher.size : launcher.rank, launcher.name)};
    }
    if (!has_rank) continue;
    auto rank = count_of(settings, launcher.rank);
    if (!rank) return rank.status();
    auto size = count_of(settings, launcher.size);
    if (!size) return size.status();
    launch.rank = launch.local_rank = *rank;
    launch.size = *size;
    launch.source = launcher.name;
    if (settings.foreign(launcher.local_rank)) {
      auto local = count_of(settings, launcher.local_rank);
      if (!local) return local.status();
      launch.local_rank = *local;
    }
    Found found{&launcher, false};
    if (launcher.local_size != nullptr && settings.foreign(launcher.local_size)) {
      auto local = count_of(settings, launcher.local_size);
      if (!local) return local.status();
      found.several_hosts = *local < *size;
    }
    return found;
  }
  // Some PMIx launchers tell the size to a PMIx library only. One rank of many must not take itself
  // for the only one.
  if (settings.foreign("PMIX_RANK") && settings.foreign("PMIX_NAMESPACE")) {
    return {StatusCode::invalid_setting,
            "PMIX_RANK is set, but no variable says how many ranks there are; set SIRCL_RANK, "
            "SIRCL_SIZE and SIRCL_ROOT"};
  }
  launch.source = "single process";
  return Found{};
}

Result<RootAddress> root_of_torchrun(const Settings& settings) {
  const auto port = number(settings.foreign("MASTER_PORT").value_or(""));
  if (!port || *port < 1 || *port > 65534) {
    return {StatusCode::invalid_setting,
            fmt::format("MASTER_ADDR is set, but MASTER_PORT={} is not a port from 1 to 65534",
                        settings.foreign("MASTER_PORT").value_or(""))};
  }
  // The launcher's own store listens on MASTER_PORT.
  return RootAddress{*settings.foreign("MASTER_ADDR"), static_cast<std::uint16_t>(*port + 1), ""};
}

std::string first_of(const Settings& settings, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto value = settings.foreign(name)) return *value;
  }
  return {};
}

/// Task 0 runs on the first host of the step; all ranks can work out the same port.
Result<RootAddress> root_of_slurm(const Settings& settings) {
  const std::string list =
      first_of(settings, {"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"});
  const auto host = first_node(list);
  const auto job = number(first_of(settings, {"SLURM_JOB_ID", "SLURM_JOBID"}));
  const auto step = number(first_of(settings, {"SLURM_STEP_ID"}));
  if (!host || !job || !step) {
    return {
        StatusCode::invalid_setting,
        fmt::format("Slurm runs this step on several hosts, but SLURM_STEP_NODELIST={}, "
                    "SLURM_JOB_ID and SLURM_STEP_ID do not tell where; set SIRCL_ROOT to host:port",
                    list)};
  }
  const auto mixed = static_cast<std::uint32_t>(*job) * 31U + static_cast<std::uint32_t>(*step);
  return RootAddress{*host, static_cast<std::uint16_t>(20000 + mixed % 10000), ""};
}

}  // namespace

Result<RootAddress> parse_root(const std::string& text) {
  RootAddress root;
  if (text.rfind("file:", 0) == 0) {
    root.file = text.substr(5);
    if (!root.file.empty()) return root;
  } else if (const std::size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0) {
    root.host = text.substr(0, colon);
    if (root.host.size() > 2 && root.host.front() == '[' && root.host.back() == ']') {
      root.host = root.host.substr(1, root.host.size() - 2);
    }
    const auto port = number(std::string_view(text).substr(colon + 1));
    if (port && *port > 0 && *port < 65536) {
      root.port = static_cast<std::uint16_t>(*port);
      return root;
    }
  }
  return {StatusCode::invalid_setting,
          fmt::format("SIRCL_ROOT={}: must be host:port with a port from 1 to 65535, or file:PATH",
                      text)};
}

Result<Launch> detect_launch(const Settings& settings) {
  Launch launch;
  launch.group = settings.text("SIRCL_GROUP");
  const bool has_rank = !settings.text("SIRCL_RANK").empty();
  const bool has_size = !settings.text("SIRCL_SIZE").empty();
  if (has_rank != has_size) {
    return {StatusCode::invalid_setting,
            fmt::format("{} is set but {} is not; set both, or neither under a launcher",
                        has_rank ? "SIRCL_RANK" : "SIRCL_SIZE",
                        has_rank ? "SIRCL_SIZE" : "SIRCL_RANK")};
  }
  Found found;
  if (has_rank) {
    launch.rank = launch.local_rank = static_cast<int>(settings.integer("SIRCL_RANK"));
    launch.size = static_cast<int>(settings.integer("SIRCL_SIZE"));
    launch.source = "SIRCL_*";
  } else {
    auto asked = ask_launchers(settings, launch);
    if (!asked) return asked.status();
    found = *asked;
  }
  if (!settings.text("SIRCL_LOCAL_RANK").empty()) {
    launch.local_rank = static_cast<int>(settings.integer("SIRCL_LOCAL_RANK"));
  }
  if (launch.size < 1 || launch.rank >= launch.size) {
    return {StatusCode::invalid_setting,
            fmt::format("rank {} of {} ranks does not exist (from {}); ranks are 0 to size-1",
                        launch.rank, launch.size, launch.source)};
  }
  if (launch.size == 1) return launch;

  if (const std::string root = settings.text("SIRCL_ROOT"); !root.empty()) {
    auto parsed = parse_root(root);
    if (!parsed) return parsed.status();
    launch.root = *parsed;
    return launch;
  }
  if (has_rank) {
    return {StatusCode::invalid_setting,
            "SIRCL_ROOT is not set; set it to host:port of rank 0, or to file:PATH for ranks that "
            "share a file system"};
  }
  const bool slurm = launch.source == "Slurm";
  if (slurm) {
    const std::string nodes = first_of(settings, {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"});
    found.several_hosts = number(nodes).value_or(1) > 1;
  }
  if (launch.source == "torchrun" || (slurm && found.several_hosts)) {
    auto root = slurm ? root_of_slurm(settings) : root_of_torchrun(settings);
    if (!root) return root.status();
    launch.root = *root;
    return launch;
  }
  if (found.several_hosts) {
    return {
        StatusCode::invalid_setting,
        fmt::format("{} runs the {} ranks on several hosts; set SIRCL_ROOT to host:port of rank 0",
                    launch.source, launch.size)};
  }
  auto directory = private_directory(settings);
  if (!directory) return directory.status();
  std::string job;
  for (const char* name : found.launcher->job) {
    if (name != nullptr && job.empty()) job = settings.foreign(name).value_or("");
  }
  if (job.empty()) job = parent_identity();
  if (slurm) job += "-" + settings.foreign("SLURM_STEP_ID").value_or("");
  for (char& c : job) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  }
  launch.root.file = fmt::format("{}/sircl-{}.root", *directory, job);
  return launch;
}

}  // namespace sircl::bootstrap
