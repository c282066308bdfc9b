#include "bootstrap/join.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "base/log.hpp"
#include "bootstrap/root_file.hpp"
#include "bootstrap/unique_id.hpp"
#include "sys/host.hpp"
#include "sys/interface.hpp"
#include "sys/socket.hpp"

namespace sircl::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

Result<std::string> secret_of(const config::Settings& settings) {
  const std::string file = settings.text("SIRCL_SECRET_FILE");
  const std::string direct = settings.text("SIRCL_SECRET");
  if (file.empty()) return direct;
  if (!direct.empty()) {
    return {StatusCode::invalid_setting,
            "SIRCL_SECRET and SIRCL_SECRET_FILE are both set; set one of them"};
  }
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  std::string secret = text.str();
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (!in || secret.empty()) {
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_SECRET_FILE {} cannot be read or is empty", file)};
  }
  struct stat info {};
  if (stat(file.c_str(), &info) == 0 && (info.st_mode & 077) != 0) {
    log::warn(fmt::format("SIRCL_SECRET_FILE {0} can be read by other users; chmod 600 {0}", file));
  }
  return secret;
}

/// The address that stands for `host` on the management network. On many systems a machine's own
/// name means a loopback address on that machine only; the named interface then says more.
Result<std::string> management_host(const config::Settings& settings, const std::string& host) {
  const std::string interface = settings.text("SIRCL_SOCKET_IFNAME");
  if (interface.empty()) return host.empty() ? std::string("127.0.0.1") : host;
  const bool says_little =
      host.empty() || (!sys::is_numeric(host) && host != "localhost" && sys::is_loopback(host));
  if (!says_little) return host;
  return sys::interface_address(interface);
}

double in_seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Waits for the file and for the hub that it names. A file that an earlier run left behind leads
/// nowhere, or to another group; then the next one is waited for.
Result<std::unique_ptr<Member>> join_by_file(const std::string& path, const JoinOptions& wanted) {
  const auto end = Clock::now() + wanted.startup_timeout;
  std::string last = "there is no such file";
  while (true) {
    const auto found = read_root_file(path);
    if (!found) return found.status();
    if (*found) {
      JoinOptions options = wanted;
      options.host = (*found)->host;
      options.port = (*found)->port;
      options.group = (*found)->group;
      options.once = true;
      auto member = Member::join(options);
      if (member || member.status().code() != StatusCode::unreachable) return member;
      last = member.status().message();
      if (sys::is_loopback(options.host) && (*found)->machine != sys::host_name()) {
        last = fmt::format(
            "it names {} of host {}, which only that host reaches; set SIRCL_SOCKET_IFNAME",
            options.host, (*found)->machine);
      }
    }
    if (Clock::now() >= end) {
      return {StatusCode::unreachable,
              fmt::format(
                  "rank {} found no root through {} within {} s ({}); is rank 0 running, and does "
                  "it see the same file?",
                  wanted.rank, path, in_seconds(wanted.startup_timeout), last)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Everybody has joined when this returns well.
Status wait_for_all(Member& member) { return member.all_gather({}, "start").status(); }

}  // namespace

Result<std::unique_ptr<Root>> start_root(const config::Settings& settings, const std::string& host,
                                         std::uint16_t port, int size, const std::string& group) {
  auto secret = secret_of(settings);
  if (!secret) return secret.status();
  RootOptions options;
  auto bind_host = management_host(settings, host);
  if (!bind_host) return bind_host.status();
  options.bind_host = *bind_host;
  options.port = options.port_last = port;
  if (const std::string range = settings.text("SIRCL_PORT_RANGE"); port == 0 && !range.empty()) {
    int first = 0;
    int last = 0;
    char rest = 0;
    if (std::sscanf(range.c_str(), "%d-%d%c", &first, &last, &rest) != 2 || first < 1 ||
        last > 65535 || first > last) {
      return {StatusCode::invalid_setting,
              fmt::format("SIRCL_PORT_RANGE={}: must be FIRST-LAST, ports from 1 to 65535", range)};
    }
    options.port = static_cast<std::uint16_t>(first);
    options.port_last = static_cast<std::uint16_t>(last);
  }
  options.size = size;
  options.group = group;
  options.epoch = static_cast<std::uint64_t>(settings.integer("SIRCL_EPOCH"));
  options.secret = *secret;
  options.startup_timeout = settings.duration("SIRCL_STARTUP_WAIT_S");
  options.liveness = settings.duration("SIRCL_LIVENESS_S");
  return Root::start(options);
}

Result<Joined> join_group(const Launch& launch, const config::Settings& settings,
                          std::unique_ptr<Root> root,
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
  options.liveness = settings.duration("SIRCL_LIVENESS_S");
  options.on_notice = std::move(on_notice);

  const bool by_file = !launch.root.file.empty();
  std::optional<RootFile> file;  // goes away when everybody has joined, and on every error
  Result<std::unique_ptr<Member>> member(StatusCode::internal, "not joined");
  if (launch.rank == 0 && !launch.hub_elsewhere) {
    if (by_file) options.group = random_group();
    auto started =
        start_root(settings, launch.root.host, launch.root.port, launch.size, options.group);
    if (!started) return started.status();
    joined.root = *std::move(started);
    options.host = joined.root->host();
    options.port = joined.root->port();
    if (by_file) {
      auto published = RootFile::publish(
          launch.root.file, {options.host, options.port, options.group, sys::host_name()});
      if (!published) return published.status();
      file.emplace(*std::move(published));
    }
    member = Member::join(options);
  } else if (by_file) {
    member = join_by_file(launch.root.file, options);
  } else {
    auto host = management_host(settings, launch.root.host);
    if (!host) return host.status();
    options.host = *host;
    member = Member::join(options);
  }
  if (!member) return member.status();
  joined.member = *std::move(member);
  if (Status status = wait_for_all(*joined.member); !status.ok()) return status;
  return joined;
}

}  // namespace sircl::bootstrap
