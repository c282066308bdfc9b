// The bench's own arithmetic: a checker that accepts wrong results, or figures that are off, would
// spoil everything measured.
#include <algorithm>
#include <cstring>
#include <vector>

#include "case.hpp"
#include "figures.hpp"
#include "request.hpp"
#include "sizes.hpp"
#include "support/catch.hpp"
#include "values.hpp"

using namespace sircl;
using namespace sircl::bench;

namespace {

constexpr ReduceOp kAllOps[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max,
                                ReduceOp::average};

/// Largest integer up to which all integers are exact; what the type can hold for integers.
double exact_up_to(DataType type) {
  switch (type) {
    case DataType::f64:
    case DataType::i64:
    case DataType::u64:
      return 9007199254740992.0;
    case DataType::f32:
      return 16777216.0;
    case DataType::f16:
      return 2048;
    case DataType::bf16:
      return 256;
    case DataType::f8e4m3:
      return 16;
    case DataType::f8e5m2:
      return 8;
    case DataType::i8:
      return 127;
    case DataType::u8:
      return 255;
    case DataType::i32:
      return 2147483647.0;
    case DataType::u32:
      return 4294967295.0;
  }
  return 0;
}

}  // namespace

TEST_CASE("every subset of summands stays exact in its type") {
  for (int t = 0; t < kDataTypeCount; ++t) {
    const auto type = static_cast<DataType>(t);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
      for (const int ranks : {1, 2, 3, 4, 8, 9, 31, 64}) {
        for (std::size_t i = 0; i < 300; ++i) {
          double worst = 0;  // of any subset: what has one sign, summed
          double positive = 0;
          double negative = 0;
          for (int rank = 0; rank < ranks; ++rank) {
            const double value = input_value(type, op, rank, ranks, i);
            (value > 0 ? positive : negative) += value;
          }
          worst = std::max(positive, -negative);
          CAPTURE(to_string(type), ranks, i, worst);
          REQUIRE(worst <= exact_up_to(type));
        }
      }
    }
  }
}

TEST_CASE("averages of floats are whole numbers") {
  for (const DataType type : {DataType::f32, DataType::bf16, DataType::f8e4m3, DataType::f8e5m2}) {
    for (const int ranks : {2, 3, 4, 7}) {
      for (std::size_t i = 0; i < 300; ++i) {
        double sum = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          sum += input_value(type, ReduceOp::average, rank, ranks, i);
        }
        const double mean = finish(type, ReduceOp::average, sum, ranks);
        CAPTURE(to_string(type), ranks, i);
        REQUIRE(mean == static_cast<double>(static_cast<long long>(mean)));
      }
    }
  }
}

TEST_CASE("small floats are encoded as their formats say") {
  const auto bits16 = [](DataType type, double value) {
    std::byte element[2];
    encode(type, value, element);
    std::uint16_t bits = 0;
    std::memcpy(&bits, element, sizeof bits);
    return bits;
  };
  CHECK(bits16(DataType::f16, 1) == 0x3C00);
  CHECK(bits16(DataType::f16, -2) == 0xC000);
  CHECK(bits16(DataType::f16, 2047) == 0x67FF);
  CHECK(bits16(DataType::bf16, 1) == 0x3F80);
  CHECK(bits16(DataType::bf16, -3) == 0xC040);
  CHECK(bits16(DataType::bf16, 0.5) == 0x3F00);
  std::byte element{};
  encode(DataType::f8e4m3, 16, &element);
  CHECK(element == std::byte{0x58});
  encode(DataType::f8e4m3, -1.5, &element);
  CHECK(element == std::byte{0xBC});
  encode(DataType::f8e5m2, 8, &element);
  CHECK(element == std::byte{0x48});
  encode(DataType::f8e5m2, 0, &element);
  CHECK(element == std::byte{0});
}

