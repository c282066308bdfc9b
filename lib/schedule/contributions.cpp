#include "schedule/contributions.hpp"

#include <fmt/format.h>

namespace sircl::schedule {
namespace {

constexpr std::size_t kBits = 64;

}  // namespace

Contributions::Contributions(int ranks) : ranks_(ranks) {
  const std::size_t words = (static_cast<std::size_t>(ranks) + kBits - 1) / kBits;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    Node leaf;
    leaf.members.resize(words);
    leaf.members[rank / kBits] = std::uint64_t{1} << (rank % kBits);
    leaf.held = 1;
    leaf.rank_ordered_once = true;
    nodes_.push_back(std::move(leaf));
  }
}

bool Contributions::overlap(std::span<const Id> values) const {
  std::vector<std::uint64_t> seen(nodes_.front().members.size());
  for (const Id id : values) {
    for (std::size_t word = 0; word < seen.size(); ++word) {
      if ((seen[word] & node(id).members[word]) != 0) return true;
      seen[word] |= node(id).members[word];
    }
  }
  return false;
}

Contributions::Id Contributions::combine(std::span<const Id> values, bool finish) {
  if (values.size() == 1 && !finish) return values.front();
  std::vector<Id> key(values.begin(), values.end());
  key.push_back(finish ? 1 : 0);
  const auto [place, is_new] = known_.try_emplace(std::move(key), static_cast<Id>(nodes_.size()));
  if (!is_new) return place->second;
  Node sum;
  sum.members.resize(nodes_.front().members.size());
  sum.finished = finish;
  sum.rank_ordered_once = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Node& part = node(values[i]);
    for (std::size_t word = 0; word < sum.members.size(); ++word) {
      sum.members[word] |= part.members[word];
    }
    sum.held += part.held;
    sum.finished = sum.finished || part.finished;
    const bool is_leaf = values[i] < static_cast<Id>(ranks_);
    if (!is_leaf || (i > 0 && values[i - 1] > values[i])) sum.rank_ordered_once = false;
  }
  nodes_.push_back(std::move(sum));
  return place->second;
}

std::string Contributions::describe(Id id) const {
  std::string text = "{";
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto bit = static_cast<std::size_t>(rank);
    if ((node(id).members[bit / kBits] >> (bit % kBits) & 1) == 0) continue;
    text += fmt::format("{}{}", text.size() > 1 ? "," : "", rank);
  }
  return text + "}";
}

}  // namespace sircl::schedule
