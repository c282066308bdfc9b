// Every target against the plain C++ kernels: random bits, counts, alignments, in place.
#include <algorithm>
#include <memory>
#include <random>

#include "reduce_common.hpp"

namespace sircl::reduce {
namespace {

using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t limit) { return random() % limit; }

// Bit patterns at the edges of each type: zeros, denormals, greatest values, infinities, NaN, and
// their neighbours. Signs are added by the caller.
std::uint64_t edge_magnitude(DataType type, Random& random) {
  const int bits = static_cast<int>(8 * size_of(type));
  const std::uint64_t mask = (std::uint64_t{1} << (bits - 1)) - 1;
  int mantissa = 0;
  switch (type) {
    case DataType::f64:
      mantissa = 52;
      break;
    case DataType::f32:
      mantissa = 23;
      break;
    case DataType::f16:
      mantissa = 10;
      break;
    case DataType::bf16:
      mantissa = 7;
      break;
    case DataType::f8e4m3:
      mantissa = 3;
      break;
    case DataType::f8e5m2:
      mantissa = 2;
      break;
    case DataType::i8:
    case DataType::u8:
    case DataType::i32:
    case DataType::u32:
    case DataType::i64:
    case DataType::u64:
      mantissa = bits / 2;
      break;
  }
  const std::uint64_t fraction = (std::uint64_t{1} << mantissa) - 1;
  switch (below(random, 6)) {
    case 0:
      return 0;
    case 1:
      return random() & fraction;  // denormal
    case 2:
      return (mask & ~fraction) + below(random, 2);  // infinity, or a NaN
    case 3:
      return (mask & ~fraction) - 1;  // greatest finite
    case 4:
      return mask - below(random, 3);
    default:
      return fraction + below(random, 3);  // least normal and neighbours
  }
}

void fill(DataType type, std::uint8_t* to, std::size_t count, Random& random) {
  const std::size_t size = size_of(type);
  const int style = static_cast<int>(below(random, 4));
  const std::uint64_t center = random();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = random();
    if (style == 0 || (style == 1 && below(random, 16) == 0)) {
      const std::uint64_t sign = bits & (std::uint64_t{1} << (8 * size - 1));
      bits = edge_magnitude(type, random) | sign;
    } else if (style == 2) {
      // Near each other, so that sums cancel and digits interact.
      bits = center ^ (bits & 0x8080808080808383u);
    }
    std::memcpy(to + i * size, &bits, size);  // little-endian, like the library
  }
}

// An array that ends with its allocation, for the address sanitizer, at any alignment.
class Array {
 public:
  Array(std::size_t bytes, std::size_t offset)
      : memory_(new std::uint8_t[offset + bytes]), data_(memory_.get() + offset) {}
  [[nodiscard]] std::uint8_t* data() const { return data_; }

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  std::uint8_t* data_;
};

struct Case {
  DataType type;
  ReduceOp op;
  std::size_t inputs;
  std::size_t count;
  std::uint32_t divide_by;
};

std::string describe(const Case& c) {
  return std::string(to_string(c.type)) + " " + std::string(to_string(c.op)) + " of " +
         std::to_string(c.inputs) + " inputs, " + std::to_string(c.count) +
         " elements, divided by " + std::to_string(c.divide_by);
}

void check_case(const Case& c, const std::vector<std::string>& targets, Random& random) {
  constexpr std::size_t kGuard = 70;
  const std::size_t bytes = c.count * size_of(c.type);
  std::vector<Array> inputs;
  std::vector<const void*> pointers;
  for (std::size_t j = 0; j < c.inputs; ++j) {
    inputs.emplace_back(bytes, below(random, 2) == 0 ? 0 : below(random, 65));
    fill(c.type, inputs.back().data(), c.count, random);
    pointers.push_back(inputs.back().data());
  }
  std::vector<std::uint8_t> expected(bytes);
  REQUIRE(force_target("SCALAR").ok());
  kernel(c.type, c.op)(pointers.data(), c.inputs, expected.data(), c.count, c.divide_by);

  for (const std::string& target : targets) {
    REQUIRE(force_target(target).ok());
    const Kernel run = kernel(c.type, c.op);
    const std::size_t offset = below(random, 65);
    std::vector<std::uint8_t> out(offset + bytes + kGuard, 0xA5);
    run(pointers.data(), c.inputs, out.data() + offset, c.count, c.divide_by);
    if (!std::equal(expected.begin(), expected.end(), out.data() + offset)) {
      FAIL(target << " differs: " << describe(c));
    }
    const auto untouched = [](std::uint8_t byte) { return byte == 0xA5; };
    if (!std::all_of(out.data(), out.data() + offset, untouched) ||
        !std::all_of(out.data() + offset + bytes, out.data() + out.size(), untouched)) {
      FAIL(target << " wrote outside the output: " << describe(c));
    }

    const std::size_t place = below(random, c.inputs);
    Array in_place(bytes, below(random, 65));
    if (bytes != 0) std::memcpy(in_place.data(), inputs[place].data(), bytes);
    std::vector<const void*> aliased = pointers;
    aliased[place] = in_place.data();
    run(aliased.data(), c.inputs, in_place.data(), c.count, c.divide_by);
    if (!std::equal(expected.begin(), expected.end(), in_place.data())) {
      FAIL(target << " differs in place of input " << place << ": " << describe(c));
    }
  }
}

std::uint32_t any_divisor(ReduceOp op, std::size_t inputs, Random& random) {
  if (op != ReduceOp::sum) return 1;
  switch (below(random, 6)) {
    case 0:
      return static_cast<std::uint32_t>(inputs);
    case 1:
      return static_cast<std::uint32_t>(2 + below(random, 20));
    case 2:
      return static_cast<std::uint32_t>(1 + (random() >> 32));
    default:
      return 1;
  }
}

TEST_CASE("all targets give the bits of the scalar kernels") {
  const ForcedTarget restore_afterwards("auto");
  std::vector<std::string> targets = available_targets();
  targets.pop_back();
  Random random(20240229);
  for (const DataType type : kAllTypes) {
    for (const ReduceOp op : kAllOps) {
      for (std::size_t count = 0; count <= 300; ++count) {
        const std::size_t inputs = 1 + below(random, 9);
        check_case({type, op, inputs, count, any_divisor(op, inputs, random)}, targets, random);
      }
      for (std::size_t inputs = 1; inputs <= 9; ++inputs) {
        const std::size_t count = 1000 + below(random, 1500);
        check_case({type, op, inputs, count, any_divisor(op, inputs, random)}, targets, random);
      }
      check_case({type, op, 2 + below(random, 3), 20011, 1}, targets, random);
    }
  }
}

TEST_CASE("a streaming copy copies exactly its bytes") {
  Random random(7);
  for (int i = 0; i < 400; ++i) {
    const std::size_t bytes = i < 200 ? static_cast<std::size_t>(i) : below(random, 100000);
    const Array in(bytes, below(random, 65));
    fill(DataType::u8, in.data(), bytes, random);
    const std::size_t offset = below(random, 65);
    std::vector<std::uint8_t> out(offset + bytes + 70, 0xA5);
    std::vector<std::uint8_t> expected = out;
    if (bytes != 0) std::memcpy(expected.data() + offset, in.data(), bytes);
    copy_streaming(out.data() + offset, in.data(), bytes);
    if (out != expected) FAIL(bytes << " bytes at offset " << offset);
  }
}

}  // namespace
}  // namespace sircl::reduce
