// Choosing the target of the reduction kernels.
#include <algorithm>
#include <set>

#include "reduce/kernel_table.hpp"
#include "reduce_common.hpp"

namespace sircl::reduce {
namespace {

TEST_CASE("the best target is active, SCALAR comes last") {
  const auto targets = available_targets();
  REQUIRE(!targets.empty());
  CHECK(active_target() == targets.front());
  CHECK(targets.back() == "SCALAR");
  CHECK(std::set<std::string>(targets.begin(), targets.end()).size() == targets.size());
#if defined(__x86_64__)
  // Every machine that can run these tests in reasonable time has it.
  CHECK(std::count(targets.begin(), targets.end(), "SSE4") == 1);
#elif defined(__aarch64__)
  CHECK(targets.size() > 1);
#endif
}

TEST_CASE("a forced target runs the code that was compiled for it") {
  std::set<Kernel> seen;
  for (const std::string& target : available_targets()) {
    const ForcedTarget forced(target);
    CHECK(active_target() == target);
    const KernelTable& table = active_table();
    for (const char* compiled_for : table.family_targets) CHECK(compiled_for == target);
    for (const DataType type : kAllTypes) {
      // i32 and i64 may share nothing with another target, whatever they share with each other.
      REQUIRE(kernel(type, ReduceOp::sum) != nullptr);
      CHECK(seen.insert(kernel(type, ReduceOp::sum)).second);
      for (const ReduceOp op : kAllOps) CHECK(kernel(type, op) != nullptr);
      CHECK(kernel(type, ReduceOp::average) == kernel(type, ReduceOp::sum));
    }
  }
}

TEST_CASE("target names may be in any case, and auto returns to the best") {
  REQUIRE(force_target("sCaLaR").ok());
  CHECK(active_target() == "SCALAR");
  REQUIRE(force_target("AUTO").ok());
  CHECK(active_target() == available_targets().front());
  REQUIRE(force_target("scalar").ok());
  REQUIRE(force_target("").ok());
  CHECK(active_target() == available_targets().front());
}

TEST_CASE("an unknown target changes nothing and names the available ones") {
  const ForcedTarget forced("SCALAR");
  for (const char* name : {"AVX9000", "SCALA", "SCALAR ", "HWY_SCALAR"}) {
    const Status status = force_target(name);
    CHECK(status.code() == StatusCode::invalid_setting);
    CHECK(status.message().find(name) != std::string::npos);
    for (const std::string& target : available_targets()) {
      CHECK(status.message().find(target) != std::string::npos);
    }
    CHECK(active_target() == "SCALAR");
  }
}

}  // namespace
}  // namespace sircl::reduce
