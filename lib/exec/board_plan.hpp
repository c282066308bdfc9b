// A schedule compiled for boards: who publishes where, who reads what from where, after which flag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace sircl::exec {

/// Where one contribution is read: a local range, or another rank's board.
struct BoardSource {
  int peer = schedule::kLocal;
  schedule::Range range;         ///< local
  std::size_t board_offset = 0;  ///< bytes into the peer's half
  std::uint32_t flag = 0;        ///< ordinal in the piece that the peer must have raised
  schedule::Range remote;        ///< the same bytes in the peer's own buffers, see in_place
};

struct BoardAction {
  enum class Kind : std::uint8_t { move, raise };
  Kind kind = Kind::move;
  bool keep = false;     ///< store the value in `store`
  bool publish = false;  ///< write the value to the own board at `publish_offset`
  bool finish = false;
  std::uint32_t flag = 0;  ///< raise: ordinal
  bool computed = false;   ///< raise: it covers more than what was in the input buffers before
  std::uint32_t first_source = 0;
  std::uint32_t source_count = 0;
  std::uint64_t count = 0;
  schedule::Range store;
  std::size_t publish_offset = 0;
};

struct BoardPlan {
  std::vector<BoardAction> actions;
  std::vector<BoardSource> sources;
  std::uint32_t flags_per_piece = 1;  ///< the most flags that any rank raises in one piece
  std::uint64_t scratch_elements = 0;
  /// Everything that anybody publishes also lies in the user's buffers, and stays there until the
  /// operation ends: it can be read there instead. Where input and output are the same memory, that
  /// holds for Algorithm::direct only.
  bool in_place = true;
};

/// Compiles the program of `rank`. Every rank raises at least one flag per piece ("entered"):
/// before its first look at somebody else's board. Only for schedules of one stream.
Result<BoardPlan> compile(const schedule::Request& request, int rank, std::size_t element_bytes,
                          std::size_t half_bytes);

}  // namespace sircl::exec
