// Operations in words, the error of ranks that differ, pieces, and ranges as addresses.
#include "exec/operation.hpp"

#include <array>

#include "exec/plan_cache.hpp"
#include "support/catch.hpp"

using namespace sircl;
using exec::describe;
using exec::Operation;
using schedule::Buffer;
using schedule::Collective;

namespace {

transport::OperationTag tag_of(Collective collective, DataType type, ReduceOp op,
                               std::uint64_t count, int root) {
  transport::OperationTag tag;
  tag.sequence = 12;
  tag.kind = static_cast<std::uint8_t>(collective);
  tag.type = static_cast<std::uint8_t>(type);
  tag.op = static_cast<std::uint8_t>(op);
  tag.count = count;
  tag.root = root;
  return tag;
}

}  // namespace

TEST_CASE("an operation in words says what its call said") {
  CHECK(describe(tag_of(Collective::all_reduce, DataType::f32, ReduceOp::max, 10, 0)) ==
        "all_reduce(f32, max, count 10)");
  CHECK(describe(tag_of(Collective::broadcast, DataType::u8, ReduceOp::max, 3, 2)) ==
        "broadcast(u8, count 3, root 2)");
  CHECK(describe(tag_of(Collective::reduce, DataType::bf16, ReduceOp::average, 3, 1)) ==
        "reduce(bf16, average, count 3, root 1)");
  CHECK(describe(tag_of(Collective::all_to_all, DataType::i64, ReduceOp::sum, 3, 1)) ==
        "all_to_all(i64, count 3)");
  CHECK(describe(tag_of(Collective::barrier, DataType::u8, ReduceOp::sum, 0, 0)) == "barrier()");
  auto unequal = tag_of(Collective::all_gather, DataType::f64, ReduceOp::sum, 30, 0);
  unequal.counts_hash = 0x123456789ABCDEF0;
  CHECK(describe(unequal) == "all_gather(f64, count 30, unequal counts 9abcdef0)");
}

TEST_CASE("tags from a hostile peer have words too") {
  transport::OperationTag tag;
  tag.kind = 200;
  tag.type = 201;
  tag.op = 202;
  CHECK(describe(tag) == "invalid(invalid, count 0)");
  tag.kind = 0;
  CHECK(describe(tag) == "all_reduce(invalid, invalid, count 0)");
}

TEST_CASE("both sides of a mismatch say the same") {
  const auto one = tag_of(Collective::all_reduce, DataType::f32, ReduceOp::sum, 10, 0);
  const auto other = tag_of(Collective::all_reduce, DataType::f32, ReduceOp::sum, 11, 0);
  const Status here = exec::mismatch(1, one, 3, other);
  const Status there = exec::mismatch(3, other, 1, one);
  CHECK(here.code() == StatusCode::mismatch);
  CHECK(here.message() == there.message());
  CHECK(here.message() ==
        "operation 12: rank 1 called all_reduce(f32, sum, count 10), rank 3 called "
        "all_reduce(f32, sum, count 11); all ranks must call the same operations in the same "
        "order");
}

TEST_CASE("every field of a tag changes its signature") {
  const auto base = tag_of(Collective::all_reduce, DataType::f32, ReduceOp::sum, 10, 0);
  std::vector<transport::OperationTag> others(8, base);
  others[0].sequence = 13;
  others[1].count = 11;
  others[2].counts_hash = 1;
  others[3].root = 1;
  others[4].kind = 1;
  others[5].type = 2;
  others[6].op = 3;
  others[7].algorithm = 4;
  for (std::size_t i = 0; i < others.size(); ++i) {
    INFO(i);
    CHECK(others[i].signature() != base.signature());
    for (std::size_t j = 0; j < i; ++j) CHECK(others[i].signature() != others[j].signature());
  }
  CHECK(tag_of(Collective::all_reduce, DataType::f32, ReduceOp::sum, 10, 0).signature() ==
        base.signature());
}

TEST_CASE("pieces cut every block alike, and short blocks end early") {
  Operation operation;
  operation.collective = Collective::all_gather;
  operation.counts = {10, 0, 7, 25};
  CHECK(exec::longest_block(operation) == 25);
  std::vector<std::uint64_t> counts;
  exec::fill_piece_counts(operation, 4, 8, 8, counts);
  CHECK(counts == std::vector<std::uint64_t>{2, 0, 0, 8});
  exec::fill_piece_counts(operation, 4, 24, 8, counts);
  CHECK(counts == std::vector<std::uint64_t>{0, 0, 0, 1});
  operation.counts.clear();
  operation.count = 9;
  exec::fill_piece_counts(operation, 4, 8, 8, counts);
  CHECK(counts == std::vector<std::uint64_t>{1, 1, 1, 1});
  operation.collective = Collective::all_reduce;
  exec::fill_piece_counts(operation, 4, 0, 8, counts);
  CHECK(counts == std::vector<std::uint64_t>{8});
  operation.collective = Collective::barrier;
  exec::fill_piece_counts(operation, 4, 0, 8, counts);
  CHECK(counts.empty());
}

