// The counters as a file for the text collector of Prometheus' node exporter.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.hpp"
#include "comm/communicator_impl.hpp"

namespace sircl::detail {
namespace {

/// Leaves errno where it fails. The name of the draft is filled in; it is nobody else's, also where
/// several ranks or communicators were given the same path.
bool write_draft(std::string& draft, const std::string& text) {
  const int fd = mkostemp(draft.data(), O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t written = ::write(fd, text.data(), text.size());
  const int error = written < 0 ? errno : ENOSPC;
  // A collector runs as another user.
  const bool good = written == static_cast<ssize_t>(text.size()) && fchmod(fd, 0644) == 0;
  if (::close(fd) == 0 && good) return true;
  if (!good) errno = error;
  return false;
}

}  // namespace

void write_metrics_file(CommunicatorImpl& impl) {
  std::string path = impl.setup().settings.text("SIRCL_METRICS_FILE");
  if (path.empty()) return;
  constexpr std::string_view kRank = "{rank}";
  const std::string rank = std::to_string(impl.rank());
  for (std::size_t at = 0; (at = path.find(kRank, at)) != std::string::npos; at += rank.size()) {
    path.replace(at, kRank.size(), rank);
  }
  // A collector that reads at the wrong moment must see the old file or the new one.
  std::string draft = path + ".part.XXXXXX";
  if (write_draft(draft, counters_prometheus(impl)) &&
      std::rename(draft.c_str(), path.c_str()) == 0) {
    return;
  }
  const int error = errno;
  (void)std::remove(draft.c_str());
  log::warn(fmt::format("cannot write SIRCL_METRICS_FILE {}: {}", path, std::strerror(error)));
}

}  // namespace sircl::detail
