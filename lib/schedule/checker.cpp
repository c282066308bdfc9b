#include "schedule/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "schedule/buffers.hpp"
#include "schedule/load.hpp"
#include "schedule/positions.hpp"
#include "schedule/simulation.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

/// Checks that need no simulation, for one rank.
class FormCheck {
 public:
  FormCheck(const Request& request, const Program& program, const Positions& positions, int rank,
            Placement placement)
      : request_(request),
        program_(program),
        positions_(positions),
        rank_(rank),
        placement_(placement),
        buffers_(request, rank, program.scratch_elements, placement) {}

  Status run() {
    for (stream_ = 0; stream_ < program_.streams.size(); ++stream_) {
      int round = 0;
      const auto& steps = program_.streams[stream_].steps;
      for (index_ = 0; index_ < steps.size(); ++index_) {
        if (Status status = check(steps[index_]); !status.ok()) return status;
        if (steps[index_].round < round)
          return fault("its round lies before that of the last step");
        round = steps[index_].round;
      }
    }
    return check_independence();
  }

 private:
  struct Access {
    std::size_t stream;
    int memory;
    std::uint64_t begin;
    std::uint64_t end;
    bool writes;
  };

  Status fault(std::string_view why) const {
    return {StatusCode::internal,
            fmt::format("schedule: rank {} stream {} step {}: {}", rank_, stream_, index_, why)};
  }

  Status check(const Step& step) {
    if (step.operands.empty()) return fault("has no operand");
    if (step.count == 0 && request_.collective != Collective::barrier) {
      return fault("has no elements");
    }
    if (!step.send_to.empty() && step.round >= program_.rounds) {
      return fault("sends after the last round");
    }
    std::vector<int> to = step.send_to;
    std::sort(to.begin(), to.end());
    if (std::adjacent_find(to.begin(), to.end()) != to.end()) return fault("sends twice to a rank");
    for (const int peer : step.send_to) {
      if (Status status = check_peer(peer); !status.ok()) return status;
    }
    for (const Operand& operand : step.operands) {
      if (operand.from == kLocal) {
        if (Status status = check_range(operand.range, step.count); !status.ok()) return status;
      } else if (Status status = check_peer(operand.from); !status.ok()) {
        return status;
      }
    }
    if (!step.store) return note(step, false);
    if (step.store->buffer == Buffer::input) return fault("writes to the input");
    if (Status status = check_range(*step.store, step.count); !status.ok()) return status;
    return note(step, is_move_onto_itself(step));
  }

  Status check_peer(int peer) const {
    if (peer < 0 || peer >= request_.size || peer == rank_) {
      return fault(fmt::format("talks to rank {}", peer));
    }
    const int hops = std::abs(positions_.position(peer) - positions_.position(rank_));
    const bool adjacent =
        hops == 1 || (request_.wiring == Wiring::ring && hops == request_.size - 1);
    if (request_.wiring != Wiring::mesh && !adjacent) {
      return fault(fmt::format("talks to rank {}, to which there is no cable", peer));
    }
    return {};
  }

  Status check_range(const Range& range, std::uint64_t count) const {
    if (range.count != count) {
      return fault(fmt::format("has a range of {} elements in a step of {}", range.count, count));
    }
    if (count == 0) return {};
    const int number = buffers_.find(range.buffer, range.block);
    if (number == Buffers::kNone) return fault("uses a block that this rank does not have");
    const std::uint64_t size = buffers_.memory(number).size();
    if (range.offset > size || count > size - range.offset) {
      return fault(fmt::format("uses elements {}+{} of a block of {}", range.offset, count, size));
    }
    return {};
  }

  [[nodiscard]] Access access(const Range& range, bool writes) const {
    return {stream_, buffers_.find(range.buffer, range.block), range.offset,
            range.offset + range.count, writes};
  }

  /// In place, keeping one's own block where it already lies writes nothing.
  [[nodiscard]] bool is_move_onto_itself(const Step& step) const {
    if (step.operands.size() != 1 || step.operands[0].from != kLocal || step.count == 0)
      return false;
    const Access from = access(step.operands[0].range, false);
    const Access to = access(*step.store, true);
    return from.memory == to.memory && from.begin == to.begin;
  }

