// Compiled plans against what the collective must give, for 2 to 8 ranks and awkward counts: a
// small interpreter runs the plans of all ranks over boards of plain memory.
#include "exec/board_plan.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "exec/operation.hpp"
#include "unit/schedule_support.hpp"

using namespace sircl;
using namespace sircl::schedule;
using exec::BoardAction;
using exec::BoardPlan;
using exec::BoardSource;
using schedule::test::name_of;
using schedule::test::request_of;

namespace {

using Word = std::uint64_t;
constexpr std::size_t kElement = sizeof(Word);
constexpr Word kUntouched = 0xDEAD;

Word input_of(int rank, std::size_t index) {
  return static_cast<Word>(rank + 1) * 1'000'003 + index * 7919 + 1;
}

/// All ranks of one operation over u64 words: wrapped sums, so nothing is rounded.
class Machine {
 public:
  /// `in_place`: the narrow side is the own block of the wide one, or the same buffer.
  Machine(const Request& request, std::size_t half_bytes, bool in_place)
      : request_(request), in_place_(in_place) {
    const auto size = static_cast<std::size_t>(request.size);
    std::size_t wide = 0;
    for (const std::uint64_t count : request.counts) wide += count;
    if (request.collective == Collective::all_to_all) wide /= size;
    for (int rank = 0; rank < request.size; ++rank) {
      Rank state;
      auto plan = exec::compile(request, rank, kElement, half_bytes);
      INFO(plan.status().to_string());
      REQUIRE(plan.ok());
      state.plan = *std::move(plan);
      state.scratch.assign(state.plan.scratch_elements, kUntouched);
      state.board.assign(half_bytes / kElement, kUntouched);
      state.in.resize(std::max<std::size_t>(wide, 1));
      state.out.assign(std::max<std::size_t>(wide, 1), kUntouched);
      for (std::size_t i = 0; i < state.in.size(); ++i) state.in[i] = input_of(rank, i);
      ranks_.push_back(std::move(state));
    }
    // Vectors do not move any more: addresses can be taken.
    for (Rank& rank : ranks_) {
      rank.operation.collective = request.collective;
      rank.operation.type = DataType::u64;
      rank.operation.in = rank.in.data();
      rank.operation.out = rank.out.data();
      rank.operation.count = request.counts.empty() ? 0 : request.counts.front();
      const bool unequal = std::any_of(request.counts.begin(), request.counts.end(),
                                       [&](auto c) { return c != request.counts.front(); });
      if (unequal) rank.operation.counts.assign(request.counts.begin(), request.counts.end());
    }
    if (in_place) share_buffers();
  }

  /// Runs all to the end; every rank in turn goes as far as it can.
  void run() {
    check_plans();
    bool moved = true;
    while (moved) {
      moved = false;
      for (int rank = 0; rank < request_.size; ++rank) {
        while (step(rank)) moved = true;
      }
    }
    for (const Rank& rank : ranks_) REQUIRE(rank.next == rank.plan.actions.size());
  }

