#include "schedule/steps.hpp"

#include <algorithm>

namespace sircl::schedule {

Slice slice(const Slice& whole, int parts, int index) {
  const std::uint64_t units = whole.count / kSliceElements + (whole.count % kSliceElements != 0);
  const auto wide_parts = static_cast<std::uint64_t>(parts);
  const auto boundary = [&](std::uint64_t i) {
    // units * i / parts without overflow for any count.
    const std::uint64_t unit = units / wide_parts * i + units % wide_parts * i / wide_parts;
    return std::min(whole.count, unit * kSliceElements);
  };
  const std::uint64_t begin = boundary(static_cast<std::uint64_t>(index));
  return {whole.offset + begin, boundary(static_cast<std::uint64_t>(index) + 1) - begin};
}

Slice low_half(std::uint64_t count) {
  // Rounded up, so that a message too short to be cut stays whole.
  const std::uint64_t half = count / 2 + count % 2;
  const std::uint64_t units = half / kSliceElements + (half % kSliceElements != 0);
  return {0, std::min(count, units * kSliceElements)};
}

Slice high_half(std::uint64_t count) {
  const std::uint64_t low = low_half(count).count;
  return {low, count - low};
}

void StreamBuilder::append(Step step) {
  if (step.count != 0) stream_.steps.push_back(std::move(step));
}

void StreamBuilder::move(int round, std::uint64_t count, const Operand& operand,
                         std::optional<Range> store, std::vector<int> send_to, bool reduced) {
  Step step;
  step.round = static_cast<std::uint16_t>(round);
  step.count = count;
  step.operands.push_back(operand);
  step.store = store;
  step.send_to = std::move(send_to);
  step.reduce = reduced;
  append(std::move(step));
}

void StreamBuilder::combine(int round, std::uint64_t count, std::vector<Operand> operands,
                            std::optional<Range> store, std::vector<int> send_to, bool finish) {
  Step step;
  step.round = static_cast<std::uint16_t>(round);
  step.count = count;
  step.reduce = operands.size() > 1;
  step.operands = std::move(operands);
  step.store = store;
  step.send_to = std::move(send_to);
  step.finish = finish;
  append(std::move(step));
}

Program finish_program(std::initializer_list<StreamBuilder*> streams, int rounds,
                       std::uint64_t scratch_elements) {
  Program program;
  for (StreamBuilder* stream : streams) program.streams.push_back(stream->take());
  while (!program.streams.empty() && program.streams.back().steps.empty()) {
    program.streams.pop_back();
  }
  program.rounds = static_cast<std::uint16_t>(rounds);
  program.scratch_elements = scratch_elements;
  return program;
}

}  // namespace sircl::schedule
