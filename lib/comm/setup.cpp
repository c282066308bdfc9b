#include "comm/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "base/log.hpp"
#include "bootstrap/agreement.hpp"
#include "bootstrap/join.hpp"
#include "comm/agreement.hpp"
#include "comm/checks.hpp"
#include "comm/discovery.hpp"
#include "comm/fabric_setup.hpp"
#include "comm/notice_box.hpp"
#include "comm/pin.hpp"
#include "sircl/communicator.hpp"
#include "sys/interface.hpp"
#include "sys/socket.hpp"
#include "transport/shm/peer_memory.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace sircl::detail {
namespace {

constexpr std::size_t kWindowBudget = 24U << 20;  // lane windows of all pairs on shm, together

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

/// The address that others reach this rank's data connections at.
Result<std::string> data_host(const Setup& setup) {
  const config::Settings& settings = setup.settings;
  if (std::string host = settings.text("SIRCL_TCP_HOST"); !host.empty()) return host;
  if (setup.hosts.one_host()) return std::string("127.0.0.1");
  if (const std::string list = settings.text("SIRCL_SOCKET_IFNAME"); !list.empty()) {
    return sys::interface_address(list);
  }
  // Whatever reaches the root is on the network that all ranks share. An interface that merely
  // comes first may lead to one neighbour only.
  std::string host = transport::tcp::address_towards(setup.launch.root.host);
  if (!host.empty() && !sys::is_loopback(host)) return host;
  auto any = sys::interface_address("^lo,docker");
  if (!any) {
    return {StatusCode::unreachable,
            fmt::format("rank {} has no address that other hosts reach; set SIRCL_TCP_HOST to one, "
                        "or SIRCL_SOCKET_IFNAME",
                        setup.launch.rank)};
  }
  return any;
}

Result<std::unique_ptr<transport::Transport>> connect_tcp(Setup& setup,
                                                          const EngineOptions& options,
                                                          const std::string& token,
                                                          NoticeBox& box) {
  transport::tcp::Parameters parameters;
  parameters.rank = options.rank;
  parameters.ranks = options.ranks;
  parameters.host = setup.data_host;
  parameters.shape = options.shape;
  parameters.timeout = setup.settings.duration("SIRCL_STARTUP_WAIT_S");
  std::memcpy(parameters.token.data(), token.data(), parameters.token.size());
  parameters.cancelled = [&box] { return box.failed(); };

  auto listener = transport::tcp::TcpListener::listen(parameters);
  if (Status status = agree(*setup.member, listener.status(), "tcp listen"); !status.ok())
    return status;
  auto addresses = exchange(*setup.member, (*listener)->local_address(), "tcp addresses");
  if (!addresses) return addresses.status();
  auto transport = (*listener)->connect(*addresses);
  // The others wait to be called: they must hear that nobody will.
  if (!transport && !box.failed()) return setup.member->report_failure(transport.status());
  if (Status status = agree(*setup.member, transport.status(), "tcp connect"); !status.ok()) {
    return status;
  }
  return transport;
}

Result<Hosts> meet_hosts(bootstrap::Member& member, const Place& mine, int rank) {
  const auto texts = exchange(member, mine.to_text(), "hosts");
  if (!texts) return texts.status();
  std::vector<Place> places;
  for (const std::string& text : *texts) places.push_back(Place::from_text(text));
  return Hosts(std::move(places), rank);
}

Status pin(const Setup& setup, std::span<const int> processors) {
  const bool told = !setup.settings.text("SIRCL_LOCAL_RANK").empty();
  return pin_to(pin_choice(processors, told ? setup.launch.local_rank : setup.hosts.local_index()));
}

/// What the bytes of the transport consist of, so that a user can see what would change them.
std::string memory_formula(const EngineOptions& options, const transport::Transport& transport,
                           bool shared) {
  const auto ranks = static_cast<std::size_t>(options.ranks);
  const std::size_t bytes = transport.memory_bytes();
  const std::size_t window = options.shape.window_bytes;
  if (!shared) {
    return fmt::format("{} bytes in each rank = {} windows x {}", bytes, ranks - 1, window);
  }
  const std::size_t half = exec::BoardExecutor::half_bytes(options.piece_bytes, options.ranks);
  const std::size_t parts = ranks * 2 * half + ranks * (ranks - 1) * window;
  return fmt::format(
      "{} bytes, shared by all ranks = {} boards x 2 x {} + {} windows x {} + {} to meet", bytes,
      ranks, half, ranks * (ranks - 1), window, bytes - parts);
}

EngineOptions engine_options(const config::Settings& settings, const bootstrap::Launch& launch,
                             bool shared_memory, const Hosts& hosts) {
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
  const bool crowded = hosts.ranks_here() > hosts.processors_here();
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
                                      std::unique_ptr<bootstrap::Root> root,
                                      std::optional<FabricPart> part) {
  auto setup = std::make_unique<Setup>();
  setup->settings = std::move(settings);
  setup->launch = launch;
  setup->root = std::move(root);
  const auto checked = check_settings(setup->settings, launch.size,
                                      launch.part ? GroupKind::part : GroupKind::whole);
  if (launch.rank == 0) warn_of_idle_settings(setup->settings);
  const Place place = Place::here(
      checked.ok() && !checked->processors.empty() ? checked->processors : allowed_processors());

  // Notices may come before there is an engine to tell.
  const auto box = std::make_shared<NoticeBox>();
  std::string token = random_token();
  setup->hosts = Hosts({place}, 0);
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
    // Everybody gets here, so that everybody learns what is wrong on one rank.
    if (Status status = agree(*setup->member, checked.status(), "settings"); !status.ok()) {
      return status;
    }
    auto hosts = meet_hosts(*setup->member, place, launch.rank);
    if (!hosts) return hosts.status();
    setup->hosts = *std::move(hosts);
    auto tokens = exchange(*setup->member, token, "token");
    if (!tokens) return tokens.status();
    token = tokens->front();
    if (token.size() < 16) return {StatusCode::internal, "rank 0 sent a malformed token"};
  }
  if (!checked) return checked.status();
  setup->fabric = checked->fabric;
  const std::string wanted = setup->settings.text("SIRCL_TRANSPORT");
  const Hosts& hosts = setup->hosts;
  const bool one_host = hosts.one_host();
  if (wanted == "shm" && !one_host) {
    return {
        StatusCode::unreachable,
        fmt::format("SIRCL_TRANSPORT=shm, but only {} of {} ranks share the host of rank {}; use "
                    "tcp or auto",
                    hosts.ranks_here(), launch.size, launch.rank)};
  }
  if (!checked->processors.empty()) {
    if (Status status = pin(*setup, checked->processors); !status.ok()) log::warn(status.message());
  }
  const bool shared_memory =
      !part && (launch.size == 1 || wanted == "shm" || (wanted == "auto" && one_host));
  EngineOptions options = engine_options(setup->settings, launch, shared_memory, hosts);
  options.selection.forced = checked->algorithm;
  options.selection.one_host = one_host;
  Result<std::unique_ptr<transport::Transport>> transport(StatusCode::internal, "not connected");
  std::optional<topology::Layout> layout;
  if (!shared_memory) {
    auto host = data_host(*setup);
    if (Status status = agree(*setup->member, host.status(), "data address"); !status.ok()) {
      return status;
    }
    setup->data_host = *host;
  }
  if (!shared_memory && !part) {
    auto found = discover(*setup->member, setup->settings, hosts, launch, setup->fabric);
    if (!found) return found.status();
    layout = *std::move(found);
  }
  if (part) {
    transport = use_part(*setup, options, *std::move(part));
    if (Status status = agree(*setup->member, {}, "part"); !status.ok()) return status;
  } else if (shared_memory) {
    transport = connect_shm(*setup, options, token);
  } else if (layout) {
    transport = connect_fabric(*setup, options, token, *box, *layout);
  } else {
    transport = connect_tcp(*setup, options, token, *box);
  }
  if (!transport) return transport.status();

  bootstrap::Member* member = setup->member.get();
  if (setup->cables) options.say_goodbye = [member] { member->leave(); };
  setup->engine =
      std::make_shared<Engine>(options, *std::move(transport), [member](const Status& mine) {
        return member != nullptr ? member->report_failure(mine) : mine;
      });
  box->connect(setup->engine);
  setup->memory = memory_formula(options, setup->engine->transport(), shared_memory);
  return setup;
}

}  // namespace sircl::detail
