#include "comm/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "base/log.hpp"
#include "bootstrap/agreement.hpp"
#include "bootstrap/join.hpp"
#include "comm/notice_box.hpp"
#include "reduce/reduce.hpp"
#include "sircl/communicator.hpp"
#include "sys/host.hpp"
#include "transport/shm/peer_memory.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace sircl::detail {
namespace {

constexpr std::size_t kWindowBudget = 24U << 20;  // lane windows of all pairs on shm, together

bootstrap::Bytes to_bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string to_text(const bootstrap::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::vector<std::string>> exchange(bootstrap::Member& member, const std::string& mine,
                                          const std::string& label) {
  auto all = member.all_gather(to_bytes(mine), label);
  if (!all) return all.status();
  std::vector<std::string> texts;
  for (const auto& bytes : *all) texts.push_back(to_text(bytes));
  return texts;
}

/// Everybody learns whether a step worked everywhere: the lowest rank's error is everybody's.
Status agree(bootstrap::Member& member, const Status& mine, const std::string& label) {
  const std::string text =
      mine.ok() ? std::string() : std::string(1, static_cast<char>(mine.code())) + mine.message();
  auto all = exchange(member, text, label);
  if (!all) return all.status();
  for (std::size_t rank = 0; rank < all->size(); ++rank) {
    const std::string& theirs = (*all)[rank];
    if (theirs.empty()) continue;
    return {static_cast<StatusCode>(theirs[0]), fmt::format("rank {}: {}", rank, theirs.substr(1))};
  }
  return {};
}

std::string random_token() {
  std::random_device device;
  std::string token(16, '\0');
  for (char& c : token) c = static_cast<char>(device());
  return token;
}

/// Slots of the lanes on shm shrink with the number of pairs, so that the whole stays within a
/// budget.
transport::WindowShape shm_shape(const config::Settings& settings, int ranks) {
  const auto slots = static_cast<std::uint32_t>(settings.integer("SIRCL_SHM_SLOTS"));
  auto slot_bytes = static_cast<std::uint32_t>(settings.integer("SIRCL_SHM_SLOT_BYTES"));
  const auto pairs = static_cast<std::size_t>(std::max(1, ranks * (ranks - 1)));
  while (slot_bytes > 1024 &&
         cable::window_shape(slots, slot_bytes).window_bytes * pairs > kWindowBudget) {
    slot_bytes /= 2;
  }
  return cable::window_shape(slots, slot_bytes);
}

/// Ranks read each other's buffers only where every rank can read those of all others.
Status agree_on_single_copy(bootstrap::Member& member, transport::shm::ShmTransport& transport) {
  const Status mine = transport.probe_peer_memory();
  const auto all = exchange(member, mine.message(), "single copy");
  if (!all) return all.status();
  for (const std::string& reason : *all) {
    if (reason.empty()) continue;
    log::info(fmt::format("large operations are copied twice: {}", reason));
    return {};
  }
  transport.use_peer_memory();
  return {};
}

Result<std::unique_ptr<transport::Transport>> connect_shm(Setup& setup,
                                                          const EngineOptions& options,
                                                          const std::string& token) {
  transport::shm::Parameters parameters;
  parameters.rank = options.rank;
  parameters.ranks = options.ranks;
  parameters.half_bytes = exec::BoardExecutor::half_bytes(options.piece_bytes, options.ranks);
  parameters.shape = options.shape;
  std::memcpy(&parameters.token, token.data(), sizeof parameters.token);

  const std::string single_copy = setup.settings.text("SIRCL_SHM_SINGLE_COPY");
  if (single_copy == "permit") transport::PeerMemory::permit_all();

  using Pointer = std::unique_ptr<transport::shm::ShmTransport>;
  Result<Pointer> made(StatusCode::internal, "not connected");
  if (options.rank == 0) made = transport::shm::ShmTransport::create(parameters);
  if (setup.member) {
    const Status created = options.rank == 0 ? made.status() : Status();
    if (Status status = agree(*setup.member, created, "shared memory"); !status.ok()) return status;
    auto addresses = exchange(*setup.member, options.rank == 0 ? (*made)->local_address() : "",
                              "shared memory address");
    if (!addresses) return addresses.status();
    if (options.rank != 0)
      made = transport::shm::ShmTransport::connect(parameters, addresses->front());
    if (Status status = agree(*setup.member, made.status(), "shared memory mapped"); !status.ok()) {
      return status;
    }
  }
  if (!made) return made.status();
  (*made)->connected();
  if (setup.member && single_copy != "never") {
    if (Status status = agree_on_single_copy(*setup.member, **made); !status.ok()) return status;
  }
  return std::unique_ptr<transport::Transport>(*std::move(made));
}

Result<std::unique_ptr<transport::Transport>> connect_tcp(Setup& setup,
                                                          const EngineOptions& options,
                                                          const std::string& token, bool one_host) {
  transport::tcp::Parameters parameters;
  parameters.rank = options.rank;
  parameters.ranks = options.ranks;
  parameters.host = setup.settings.text("SIRCL_TCP_HOST");
  if (parameters.host.empty()) parameters.host = one_host ? "127.0.0.1" : sys::host_name();
  parameters.shape = options.shape;
  parameters.timeout = setup.settings.duration("SIRCL_STARTUP_WAIT_S");
  std::memcpy(parameters.token.data(), token.data(), parameters.token.size());

  auto listener = transport::tcp::TcpListener::listen(parameters);
  if (Status status = agree(*setup.member, listener.status(), "tcp listen"); !status.ok())
    return status;
  auto addresses = exchange(*setup.member, (*listener)->local_address(), "tcp addresses");
  if (!addresses) return addresses.status();
  auto transport = (*listener)->connect(*addresses);
  if (Status status = agree(*setup.member, transport.status(), "tcp connect"); !status.ok()) {
    return status;
  }
  return transport;
}

Result<std::optional<schedule::Algorithm>> forced_algorithm(const config::Settings& settings) {
  const std::string name = settings.text("SIRCL_ALGORITHM");
  if (name.empty() || name == "auto") return std::optional<schedule::Algorithm>();
  const auto algorithm = schedule::parse_algorithm(name);
  if (!algorithm) {
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_ALGORITHM={} is not an algorithm", name)};
  }
  const bool rounds_once =
      *algorithm == schedule::Algorithm::direct || *algorithm == schedule::Algorithm::exchange;
  if (settings.text("SIRCL_NUMERICS") == "exact" && !rounds_once) {
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_NUMERICS=exact rounds a sum once, but SIRCL_ALGORITHM={} rounds it "
                        "on the way; choose direct, exchange or auto",
                        name)};
  }
  return algorithm;
}

