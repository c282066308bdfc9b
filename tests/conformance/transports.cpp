#include "conformance/transports.hpp"

#include <algorithm>
#include <filesystem>

#include "support/catch.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace sircl::test {
namespace {

using transport::WindowShape;

Endpoints connect_shm(int ranks, const WindowShape& shape) {
  using transport::shm::ShmTransport;
  transport::shm::Parameters parameters;
  parameters.ranks = ranks;
  parameters.half_bytes = 4096;
  parameters.shape = shape;
  parameters.token = 0x5EED;
  std::vector<std::unique_ptr<ShmTransport>> made;
  for (parameters.rank = 0; parameters.rank < ranks; ++parameters.rank) {
    auto one = parameters.rank == 0
                   ? ShmTransport::create(parameters)
                   : ShmTransport::connect(parameters, made.front()->local_address());
    INFO(one.status().to_string());
    REQUIRE(one.ok());
    made.push_back(*std::move(one));
  }
  Endpoints endpoints;
  for (auto& one : made) {
    one->connected();
    endpoints.push_back(std::move(one));
  }
  return endpoints;
}

Endpoints connect_tcp(int ranks, const WindowShape& shape) {
  using transport::tcp::TcpListener;
  std::vector<std::unique_ptr<TcpListener>> listeners;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < ranks; ++rank) {
    transport::tcp::Parameters parameters;
    parameters.rank = rank;
    parameters.ranks = ranks;
    parameters.host = "127.0.0.1";
    parameters.shape = shape;
    parameters.token.fill(std::byte{0x17});
    parameters.timeout = std::chrono::seconds(30);
    auto listener = TcpListener::listen(parameters);
    INFO(listener.status().to_string());
    REQUIRE(listener.ok());
    addresses.push_back((*listener)->local_address());
    listeners.push_back(*std::move(listener));
  }
  // A rank calls the lower ones and waits for the higher ones only, so one thread can do it all.
  Endpoints endpoints(static_cast<std::size_t>(ranks));
  for (std::size_t rank = endpoints.size(); rank-- > 0;) {
    auto connected = listeners[rank]->connect(addresses);
    INFO(connected.status().to_string());
    REQUIRE(connected.ok());
    endpoints[rank] = *std::move(connected);
  }
  return endpoints;
}

}  // namespace

const std::vector<TransportUnderTest>& all_transports() {
  static const std::vector<TransportUnderTest> transports = {
      {.name = "shm", .connect = connect_shm},
      {.name = "tcp",
       .connect = connect_tcp,
       .queue_fills = true,
       .notices_loss = true,
       .can_redirect = true},
  };
  return transports;
}

const TransportUnderTest& transport_named(const std::string& name) {
  const auto& all = all_transports();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const TransportUnderTest& each : all_transports()) names.push_back(each.name);
  return names;
}

WindowShape plain_window(std::size_t bytes) { return {1, 1024, bytes}; }

void progress_all(Endpoints& endpoints) {
  for (const auto& endpoint : endpoints) {
    if (!endpoint) continue;
    for (std::size_t peer = 0; peer < endpoints.size(); ++peer) {
      if (auto* lane = endpoint->lane(static_cast<int>(peer)); lane != nullptr) lane->progress();
    }
  }
}

std::vector<std::byte> pattern(std::uint64_t seed, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  for (std::byte& each : result) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    each = static_cast<std::byte>(state >> 56);
  }
  return result;
}

bool holds_pattern(std::span<const std::byte> bytes, std::uint64_t seed) {
  const auto expected = pattern(seed, bytes.size());
  return std::equal(bytes.begin(), bytes.end(), expected.begin());
}

std::vector<std::string> names_in_dev_shm() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", missing)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sircl::test
