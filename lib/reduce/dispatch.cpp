// Picks the kernel table: the best target of this processor, or the one that was forced.
#include <hwy/targets.h>

#include <atomic>
#include <cctype>

#include "reduce/kernel_table.hpp"

namespace sircl::reduce {
namespace {

constexpr std::size_t kMaxTables = 16;
constexpr const char* kScalarName = "SCALAR";

struct Registry {
  std::array<KernelTable, kMaxTables> tables;  // best first, SCALAR last
  std::size_t count = 0;
};

void add_family(KernelTable& table, std::size_t slot, const Family& family) noexcept {
  table.family_targets[slot] = family.target;
  for (const TypeKernels& row : family.types) {
    table.kernels[static_cast<std::size_t>(row.type)] = {row.sum, row.product, row.min, row.max};
  }
}

// Highway numbers better targets of one architecture with lower bits.
Registry build_registry() noexcept {
  Registry registry;
  const auto supported = static_cast<std::uint64_t>(hwy::SupportedTargets());
  for (int bit = 0; bit < 63 && registry.count + 1 < kMaxTables; ++bit) {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    if ((supported & mask) == 0) continue;
    const auto target = static_cast<std::int64_t>(mask);
    const std::array<const Family*, kFamilyCount> families = {
        simd_float_family(target), simd_half_family(target), simd_f8_family(target),
        simd_integer_family(target)};
    if (families[0] == nullptr) continue;
    KernelTable& table = registry.tables[registry.count++];
    table.name = families[0]->target;
    for (std::size_t i = 0; i < kFamilyCount; ++i) add_family(table, i, *families[i]);
  }
  KernelTable& scalar = registry.tables[registry.count++];
  scalar.name = kScalarName;
  for (std::size_t i = 0; i < kFamilyCount; ++i) add_family(scalar, i, scalar_family());
  return registry;
}

const Registry& registry() noexcept {
  static const Registry instance = build_registry();
  return instance;
}

std::atomic<const KernelTable*> active{nullptr};

// Two first callers may both store the same pointer; a force_target() between them must survive.
[[gnu::noinline]] const KernelTable& choose_best() noexcept {
  const KernelTable* expected = nullptr;
  active.compare_exchange_strong(expected, &registry().tables[0], std::memory_order_acq_rel);
  return expected != nullptr ? *expected : registry().tables[0];
}

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) !=
        std::tolower(static_cast<unsigned char>(b[i]))) {
      return false;
    }
  }
  return true;
}

}  // namespace

const KernelTable& active_table() noexcept {
  const KernelTable* table = active.load(std::memory_order_acquire);
  return table != nullptr ? *table : choose_best();
}

Kernel kernel(DataType type, ReduceOp op) noexcept {
  const auto row = static_cast<std::size_t>(type);
  const auto column = static_cast<std::size_t>(op == ReduceOp::average ? ReduceOp::sum : op);
  if (row >= kDataTypeCount || column >= kKernelOps) return nullptr;
  return active_table().kernels[row][column];
}

std::vector<std::string> available_targets() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < registry().count; ++i) names.emplace_back(registry().tables[i].name);
  return names;
}

std::string active_target() { return active_table().name; }

Status force_target(std::string_view name) {
  if (name.empty() || equal_ignoring_case(name, "auto")) {
    active.store(&registry().tables[0], std::memory_order_release);
    return {};
  }
  std::string available;
  for (std::size_t i = 0; i < registry().count; ++i) {
    const KernelTable& table = registry().tables[i];
    if (equal_ignoring_case(name, table.name)) {
      active.store(&table, std::memory_order_release);
      return {};
    }
    available += available.empty() ? "" : ", ";
    available += table.name;
  }
  return {StatusCode::invalid_setting,
          "reduction target \"" + std::string(name) +
              "\" is not available on this machine; available: auto, " + available};
}

}  // namespace sircl::reduce
