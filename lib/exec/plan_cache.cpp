#include "exec/plan_cache.hpp"

#include <algorithm>

namespace sircl::exec {

Result<const BoardPlan*> PlanCache::plan_for(const Operation& operation, std::size_t begin,
                                             std::size_t length) {
  const bool odd = !operation.counts.empty();
  const auto element_bytes = static_cast<std::uint8_t>(size_of(operation.type));
  const std::uint64_t count =
      odd ? 0 : std::min(length, operation.count - std::min(operation.count, begin));
  const Key key{static_cast<std::uint8_t>(operation.collective),
                static_cast<std::uint8_t>(operation.algorithm), element_bytes, operation.root,
                count};
  const std::uint64_t hash = (count * 0x9E3779B97F4A7C15ull) ^
                             (static_cast<std::uint64_t>(key.collective) * 0xC2B2AE3D27D4EB4Full) ^
                             (static_cast<std::uint64_t>(operation.root) << 40) ^ key.algorithm;
  Entry& entry = entries_[(hash >> 32) % kEntries];
  if (!odd && entry.plan && entry.key == key) return entry.plan.get();

  schedule::Request request;
  request.collective = operation.collective;
  request.algorithm = operation.algorithm;
  request.wiring = schedule::Wiring::mesh;
  request.size = ranks_;
  request.root = operation.root;
  fill_piece_counts(operation, request.size, begin, length, counts_);
  request.counts = counts_;
  auto plan = compile(request, rank_, element_bytes, half_bytes_);
  if (!plan) return plan.status();
  auto owned = std::make_unique<BoardPlan>(*std::move(plan));
  if (odd) {
    odd_plan_ = std::move(owned);
    return odd_plan_.get();
  }
  entry.key = key;
  entry.plan = std::move(owned);
  return entry.plan.get();
}

}  // namespace sircl::exec