  [[nodiscard]] std::span<const Word> out(int rank) const {
    const Rank& state = ranks_[static_cast<std::size_t>(rank)];
    return std::span(state.out).subspan(state.result);
  }
  [[nodiscard]] const BoardPlan& plan(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)].plan;
  }

 private:
  struct Rank {
    BoardPlan plan;
    exec::Operation operation;
    std::vector<Word> in, out, scratch, board;
    std::size_t result = 0;  ///< where in `out` the output begins
    std::size_t next = 0;
    std::int64_t raised = -1;
  };

  void share_buffers() {
    for (std::size_t number = 0; number < ranks_.size(); ++number) {
      Rank& rank = ranks_[number];
      std::size_t before = 0;
      for (std::size_t block = 0; block < number && block < request_.counts.size(); ++block) {
        before += request_.counts[block];
      }
      const bool wide_in = wide_input(request_.collective);
      const bool wide_out = wide_output(request_.collective);
      if (wide_out) {
        const std::size_t own = request_.counts[number];
        std::copy_n(rank.in.begin(), own, rank.out.begin() + static_cast<std::ptrdiff_t>(before));
        rank.operation.in = rank.out.data() + before;
      } else {
        rank.out = rank.in;
        rank.operation.in = rank.out.data();
        rank.result = wide_in ? before : 0;
        rank.operation.out = rank.out.data() + rank.result;
      }
    }
  }

  /// REQUIRE costs too much for what is checked this often.
  static void expect(bool good) {
    if (!good) REQUIRE(good);
  }

  void check_plans() {
    for (const Rank& rank : ranks_) {
      expect(rank.plan.flags_per_piece == ranks_.front().plan.flags_per_piece);
      expect(rank.plan.in_place == ranks_.front().plan.in_place);
      std::uint32_t flags = 0;
      std::size_t published_to = 0;
      for (const BoardAction& action : rank.plan.actions) {
        if (action.kind == BoardAction::Kind::raise) {
          expect(action.flag == flags);
          ++flags;
          continue;
        }
        for (std::uint32_t i = 0; i < action.source_count; ++i) {
          // Who looks at a board has entered the piece before.
          if (rank.plan.sources[action.first_source + i].peer != kLocal) expect(flags > 0);
        }
        if (!action.publish) continue;
        expect(action.publish_offset >= published_to);
        expect(action.publish_offset % 64 == 0);
        published_to = action.publish_offset + action.count * kElement;
        expect(published_to <= rank.board.size() * kElement);
      }
      expect(flags >= 1);
      expect(flags <= rank.plan.flags_per_piece);
    }
  }

  bool step(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (rank.next == rank.plan.actions.size()) return false;
    const BoardAction& action = rank.plan.actions[rank.next];
    if (action.kind == BoardAction::Kind::raise) {
      rank.raised = action.flag;
      ++rank.next;
      return true;
    }
    const exec::Addresses addresses(rank.operation,
                                    reinterpret_cast<std::byte*>(rank.scratch.data()));
    std::vector<Word> value(action.count);
    for (std::uint32_t i = 0; i < action.source_count; ++i) {
      const BoardSource& source = rank.plan.sources[action.first_source + i];
      const Word* from = nullptr;
      if (source.peer == kLocal) {
        from = reinterpret_cast<const Word*>(addresses(source.range));
      } else {
        const Rank& peer = ranks_[static_cast<std::size_t>(source.peer)];
        if (peer.raised < static_cast<std::int64_t>(source.flag)) return false;
        from = peer.board.data() + source.board_offset / kElement;
        check_remote(rank, peer, source, action.count, from);
      }
      for (std::uint64_t e = 0; e < action.count; ++e) value[e] += from[e];
    }
    if (action.keep && action.count > 0) {
      std::memcpy(addresses(action.store), value.data(), action.count * kElement);
    }
    if (action.publish && action.count > 0) {
      std::memcpy(rank.board.data() + action.publish_offset / kElement, value.data(),
                  action.count * kElement);
    }
    ++rank.next;
    return true;
  }

  /// The same bytes stand in the peer's own buffers, if the plan says so.
  void check_remote(const Rank& rank, const Rank& peer, const BoardSource& source,
                    std::uint64_t count, const Word* board) {
    if (!rank.plan.in_place || count == 0) return;
    // In an in-place call the output may cover an input that somebody still wants. Not in direct,
    // where a rank overwrites only what nobody else reads: the one that is run this way.
    if (in_place_ && request_.algorithm != Algorithm::direct) return;
    const exec::Addresses theirs(peer.operation, nullptr);
    expect(source.remote.buffer != Buffer::scratch);
    const auto* in_place = reinterpret_cast<const Word*>(theirs(source.remote));
    expect(std::equal(board, board + count, in_place));
  }

  Request request_;
  bool in_place_;
  std::vector<Rank> ranks_;
};

/// What rank `rank` must find in its output; elements of no interest are kUntouched.
std::vector<Word> expected(const Request& request, int rank) {
  const int n = request.size;
  const auto me = static_cast<std::size_t>(rank);
  const auto first_of = [&](std::size_t block) {
    std::size_t first = 0;
    for (std::size_t b = 0; b < block; ++b) first += request.counts[b];
    return first;
  };
  const auto sum_at = [&](std::size_t index) {
    Word sum = 0;
    for (int each = 0; each < n; ++each) sum += input_of(each, index);
    return sum;
  };
  std::vector<Word> out;
  const std::size_t count = request.counts.empty() ? 0 : request.counts.front();
  switch (request.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
      if (request.collective == Collective::reduce && rank != request.root) break;
      for (std::size_t i = 0; i < count; ++i) out.push_back(sum_at(i));
      break;
    case Collective::broadcast:
      for (std::size_t i = 0; i < count; ++i) out.push_back(input_of(request.root, i));
      break;
    case Collective::all_gather:
    case Collective::gather:
      if (request.collective == Collective::gather && rank != request.root) break;
      for (int from = 0; from < n; ++from) {
        for (std::size_t i = 0; i < request.counts[static_cast<std::size_t>(from)]; ++i) {
          out.push_back(input_of(from, i));
        }
      }
      break;
    case Collective::reduce_scatter:
      for (std::size_t i = 0; i < request.counts[me]; ++i) out.push_back(sum_at(first_of(me) + i));
      break;
    case Collective::scatter:
      for (std::size_t i = 0; i < request.counts[me]; ++i) {
        out.push_back(input_of(request.root, first_of(me) + i));
      }
      break;
    case Collective::all_to_all:
      for (int from = 0; from < n; ++from) {
        for (std::size_t i = 0; i < count; ++i) out.push_back(input_of(from, me * count + i));
      }
      break;
    case Collective::barrier:
      break;
  }
  return out;
}

