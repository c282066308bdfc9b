#include "case.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "values.hpp"

namespace sircl::bench {
namespace {

constexpr std::size_t kPeriod = 4093;

/// Writes elements first, first + 1, ... of the periodic sequence.
void write(const std::vector<std::byte>& period, std::size_t element_bytes, std::size_t first,
           std::size_t count, std::byte* to) {
  while (count > 0) {
    const std::size_t at = first % kPeriod;
    const std::size_t run = std::min(count, kPeriod - at);
    std::memcpy(to, period.data() + at * element_bytes, run * element_bytes);
    to += run * element_bytes;
    first += run;
    count -= run;
  }
}

/// How many elements differ from the periodic sequence.
std::uint64_t differences(const std::vector<std::byte>& period, std::size_t element_bytes,
                          std::size_t first, std::size_t count, const std::byte* got) {
  std::uint64_t wrong = 0;
  while (count > 0) {
    const std::size_t at = first % kPeriod;
    const std::size_t run = std::min(count, kPeriod - at);
    const std::byte* want = period.data() + at * element_bytes;
    if (std::memcmp(got, want, run * element_bytes) != 0) {
      for (std::size_t i = 0; i < run * element_bytes; i += element_bytes) {
        wrong += std::memcmp(got + i, want + i, element_bytes) != 0 ? 1 : 0;
      }
    }
    got += run * element_bytes;
    first += run;
    count -= run;
  }
  return wrong;
}

std::vector<std::byte> arbitrary_bytes(int rank, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  auto state = static_cast<std::uint64_t>(rank) * 0x9E3779B97F4A7C15ULL + 12345;
  for (std::byte& byte : made) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<std::byte>(state >> 56);
  }
  return made;
}

}  // namespace

std::size_t Case::in_bytes(const Shape& shape, int ranks) {
  return shape.in_elements(ranks) * size_of(shape.type);
}

std::size_t Case::out_bytes(const Shape& shape, int ranks) {
  return shape.out_elements(ranks) * size_of(shape.type);
}

Case::Case(const Shape& shape, int rank, int ranks) : shape_(shape), rank_(rank), ranks_(ranks) {
  // Both buffers start on a cache line of their own.
  const auto round_up = [](std::size_t bytes) { return (bytes + 127) / 64 * 64; };
  const std::size_t in_room = round_up(in_bytes(shape, ranks));
  memory_.resize(64 + in_room + round_up(out_bytes(shape, ranks)));
  void* start = memory_.data();
  std::size_t room = memory_.size();
  auto* aligned = static_cast<std::byte*>(std::align(64, 1, start, room));
  place(aligned, aligned + in_room);
}

Case::Case(const Shape& shape, int rank, int ranks, std::byte* in, std::byte* out)
    : shape_(shape), rank_(rank), ranks_(ranks) {
  place(in, out);
}

void Case::place(std::byte* in, std::byte* out) {
  in_ = in;
  out_ = out;
  const std::size_t block = count() * size_of(shape_.type) * static_cast<std::size_t>(rank_);
  if (shape_.in_place) {
    if (in_bytes(shape_, ranks_) < out_bytes(shape_, ranks_)) {
      in_ = out + block;
    } else if (in_bytes(shape_, ranks_) > out_bytes(shape_, ranks_)) {
      out_ = in + block;
    } else {
      out_ = in;
    }
  }
  make_tables();
}

void Case::make_tables() {
  const std::size_t size = size_of(shape_.type);
  inputs_.resize(static_cast<std::size_t>(ranks_));
  if (!reduces(shape_.collective)) {
    for (int rank = 0; rank < ranks_; ++rank) {
      inputs_[static_cast<std::size_t>(rank)] = arbitrary_bytes(rank, kPeriod * size);
    }
    return;
  }
  std::vector<double> sum(kPeriod);
  for (int rank = 0; rank < ranks_; ++rank) {
    std::vector<std::byte>& table = inputs_[static_cast<std::size_t>(rank)];
    table.resize(kPeriod * size);
    for (std::size_t i = 0; i < kPeriod; ++i) {
      const double value = input_value(shape_.type, shape_.op, rank, ranks_, i);
      encode(shape_.type, value, table.data() + i * size);
      sum[i] = rank == 0 ? value : combine(shape_.op, sum[i], value);
    }
  }
  reduced_.resize(kPeriod * size);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    encode(shape_.type, finish(shape_.type, shape_.op, sum[i], ranks_), reduced_.data() + i * size);
  }
}

void Case::fill() {
  std::memset(out_, 0x5B, out_bytes(shape_, ranks_));
  write(moved_from(rank_), size_of(shape_.type), 0, shape_.in_elements(ranks_), in_);
}

std::uint64_t Case::wrong() const {
  const std::size_t size = size_of(shape_.type);
  const std::size_t n = count();
  const std::size_t mine = static_cast<std::size_t>(rank_) * n;
  const auto blocks_of_all = [&](std::size_t first) {
    std::uint64_t wrong = 0;
    for (int from = 0; from < ranks_; ++from) {
      wrong += differences(moved_from(from), size, first, n,
                           out_ + static_cast<std::size_t>(from) * n * size);
    }
    return wrong;
  };
  switch (shape_.collective) {
    case Collective::all_reduce:
      return differences(reduced_, size, 0, n, out_);
    case Collective::reduce:
      return rank_ == 0 ? differences(reduced_, size, 0, n, out_) : 0;
    case Collective::reduce_scatter:
      return differences(reduced_, size, mine, n, out_);
    case Collective::all_gather:
      return blocks_of_all(0);
    case Collective::gather:
      return rank_ == 0 ? blocks_of_all(0) : 0;
    case Collective::all_to_all:
      return blocks_of_all(mine);
    case Collective::broadcast:
      return differences(moved_from(0), size, 0, n, out_);
    case Collective::scatter:
      return differences(moved_from(0), size, mine, n, out_);
    case Collective::send_recv:
      return differences(moved_from((rank_ + ranks_ - 1) % ranks_), size, 0, n, out_);
    case Collective::barrier:
      return 0;
  }
  return 0;
}

}  // namespace sircl::bench
