#include "exec/operation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sircl::exec {

using schedule::Collective;

std::string describe(const transport::OperationTag& tag) {
  const auto collective = static_cast<Collective>(tag.kind);
  std::string text(schedule::to_string(collective));
  if (collective == Collective::barrier) return text + "()";
  text += fmt::format("({}", to_string(static_cast<DataType>(tag.type)));
  const bool reduces = collective == Collective::all_reduce || collective == Collective::reduce ||
                       collective == Collective::reduce_scatter;
  if (reduces) text += fmt::format(", {}", to_string(static_cast<ReduceOp>(tag.op)));
  text += fmt::format(", count {}", tag.count);
  if (tag.counts_hash != 0)
    text += fmt::format(", unequal counts {:08x}", tag.counts_hash & 0xFFFFFFFF);
  const bool rooted = collective == Collective::broadcast || collective == Collective::reduce ||
                      collective == Collective::gather || collective == Collective::scatter;
  if (rooted) text += fmt::format(", root {}", tag.root);
  return text + ")";
}

Status mismatch(int rank, const transport::OperationTag& mine, int peer,
                const transport::OperationTag& other) {
  return {StatusCode::mismatch,
          fmt::format("operation {}: rank {} called {}, rank {} called {}; all ranks must call the "
                      "same operations in the same order",
                      mine.sequence, std::min(rank, peer), describe(rank < peer ? mine : other),
                      std::max(rank, peer), describe(rank < peer ? other : mine))};
}

std::size_t longest_block(const Operation& operation) noexcept {
  if (operation.counts.empty()) return operation.count;
  return *std::max_element(operation.counts.begin(), operation.counts.end());
}

void fill_piece_counts(const Operation& operation, int ranks, std::size_t begin, std::size_t length,
                       std::vector<std::uint64_t>& counts) {
  counts.clear();
  const std::size_t blocks =
      schedule::block_count(operation.collective, static_cast<std::size_t>(ranks));
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t whole = operation.counts.empty()
                                  ? operation.count
                                  : operation.counts[block % operation.counts.size()];
    counts.push_back(std::min(length, whole - std::min(whole, begin)));
  }
}

Addresses::Addresses(const Operation& operation, std::byte* scratch)
    : operation_(operation),
      scratch_(scratch),
      element_(size_of(operation.type)),
      wide_input_(wide_input(operation.collective)),
      wide_output_(wide_output(operation.collective)) {}

std::byte* Addresses::operator()(const schedule::Range& range) const noexcept {
  if (range.buffer == schedule::Buffer::scratch) return scratch_ + range.offset * element_;
  auto* base = range.buffer == schedule::Buffer::input
                   ? const_cast<std::byte*>(static_cast<const std::byte*>(operation_.in))
                   : static_cast<std::byte*>(operation_.out);
  return base + offset(range);
}

std::size_t Addresses::offset(const schedule::Range& range) const noexcept {
  std::size_t first = 0;
  if (range.buffer == schedule::Buffer::input ? wide_input_ : wide_output_) {
    if (operation_.counts.empty()) {
      first = range.block * operation_.count;
    } else {
      for (std::size_t block = 0; block < range.block; ++block) first += operation_.counts[block];
    }
  }
  return (first + piece_ + range.offset) * element_;
}

}  // namespace sircl::exec
