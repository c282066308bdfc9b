#include "sircl/types.hpp"

#include <array>
#include <utility>

namespace sircl {
namespace {

constexpr std::array<std::string_view, kDataTypeCount> kTypeNames = {
    "f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8", "i32", "u32", "i64", "u64"};
constexpr std::array<std::string_view, kReduceOpCount> kOpNames = {"sum", "product", "min", "max",
                                                                   "average"};

constexpr std::pair<std::string_view, DataType> kTypeAliases[] = {
    {"double", DataType::f64},     {"float64", DataType::f64},    {"float", DataType::f32},
    {"float32", DataType::f32},    {"half", DataType::f16},       {"float16", DataType::f16},
    {"bfloat16", DataType::bf16},  {"fp8_e4m3", DataType::f8e4m3}, {"fp8_e5m2", DataType::f8e5m2},
    {"int8", DataType::i8},        {"uint8", DataType::u8},       {"int32", DataType::i32},
    {"uint32", DataType::u32},     {"int64", DataType::i64},      {"uint64", DataType::u64},
};

}  // namespace

std::string_view to_string(DataType type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  return index < kTypeNames.size() ? kTypeNames[index] : "invalid";
}

std::string_view to_string(ReduceOp op) noexcept {
  const auto index = static_cast<std::size_t>(op);
  return index < kOpNames.size() ? kOpNames[index] : "invalid";
}

std::optional<DataType> parse_data_type(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) return static_cast<DataType>(i);
  }
  for (const auto& [alias, type] : kTypeAliases) {
    if (alias == name) return type;
  }
  return std::nullopt;
}

std::optional<ReduceOp> parse_reduce_op(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kOpNames.size(); ++i) {
    if (kOpNames[i] == name) return static_cast<ReduceOp>(i);
  }
  if (name == "prod") return ReduceOp::product;
  if (name == "avg") return ReduceOp::average;
  return std::nullopt;
}

}  // namespace sircl
