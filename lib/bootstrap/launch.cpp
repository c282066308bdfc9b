#include "bootstrap/launch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

namespace sircl::bootstrap {
namespace {

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One launcher: the variables that say who a rank is.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;  ///< or null
  const char* job;         ///< identifies the job, or null
};

// PMI before PMIx: MPICH sets PMI_*, Open MPI sets OMPI_* and PMIX_*.
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_JOBID"},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE", nullptr, "PMIX_NAMESPACE"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID"},
};

/// The parent's process id and start time: the same for all ranks that one launcher started here.
std::string parent_identity() {
  const int parent = getppid();
  std::ifstream file(fmt::format("/proc/{}/stat", parent));
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 2)));
  std::string field;
  for (int i = 0; i < 20 && fields >> field; ++i) {
  }
  return fmt::format("{}-{}", parent, field);
}

/// A directory that only this user can write to, for rendezvous files.
Result<std::string> private_directory(const config::Settings& settings) {
  std::string path = settings.foreign("XDG_RUNTIME_DIR").value_or("");
  struct stat info {};
  if (path.empty() || stat(path.c_str(), &info) != 0 || info.st_uid != geteuid()) {
    path = fmt::format("/tmp/sircl-{}", geteuid());
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return {StatusCode::resource, fmt::format("cannot make {}; set SIRCL_ROOT to host:port", path)};
    }
  }
  if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022) != 0) {
    return {StatusCode::resource,
            fmt::format("{} is not a directory that only this user can write to; remove it or set SIRCL_ROOT to host:port", path)};
  }
  return path;
}

Result<RootAddress> parse_root(const std::string& text, const std::string& source) {
  RootAddress root;
  if (text.rfind("file:", 0) == 0) {
    root.file = text.substr(5);
    if (!root.file.empty()) return root;
  } else if (const std::size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0) {
    root.host = text.substr(0, colon);
    if (root.host.size() > 2 && root.host.front() == '[' && root.host.back() == ']') {
      root.host = root.host.substr(1, root.host.size() - 2);
    }
    const auto port = number(text.substr(colon + 1));
    if (port && *port > 0 && *port < 65536) {
      root.port = static_cast<std::uint16_t>(*port);
      return root;
    }
  }
  return {StatusCode::invalid_setting,
          fmt::format("SIRCL_ROOT={} (from {}): must be host:port with a port from 1 to 65535, or file:PATH", text, source)};
}

Result<int> rank_variable(const config::Settings& settings, const char* name) {
  const std::string text = settings.foreign(name).value_or("");
  const auto value = number(text);
  if (!value || *value < 0) {
    return {StatusCode::invalid_setting, fmt::format("{}={}: must be a whole number from 0", name, text)};
  }
  return *value;
}

}  // namespace

Result<Launch> detect_launch(const config::Settings& settings) {
  Launch launch;
  launch.group = settings.text("SIRCL_GROUP");
  const bool has_rank = !settings.text("SIRCL_RANK").empty();
  const bool has_size = !settings.text("SIRCL_SIZE").empty();
  if (has_rank != has_size) {
    return {StatusCode::invalid_setting, fmt::format("{} is set but {} is not; set both, or neither under a launcher",
                                                     has_rank ? "SIRCL_RANK" : "SIRCL_SIZE", has_rank ? "SIRCL_SIZE" : "SIRCL_RANK")};
  }
  std::string job;
  if (has_rank) {
    launch.rank = static_cast<int>(settings.integer("SIRCL_RANK"));
    launch.size = static_cast<int>(settings.integer("SIRCL_SIZE"));
    launch.local_rank = settings.text("SIRCL_LOCAL_RANK").empty() ? launch.rank : static_cast<int>(settings.integer("SIRCL_LOCAL_RANK"));
    launch.source = "SIRCL_*";
  } else {
    launch.source = "single process";
    for (const Launcher& launcher : kLaunchers) {
      const bool rank_set = settings.foreign(launcher.rank).has_value();
      const bool size_set = settings.foreign(launcher.size).has_value();
      if (!rank_set || !size_set) {
        // torchrun's names are everyday words: half of them says nothing.
        if (rank_set != size_set && std::string_view(launcher.name) != "torchrun" && std::string_view(launcher.name) != "PMIx") {
          return {StatusCode::invalid_setting,
                  fmt::format("{} is set but {} is not: the variables of {} are incomplete", rank_set ? launcher.rank : launcher.size,
                              rank_set ? launcher.size : launcher.rank, launcher.name)};
        }
        continue;
      }
      auto rank = rank_variable(settings, launcher.rank);
      auto size = rank_variable(settings, launcher.size);
      if (!rank) return rank.status();
      if (!size) return size.status();
      launch.rank = launch.local_rank = *rank;
      launch.size = *size;
      if (launcher.local_rank != nullptr && settings.foreign(launcher.local_rank)) {
        auto local = rank_variable(settings, launcher.local_rank);
        if (!local) return local.status();
        launch.local_rank = *local;
      }
      launch.source = launcher.name;
      if (launcher.job != nullptr) job = settings.foreign(launcher.job).value_or("");
      if (launch.source == "Slurm") job += "." + settings.foreign("SLURM_STEP_ID").value_or("0");
      break;
    }
  }
  if (launch.size < 1 || launch.rank >= launch.size) {
    return {StatusCode::invalid_setting, fmt::format("rank {} of {} ranks does not exist (from {}); ranks are 0 to size-1",
                                                     launch.rank, launch.size, launch.source)};
  }
  if (launch.size == 1) return launch;

  if (const std::string root = settings.text("SIRCL_ROOT"); !root.empty()) {
    auto parsed = parse_root(root, settings.source("SIRCL_ROOT"));
    if (!parsed) return parsed.status();
    launch.root = *parsed;
    return launch;
  }
  if (launch.source == "torchrun") {
    const auto host = settings.foreign("MASTER_ADDR");
    const auto port = number(settings.foreign("MASTER_PORT").value_or(""));
    if (!host || !port || *port < 1 || *port > 65534) {
      return {StatusCode::invalid_setting, "RANK and WORLD_SIZE are set but MASTER_ADDR or MASTER_PORT is missing or malformed"};
    }
    // The launcher's own store occupies MASTER_PORT.
    launch.root = {*host, static_cast<std::uint16_t>(*port + 1), ""};
    return launch;
  }
  if (launch.source == "SIRCL_*") {
    return {StatusCode::invalid_setting,
            "SIRCL_ROOT is not set; set it to host:port of rank 0, or to file:PATH for ranks that share a file system"};
  }
  if (launch.source == "Slurm" && number(settings.foreign("SLURM_NNODES").value_or("1")).value_or(1) > 1) {
    return {StatusCode::invalid_setting, "Slurm runs this job on several nodes; set SIRCL_ROOT to host:port of rank 0"};
  }
  auto directory = private_directory(settings);
  if (!directory) return directory.status();
  std::string name;
  for (const char c : job.empty() ? parent_identity() : job) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  launch.root.file = fmt::format("{}/sircl-{}.root", *directory, name);
  if (launch.group.empty()) launch.group = name;
  return launch;
}

}  // namespace sircl::bootstrap
