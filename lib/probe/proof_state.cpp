#include "probe/proof_state.hpp"

#include <algorithm>

namespace sircl::probe {
namespace {

/// The prefixes do not matter here.
bool same(const topology::Address& a, const topology::Address& b) {
  return a.family == b.family && a.bytes == b.bytes;
}

}  // namespace

ProofState::ProofState(int rank, std::span<const topology::Functions> by_rank,
                       std::span<const topology::Candidate> candidates)
    : rank_(rank), by_rank_(by_rank) {
  const auto is_up = [&](const topology::FunctionId& id) {
    return by_rank[static_cast<std::size_t>(id.rank)][static_cast<std::size_t>(id.index)].up;
  };
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    const topology::Candidate& one = candidates[at];
    const bool expected = is_up(one.first) && is_up(one.second);
    if (one.first.rank == rank) {
      pairs_.push_back(
          {at, one.first, one.second, one.first_address, one.second_address, expected});
    } else if (one.second.rank == rank) {
      pairs_.push_back(
          {at, one.second, one.first, one.second_address, one.first_address, expected});
    }
  }
}

ProofMessage ProofState::message_for(const Pair& pair) const noexcept {
  return {pair.mine, true,       static_cast<std::uint32_t>(pair.candidate),
          pair.far,  pair.heard, pair.heard && pair.known};
}

ProofMessage ProofState::message_to_all(int function) const noexcept {
  ProofMessage message;
  message.from = {rank_, function};
  return message;
}

const ProofState::Pair* ProofState::hear(const ProofMessage& message, int by,
                                         const topology::Address& to,
                                         const topology::Address& from) {
  const auto pair = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& one) {
    return one.candidate == message.candidate;
  });
  if (!message.addressed || pair == pairs_.end() || pair->far != message.from ||
      pair->mine != message.to || pair->mine.index != by || !same(pair->my_address, to) ||
      !same(pair->far_address, from)) {
    return nullptr;
  }
  const bool is_new = !pair->heard || (message.heard && !pair->known);
  pair->heard = true;
  pair->known = pair->known || message.heard;
  pair->far_known = pair->far_known || message.known;
  heard_.insert({pair->mine, pair->far, true});
  return is_new || !message.known ? &*pair : nullptr;
}

bool ProofState::hear_on_link(const ProofMessage& message, int by) {
  if (message.addressed || !is_other_rank(message.from)) return false;
  return heard_.insert({{rank_, by}, message.from, false}).second;
}

bool ProofState::all_known_by_far() const noexcept {
  return std::all_of(pairs_.begin(), pairs_.end(),
                     [](const Pair& pair) { return !pair.expected || pair.far_known; });
}

bool ProofState::all_known() const noexcept {
  return std::all_of(pairs_.begin(), pairs_.end(),
                     [](const Pair& pair) { return !pair.expected || pair.known; });
}

bool ProofState::nobody_lonely() const {
  const auto& mine = by_rank_[static_cast<std::size_t>(rank_)];
  for (std::size_t at = 0; at < mine.size(); ++at) {
    const auto is_by = [&](const topology::Heard& one) {
      return one.by.index == static_cast<int>(at);
    };
    if (mine[at].up && std::none_of(heard_.begin(), heard_.end(), is_by)) return false;
  }
  return true;
}

bool ProofState::is_other_rank(const topology::FunctionId& id) const noexcept {
  return id.rank != rank_ && id.rank >= 0 && static_cast<std::size_t>(id.rank) < by_rank_.size() &&
         id.index >= 0 &&
         static_cast<std::size_t>(id.index) < by_rank_[static_cast<std::size_t>(id.rank)].size();
}

}  // namespace sircl::probe
