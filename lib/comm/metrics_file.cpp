// The counters as a file for the text collector of Prometheus' node exporter.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/log.hpp"
#include "comm/communicator_impl.hpp"

namespace sircl::detail {
namespace {

bool write_whole(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
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
  const std::string draft = path + ".part";
  if (write_whole(draft, counters_prometheus(impl)) &&
      std::rename(draft.c_str(), path.c_str()) == 0) {
    return;
  }
  const int error = errno;
  (void)std::remove(draft.c_str());
  log::warn(fmt::format("cannot write SIRCL_METRICS_FILE {}: {}", path, std::strerror(error)));
}

}  // namespace sircl::detail
