// The forms of sizes, times and files of settings.
#include "config/parse.hpp"

#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::config;

TEST_CASE("sizes") {
  CHECK(parse_size("0") == 0);
  CHECK(parse_size("65536") == 65536);
  CHECK(parse_size("12B") == 12);
  CHECK(parse_size("64K") == 65536);
  CHECK(parse_size("64k") == 65536);
  CHECK(parse_size("64KB") == 65536);
  CHECK(parse_size("1MiB") == 1 << 20);
  CHECK(parse_size("2G") == std::int64_t{2} << 30);
  CHECK(parse_size("1T") == std::int64_t{1} << 40);
  CHECK(parse_size("8388607T") == std::int64_t{8388607} << 40);
  for (const char* wrong : {"", "K", "-1", "1.5M", "64X", "64KK", "64iB", "1MiBB", "8388608T",
                            "9223372036854775808", " 1", "1 "}) {
    INFO(wrong);
    CHECK_FALSE(parse_size(wrong));
  }
}

TEST_CASE("seconds and integers") {
  CHECK(parse_seconds("5") == 5.0);
  CHECK(parse_seconds("2.5") == 2.5);
  for (const char* wrong : {"", "-1", "nan", "inf", "5s", "2e9", "1e400"}) {
    INFO(wrong);
    CHECK_FALSE(parse_seconds(wrong));
  }
  CHECK(parse_integer("-7") == -7);
  for (const char* wrong : {"", "7x", "0x10", "9223372036854775808", "+1"}) {
    INFO(wrong);
    CHECK_FALSE(parse_integer(wrong));
  }
}

TEST_CASE("files of settings") {
  const auto lines = parse_lines("# first\n\n  A = 1 # end\nB=x#y\r\nC=\nD=a=b");
  REQUIRE(lines.ok());
  REQUIRE(lines->size() == 4);
  CHECK((*lines)[0].number == 3);
  CHECK((*lines)[0].name == "A");
  CHECK((*lines)[0].value == "1");
  CHECK((*lines)[1].value == "x#y");
  CHECK((*lines)[2].value.empty());
  CHECK((*lines)[3].value == "a=b");

  const auto wrong = parse_lines("A=1\nSIRCL_SECRET hush\n");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.status().message().find("line 2") != std::string::npos);
  CHECK(wrong.status().message().find("hush") == std::string::npos);
  CHECK_FALSE(parse_lines("=1").ok());
}

TEST_CASE("edit distance") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("SIRCL_TRANSPROT", "SIRCL_TRANSPORT") == 2);
}
