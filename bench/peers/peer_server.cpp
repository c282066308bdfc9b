#include "peer_server.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "../loop.hpp"

namespace sircl::bench {
namespace {

class Connection {
 public:
  explicit Connection(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      close(fd_);
      fd_ = -1;
    }
  }
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  bool write_all(const void* data, std::size_t bytes) const {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t done = ::send(fd_, at, bytes, MSG_NOSIGNAL);
      if (done <= 0) return false;
      at += done;
      bytes -= static_cast<std::size_t>(done);
    }
    return true;
  }
  bool write_line(const std::string& line) const { return write_all(line.data(), line.size()); }
  /// False at the end of the connection.
  bool read_line(std::string& line) const {
    line.clear();
    char c = 0;
    while (::read(fd_, &c, 1) == 1) {
      if (c == '\n') return true;
      line += c;
    }
    return false;
  }

 private:
  int fd_ = -1;
};

bool answer(const Connection& bench, const Request& request, int rank, int ranks, Peer& peer) {
  const std::unique_ptr<Case> measured = peer.make_case(request.shape, rank, ranks);
  std::string reason = "no such collective";
  const std::function<bool()> operation =
      measured ? peer.prepare(*measured, reason) : std::function<bool()>();
  if (!operation) return bench.write_line("unsupported " + reason + "\n");

  std::uint64_t wrong = 0;
  if (request.check) {
    measured->fill();
    if (!operation()) return bench.write_line("error the operation failed\n");
    wrong = measured->wrong();
  }
  measured->fill();
  Timing timing;
  if (!time_loop(request.warmup, request.iterations, timing, operation)) {
    return bench.write_line("error the operation failed\n");
  }
  if (request.check && !request.shape.in_place) wrong += measured->wrong();
  std::ostringstream line;
  line << "ok " << wrong << ' ' << timing.cpu_us << '\n';
  return bench.write_line(line.str()) &&
         bench.write_all(timing.iteration_us.data(), timing.iteration_us.size() * sizeof(double));
}

}  // namespace

int serve(const std::string& path, int rank, int ranks, Peer& peer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans when the launcher is killed
  const Connection bench(path);
  if (!bench.open() || !bench.write_line("rank " + std::to_string(rank) + "\n")) {
    std::fprintf(stderr, "cannot reach the bench at %s\n", path.c_str());
    return 1;
  }
  std::string line;
  while (bench.read_line(line) && line != "quit") {
    const auto request = parse_line(line);
    const bool served = request ? answer(bench, *request, rank, ranks, peer)
                                : bench.write_line("error request not understood\n");
    if (!served) break;
  }
  return 0;
}

}  // namespace sircl::bench
