#include "peer_commands.hpp"

#include <filesystem>

namespace sircl::bench {
namespace {

/// The peers lie beside the bench, in peers/.
std::string peer_file(const std::string& name) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return (self.parent_path() / "peers" / name).string();
}

void append(std::vector<std::string>& to, std::initializer_list<const char*> words) {
  to.insert(to.end(), words.begin(), words.end());
}

PeerCommand openmpi(const std::string& ranks, bool tcp) {
  PeerCommand command;
  command.program = peer_file("peer_openmpi");
  append(command.words, {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to",
                         "none", "--mca", "pml", "ob1", "--mca", "mpi_yield_when_idle", "1"});
  if (tcp) {
    append(command.words, {"--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"});
  } else {
    append(command.words, {"--mca", "btl", "self,vader"});
  }
  command.given = std::string("mpi_yield_when_idle 1, pml ob1, btl ") +
                  (tcp ? "self,tcp over lo" : "self,vader");
  append(command.words, {"-n", ranks.c_str()});
  return command;
}

PeerCommand mpich(const std::string& ranks, bool tcp, bool yielding) {
  PeerCommand command;
  command.program = peer_file("peer_mpich");
  append(command.words, {"mpiexec.hydra", "-n", ranks.c_str()});
  if (yielding) {
    append(command.words, {"-genv", "LD_PRELOAD", peer_file("yield_preload.so").c_str()});
  }
  if (tcp) {
    append(command.words, {"-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "lo",
                           "-genv", "MPIR_CVAR_NOLOCAL", "1"});
  }
  command.given = yielding ? "LD_PRELOAD of a ucp_worker_progress that yields when idle"
                           : "as installed: its waits never yield";
  command.given += tcp ? ", UCX_TLS=tcp,self over lo, MPIR_CVAR_NOLOCAL=1" : ", shared memory";
  return command;
}

}  // namespace

std::optional<PeerCommand> peer_command(const std::string& name, int ranks,
                                        const std::string& transport, const std::string& socket,
                                        const std::string& directory) {
  const bool tcp = transport == "tcp";
  const std::string count = std::to_string(ranks);
  PeerCommand command;
  if (name == "openmpi") {
    command = openmpi(count, tcp);
  } else if (name == "mpich" || name == "mpich-stock") {
    command = mpich(count, tcp, name == "mpich");
  } else if (name == "gloo") {
    command.program = peer_file("peer_gloo");
    command.given = "TCP over lo, busy-polling pairs, halving-doubling all-reduce, ring all-gather";
  } else if (name == "floor") {
    command.program = peer_file("peer_floor");
    command.given = "no library: ranks reduce from each other's buffers in shared memory";
  } else if (name == "copy") {
    command.program = peer_file("peer_floor");
    command.given = "no library: every rank copies its input to its output, and a barrier";
  } else {
    return std::nullopt;
  }
  command.words.push_back(command.program);
  command.words.push_back(socket);
  if (name != "openmpi" && name != "mpich" && name != "mpich-stock") command.words.push_back(count);
  if (name == "copy") command.words.push_back(name);
  if (name == "gloo") command.words.push_back(directory);
  return command;
}

}  // namespace sircl::bench