TEST_CASE("one changed byte anywhere in an output is one wrong element") {
  constexpr int kRanks = 3;
  for (std::size_t c = 0; c + 1 < kCollectiveNames.size(); ++c) {
    for (const ReduceOp op : kAllOps) {
      const Shape shape{static_cast<Collective>(c), 60000, DataType::bf16, op, false};
      // The expected output comes from a second look at the inputs of all ranks.
      std::vector<Case> all;
      for (int rank = 0; rank < kRanks; ++rank) {
        all.emplace_back(shape, rank, kRanks);
        all.back().fill();
      }
      Case& root = all[0];
      const std::size_t elements = shape.out_elements(kRanks);
      CAPTURE(kCollectiveNames[c], to_string(op));
      CHECK(root.wrong() >= elements * 9 / 10);  // nothing ran yet
      if (shape.collective != Collective::all_gather) continue;
      for (int rank = 0; rank < kRanks; ++rank) {
        const std::size_t bytes = Case::in_bytes(shape, kRanks);
        std::memcpy(root.out() + static_cast<std::size_t>(rank) * bytes,
                    all[static_cast<std::size_t>(rank)].in(), bytes);
      }
      CHECK(root.wrong() == 0);
      for (const std::size_t at : {std::size_t{0}, elements, 2 * elements - 1}) {
        root.out()[at] ^= std::byte{1};
        CHECK(root.wrong() == 1);
        root.out()[at] ^= std::byte{1};
      }
    }
  }
}

TEST_CASE("bus factors and counts follow nccl-tests") {
  CHECK(bus_factor(Collective::all_reduce, 4) == Approx(1.5));
  CHECK(bus_factor(Collective::all_gather, 4) == Approx(0.75));
  CHECK(bus_factor(Collective::broadcast, 4) == Approx(1.0));
  const Shape shape{Collective::all_gather, 1000, DataType::f32, ReduceOp::sum, false};
  CHECK(shape.count(4) == 62);
  CHECK(shape.whole_bytes(4) == 992);
}

TEST_CASE("requests survive their line") {
  const Request request{
      {Collective::all_to_all, 4096, DataType::i8, ReduceOp::max, true}, 7, 3, false};
  const auto back = parse_line(to_line(request));
  REQUIRE(back);
  CHECK(back->shape.collective == Collective::all_to_all);
  CHECK(back->shape.bytes == 4096);
  CHECK(back->shape.type == DataType::i8);
  CHECK(back->shape.op == ReduceOp::max);
  CHECK(back->shape.in_place);
  CHECK(back->iterations == 7);
  CHECK(back->warmup == 3);
  CHECK_FALSE(back->check);
  CHECK_FALSE(parse_line("run all_reduce 10 99 0 0 1 1 1"));
  CHECK_FALSE(parse_line("walk all_reduce 10 1 0 0 1 1 1"));
  CHECK_FALSE(parse_line("run all_reduce 10"));
}

TEST_CASE("sizes are read as people write them") {
  CHECK(parse_size("12288") == 12288U);
  CHECK(parse_size("4k") == 4096U);
  CHECK(parse_size("16MiB") == 16777216U);
  CHECK_FALSE(parse_size(""));
  CHECK_FALSE(parse_size("-1"));
  CHECK_FALSE(parse_size("1.5M"));
  CHECK_FALSE(parse_size("1T"));
  CHECK_FALSE(parse_size("99999999999G"));
  CHECK(format_size(12288) == "12 KiB");
  CHECK(format_size(491521) == "491,521 B");
}

TEST_CASE("figures are medians over rounds") {
  Series series;
  CHECK_FALSE(series.figures().measured());
  series.add({1, 2, 9}, 10, 0);
  series.add({5, 6, 7}, 20, 1);
  series.add({3, 4, 5}, 30, 0);
  const Figures figures = series.figures();
  CHECK(figures.p50_us == 4);
  CHECK(figures.min_us == 1);
  CHECK(figures.p99_us == 9);
  CHECK(figures.cpu_us == 20);
  CHECK(figures.wrong == 1);
}