void warn_of_idle_settings(const config::Settings& settings) {
  for (const config::Setting& setting : config::registry()) {
    if (setting.has_effect() || settings.is_default(setting.name)) continue;
    const std::string source = settings.source(setting.name);
    if (source.find(' ') != std::string::npos && !source.starts_with("file")) continue;  // NCCL's
    log::warn(
        fmt::format("{} is set (by {}), but has no effect in this version", setting.name, source));
  }
}

/// What SIRCL_FABRIC says, if it says something.
Result<std::optional<topology::Fabric>> cabled_fabric(const config::Settings& settings, int size) {
  const std::string text = settings.text("SIRCL_FABRIC");
  auto fabric = topology::parse_fabric(text);
  if (!fabric) return fabric.status();
  if (*fabric && (*fabric)->size != size) {
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_FABRIC={} has {} positions, but the group has {} rank{}; name what "
                        "these ranks are cabled as, or set it to auto",
                        text, (*fabric)->size, size, size == 1 ? "" : "s")};
  }
  return fabric;
}

EngineOptions engine_options(const config::Settings& settings, const bootstrap::Launch& launch,
                             bool shared_memory, int ranks_here) {
  EngineOptions options;
  options.rank = launch.rank;
  options.ranks = launch.size;
  // Pieces shrink when there are many ranks: boards are ranks x 2 x piece.
  const auto piece = static_cast<std::size_t>(settings.integer("SIRCL_SHM_PIECE_BYTES"));
  const std::size_t fair = (32U << 20) / (2 * static_cast<std::size_t>(launch.size));
  options.piece_bytes = std::max<std::size_t>(4096, std::min(piece, fair));
  options.single_copy_min_bytes =
      static_cast<std::size_t>(settings.integer("SIRCL_SHM_SINGLE_COPY_MIN_BYTES"));
  options.shape = shared_memory
                      ? shm_shape(settings, launch.size)
                      : cable::window_shape(
                            static_cast<std::uint32_t>(settings.integer("SIRCL_TCP_SLOTS")),
                            static_cast<std::uint32_t>(settings.integer("SIRCL_TCP_SLOT_BYTES")));
  options.waiter.ranks = launch.size;
  options.waiter.progress_limit = settings.duration("SIRCL_SERVING_WAIT_S");
  const std::string spin = settings.text("SIRCL_SPIN");
  const bool crowded = ranks_here > sys::allowed_processors();
  options.waiter.policy.spins = spin == "auto" || spin.empty()
                                    ? (crowded ? 0 : 1000)
                                    : static_cast<std::uint32_t>(std::stoul(spin));
  options.waiter.policy.yield = std::chrono::microseconds(settings.integer("SIRCL_YIELD_US"));
  options.selection.ranks = launch.size;
  options.selection.shared_memory = shared_memory;
  options.selection.oneshot_max_bytes =
      static_cast<std::size_t>(settings.integer("SIRCL_ONESHOT_MAX_BYTES"));
  return options;
}

}  // namespace

