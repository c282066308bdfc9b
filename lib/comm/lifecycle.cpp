// Making and ending communicators.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "base/log.hpp"
#include "bootstrap/join.hpp"
#include "bootstrap/unique_id.hpp"
#include "comm/checks.hpp"
#include "comm/communicator_impl.hpp"
#include "comm/fabric_setup.hpp"

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

Result<std::shared_ptr<detail::CommunicatorImpl>> start(
    config::Settings settings, bootstrap::Launch launch, std::unique_ptr<bootstrap::Root> root,
    const Options& options, std::optional<detail::FabricPart> part = std::nullopt) {
  // The first communicator names the process: in a part of its group it has another number.
  static std::once_flag named;
  std::call_once(named, [&launch] { log::set_rank(launch.rank); });
  auto setup =
      detail::set_up(std::move(settings), std::move(launch), std::move(root), std::move(part));
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

/// The communicator of a unique id, on the cables of a part if there is one.
Result<std::shared_ptr<detail::CommunicatorImpl>> start_by_id(
    const UniqueId& id, int rank, int size, const Options& options, detail::GroupKind kind,
    std::optional<detail::FabricPart> part = std::nullopt) {
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
  launch.part = kind == detail::GroupKind::part;
  std::unique_ptr<bootstrap::Root> root;
  {
    WaitingHubs& hubs = waiting_hubs();
    const std::lock_guard lock(hubs.mutex);
    if (const auto found = hubs.by_group.find(parts->group); found != hubs.by_group.end()) {
      root = std::move(found->second);
      hubs.by_group.erase(found);
    }
  }
  return start(*std::move(settings), std::move(launch), std::move(root), options, std::move(part));
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
  auto impl = start_by_id(id, rank, size, options, detail::GroupKind::whole);
  if (!impl) return impl.status();
  return Communicator(*std::move(impl));
}

Result<UniqueId> make_unique_id(int size, const Options& options) {
  auto settings = config::Settings::load(options.values());
  if (!settings) return settings.status();
  return start_waiting_hub(*settings, settings->text("SIRCL_TCP_HOST"), size);
}

namespace {

/// What every rank tells the others for a split.
struct SplitEntry {
  std::int32_t color, key, rank, unused;
  std::uint64_t oldest;  ///< see RetiredParts
};

/// Those of one colour, in their new order.
std::vector<SplitEntry> members_of(const std::vector<SplitEntry>& all, int color) {
  std::vector<SplitEntry> members;
  for (const SplitEntry& entry : all) {
    if (entry.color == color) members.push_back(entry);
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const SplitEntry& a, const SplitEntry& b) { return a.key < b.key; });
  return members;
}

}  // namespace

Result<Communicator> Communicator::split(int color, int key) {
  detail::Setup& whole = impl_->setup();
  if (whole.cables && !whole.cables->whole) {
    return {StatusCode::unsupported,
            "split: on cables a part of a group cannot be split further, because the ranks outside "
            "would have to forward for it; split the communicator of all ranks"};
  }
  // Everybody learns everybody's colour and key over the parent itself, then the first of each
  // colour starts a hub and tells the others where it is, again over the parent.
  detail::RetiredParts& parts = impl_->parts();
  const SplitEntry mine{color, key, rank(), 0, parts.oldest()};
  std::vector<SplitEntry> all(static_cast<std::size_t>(size()));
  if (Status status = all_gather(&mine, all.data(), sizeof mine, DataType::u8); !status.ok()) {
    return status;
  }
  std::uint64_t oldest = mine.oldest;
  for (const SplitEntry& entry : all) oldest = std::min(oldest, entry.oldest);
  parts.drop_before(oldest);
  const std::vector<SplitEntry> members = members_of(all, color);
  const auto count = static_cast<int>(members.size());
  int child_rank = 0;
  while (members[static_cast<std::size_t>(child_rank)].rank != rank()) ++child_rank;

  UniqueId id;
  Status made;
  if (child_rank == 0) {
    auto fresh = start_waiting_hub(whole.settings, whole.data_host, count);
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
  std::optional<detail::FabricPart> part;
  std::uint64_t number = 0;
  if (whole.cables) {
    std::vector<int> ranks;
    for (const SplitEntry& entry : members) ranks.push_back(entry.rank);
    auto connected = detail::connect_part(whole, std::move(ranks));
    if (!connected) return connected.status();
    part = *std::move(connected);
    number = parts.begin();
    if (count == 1) {
      // Nobody to talk to, but others may need this node between them.
      parts.retire(number, detail::serve_alone(whole, *std::move(part)));
      part.reset();
    }
  }
  const bool on_cables = part.has_value();
  auto impl = start_by_id(ids[static_cast<std::size_t>(members.front().rank)], child_rank, count,
                          impl_->child_options(), detail::GroupKind::part, std::move(part));
  if (!impl) {
    if (on_cables) parts.retire(number, nullptr);
    return impl.status();
  }
  if (on_cables) (*impl)->be_part(impl_, number);
  return Communicator(*std::move(impl));
}

namespace detail {

CommunicatorImpl::~CommunicatorImpl() {
  if (setup_->engine) {
    if (whole_) {
      setup_->engine->retire();
    } else {
      setup_->engine->stop();
    }
    write_metrics_file(*this);
  }
  if (whole_) {
    whole_->parts().retire(number_, std::move(setup_));
    return;
  }
  parts_.drop_before(UINT64_MAX);
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
