#include "bootstrap/join.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "bootstrap/unique_id.hpp"
#include "sys/host.hpp"
#include "sys/socket.hpp"

namespace sircl::bootstrap {
namespace {

Result<std::string> secret_of(const config::Settings& settings) {
  const std::string file = settings.text("SIRCL_SECRET_FILE");
  if (file.empty()) return settings.text("SIRCL_SECRET");
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  std::string secret = text.str();
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (!in || secret.empty()) {
    return {StatusCode::invalid_setting, fmt::format("SIRCL_SECRET_FILE {} cannot be read or is empty", file)};
  }
  return secret;
}

/// "host port group" in one line, put there at once.
Status publish(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}", path, getpid());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (fd >= 0) close(fd);
  if (written && rename(temporary.c_str(), path.c_str()) == 0) return {};
  unlink(temporary.c_str());
  return {StatusCode::resource, fmt::format("cannot write the rendezvous file {} ({}); check that its directory exists and is writable",
                                            path, std::strerror(written ? errno : error))};
}

struct Found {
  std::string host;
  std::uint16_t port = 0;
  std::string group;
};

std::optional<Found> read_file(const std::string& path) {
  std::ifstream in(path);
  Found found;
  int port = 0;
  if (!(in >> found.host >> port >> found.group) || port < 1 || port > 65535) return std::nullopt;
  found.port = static_cast<std::uint16_t>(port);
  return found;
}

}  // namespace

Result<std::unique_ptr<Root>> start_root(const config::Settings& settings, const std::string& host, std::uint16_t port,
                                         int size, const std::string& group) {
  auto secret = secret_of(settings);
  if (!secret) return secret.status();
  RootOptions options;
  options.bind_host = host;
  options.port = options.port_last = port;
  if (const std::string range = settings.text("SIRCL_PORT_RANGE"); port == 0 && !range.empty()) {
    int first = 0;
    int last = 0;
    char rest = 0;
    if (std::sscanf(range.c_str(), "%d-%d%c", &first, &last, &rest) != 2 || first < 1 || last > 65535 || first > last) {
      return {StatusCode::invalid_setting, fmt::format("SIRCL_PORT_RANGE={}: must be FIRST-LAST, ports from 1 to 65535", range)};
    }
    options.port = static_cast<std::uint16_t>(first);
    options.port_last = static_cast<std::uint16_t>(last);
  }
  options.size = size;
  options.group = group;
  options.epoch = static_cast<std::uint64_t>(settings.integer("SIRCL_EPOCH"));
  options.secret = *secret;
  options.startup_timeout = settings.duration("SIRCL_STARTUP_WAIT_S");
  return Root::start(options);
}

Result<Joined> join_group(const Launch& launch, const config::Settings& settings, std::unique_ptr<Root> root,
                          std::function<void(const Notice&)> on_notice) {
  auto secret = secret_of(settings);
  if (!secret) return secret.status();
  Joined joined;
  joined.root = std::move(root);
  JoinOptions options;
  options.host = launch.root.host;
  options.port = launch.root.port;
  options.rank = launch.rank;
  options.size = launch.size;
  options.group = launch.group;
  options.epoch = static_cast<std::uint64_t>(settings.integer("SIRCL_EPOCH"));
  options.secret = *secret;
  options.label = sys::process_label();
  options.startup_timeout = settings.duration("SIRCL_STARTUP_WAIT_S");
  options.on_notice = std::move(on_notice);

  const bool by_file = !launch.root.file.empty();
  if (launch.rank == 0 && !launch.hub_elsewhere) {
    // Through a file any address will do; then the group gets a name that no earlier file can have had.
    const std::string group = by_file ? random_group() : launch.group;
    auto started = start_root(settings, by_file ? "127.0.0.1" : launch.root.host, launch.root.port, launch.size, group);
    if (!started) return started.status();
    joined.root = *std::move(started);
    options.host = joined.root->host();
    options.port = joined.root->port();
    options.group = group;
    if (by_file) {
      Status status = publish(launch.root.file, fmt::format("{} {} {}\n", options.host, options.port, group));
      if (!status.ok()) return status;
    }
    auto member = Member::join(options);
    if (!member) return member.status();
    joined.member = *std::move(member);
    // When this returns everybody has joined, and the file has done its work.
    auto all = joined.member->all_gather({}, "start");
    if (by_file) unlink(launch.root.file.c_str());
    if (!all) return all.status();
    return joined;
  }

  const auto end = std::chrono::steady_clock::now() + options.startup_timeout;
  while (by_file && !joined.member) {
    if (const auto found = read_file(launch.root.file)) {
      options.host = found->host;
      options.port = found->port;
      options.group = found->group;
      // A file of an earlier run leads nowhere or to strangers; then the next one is waited for.
      JoinOptions once = options;
      once.once = true;
      auto member = Member::join(once);
      if (member) {
        joined.member = *std::move(member);
        break;
      }
      const bool final = member.status().code() != StatusCode::unreachable &&
                         member.status().message().find("another group") == std::string::npos;
      if (final) return member.status();
    }
    if (std::chrono::steady_clock::now() > end) {
      return {StatusCode::unreachable,
              fmt::format("rank {} found no root through {} within {} s; is rank 0 running, and does it see the same file?",
                          launch.rank, launch.root.file,
                          std::chrono::duration_cast<std::chrono::seconds>(options.startup_timeout).count())};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (!joined.member) {
    auto member = Member::join(options);
    if (!member) return member.status();
    joined.member = *std::move(member);
  }
  auto all = joined.member->all_gather({}, "start");
  if (!all) return all.status();
  return joined;
}

}  // namespace sircl::bootstrap
