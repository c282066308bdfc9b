// Making and ending communicators.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "base/log.hpp"
#include "bootstrap/join.hpp"
#include "bootstrap/unique_id.hpp"
#include "comm/communicator_impl.hpp"

namespace sircl {
namespace {

/// Hubs that make_unique_id started and no communicator has taken yet, by group token.
struct WaitingHubs {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<bootstrap::Root>> by_group;
};
WaitingHubs& waiting_hubs() {
  static WaitingHubs hubs;
  return hubs;
}

void configure_log(const config::Settings& settings) {
  const std::string level = settings.text("SIRCL_DEBUG");
  log::set_level(level == "trace"  ? log::Level::trace
                 : level == "info" ? log::Level::info
                 : level == "none" ? log::Level::none
                                   : log::Level::warn);
  if (const std::string file = settings.text("SIRCL_DEBUG_FILE");
      !file.empty() && !log::set_file(file)) {
    log::warn("cannot write SIRCL_DEBUG_FILE " + file + "; logging to stderr");
  }
}

Result<std::shared_ptr<detail::CommunicatorImpl>> start(config::Settings settings,
                                                        bootstrap::Launch launch,
                                                        std::unique_ptr<bootstrap::Root> root,
                                                        const Options& options) {
  // The first communicator names the process: in a part of its group it has another number.
  static std::once_flag named;
  std::call_once(named, [&launch] { log::set_rank(launch.rank); });
  auto setup = detail::set_up(std::move(settings), std::move(launch), std::move(root));
  if (!setup) return setup.status();
  auto impl = std::make_shared<detail::CommunicatorImpl>(*std::move(setup), options);
  if (impl->rank() == 0) log::info(detail::describe(*impl));
  return impl;
}

/// A hub for `size` ranks on `host` that the next communicator of its id takes.
Result<UniqueId> start_waiting_hub(const config::Settings& settings, const std::string& host,
                                   int size) {
  if (size < 1) {
    return {StatusCode::invalid_argument,
            fmt::format("make_unique_id: size {} is not positive", size)};
  }
  const std::string group = bootstrap::random_group();
  auto root = bootstrap::start_root(settings, host, 0, size, group);
  if (!root) return root.status();
  auto id = bootstrap::encode_unique_id({(*root)->host(), (*root)->port(), group});
  if (!id) return id.status();
  WaitingHubs& hubs = waiting_hubs();
  const std::lock_guard lock(hubs.mutex);
  hubs.by_group[group] = *std::move(root);
  return id;
}

}  // namespace

Communicator::Communicator(std::shared_ptr<detail::CommunicatorImpl> impl) noexcept
    : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

std::string_view version() noexcept { return SIRCL_VERSION; }

Result<Communicator> Communicator::create(const Options& options) {
  auto settings = config::Settings::load(options.values());
  if (!settings) return settings.status();
  configure_log(*settings);
  auto launch = bootstrap::detect_launch(*settings);
  if (!launch) return launch.status();
  auto impl = start(*std::move(settings), *std::move(launch), nullptr, options);
  if (!impl) return impl.status();
  return Communicator(*std::move(impl));
}

Result<Communicator> Communicator::create(const UniqueId& id, int rank, int size,
                                          const Options& options) {
  if (size < 1 || rank < 0 || rank >= size) {
    return {StatusCode::invalid_argument,
            fmt::format("create: rank {} of {} does not exist; ranks are 0 to size-1", rank, size)};
  }
  auto settings = config::Settings::load(options.values());
  if (!settings) return settings.status();
  configure_log(*settings);
  const auto parts = bootstrap::decode_unique_id(id);
  if (!parts) return parts.status();
  bootstrap::Launch launch;
  launch.rank = rank;
  launch.size = size;
  launch.local_rank = rank;
  launch.root.host = parts->host;
  launch.root.port = parts->port;
  launch.group = parts->group;
  launch.source = "unique id";
  launch.hub_elsewhere = true;
  std::unique_ptr<bootstrap::Root> root;
  {
    WaitingHubs& hubs = waiting_hubs();
    const std::lock_guard lock(hubs.mutex);
    if (const auto found = hubs.by_group.find(parts->group); found != hubs.by_group.end()) {
      root = std::move(found->second);
      hubs.by_group.erase(found);
    }
  }
  auto impl = start(*std::move(settings), std::move(launch), std::move(root), options);
  if (!impl) return impl.status();
  return Communicator(*std::move(impl));
}

Result<UniqueId> make_unique_id(int size, const Options& options) {
  auto settings = config::Settings::load(options.values());
  if (!settings) return settings.status();
  return start_waiting_hub(*settings, settings->text("SIRCL_TCP_HOST"), size);
}

Result<Communicator> Communicator::split(int color, int key) {
  // Everybody learns everybody's colour and key over the parent itself, then the first of each
  // colour starts a hub and tells the others where it is, again over the parent.
  struct Entry {
    std::int32_t color, key, rank;
  };
  const Entry mine{color, key, rank()};
  std::vector<Entry> all(static_cast<std::size_t>(size()));
  if (Status status = all_gather(&mine, all.data(), sizeof(Entry), DataType::u8); !status.ok()) {
    return status;
  }
  std::vector<Entry> members;
  for (const Entry& entry : all) {
    if (entry.color == color) members.push_back(entry);
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
  const auto count = static_cast<int>(members.size());
  int child_rank = 0;
  while (members[static_cast<std::size_t>(child_rank)].rank != rank()) ++child_rank;

  UniqueId id;
  Status made;
  if (child_rank == 0) {
    // The parent's data connections are reached from all of its hosts.
    const detail::Setup& parent = impl_->setup();
    auto fresh = start_waiting_hub(parent.settings, parent.data_host, count);
    if (fresh) {
      id = *fresh;
    } else {
      made = fresh.status();
    }
  }
  std::vector<UniqueId> ids(static_cast<std::size_t>(size()));
  if (Status status = all_gather(id.bytes.data(), ids.data(), sizeof(UniqueId), DataType::u8);
      !status.ok()) {
    return status;
  }
  if (!made.ok()) return made;
  return create(ids[static_cast<std::size_t>(members.front().rank)], child_rank, count,
                impl_->child_options());
}

namespace detail {

CommunicatorImpl::~CommunicatorImpl() {
  if (setup_->engine) {
    setup_->engine->stop();
    write_metrics_file(*this);
  }
  if (setup_->member) setup_->member->leave();
}

void CommunicatorImpl::abort(std::string_view reason) {
  Status status(StatusCode::aborted, fmt::format("rank {} called abort(): {}", rank(), reason));
  Failure& failure = engine().failure();
  if (!failure.failed()) {
    (void)failure.set(setup_->member ? setup_->member->report_failure(status) : status);
  }
  engine().wake();
}

}  // namespace detail
}  // namespace sircl
