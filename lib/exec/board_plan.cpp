#include "exec/board_plan.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace sircl::exec {
namespace {

constexpr std::size_t kLine = 64;

struct Publication {
  std::size_t offset;
  std::uint32_t flag;
  schedule::Range home;
};

bool receives(const schedule::Step& step) {
  return std::any_of(
      step.operands.begin(), step.operands.end(),
      [](const schedule::Operand& operand) { return operand.from != schedule::kLocal; });
}

/// Where the value of a step lies in its rank's buffers: where it came from if it is only passed
/// on, else where it is kept. None: only on the board.
std::optional<schedule::Range> home(const schedule::Step& step) {
  if (step.operands.size() == 1 && step.operands[0].from == schedule::kLocal && !step.finish) {
    return step.operands[0].range;
  }
  if (step.store && step.store->buffer != schedule::Buffer::scratch) return step.store;
  return std::nullopt;
}

bool overlap(const schedule::Range& a, const schedule::Range& b) {
  return a.buffer == b.buffer && a.block == b.block && a.offset < b.offset + b.count &&
         b.offset < a.offset + a.count;
}

/// Walks one rank's steps in order and tells where its publications and flags fall. All ranks walk
/// each other's programs the same way, so nothing of this is sent.
class Walk {
 public:
  explicit Walk(std::size_t element_bytes) : element_bytes_(element_bytes) {}

  /// The flag to raise before this step, if one is due.
  [[nodiscard]] bool raise_before(const schedule::Step& step) {
    if (!receives(step) || (entered_ && !unpublished_)) return false;
    return raised();
  }
  [[nodiscard]] bool raise_at_end() { return (!entered_ || unpublished_) && raised(); }
  [[nodiscard]] std::uint32_t last_flag() const { return next_flag_ - 1; }
  [[nodiscard]] std::uint32_t flags() const { return next_flag_; }

  Publication publish(const schedule::Step& step) {
    const Publication publication{offset_, next_flag_, home(step).value_or(schedule::Range{})};
    offset_ += (step.count * element_bytes_ + kLine - 1) / kLine * kLine;
    unpublished_ = true;
    return publication;
  }
  [[nodiscard]] std::size_t used() const { return offset_; }

 private:
  bool raised() {
    ++next_flag_;
    entered_ = true;
    unpublished_ = false;
    return true;
  }
  std::size_t element_bytes_;
  std::size_t offset_ = 0;
  std::uint32_t next_flag_ = 0;
  bool entered_ = false;
  bool unpublished_ = false;
};

}  // namespace

Result<BoardPlan> compile(const schedule::Request& request, int rank, std::size_t element_bytes,
                          std::size_t half_bytes) {
  BoardPlan plan;
  std::map<int, std::deque<Publication>> inbound;  // by sender, in sending order
  schedule::Program own;
  for (int peer = 0; peer < request.size; ++peer) {
    auto program = schedule::build(request, peer);
    if (!program) return program.status();
    if (program->streams.size() > 1) {
      return {StatusCode::unsupported, "this algorithm does not run on a board"};
    }
    Walk walk(element_bytes);
    if (!program->streams.empty()) {
      std::vector<schedule::Range> homes;  // of what was published so far
      for (const schedule::Step& step : program->streams.front().steps) {
        (void)walk.raise_before(step);
        if (step.store && std::any_of(homes.begin(), homes.end(), [&](const auto& published) {
              return overlap(published, *step.store);
            })) {
          plan.in_place = false;  // a peer might read the later value there
        }
        if (step.send_to.empty()) continue;
        const Publication publication = walk.publish(step);
        plan.in_place = plan.in_place && home(step).has_value();
        homes.push_back(publication.home);
        for (const int to : step.send_to) {
          if (to == rank) inbound[peer].push_back(publication);
        }
      }
    }
    (void)walk.raise_at_end();
    if (walk.used() > half_bytes) return {StatusCode::internal, "a piece does not fit the board"};
    plan.flags_per_piece = std::max(plan.flags_per_piece, walk.flags());
    if (peer == rank) own = *std::move(program);
  }

  Walk walk(element_bytes);
  bool computed = false;  // since the last flag
  const auto add_raise = [&] {
    BoardAction raise;
    raise.kind = BoardAction::Kind::raise;
    raise.flag = walk.last_flag();
    raise.computed = std::exchange(computed, false);
    plan.actions.push_back(raise);
  };
  plan.scratch_elements = own.scratch_elements;
  for (const schedule::Stream& stream : own.streams) {
    for (const schedule::Step& step : stream.steps) {
      if (walk.raise_before(step)) add_raise();
      BoardAction move;
      move.count = step.count;
      move.finish = step.finish;
      move.first_source = static_cast<std::uint32_t>(plan.sources.size());
      move.source_count = static_cast<std::uint32_t>(step.operands.size());
      for (const schedule::Operand& operand : step.operands) {
        BoardSource source;
        source.peer = operand.from;
        source.range = operand.range;
        if (operand.from != schedule::kLocal) {
          auto& queue = inbound[operand.from];
          if (queue.empty()) return {StatusCode::internal, "a schedule receives what nobody sends"};
          source.board_offset = queue.front().offset;
          source.flag = queue.front().flag;
          source.remote = queue.front().home;
          queue.pop_front();
        }
        plan.sources.push_back(source);
      }
      move.keep = step.store.has_value();
      if (step.store) move.store = *step.store;
      if (!step.send_to.empty()) {
        move.publish = true;
        const Publication publication = walk.publish(step);
        move.publish_offset = publication.offset;
        computed = computed || publication.home.buffer != schedule::Buffer::input;
      }
      plan.actions.push_back(move);
    }
  }
  if (walk.raise_at_end()) add_raise();
  return plan;
}

}  // namespace sircl::exec
