#include "schedule/simulation.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

struct Message {
  std::uint64_t count = 0;
  int round = 0;
  std::vector<Run> runs;
  std::vector<bool> heard;  ///< ranks that this message knows to have started
};

class Simulation {
 public:
  Simulation(const Request& request, std::span<const Program> programs,
             const Conditions& conditions)
      : request_(request),
        programs_(programs),
        conditions_(conditions),
        contributions_(request.size) {
    for (int rank = 0; rank < request.size; ++rank) {
      const Program& program = programs[static_cast<std::size_t>(rank)];
      ranks_.push_back({Buffers(request, rank, program.scratch_elements, conditions.placement),
                        std::vector<std::size_t>(program.streams.size(), 0),
                        {}});
      std::vector<bool> own(static_cast<std::size_t>(request.size));
      own[static_cast<std::size_t>(rank)] = true;
      ranks_.back().heard.assign(program.streams.size(), own);
    }
  }

  Status run() {
    bool moved = true;
    while (moved && failure_.ok()) {
      moved = false;
      for (int rank = 0; rank < request_.size; ++rank) {
        const int streams = static_cast<int>(state(rank).next.size());
        for (int stream = 0; stream < streams; ++stream) {
          while (failure_.ok() && advance(rank, stream)) {
            moved = true;
            if (conditions_.turns == Turns::alternate) break;
          }
        }
      }
    }
    if (!failure_.ok()) return failure_;
    if (Status status = check_ended(); !status.ok()) return status;
    return request_.collective == Collective::barrier ? check_barrier() : check_outputs();
  }

 private:
  struct RankState {
    Buffers buffers;
    std::vector<std::size_t> next;  ///< per stream
    std::vector<std::vector<bool>> heard;
  };
  using ChannelKey = std::tuple<int, int, int>;  // stream, from, to

  RankState& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  const Step* current(int rank, int stream) {
    const auto s = static_cast<std::size_t>(stream);
    const Stream& steps = programs_[static_cast<std::size_t>(rank)].streams[s];
    const std::size_t next = state(rank).next[s];
    return next < steps.steps.size() ? &steps.steps[next] : nullptr;
  }

  bool fail(int rank, int stream, std::string_view why) {
    failure_ = {StatusCode::internal,
                fmt::format("schedule: rank {} stream {} step {}: {}", rank, stream,
                            state(rank).next[static_cast<std::size_t>(stream)], why)};
    return false;
  }

  /// Runs one step if everything it needs is there.
  bool advance(int rank, int stream) {
    const Step* step = current(rank, stream);
    if (step == nullptr) return false;
    for (const Operand& operand : step->operands) {
      if (operand.from != kLocal && channels_[{stream, operand.from, rank}].empty()) return false;
    }
    if (conditions_.window > 0) {
      for (const int to : step->send_to) {
        if (under_way_[{rank, to}] >= conditions_.window) return false;
      }
    }
    std::vector<bool>& heard = state(rank).heard[static_cast<std::size_t>(stream)];
    std::vector<std::vector<Run>> values;
    for (const Operand& operand : step->operands) {
      if (operand.from == kLocal) {
        if (!read(rank, stream, operand.range, values.emplace_back())) return false;
        continue;
      }
      auto& channel = channels_[{stream, operand.from, rank}];
      Message message = std::move(channel.front());
      channel.pop_front();
      --under_way_[{operand.from, rank}];
      if (message.count != step->count) {
        return fail(rank, stream,
                    fmt::format("expects {} elements from rank {}, which sent {}", step->count,
                                operand.from, message.count));
      }
      if (message.round >= step->round) {
        return fail(rank, stream,
                    fmt::format("is in round {} but needs a message of round {}", step->round,
                                message.round));
      }
      for (std::size_t i = 0; i < heard.size(); ++i) heard[i] = heard[i] || message.heard[i];
      values.push_back(std::move(message.runs));
    }
    std::vector<Run> result;
    if (!combine(rank, stream, *step, values, result)) return false;
    if (step->store && step->count > 0) {
      Buffers& buffers = state(rank).buffers;
      buffers.memory(buffers.find(step->store->buffer, step->store->block))
          .write(step->store->offset, step->count, result);
    }
    for (const int to : step->send_to) {
      channels_[{stream, rank, to}].push_back({step->count, step->round, result, heard});
      ++under_way_[{rank, to}];
    }
    ++state(rank).next[static_cast<std::size_t>(stream)];
    return true;
  }

