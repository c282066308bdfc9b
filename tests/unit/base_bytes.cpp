// Bytes written are the bytes read, on every machine; a short message is never read past its end.
#include "base/bytes.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "support/catch.hpp"

using namespace sircl;

TEST_CASE("what is written is read back, little-endian") {
  ByteWriter out;
  out.integer(std::uint8_t{200});
  out.integer(std::int16_t{-2});
  out.integer(std::uint32_t{0x01020304});
  out.integer(std::numeric_limits<std::int64_t>::min());
  out.text("three words here");
  out.field("name", 8);
  const auto bytes = out.bytes();
  CHECK(bytes[3] == std::byte{4});
  CHECK(bytes[6] == std::byte{1});
  CHECK(bytes.size() == 1 + 2 + 4 + 8 + 4 + 16 + 8);

  ByteReader in(bytes);
  CHECK(in.integer<std::uint8_t>() == 200);
  CHECK(in.integer<std::int16_t>() == -2);
  CHECK(in.integer<std::uint32_t>() == 0x01020304);
  CHECK(in.integer<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(in.text() == "three words here");
  CHECK_FALSE(in.done());
  CHECK(in.field(8) == "name");
  CHECK(in.done());
}

TEST_CASE("a message cut anywhere is not ok, and stays so") {
  ByteWriter out;
  out.integer(std::uint32_t{7});
  out.text("abc");
  for (std::size_t size = 0; size < out.bytes().size(); ++size) {
    ByteReader in(std::span(out.bytes()).first(size));
    (void)in.integer<std::uint32_t>();
    const std::string text = in.text();
    CHECK_FALSE(in.ok());
    CHECK(text.empty());
    CHECK(in.raw(0).empty());
    CHECK(in.integer<std::uint8_t>() == 0);
    CHECK_FALSE(in.done());
  }
}

TEST_CASE("a length that lies is refused without a huge allocation") {
  ByteWriter out;
  out.integer(std::uint32_t{0xFFFFFFFF});
  out.integer(std::uint32_t{0});
  ByteReader in(out.bytes());
  CHECK(in.block().empty());
  CHECK_FALSE(in.ok());
}

TEST_CASE("a text longer than its field is cut and still ends") {
  ByteWriter out;
  out.field("abcdefgh", 4);
  REQUIRE(out.bytes().size() == 4);
  CHECK(out.bytes()[3] == std::byte{0});
  ByteReader in(out.bytes());
  CHECK(in.field(4) == "abc");
}