Result<std::unique_ptr<Setup>> set_up(config::Settings settings, bootstrap::Launch launch,
                                      std::unique_ptr<bootstrap::Root> root) {
  auto setup = std::make_unique<Setup>();
  setup->settings = std::move(settings);
  setup->launch = launch;
  setup->root = std::move(root);
  const std::string simd = setup->settings.text("SIRCL_SIMD");
  if (!simd.empty() && simd != "auto") {
    if (Status status = reduce::force_target(simd); !status.ok()) return status;
  }
  auto fabric = cabled_fabric(setup->settings, launch.size);
  if (!fabric) return fabric.status();
  setup->fabric = *std::move(fabric);
  if (launch.rank == 0) warn_of_idle_settings(setup->settings);
  const auto forced = forced_algorithm(setup->settings);
  if (!forced) return forced.status();

  // Notices may come before there is an engine to tell.
  const auto box = std::make_shared<NoticeBox>();
  std::string token = random_token();
  bool one_host = true;
  int ranks_here = 1;
  if (launch.size > 1) {
    auto joined =
        bootstrap::join_group(launch, setup->settings, std::move(setup->root),
                              [box](const bootstrap::Notice& notice) { box->put(notice); });
    if (!joined) return joined.status();
    setup->root = std::move(joined->root);
    setup->member = std::move(joined->member);

    auto fields = setup->settings.wire_values();
    fields.emplace_back("the library version", std::string(version()));
    if (Status status = bootstrap::compare_records(*setup->member, fields); !status.ok())
      return status;
    auto tokens = exchange(*setup->member, token, "token");
    if (!tokens) return tokens.status();
    token = tokens->front();
    if (token.size() < 16) return {StatusCode::internal, "rank 0 sent a malformed token"};
    auto hosts = exchange(*setup->member, sys::host_key(), "hosts");
    if (!hosts) return hosts.status();
    const std::string& here = (*hosts)[static_cast<std::size_t>(launch.rank)];
    ranks_here = static_cast<int>(std::count(hosts->begin(), hosts->end(), here));
    one_host = ranks_here == launch.size;
  }
  const std::string wanted = setup->settings.text("SIRCL_TRANSPORT");
  if (wanted == "shm" && !one_host) {
    return {
        StatusCode::unreachable,
        fmt::format("SIRCL_TRANSPORT=shm, but only {} of {} ranks share the host of rank {}; use "
                    "tcp or auto",
                    ranks_here, launch.size, launch.rank)};
  }
  const bool shared_memory = launch.size == 1 || wanted == "shm" || (wanted == "auto" && one_host);
  EngineOptions options = engine_options(setup->settings, launch, shared_memory, ranks_here);
  options.selection.forced = *forced;
  options.selection.one_host = one_host;
  auto transport = shared_memory ? connect_shm(*setup, options, token)
                                 : connect_tcp(*setup, options, token, one_host);
  if (!transport) return transport.status();

  bootstrap::Member* member = setup->member.get();
  setup->engine =
      std::make_shared<Engine>(options, *std::move(transport), [member](const Status& mine) {
        return member != nullptr ? member->report_failure(mine) : mine;
      });
  box->connect(setup->engine);
  return setup;
}

}  // namespace sircl::detail