  bool read(int rank, int stream, const Range& range, std::vector<Run>& runs) {
    if (range.count == 0) return true;
    const Buffers& buffers = state(rank).buffers;
    runs = buffers.memory(buffers.find(range.buffer, range.block)).read(range.offset, range.count);
    std::uint64_t written = 0;
    for (const Run& run : runs) written += run.count;
    if (written == range.count) return true;
    return fail(rank, stream,
                fmt::format("reads {} elements that nobody wrote", range.count - written));
  }

  bool combine(int rank, int stream, const Step& step, const std::vector<std::vector<Run>>& values,
               std::vector<Run>& result) {
    std::vector<std::size_t> at(values.size(), 0);
    std::vector<Contributions::Id> ids(values.size());
    for (std::uint64_t position = 0; position < step.count;) {
      std::uint64_t end = step.count;
      Value home;
      for (std::size_t i = 0; i < values.size(); ++i) {
        while (values[i][at[i]].end() <= position) ++at[i];
        const Run& run = values[i][at[i]];
        end = std::min(end, run.end());
        const Value value = run.at(position);
        ids[i] = value.contributions;
        if (i == 0) home = value;
        if (value.block != home.block || value.offset != home.offset) {
          return fail(rank, stream,
                      fmt::format("combines element {} of block {} with element {} of block {}",
                                  home.offset, home.block, value.offset, value.block));
        }
        if (ids.size() > 1 && contributions_.finished(ids[i])) {
          return fail(rank, stream, "adds to a finished value");
        }
      }
      if (contributions_.overlap(ids)) {
        return fail(rank, stream, "adds a contribution a second time");
      }
      if (step.finish && contributions_.finished(ids.front())) {
        return fail(rank, stream, "finishes a value a second time");
      }
      home.contributions = contributions_.combine(ids, step.finish);
      if (step.finish &&
          (!contributions_.complete(home.contributions) || !reduces(request_.collective))) {
        return fail(rank, stream,
                    "finishes what is not the complete sum: " +
                        contributions_.describe(home.contributions));
      }
      if (step.reduce != (contributions_.held(home.contributions) > 1)) {
        return fail(rank, stream, "has the wrong reduce mark");
      }
      append_run(result, {position, end - position, home});
      position = end;
    }
    return true;
  }

  Status check_ended() {
    for (int rank = 0; rank < request_.size; ++rank) {
      for (int stream = 0; stream < static_cast<int>(state(rank).next.size()); ++stream) {
        const Step* step = current(rank, stream);
        if (step == nullptr) continue;
        fail(rank, stream, "waits for ever");
        for (const Operand& operand : step->operands) {
          if (operand.from != kLocal && channels_[{stream, operand.from, rank}].empty()) {
            fail(rank, stream, fmt::format("waits for ever for rank {}", operand.from));
          }
        }
        return failure_;
      }
    }
    for (const auto& [key, channel] : channels_) {
      if (channel.empty()) continue;
      const auto& [stream, from, to] = key;
      return {StatusCode::internal,
              fmt::format("schedule: rank {} never receives {} messages of rank {} in stream {}",
                          to, channel.size(), from, stream)};
    }
    return {};
  }

