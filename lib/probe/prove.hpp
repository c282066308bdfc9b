// Messages over the functions themselves: who hears whom, whatever the addresses promise.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probe/proof_message.hpp"
#include "sircl/status.hpp"
#include "topology/candidates.hpp"
#include "topology/discovery.hpp"

namespace sircl::probe {

struct ProveOptions {
  int rank = 0;
  ProofKey key{};                         ///< the group's own; messages without it are not heard
  std::chrono::milliseconds limit{1000};  ///< how long at most, when somebody does not answer
  std::function<bool()> cancelled;        ///< empty: never
};

/// One rank's part of the proof. Every message is bound to the interface of its function: UDP from
/// address to address for a candidate, and IPv6 link-local multicast to show what is cabled to
/// what.
class Prover {
 public:
  /// Sockets for each of this rank's functions. A function that cannot be used (no address at all,
  /// no permission) is left out, not an error.
  static Result<std::unique_ptr<Prover>> open(const ProveOptions& options,
                                              const topology::Functions& mine);
  virtual ~Prover() = default;
  /// To be published: where this rank listens.
  [[nodiscard]] virtual std::string address() const = 0;
  /// All ranks at once. `addresses`: by rank, what they published. Ends as soon as every candidate
  /// of this rank whose ends are up is proved in both directions and the far ends know it too, else
  /// at the limit. A function that is up and in no proved candidate gets some time to hear whom it
  /// is cabled to.
  virtual std::vector<topology::Heard> run(std::span<const topology::Functions> by_rank,
                                           std::span<const topology::Candidate> candidates,
                                           std::span<const std::string> addresses) = 0;
};

}  // namespace sircl::probe