bool has_root(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::scatter ||
         collective == Collective::reduce || collective == Collective::gather;
}

bool runs_on_a_board(const Request& request) {
  if (!supports(request).ok()) return false;
  const auto program = build(request, 0);
  return program.ok() && program->streams.size() <= 1;
}

void check(const Request& request, bool in_place = false) {
  INFO(name_of(request) << (in_place ? " in place" : ""));
  Machine machine(request, 1 << 18, in_place);
  machine.run();
  for (int rank = 0; rank < request.size; ++rank) {
    INFO("rank " << rank);
    const auto due = expected(request, rank);
    const auto got = machine.out(rank);
    REQUIRE(std::equal(due.begin(), due.end(), got.begin()));
    if (in_place) continue;
    // And nothing behind it.
    for (std::size_t i = due.size(); i < got.size(); ++i) {
      if (got[i] != kUntouched) FAIL("output element " << i << " was written too");
    }
  }
}

}  // namespace

TEST_CASE("plans give what the collective promises") {
  int checked = 0;
  for (int size = 2; size <= 8; ++size) {
    for (int c = 0; c < kCollectiveCount; ++c) {
      for (int a = 0; a < kAlgorithmCount; ++a) {
        for (const std::uint64_t count : {0U, 1U, 7U, 63U, 64U, 65U, 127U, 130U, 1000U}) {
          for (const int root : {0, size / 2, size - 1}) {
            if (root > 0 && !has_root(static_cast<Collective>(c))) continue;
            const auto request = request_of(static_cast<Collective>(c), static_cast<Algorithm>(a),
                                            Wiring::mesh, size, count, root);
            if (!runs_on_a_board(request)) continue;
            check(request);
            if (request.collective != Collective::all_to_all) check(request, true);
            ++checked;
          }
        }
      }
    }
  }
  CHECK(checked >= 7 * 9 * 9);  // direct exists for all nine collectives
}

TEST_CASE("unequal blocks, empty ones too") {
  const std::vector<std::uint64_t> lengths = {5, 0, 130, 64, 1, 0, 700, 2};
  for (int size = 2; size <= 8; ++size) {
    for (int shift = 0; shift < size; ++shift) {
      auto request = request_of(Collective::all_gather, Algorithm::direct, Wiring::mesh, size, 0);
      for (int rank = 0; rank < size; ++rank) {
        request.counts[static_cast<std::size_t>(rank)] =
            lengths[static_cast<std::size_t>((rank + shift) % size)];
      }
      check(request);
      check(request, true);
    }
  }
}

TEST_CASE("large operations of all collectives can be read in place where their values are kept") {
  for (const auto collective :
       {Collective::all_reduce, Collective::all_gather, Collective::broadcast}) {
    const auto request = request_of(collective, Algorithm::direct, Wiring::mesh, 4, 1000);
    for (int rank = 0; rank < 4; ++rank) {
      const auto plan = exec::compile(request, rank, kElement, 1 << 18);
      REQUIRE(plan.ok());
      CHECK(plan->in_place);
    }
  }
}

TEST_CASE("a published value that is overwritten later cannot be read in place") {
  // Short enough for one stream: both rounds keep their sums in the same place of the output.
  const auto request =
      request_of(Collective::all_reduce, Algorithm::recursive_doubling, Wiring::mesh, 4, 1);
  const auto plan = exec::compile(request, 2, kElement, 4096);
  REQUIRE(plan.ok());
  CHECK_FALSE(plan->in_place);
}

TEST_CASE("what does not fit half a board is refused on every rank") {
  const auto request =
      request_of(Collective::all_reduce, Algorithm::exchange, Wiring::mesh, 4, 512);
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(exec::compile(request, rank, kElement, 4096).ok());
    const auto refused = exec::compile(request, rank, kElement, 4095);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().message() == "a piece does not fit the board");
  }
}

TEST_CASE("algorithms of two streams do not run on a board") {
  const auto request = request_of(Collective::all_reduce, Algorithm::ring, Wiring::mesh, 4, 512);
  REQUIRE(supports(request).ok());
  const auto refused = exec::compile(request, 0, kElement, 1 << 18);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StatusCode::unsupported);
}