  Status check_barrier() {
    for (int rank = 0; rank < request_.size && request_.size > 1; ++rank) {
      for (int other = 0; other < request_.size; ++other) {
        bool known = false;
        for (const auto& heard : state(rank).heard) {
          known = known || heard[static_cast<std::size_t>(other)];
        }
        if (known) continue;
        return {StatusCode::internal,
                fmt::format("schedule: rank {} leaves the barrier without knowing of rank {}", rank,
                            other)};
      }
    }
    return {};
  }

  /// The block of the operation that a rank's output block must hold.
  int home_block(int rank, int block) const {
    switch (request_.collective) {
      case Collective::all_reduce:
      case Collective::broadcast:
      case Collective::reduce:
      case Collective::barrier:
        return 0;
      case Collective::all_gather:
      case Collective::gather:
        return block;
      case Collective::reduce_scatter:
      case Collective::scatter:
        return rank;
      case Collective::all_to_all:
        return block * request_.size + rank;
    }
    return 0;
  }

  int contributor(int block) const {
    switch (request_.collective) {
      case Collective::broadcast:
      case Collective::scatter:
        return request_.root;
      case Collective::all_gather:
      case Collective::gather:
      case Collective::all_to_all:
        return block;
      case Collective::all_reduce:
      case Collective::reduce_scatter:
      case Collective::reduce:
      case Collective::barrier:
        return kLocal;
    }
    return kLocal;
  }

  Status check_outputs() {
    const bool once = reduces(request_.collective) && (request_.algorithm == Algorithm::direct ||
                                                       request_.algorithm == Algorithm::exchange);
    const Memory* reference = nullptr;
    for (int rank = 0; rank < request_.size; ++rank) {
      const Buffers& buffers = state(rank).buffers;
      for (int block = 0; block < buffers.output_blocks(); ++block) {
        const Memory& memory = buffers.memory(buffers.find(Buffer::output, block));
        const auto wrong = [&](const std::string& why) {
          return Status(StatusCode::internal,
                        fmt::format("schedule: rank {} output block {}: {}", rank, block, why));
        };
        std::uint64_t position = 0;
        for (const Run& run : memory.runs()) {
          if (run.begin != position) return wrong(fmt::format("element {} is missing", position));
          position = run.end();
          const auto id = run.first.contributions;
          if (run.first.block != static_cast<std::uint32_t>(home_block(rank, block)) ||
              run.first.offset != run.begin) {
            return wrong(fmt::format("element {} holds element {} of block {}", run.begin,
                                     run.first.offset, run.first.block));
          }
          if (!reduces(request_.collective)) {
            if (id != contributions_.leaf(contributor(block))) {
              return wrong(
                  fmt::format("element {} holds {}", run.begin, contributions_.describe(id)));
            }
            continue;
          }
          if (!contributions_.complete(id) || !contributions_.finished(id)) {
            return wrong(fmt::format("element {} is {} with the sum of {}", run.begin,
                                     contributions_.finished(id) ? "finished" : "not finished",
                                     contributions_.describe(id)));
          }
          if (once && !contributions_.rank_ordered_once(id)) {
            return wrong("the sum is not formed in one step in rank order");
          }
        }
        if (position != memory.size()) return wrong(fmt::format("element {} is missing", position));
        if (request_.collective != Collective::all_reduce) continue;
        // Equal expressions mean equal bits.
        if (reference != nullptr && memory.runs() != reference->runs()) {
          return wrong("is added in another order than on rank 0");
        }
        if (reference == nullptr) reference = &memory;
      }
    }
    return {};
  }

  const Request& request_;
  std::span<const Program> programs_;
  Conditions conditions_;
  Contributions contributions_;
  std::vector<RankState> ranks_;
  std::map<ChannelKey, std::deque<Message>> channels_;
  std::map<std::pair<int, int>, int> under_way_;
  Status failure_;
};

}  // namespace

Status simulate(const Request& request, std::span<const Program> programs,
                const Conditions& conditions) {
  return Simulation(request, programs, conditions).run();
}

}  // namespace sircl::schedule
