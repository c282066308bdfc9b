// Builders number the ranks by position. Where users number them otherwise, a program is built for
// the position and renumbered.

#include <fmt/format.h>

#include "schedule/builders.hpp"
#include "schedule/positions.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

Request by_position(const Request& request, const Positions& positions) {
  const int size = request.size;
  Request result = request;
  result.root = positions.position(request.root);
  if (request.collective == Collective::all_to_all) {
    for (int from = 0; from < size; ++from) {
      for (int to = 0; to < size; ++to) {
        result.counts[at(from) * at(size) + at(to)] =
            request.counts[at(positions.rank(from)) * at(size) + at(positions.rank(to))];
      }
    }
  } else if (request.counts.size() > 1) {
    for (int position = 0; position < size; ++position) {
      result.counts[at(position)] = request.counts[at(positions.rank(position))];
    }
  }
  return result;
}

class Renumbering {
 public:
  Renumbering(const Request& request, const Positions& positions)
      : request_(request), positions_(positions) {}

  void apply(Step& step) const {
    for (int& peer : step.send_to) peer = positions_.rank(peer);
    for (Operand& operand : step.operands) {
      if (operand.from == kLocal) {
        apply(operand.range);
      } else {
        operand.from = positions_.rank(operand.from);
      }
    }
    if (step.store) apply(*step.store);
    if (sums_everything(step)) put_in_rank_order(step.operands);
  }

 private:
  void apply(Range& range) const {
    const bool wide = range.buffer == Buffer::input    ? wide_input(request_.collective)
                      : range.buffer == Buffer::output ? wide_output(request_.collective)
                                                       : false;
    if (wide) range.block = static_cast<std::uint16_t>(positions_.rank(range.block));
  }
  /// direct and exchange add up in one step, one operand per position: see builders.hpp.
  [[nodiscard]] bool sums_everything(const Step& step) const {
    const bool once =
        request_.algorithm == Algorithm::direct || request_.algorithm == Algorithm::exchange;
    return once && step.reduce && step.operands.size() == at(request_.size);
  }
  void put_in_rank_order(std::vector<Operand>& operands) const {
    const std::vector<Operand> by_position = operands;
    for (std::size_t position = 0; position < by_position.size(); ++position) {
      operands[at(positions_.rank(static_cast<int>(position)))] = by_position[position];
    }
  }

  const Request& request_;
  const Positions& positions_;
};

}  // namespace

Result<Positions> Positions::from(std::span<const int> rank_at_position, int size) {
  if (rank_at_position.empty()) {
    std::vector<int> same(at(size));
    for (int rank = 0; rank < size; ++rank) same[at(rank)] = rank;
    return Positions(same, same);
  }
  const auto bad = [&](const std::string& why) {
    return Status(StatusCode::invalid_argument,
                  fmt::format("schedule: the order of ranks on the cables {}; it must name each of "
                              "{} ranks once",
                              why, size));
  };
  if (rank_at_position.size() != at(size)) {
    return bad(fmt::format("has {} entries", rank_at_position.size()));
  }
  std::vector<int> positions(at(size), -1);
  for (std::size_t position = 0; position < rank_at_position.size(); ++position) {
    const int rank = rank_at_position[position];
    if (rank < 0 || rank >= size) return bad(fmt::format("names rank {}", rank));
    if (positions[at(rank)] != -1) return bad(fmt::format("names rank {} twice", rank));
    positions[at(rank)] = static_cast<int>(position);
  }
  return Positions({rank_at_position.begin(), rank_at_position.end()}, std::move(positions));
}

Result<Program> build_placed(const Request& request, std::span<const int> rank_at_position,
                             int rank) {
  if (rank_at_position.empty()) return build(request, rank);
  if (Status status = supports(request); !status.ok()) return status;
  if (Status status = has_rank(request, rank); !status.ok()) return status;
  const auto positions = Positions::from(rank_at_position, request.size);
  if (!positions) return positions.status();
  auto program = build(by_position(request, *positions), positions->position(rank));
  if (!program) return program;
  const Renumbering renumbering(request, *positions);
  for (Stream& stream : program->streams) {
    for (Step& step : stream.steps) renumbering.apply(step);
  }
  return program;
}

}  // namespace sircl::schedule
