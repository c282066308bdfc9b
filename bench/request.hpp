// What is measured: a collective of one size, type and operation. Also the line in which the bench
// asks a peer for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sircl/types.hpp"

namespace sircl::bench {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_all,
  send_recv,  ///< every rank sends to the next rank and receives from the one before
  barrier,
};
inline constexpr std::array<std::string_view, 10> kCollectiveNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
    "gather",     "scatter",    "all_to_all",     "send_recv", "barrier"};

[[nodiscard]] std::string_view to_string(Collective collective);
[[nodiscard]] std::optional<Collective> parse_collective(std::string_view name);
/// Whether the operation (sum, ...) has a meaning for it.
[[nodiscard]] bool reduces(Collective collective);
/// Whether the API defines an in-place form.
[[nodiscard]] bool has_in_place(Collective collective);
/// Bus bandwidth over algorithm bandwidth, as nccl-tests defines it.
[[nodiscard]] double bus_factor(Collective collective, int ranks);

/// One thing to measure. Roots are rank 0.
struct Shape {
  Collective collective = Collective::all_reduce;
  std::size_t bytes = 0;  ///< as nccl-tests counts: the larger of a rank's input and output
  DataType type = DataType::f32;
  ReduceOp op = ReduceOp::sum;
  bool in_place = false;

  /// Elements per call: `bytes` for all_reduce, broadcast, reduce and send_recv, the share of one
  /// rank for the others.
  [[nodiscard]] std::size_t count(int ranks) const;
  /// `bytes` without what does not fill an element on every rank.
  [[nodiscard]] std::size_t whole_bytes(int ranks) const;
  [[nodiscard]] std::size_t in_elements(int ranks) const;
  [[nodiscard]] std::size_t out_elements(int ranks) const;
};

struct Request {
  Shape shape;
  int iterations = 1;
  int warmup = 0;
  bool check = true;
};

/// "run all_reduce 1024 f32 sum 0 100 10 1\n" with type and operation as numbers.
[[nodiscard]] std::string to_line(const Request& request);
[[nodiscard]] std::optional<Request> parse_line(const std::string& line);

}  // namespace sircl::bench
