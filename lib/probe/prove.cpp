#include "probe/prove.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "base/log.hpp"
#include "probe/proof_ports.hpp"
#include "probe/proof_socket.hpp"
#include "probe/proof_state.hpp"

namespace sircl::probe {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kResend{15};
/// How long a rank that has all it wants stays for a far end that may not know yet.
constexpr milliseconds kLinger{100};
/// How long a function that is up may wait for somebody on its link.
constexpr milliseconds kLonely{300};
/// Messages taken from one socket before the others have their turn.
constexpr int kMostAtOnce = 256;

struct Channel {
  ProofSocket socket;
  int function = 0;
  int address = -1;  ///< of that function; -1: the socket for everybody on the link
};

class SocketProver final : public Prover {
 public:
  SocketProver(const ProveOptions& options, const topology::Functions& mine)
      : options_(options), mine_(mine) {
    for (std::size_t at = 0; at < mine.size(); ++at) open_function(static_cast<int>(at));
  }

  [[nodiscard]] std::string address() const override { return to_string(ports_); }

  std::vector<topology::Heard> run(std::span<const topology::Functions> by_rank,
                                   std::span<const topology::Candidate> candidates,
                                   std::span<const std::string> addresses) override;

 private:
  /// A pair that can be sent to.
  struct Route {
    std::size_t pair = 0;
    const ProofSocket* socket = nullptr;
    Endpoint to;
  };

  void open_function(int function);
  [[nodiscard]] const ProofSocket* socket_of(int function, int address) const;
  void find_routes(const ProofState& state, std::span<const topology::Functions> by_rank,
                   std::span<const std::string> addresses);
  void send_all(const ProofState& state) const;
  void send_on_link(const ProofState& state, const Channel& channel) const;
  void send(const ProofState& state, const Route& route) const;
  void answer(const ProofState& state, const ProofState::Pair& pair) const;
  void receive(ProofState& state, const Channel& channel) const;
  void wait_and_receive(ProofState& state, milliseconds most) const;

