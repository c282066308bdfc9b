// The words that the builders are written in: ranges, operands and steps.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/schedule.hpp"

namespace sircl::schedule {

/// Slices begin at multiples of this many elements: whole cache lines, and whole vectors, of every
/// type.
inline constexpr std::uint64_t kSliceElements = 64;

/// More ranks are refused.
inline constexpr int kMaxRanks = 1024;

/// A run of elements inside a block.
struct Slice {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

/// Part `index` of `whole` cut into `parts` nearly equal slices. Boundaries are multiples of
/// kSliceElements from its start; a short whole leaves slices empty.
Slice slice(const Slice& whole, int parts, int index);

/// The two halves of a block of `count` elements: the low one travels east, the high one west.
Slice low_half(std::uint64_t count);
Slice high_half(std::uint64_t count);

inline Range input(const Slice& part, int block = 0) {
  return {Buffer::input, static_cast<std::uint16_t>(block), part.offset, part.count};
}
inline Range output(const Slice& part, int block = 0) {
  return {Buffer::output, static_cast<std::uint16_t>(block), part.offset, part.count};
}
inline Range scratch(std::uint64_t offset, std::uint64_t count) {
  return {Buffer::scratch, 0, offset, count};
}

inline Operand local(const Range& range) { return {kLocal, range}; }
inline Operand received(int from) { return {from, {}}; }

/// Appends steps to one stream. A step without elements is left out: all ranks know the counts, so
/// both sides of a message leave it out alike.
class StreamBuilder {
 public:
  /// A step that moves one operand. `reduced`: what it moves is a sum already.
  void move(int round, std::uint64_t count, const Operand& operand, std::optional<Range> store,
            std::vector<int> send_to = {}, bool reduced = false);
  /// A step that combines operands, from left to right.
  void combine(int round, std::uint64_t count, std::vector<Operand> operands,
               std::optional<Range> store, std::vector<int> send_to, bool finish);

  [[nodiscard]] bool empty() const { return stream_.steps.empty(); }
  [[nodiscard]] Stream take() { return std::move(stream_); }

 private:
  void append(Step step);
  Stream stream_;
};

/// The streams as a program. Streams keep their numbers, because messages are matched by them;
/// only empty ones at the end are dropped (in every rank or in none: see the builders).
Program finish_program(std::initializer_list<StreamBuilder*> streams, int rounds,
                       std::uint64_t scratch_elements = 0);

/// Neighbours on a ring.
inline int east_of(int rank, int size, int hops = 1) { return (rank + hops) % size; }
inline int west_of(int rank, int size, int hops = 1) { return (rank - hops % size + size) % size; }

}  // namespace sircl::schedule
