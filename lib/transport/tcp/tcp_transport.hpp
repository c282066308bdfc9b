// Lanes over TCP connections between every pair of ranks.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/lane.hpp"

namespace sircl::transport::tcp {

struct Parameters {
  int rank = 0;
  int ranks = 0;
  std::string host;  ///< address to listen on and to announce
  WindowShape shape;
  std::array<std::byte, 16> token{};  ///< secret of the group: strangers do not know it
  std::chrono::milliseconds timeout{60'000};
  std::function<bool()> cancelled;  ///< polled while connecting
};

/// Two steps, so that the exchange of addresses stays outside: listen, then connect to everybody's
/// addresses.
class TcpListener {
 public:
  static Result<std::unique_ptr<TcpListener>> listen(const Parameters& parameters);
  virtual ~TcpListener() = default;
  /// "host:port"
  [[nodiscard]] virtual std::string local_address() const = 0;
  virtual Result<std::unique_ptr<Transport>> connect(const std::vector<std::string>& addresses) = 0;
};

/// The numeric address that this host would send from to reach `host`; empty if there is no way or
/// `host` is not known. Nothing is sent.
[[nodiscard]] std::string address_towards(const std::string& host);

}  // namespace sircl::transport::tcp
