// One checked call of each collective; every function returns "" or what is wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sircl/sircl.hpp"
#include "support/numbers.hpp"

namespace sircl::test {

struct Case {
  DataType type = DataType::f32;
  ReduceOp op = ReduceOp::sum;
  std::size_t count = 0;
  int root = 0;
  bool in_place = false;
  std::size_t misalign = 0;  ///< bytes by which the buffers are moved off their alignment
};

/// A byte vector that begins `misalign` bytes into its storage.
class Buffer {
 public:
  Buffer(std::size_t bytes, std::size_t misalign) : storage_(bytes + misalign, std::byte{0xA5}), misalign_(misalign) {}
  std::byte* data() { return storage_.data() + misalign_; }
  std::vector<std::byte> copy(std::size_t from, std::size_t bytes) {
    return {storage_.begin() + static_cast<std::ptrdiff_t>(misalign_ + from),
            storage_.begin() + static_cast<std::ptrdiff_t>(misalign_ + from + bytes)};
  }

 private:
  std::vector<std::byte> storage_;
  std::size_t misalign_;
};

/// value(block, index) encoded for blocks x count elements.
inline void fill(Buffer& buffer, const Case& c, std::size_t first, std::size_t count,
                 const std::function<int(std::size_t)>& value) {
  const std::size_t element = size_of(c.type);
  for (std::size_t i = 0; i < count; ++i) store(c.type, buffer.data() + (first + i) * element, value(i));
}

/// What rank `from` says to rank `to` at element i, for collectives that only move.
inline int moved(int from, int to, std::size_t i) {
  return static_cast<int>((static_cast<std::size_t>(from) * 5 + static_cast<std::size_t>(to) * 3 + i) % 15);
}

inline std::string run_case(Communicator& comm, const std::string& collective, const Case& c) {
  const int n = comm.size();
  const int me = comm.rank();
  const auto ranks = static_cast<std::size_t>(n);
  const auto rank = static_cast<std::size_t>(me);
  const std::size_t element = size_of(c.type);
  const bool wide_in = collective == "reduce_scatter" || collective == "scatter" || collective == "all_to_all";
  const bool wide_out = collective == "all_gather" || collective == "gather" || collective == "all_to_all";
  const bool reduces = collective == "all_reduce" || collective == "reduce" || collective == "reduce_scatter";
  const std::size_t in_count = c.count * (wide_in ? ranks : 1);
  const std::size_t out_count = c.count * (wide_out ? ranks : 1);
  // In place: one buffer of the wider size.
  Buffer in(std::max(in_count, c.in_place ? out_count : 0) * element, c.misalign);
  Buffer out(out_count * element, c.misalign);
  std::byte* in_data = in.data();
  std::byte* out_data = c.in_place ? in.data() : out.data();
  if (c.in_place && wide_out) in_data = in.data() + rank * c.count * element;
  if (c.in_place && wide_in) out_data = in.data() + rank * c.count * element;

  const auto input_first = static_cast<std::size_t>(in_data - in.data()) / element;
  if (reduces) {
    fill(in, c, input_first, in_count, [&](std::size_t i) { return contribution(me, i, c.op, n); });
  } else {
    for (std::size_t block = 0; block < (wide_in ? ranks : 1); ++block) {
      fill(in, c, input_first + block * c.count, c.count,
           [&](std::size_t i) { return moved(me, static_cast<int>(block), i); });
    }
  }

  Status status;
  bool has_output = true;
  if (collective == "all_reduce") {
    status = comm.all_reduce(in_data, out_data, c.count, c.type, c.op);
  } else if (collective == "all_gather") {
    status = comm.all_gather(in_data, out_data, c.count, c.type);
  } else if (collective == "reduce_scatter") {
    status = comm.reduce_scatter(in_data, out_data, c.count, c.type, c.op);
  } else if (collective == "broadcast") {
    status = comm.broadcast(in_data, out_data, c.count, c.type, c.root);
  } else if (collective == "reduce") {
    status = comm.reduce(in_data, out_data, c.count, c.type, c.op, c.root);
    has_output = me == c.root;
  } else if (collective == "gather") {
    status = comm.gather(in_data, out_data, c.count, c.type, c.root);
    has_output = me == c.root;
  } else if (collective == "scatter") {
    status = comm.scatter(in_data, out_data, c.count, c.type, c.root);
  } else if (collective == "all_to_all") {
    status = comm.all_to_all(in_data, out_data, c.count, c.type);
  } else {
    return "unknown collective " + collective;
  }
  if (!status.ok()) return status.to_string();
  if (!has_output) return "";

  Buffer expected(out_count * element, 0);
  for (std::size_t block = 0; block < (wide_out ? ranks : 1); ++block) {
    fill(expected, c, block * c.count, c.count, [&](std::size_t i) {
      if (collective == "reduce_scatter") return reduced(rank * c.count + i, c.op, n);
      if (reduces) return reduced(i, c.op, n);
      if (collective == "broadcast") return moved(c.root, 0, i);
      if (collective == "scatter") return moved(c.root, me, i);
      if (collective == "all_to_all") return moved(static_cast<int>(block), me, i);
      return moved(static_cast<int>(block), 0, i);  // gathers
    });
  }
  const std::size_t bytes = out_count * element;
  std::vector<std::byte> got(out_data, out_data + bytes);
  const std::string wrong = compare(got, expected.copy(0, bytes), element);
  if (wrong.empty()) return "";
  return collective + " of " + std::to_string(c.count) + " " + std::string(to_string(c.type)) + " " +
         std::string(to_string(c.op)) + " root " + std::to_string(c.root) +
         (c.in_place ? " in place" : "") + ": " + wrong;
}

}  // namespace sircl::test
