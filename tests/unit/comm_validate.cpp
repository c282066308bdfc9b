// Bad arguments: every text names the call, the argument, and what to do instead.
#include "comm/validate.hpp"

#include <array>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::detail;

TEST_CASE("types and operations that are none") {
  CHECK(check_type("send", DataType::u64).ok());
  CHECK(check_type("send", DataType::f64, ReduceOp::average).ok());
  const Status type = check_type("all_reduce", static_cast<DataType>(12));
  CHECK(type.code() == StatusCode::invalid_argument);
  CHECK(type.message() == "all_reduce: 12 is not an element type; use a value of DataType");
  const Status op = check_type("reduce", DataType::f32, static_cast<ReduceOp>(5));
  CHECK(op.code() == StatusCode::invalid_argument);
  CHECK(op.message() == "reduce: 5 is not an operation; use a value of ReduceOp");
}

TEST_CASE("ranks that are none") {
  CHECK(check_rank("send", "destination", 0, 4).ok());
  CHECK(check_rank("send", "destination", 3, 4).ok());
  for (const int wrong :
       {-1, 4, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    const Status status = check_rank("send", "destination", wrong, 4);
    CHECK(status.code() == StatusCode::invalid_argument);
    CHECK(status.message() == "send: destination " + std::to_string(wrong) +
                                  " is not a rank of this communicator; use 0 to 3");
  }
}

TEST_CASE("counts that no memory holds, also times the number of ranks") {
  CHECK(check_count("all_gather", SIZE_MAX / 8 / 4, 4, DataType::f32).ok());
  CHECK(check_count("all_gather", 0, 0, DataType::f32).ok());
  const std::size_t wrong[] = {SIZE_MAX, SIZE_MAX / 4, SIZE_MAX / 8, SIZE_MAX / 8 / 4 + 1};
  for (const std::size_t count : wrong) {
    const Status status = check_count("all_gather", count, 4, DataType::f32);
    CHECK(status.code() == StatusCode::invalid_argument);
    CHECK(status.message() == "all_gather: count " + std::to_string(count) +
                                  " is larger than memory can be; it is in elements of f32");
  }
}

TEST_CASE("buffers that are missing") {
  std::array<float, 4> data{};
  const Status in = check_buffers({"all_reduce", nullptr, data.data(), 4, 4}, DataType::f32);
  CHECK(in.code() == StatusCode::invalid_argument);
  CHECK(in.message() == "all_reduce: in is null but 4 elements are to be read");
  const Status out = check_buffers({"all_reduce", data.data(), nullptr, 4, 3}, DataType::f32);
  CHECK(out.message() == "all_reduce: out is null but 3 elements are to be written");
  CHECK(check_buffers({"all_reduce", nullptr, nullptr, 0, 0}, DataType::f32).ok());
  CHECK(check_buffers({"reduce", data.data(), nullptr, 4, 0}, DataType::f32).ok());
}

TEST_CASE("buffers that overlap: apart and in place are allowed, all else is not") {
  std::array<float, 100> data{};
  float* const at = data.data();
  const auto code = [](const BufferCheck& check) {
    return check_buffers(check, DataType::f32).code();
  };
  // The same size on both sides.
  CHECK(code({"all_reduce", at, at + 10, 10, 10, 0, 0}) == StatusCode::ok);
  CHECK(code({"all_reduce", at + 10, at, 10, 10, 0, 0}) == StatusCode::ok);
  CHECK(code({"all_reduce", at, at, 10, 10, 0, 0}) == StatusCode::ok);
  CHECK(code({"all_reduce", at, at + 9, 10, 10, 0, 0}) == StatusCode::invalid_argument);
  CHECK(code({"all_reduce", at + 1, at, 10, 10, 0, 0}) == StatusCode::invalid_argument);
  // A gather of rank 2: its own block of the output is the input.
  CHECK(code({"all_gather", at + 20, at, 10, 40, 0, 20}) == StatusCode::ok);
  CHECK(code({"all_gather", at + 10, at, 10, 40, 0, 20}) == StatusCode::invalid_argument);
  CHECK(code({"all_gather", at, at, 10, 40, 0, 20}) == StatusCode::invalid_argument);
  // A scatter of rank 1.
  CHECK(code({"scatter", at, at + 10, 40, 10, 10, 0}) == StatusCode::ok);
  CHECK(code({"scatter", at, at + 11, 40, 10, 10, 0}) == StatusCode::invalid_argument);
  const Status status = check_buffers({"all_reduce", at, at + 1, 10, 10, 0, 0}, DataType::f32);
  CHECK(status.message() ==
        "all_reduce: in and out overlap but are not in place; see the in-place rule of all_reduce "
        "in communicator.hpp");
}