TEST_CASE("ranges become addresses: blocks, pieces, scratch") {
  std::array<std::byte, 4096> in{};
  std::array<std::byte, 4096> out{};
  std::array<std::byte, 64> scratch{};
  Operation operation;
  operation.type = DataType::f32;
  operation.in = in.data();
  operation.out = out.data();
  operation.count = 100;

  operation.collective = Collective::all_gather;  // narrow input, wide output
  exec::Addresses gather(operation, scratch.data());
  CHECK(gather({Buffer::input, 3, 5, 1}) == in.data() + 5 * 4);
  CHECK(gather({Buffer::output, 3, 5, 1}) == out.data() + (300 + 5) * 4);
  CHECK(gather({Buffer::scratch, 3, 5, 1}) == scratch.data() + 5 * 4);
  gather.begin_piece(16);
  CHECK(gather({Buffer::output, 3, 5, 1}) == out.data() + (300 + 16 + 5) * 4);
  CHECK(gather({Buffer::output, 3, 5, 1}, 2) == out.data() + (300 + 16 + 5 + 2) * 4);
  CHECK(gather({Buffer::scratch, 0, 5, 1}) == scratch.data() + 5 * 4);  // pieces reuse it
  CHECK(gather.offset({Buffer::output, 1, 0, 1}) == (100 + 16) * 4);

  operation.counts = {10, 0, 7, 25};
  exec::Addresses unequal(operation, scratch.data());
  CHECK(unequal({Buffer::output, 3, 5, 1}) == out.data() + (17 + 5) * 4);

  operation.counts.clear();
  operation.collective = Collective::scatter;  // wide input, narrow output
  exec::Addresses scatter(operation, scratch.data());
  CHECK(scatter({Buffer::input, 2, 1, 1}) == in.data() + 201 * 4);
  CHECK(scatter({Buffer::output, 2, 1, 1}) == out.data() + 4);
}

TEST_CASE("plans are kept by shape, and only by shape") {
  exec::PlanCache cache(1, 4, 1 << 20);
  Operation operation;
  operation.collective = Collective::broadcast;
  operation.count = 1000;
  const auto plan = [&](std::size_t begin, std::size_t length) {
    auto result = cache.plan_for(operation, begin, length);
    REQUIRE(result.ok());
    return *result;
  };
  const auto* first = plan(0, 512);
  const std::size_t actions = first->actions.size();
  CHECK(plan(0, 512) == first);
  CHECK(first->actions.size() == actions);
  operation.type = DataType::i32;  // as wide as... another size of element
  CHECK(plan(0, 512)->sources.size() <= 64);
  // Every one of these is another shape; whatever the cache does, the plan must fit the shape.
  for (const int root : {0, 1, 2, 3}) {
    operation.root = root;
    for (const std::size_t length : {1U, 64U, 488U, 512U, 1000U}) {
      for (const std::size_t begin : {0U, 512U}) {
        const auto* got = plan(begin, length);
        const std::uint64_t due = std::min(length, 1000 - begin);
        std::uint64_t moved = 0;
        for (const auto& action : got->actions) {
          if (action.kind == exec::BoardAction::Kind::move && action.keep) moved += action.count;
        }
        INFO("root " << root << ", " << begin << " + " << length);
        CHECK(moved == due);
      }
    }
  }
  // Unequal blocks are compiled anew.
  operation.collective = Collective::all_gather;
  operation.counts = {5, 6, 7, 8};
  const std::size_t some = plan(0, 512)->actions.size();
  operation.counts = {0, 0, 0, 8};
  CHECK(plan(0, 512)->actions.size() < some);
}

TEST_CASE("what does not fit a board is an error, not a plan") {
  exec::PlanCache cache(1, 4, 1024);
  Operation operation;
  operation.collective = Collective::all_reduce;
  operation.algorithm = schedule::Algorithm::exchange;
  operation.type = DataType::f64;
  operation.count = 1000;
  const auto plan = cache.plan_for(operation, 0, 1000);
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.status().message() == "a piece does not fit the board");
  operation.algorithm = schedule::Algorithm::ring;
  CHECK_FALSE(cache.plan_for(operation, 0, 100).ok());
}
