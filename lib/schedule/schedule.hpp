// Collective algorithms as data: who combines which ranges, keeps them where, and sends them to
// whom.
//
// A schedule is a pure function of (collective, algorithm, ranks, rank, root, counts). Executors
// run it, the checker proves it, the cost model predicts it; nothing else describes an algorithm.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::schedule {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_all,
  barrier,
};
inline constexpr int kCollectiveCount = 9;

enum class Algorithm : std::uint8_t {
  direct,    ///< every pair is connected (ranks of one host, or a full mesh): reduce-scatter
             ///< to the owner of each block, then everybody fetches; 2 rounds
  exchange,  ///< everybody's block reaches everybody, sum locally in rank order
  recursive_doubling,  ///< four ranks: two perfect matchings, halves in opposite order
  halving_doubling,    ///< four ranks: same pairing, reduce-scatter then all-gather
  ring,                ///< bidirectional ring, both halves at once
  path,                ///< no link between the last and the first position
};
inline constexpr int kAlgorithmCount = 6;

/// How ranks are joined. On a mesh every pair has a channel; on ring and path only neighbours in
/// position share a cable.
enum class Wiring : std::uint8_t { mesh, ring, path };

/// Whether this collective adds contributions up.
constexpr bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::reduce;
}
/// Whether the input (output) has one block per rank.
constexpr bool wide_input(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::scatter ||
         collective == Collective::all_to_all;
}
constexpr bool wide_output(Collective collective) {
  return collective == Collective::all_gather || collective == Collective::gather ||
         collective == Collective::all_to_all;
}
/// Entries of Request::counts.
constexpr std::size_t block_count(Collective collective, std::size_t size) {
  if (collective == Collective::barrier) return 0;
  if (collective == Collective::all_to_all) return size * size;
  return wide_input(collective) || wide_output(collective) ? size : 1;
}

std::string_view to_string(Collective) noexcept;
std::string_view to_string(Algorithm) noexcept;
std::string_view to_string(Wiring) noexcept;
std::optional<Collective> parse_collective(std::string_view) noexcept;
std::optional<Algorithm> parse_algorithm(std::string_view) noexcept;

/// Where a range lives. `input` and `output` are the user's buffers and may be the same memory
/// (in place); `scratch` is private to the rank and of `Program::scratch_elements`.
enum class Buffer : std::uint8_t { input, output, scratch };

/// Elements [offset, offset + count) of block `block` of a buffer. A buffer is a sequence of blocks
/// (one for all_reduce, broadcast and reduce; one per rank on the wide side of the others), and the
/// caller knows where each block begins: pieces of a long operation move inside every block alike.
struct Range {
  Buffer buffer = Buffer::input;
  std::uint16_t block = 0;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  bool operator==(const Range&) const = default;
};

/// One contribution to a step: the next message from rank `from`, or (from == kLocal) a local
/// range.
inline constexpr int kLocal = -1;
struct Operand {
  int from = kLocal;
  Range range;  ///< used when from == kLocal
};

/// Combines the operands from left to right (one operand: a plain move), rounds once, keeps the
/// value in `store` if there is one, and sends it to every rank of `send_to`.
/// All operands, the store and the messages have `count` elements: at least one, except in a
/// barrier, whose messages are empty and are sent all the same. In place, store and operand may be
/// the same memory. Executors may cut a step into chunks and run it chunk by chunk (cut-through),
/// always in the order of the list.
struct Step {
  /// For checker and cost model: messages sent in the same round travel at once. A step that sends
  /// nothing has a round after that of its last message.
  std::uint16_t round = 0;
  std::uint64_t count = 0;
  std::vector<Operand> operands;
  std::optional<Range> store;
  std::vector<int> send_to;
  bool reduce = false;  ///< more than one contribution is combined here or before
  bool finish = false;  ///< the value is complete: an average divides here
};

/// Steps of one rank that run strictly one after the other. Streams of a rank run beside each other
/// and use disjoint channels or disjoint turns on them: the n-th message of stream s that rank a
/// sends to rank b is the n-th that rank b's stream s receives from a. Executors give every ordered
/// pair of ranks room for kWindowMessages (checker.hpp) messages of the longest step, all streams
/// together.
struct Stream {
  std::vector<Step> steps;
};

/// What one rank does for one piece of an operation.
struct Program {
  std::vector<Stream> streams;
  std::uint64_t scratch_elements = 0;
  std::uint16_t rounds = 0;
};

/// What is to be done. `counts[b]` is the number of elements of block b in this piece:
/// all_reduce, broadcast, reduce: one entry. all_gather, gather, scatter, reduce_scatter: one per
/// rank. all_to_all: size*size entries, counts[s*size + d] elements go from s to d (input block d,
/// output block s). barrier: empty (messages of zero elements are sent). Narrow sides have block 0
/// only: input of all_gather and gather, output of scatter and reduce_scatter.
struct Request {
  Collective collective = Collective::all_reduce;
  Algorithm algorithm = Algorithm::ring;
  Wiring wiring = Wiring::mesh;
  int size = 0;
  int root = 0;
  std::vector<std::uint64_t> counts;
  /// direct all_reduce only: a block is not cut among its owners into slices of fewer elements than
  /// this, as far as it can be helped. Where messages are dear, one rank sums a short block for
  /// all.
  std::uint64_t min_slice = 0;
};

/// Whether the algorithm exists for this collective, wiring and size; the text says why not.
Status supports(const Request& request);

/// The program of `rank`; deterministic. Position r on the cables is that of rank r.
Result<Program> build(const Request& request, int rank);

/// The same where rank_at_position[p] sits at position p (empty: rank p). Request and program speak
/// of ranks; neighbours are those in position. direct and exchange add up in the order of the ranks
/// all the same, so that their bits do not depend on the cabling. invalid_argument unless each rank
/// sits somewhere once.
Result<Program> build_placed(const Request& request, std::span<const int> rank_at_position,
                             int rank);

}  // namespace sircl::schedule
