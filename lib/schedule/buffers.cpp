#include "schedule/buffers.hpp"

namespace sircl::schedule {

void Buffers::add_input(std::uint64_t count, int contributor, int home_block) {
  inputs_.push_back(static_cast<int>(memories_.size()));
  Memory& memory = memories_.emplace_back(count);
  const Value first{static_cast<Contributions::Id>(contributor),
                    static_cast<std::uint32_t>(home_block), 0};
  memory.write(0, count, {{0, count, first}});
}

void Buffers::add_output(std::uint64_t count, int same_as_input) {
  if (placement_ == Placement::in_place && same_as_input != kNone) {
    outputs_.push_back(inputs_[static_cast<std::size_t>(same_as_input)]);
    return;
  }
  outputs_.push_back(static_cast<int>(memories_.size()));
  memories_.emplace_back(count);
}

Buffers::Buffers(const Request& request, int rank, std::uint64_t scratch_elements,
                 Placement placement)
    : placement_(placement) {
  const auto count = [&](int block) { return request.counts[static_cast<std::size_t>(block)]; };
  const bool is_root = rank == request.root;
  const int size = request.size;
  switch (request.collective) {
    case Collective::all_reduce:
      add_input(count(0), rank, 0);
      add_output(count(0), 0);
      break;
    case Collective::reduce:
      add_input(count(0), rank, 0);
      if (is_root) add_output(count(0), 0);
      break;
    case Collective::broadcast:
      if (is_root) add_input(count(0), rank, 0);
      add_output(count(0), is_root ? 0 : kNone);
      break;
    case Collective::all_gather:
    case Collective::gather:
      add_input(count(rank), rank, rank);
      if (request.collective == Collective::gather && !is_root) break;
      for (int b = 0; b < size; ++b) add_output(count(b), b == rank ? 0 : kNone);
      break;
    case Collective::reduce_scatter:
    case Collective::scatter:
      if (request.collective == Collective::reduce_scatter || is_root) {
        for (int b = 0; b < size; ++b) add_input(count(b), rank, b);
        add_output(count(rank), rank);
      } else {
        add_output(count(rank));
      }
      break;
    case Collective::all_to_all:
      for (int to = 0; to < size; ++to) add_input(count(rank * size + to), rank, rank * size + to);
      for (int from = 0; from < size; ++from) add_output(count(from * size + rank));
      break;
    case Collective::barrier:
      break;
  }
  scratch_ = static_cast<int>(memories_.size());
  memories_.emplace_back(scratch_elements);
}

int Buffers::find(Buffer buffer, int block) const {
  const auto in = [&](const std::vector<int>& numbers) {
    return static_cast<std::size_t>(block) < numbers.size()
               ? numbers[static_cast<std::size_t>(block)]
               : kNone;
  };
  switch (buffer) {
    case Buffer::input:
      return in(inputs_);
    case Buffer::output:
      return in(outputs_);
    case Buffer::scratch:
      return block == 0 ? scratch_ : kNone;
  }
  return kNone;
}

}  // namespace sircl::schedule