  Status note(const Step& step, bool store_is_void) {
    if (step.count == 0) return {};
    for (const Operand& operand : step.operands) {
      if (operand.from != kLocal) continue;
      const Access read = access(operand.range, false);
      accesses_.push_back(read);
      if (!step.store || store_is_void) continue;
      const Access write = access(*step.store, true);
      if (read.memory == write.memory && read.begin != write.begin && read.begin < write.end &&
          write.begin < read.end) {
        return fault("overwrites what a later chunk of it reads");
      }
    }
    if (step.store && !store_is_void) accesses_.push_back(access(*step.store, true));
    return {};
  }

  [[nodiscard]] Status check_independence() const {
    for (const Access& write : accesses_) {
      if (!write.writes) continue;
      for (const Access& other : accesses_) {
        if (other.stream == write.stream || other.memory != write.memory) continue;
        if (other.begin < write.end && write.begin < other.end) {
          return {StatusCode::internal,
                  fmt::format("schedule: rank {}: stream {} writes elements that stream {} uses{}",
                              rank_, write.stream, other.stream,
                              placement_ == Placement::in_place ? " (in place)" : "")};
        }
      }
    }
    return {};
  }

  const Request& request_;
  const Program& program_;
  const Positions& positions_;
  int rank_;
  Placement placement_;
  Buffers buffers_;
  std::size_t stream_ = 0;
  std::size_t index_ = 0;
  std::vector<Access> accesses_;
};

Status check_load(const Request& request, std::span<const Program> programs) {
  const auto share = share_of(request);
  if (!share) return {};
  for (const DirectionLoad& direction : measure(programs).directions) {
    const auto carried = static_cast<double>(direction.elements);
    const bool over_total = carried > share->total + share_slack(direction.messages);
    bool over_round = false;
    for (const std::uint64_t elements : direction.elements_by_round) {
      over_round = over_round || static_cast<double>(elements) > share->per_round + share_slack(2);
    }
    if (!over_total && !over_round) continue;
    return {StatusCode::internal,
            fmt::format("schedule: rank {} sends {} elements to rank {}, more than its share of {} "
                        "in the whole and {} per round",
                        direction.from, direction.elements, direction.to, share->total,
                        share->per_round)};
  }
  return {};
}

}  // namespace

Status check_programs(const Request& request, std::span<const Program> programs,
                      std::span<const int> rank_at_position) {
  if (programs.size() != static_cast<std::size_t>(request.size)) {
    return {StatusCode::invalid_argument,
            fmt::format("schedule: {} programs for {} ranks", programs.size(), request.size)};
  }
  const auto positions = Positions::from(rank_at_position, request.size);
  if (!positions) return positions.status();
  for (const Placement placement : {Placement::separate, Placement::in_place}) {
    for (int rank = 0; rank < request.size; ++rank) {
      FormCheck form(request, programs[static_cast<std::size_t>(rank)], *positions, rank,
                     placement);
      if (Status status = form.run(); !status.ok()) return status;
    }
  }
  constexpr Conditions kConditions[] = {
      {Placement::separate, 0, Turns::run_ahead},
      {Placement::in_place, kWindowMessages, Turns::run_ahead},
      {Placement::in_place, kWindowMessages, Turns::alternate},
  };
  for (const Conditions& conditions : kConditions) {
    Status status = simulate(request, programs, conditions);
    if (!status.ok()) return status;
  }
  return check_load(request, programs);
}

Status check(const Request& request, std::span<const int> rank_at_position) {
  if (Status status = supports(request); !status.ok()) return status;
  std::vector<Program> programs;
  for (int rank = 0; rank < request.size; ++rank) {
    auto program = build_placed(request, rank_at_position, rank);
    if (!program) return program.status();
    programs.push_back(*std::move(program));
  }
  return check_programs(request, programs, rank_at_position);
}

}  // namespace sircl::schedule
