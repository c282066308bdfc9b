// What the tests of the reduction kernels share: running a kernel on bit patterns, on any target.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "reduce/reduce.hpp"
#include "sircl/types.hpp"
#include "support/catch.hpp"

namespace sircl::reduce {

inline constexpr DataType kAllTypes[] = {
    DataType::f64, DataType::f32, DataType::f16, DataType::bf16, DataType::f8e4m3, DataType::f8e5m2,
    DataType::i8,  DataType::u8,  DataType::i32, DataType::u32,  DataType::i64,    DataType::u64};
inline constexpr ReduceOp kAllOps[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min,
                                       ReduceOp::max};

/// Forces a target for one scope.
class ForcedTarget {
 public:
  explicit ForcedTarget(const std::string& name) { REQUIRE(force_target(name).ok()); }
  ~ForcedTarget() { static_cast<void>(force_target("auto")); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
};

/// Reduces arrays of equal length on the active target.
template <class Bits>
std::vector<Bits> reduce_arrays(DataType type, ReduceOp op,
                                const std::vector<std::vector<Bits>>& inputs,
                                std::uint32_t divide_by = 1) {
  std::vector<const void*> pointers;
  for (const auto& input : inputs) pointers.push_back(input.data());
  std::vector<Bits> out(inputs.front().size());
  kernel(type, op)(pointers.data(), pointers.size(), out.data(), out.size(), divide_by);
  return out;
}

/// One element per contribution, on every target. All lanes of a block hold the same values, and
/// the results must agree with each other.
template <class Bits>
Bits reduce_values(DataType type, ReduceOp op, std::initializer_list<Bits> contributions,
                   std::uint32_t divide_by = 1) {
  constexpr std::size_t kCount = 300;  // whole blocks and a tail, whatever the vector length
  std::vector<std::vector<Bits>> inputs;
  for (const Bits value : contributions) inputs.emplace_back(kCount, value);
  Bits result{};
  bool first = true;
  for (const std::string& target : available_targets()) {
    const ForcedTarget forced(target);
    for (const Bits value : reduce_arrays(type, op, inputs, divide_by)) {
      if (first) result = value;
      first = false;
      INFO("target " << target);
      if (std::memcmp(&value, &result, sizeof(Bits)) != 0) FAIL("targets or lanes disagree");
    }
  }
  return result;
}

}  // namespace sircl::reduce
