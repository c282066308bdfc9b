// Ranks of one host over one shared segment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/lane.hpp"

namespace sircl::transport::shm {

struct Parameters {
  int rank = 0;
  int ranks = 0;
  std::size_t half_bytes = 0;
  WindowShape shape;
  std::uint64_t token = 0;
};

/// Two steps, so that the exchange of addresses stays outside. Rank 0 creates; the others connect
/// to its address. After all ranks have connected, call connected() on each.
class ShmTransport : public Transport {
 public:
  static Result<std::unique_ptr<ShmTransport>> create(const Parameters& parameters);
  /// "pid:fd" of the segment (rank 0).
  [[nodiscard]] virtual std::string local_address() const = 0;
  static Result<std::unique_ptr<ShmTransport>> connect(const Parameters& parameters,
                                                       const std::string& address_of_rank_0);
  virtual void connected() noexcept = 0;

  /// After connected(): whether this process can read the memory of all others; if not, why.
  [[nodiscard]] virtual Status probe_peer_memory() = 0;
  /// Only where the probes of all ranks succeeded.
  virtual void use_peer_memory() noexcept = 0;
};

}  // namespace sircl::transport::shm