  ProveOptions options_;
  topology::Functions mine_;
  std::vector<Channel> channels_;
  Ports ports_;
  std::vector<Route> routes_;
};

void SocketProver::open_function(int function) {
  const topology::Function& one = mine_[static_cast<std::size_t>(function)];
  auto& ports = ports_.emplace_back();
  for (std::size_t at = 0; at < one.addresses.size(); ++at) {
    auto socket = ProofSocket::on_address(one.interface, one.addresses[at]);
    ports.push_back(socket ? socket->port() : 0);
    if (socket) channels_.push_back({*std::move(socket), function, static_cast<int>(at)});
  }
  if (auto socket = ProofSocket::on_link(one.interface, multicast_port(options_.key))) {
    channels_.push_back({*std::move(socket), function, -1});
  } else {
    log::trace(fmt::format("{}: no IPv6 multicast, so it cannot show what it is cabled to",
                           one.interface));
  }
}

const ProofSocket* SocketProver::socket_of(int function, int address) const {
  const auto found = std::find_if(channels_.begin(), channels_.end(), [&](const Channel& one) {
    return one.function == function && one.address == address;
  });
  return found == channels_.end() ? nullptr : &found->socket;
}

int index_of(const topology::Function& function, const topology::Address& address) {
  const auto& all = function.addresses;
  const auto at = std::find(all.begin(), all.end(), address);
  return at == all.end() ? -1 : static_cast<int>(at - all.begin());
}

void SocketProver::find_routes(const ProofState& state,
                               std::span<const topology::Functions> by_rank,
                               std::span<const std::string> addresses) {
  std::vector<std::optional<Ports>> ports(by_rank.size());
  for (std::size_t rank = 0; rank < std::min(by_rank.size(), addresses.size()); ++rank) {
    ports[rank] = parse_ports(addresses[rank], by_rank[rank]);
  }
  routes_.clear();
  for (std::size_t at = 0; at < state.pairs().size(); ++at) {
    const ProofState::Pair& pair = state.pairs()[at];
    const auto rank = static_cast<std::size_t>(pair.far.rank);
    const auto function = static_cast<std::size_t>(pair.far.index);
    const auto own = static_cast<std::size_t>(pair.mine.index);
    const int far = index_of(by_rank[rank][function], pair.far_address);
    const int mine = index_of(mine_[own], pair.my_address);
    if (far < 0 || mine < 0 || !ports[rank]) continue;
    const std::uint16_t port = (*ports[rank])[function][static_cast<std::size_t>(far)];
    const ProofSocket* socket = socket_of(pair.mine.index, mine);
    if (socket != nullptr && port != 0) {
      routes_.push_back({at, socket, endpoint(pair.far_address, port)});
    }
  }
}

void SocketProver::send(const ProofState& state, const Route& route) const {
  const auto message = state.message_for(state.pairs()[route.pair]);
  route.socket->send(encode(message, options_.key), route.to);
}

void SocketProver::send_on_link(const ProofState& state, const Channel& channel) const {
  channel.socket.send_to_all(encode(state.message_to_all(channel.function), options_.key));
}

void SocketProver::send_all(const ProofState& state) const {
  for (const Route& route : routes_) send(state, route);
  for (const Channel& channel : channels_) {
    if (channel.address < 0) send_on_link(state, channel);
  }
}

void SocketProver::answer(const ProofState& state, const ProofState::Pair& pair) const {
  for (const Route& route : routes_) {
    if (&state.pairs()[route.pair] == &pair) send(state, route);
  }
}

void SocketProver::receive(ProofState& state, const Channel& channel) const {
  std::array<std::byte, kProofBytes + 1> room{};  // one more, so that longer ones are seen as such
  for (int count = 0; count < kMostAtOnce; ++count) {
    const auto arrival = channel.socket.receive(room);
    if (!arrival) return;
    const auto message = decode(arrival->bytes, options_.key);
    if (!message) continue;
    if (channel.address < 0) {
      if (state.hear_on_link(*message, channel.function)) send_on_link(state, channel);
      continue;
    }
    const auto& to = mine_[static_cast<std::size_t>(channel.function)]
                         .addresses[static_cast<std::size_t>(channel.address)];
    const auto* pair = state.hear(*message, channel.function, to, arrival->from);
    if (pair != nullptr) answer(state, *pair);
  }
}

void SocketProver::wait_and_receive(ProofState& state, milliseconds most) const {
  std::vector<pollfd> waiting;
  for (const Channel& channel : channels_) waiting.push_back({channel.socket.fd(), POLLIN, 0});
  if (poll(waiting.data(), waiting.size(), static_cast<int>(most.count())) <= 0) return;
  for (std::size_t at = 0; at < waiting.size(); ++at) {
    if (waiting[at].revents != 0) receive(state, channels_[at]);
  }
}

std::vector<topology::Heard> SocketProver::run(std::span<const topology::Functions> by_rank,
                                               std::span<const topology::Candidate> candidates,
                                               std::span<const std::string> addresses) {
  ProofState state(options_.rank, by_rank, candidates);
  find_routes(state, by_rank, addresses);
  const auto start = Clock::now();
  auto send_at = start;
  auto known_at = Clock::time_point::max();
  while (!options_.cancelled || !options_.cancelled()) {
    const auto now = Clock::now();
    if (state.all_known()) known_at = std::min(known_at, now);
    const bool all_said = state.all_known_by_far() || (now > known_at && now - known_at > kLinger);
    const bool all_met = state.nobody_lonely() || now - start > kLonely;
    if ((all_said && all_met) || now - start >= options_.limit) break;
    if (now >= send_at) {
      send_all(state);
      send_at = now + kResend;
    }
    wait_and_receive(state, std::chrono::ceil<milliseconds>(send_at - now));
  }
  send_all(state);  // whoever still waits for the last word of this rank has it now
  return state.heard();
}

}  // namespace

Result<std::unique_ptr<Prover>> Prover::open(const ProveOptions& options,
                                             const topology::Functions& mine) {
  return std::unique_ptr<Prover>(std::make_unique<SocketProver>(options, mine));
}

}  // namespace sircl::probe
