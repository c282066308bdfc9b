// Who shares a host, which processors there are, and the settings that only a group can judge.
#include "comm/hosts.hpp"

#include "comm/checks.hpp"
#include "comm/pin.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::detail;

namespace {

/// The error of settings with one more value; "" if they are good.
std::string complaint(const std::vector<std::pair<std::string, std::string>>& values, int size) {
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : values) options[name] = value;
  auto settings = config::Settings::load(options);
  INFO(settings.status().to_string());
  REQUIRE(settings.ok());
  const auto checked = check_settings(*settings, size);
  return checked ? "" : checked.status().to_string();
}

std::string pin_complaint(const std::string& text) {
  const std::vector<int> allowed = {0, 1, 2, 5};
  const auto pin = parse_pin(text, allowed);
  return pin ? "" : pin.status().message();
}

}  // namespace

TEST_CASE("ranks with one key share a host, whatever it is called") {
  const std::vector<Place> places = {{"k1", "alpha", {0, 1}},
                                     {"k2", "beta", {0, 1, 2, 3}},
                                     {"k1", "alpha", {2}},
                                     {"k1", "alpha", {1}}};
  const auto of = [&](int rank) { return Hosts(places, rank); };
  CHECK(of(0).ranks_here() == 3);
  CHECK(of(1).ranks_here() == 1);
  CHECK_FALSE(of(0).one_host());
  CHECK(of(0).local_index() == 0);
  CHECK(of(1).local_index() == 0);
  CHECK(of(2).local_index() == 1);
  CHECK(of(3).local_index() == 2);
  CHECK(of(0).processors_here() == 3);
  CHECK(of(1).processors_here() == 4);
  CHECK(of(2).to_string() == "alpha (ranks 0,2-3), beta (rank 1)");
  CHECK(Hosts({places[1]}, 0).one_host());
}

TEST_CASE("a place survives being text, and nonsense becomes a place without processors") {
  const Place place{"boot/4026531836", "node-7", {0, 2, 3, 4, 9}};
  const Place again = Place::from_text(place.to_text());
  CHECK(again.key == place.key);
  CHECK(again.name == place.name);
  CHECK(again.processors == place.processors);
  for (const std::string text : {"", "\n", "a\nb", "a\nb\n1-", "a\nb\n99999999999"}) {
    CHECK(Place::from_text(text).processors.empty());
  }
  CHECK(Hosts({Place::from_text("")}, 0).processors_here() == 1);
}

TEST_CASE("lists of processors") {
  for (const std::string text : {"0", "0-2", "0-2,5", "7,3,4"}) {
    const auto list = parse_processor_list(text);
    REQUIRE(list.ok());
    const auto again = parse_processor_list(processor_list(*list));
    REQUIRE(again.ok());
    CHECK(*again == *list);
  }
  CHECK(*parse_processor_list("0-2,5") == std::vector<int>{0, 1, 2, 5});
  for (const std::string text :
       {"", ",", "1,", "-1", "3-1", "1-", "a", "1.5", "0x1", "1-2-3", " 1"}) {
    INFO(text);
    CHECK_FALSE(parse_processor_list(text).ok());
  }
  CHECK(parse_processor_list("1-3,2").status().message() == "processor 2 stands twice");
}

TEST_CASE("SIRCL_PIN: what is dealt out, to whom, and what is wrong with it") {
  const std::vector<int> allowed = {0, 1, 2, 5};
  CHECK(parse_pin("none", allowed)->empty());
  CHECK(*parse_pin("auto", allowed) == allowed);
  CHECK(*parse_pin("5,0-1", allowed) == std::vector<int>{5, 0, 1});
  CHECK(pin_choice(allowed, 0) == 0);
  CHECK(pin_choice(allowed, 3) == 5);
  CHECK(pin_choice(allowed, 4) == 0);
  CHECK(pin_complaint("0,3") ==
        "SIRCL_PIN=0,3: processor 3 is not one of those that this process may run on (0-2,5)");
  CHECK(
      pin_complaint("all") ==
      "SIRCL_PIN=all: 'all' is not a processor from 0 to 1023, or a range such as 4-7; give none, "
      "auto or a list such as 0,2,4-7");
}

TEST_CASE("settings that do not fit the group or each other") {
  CHECK(complaint({}, 4).empty());
  CHECK(complaint({{"fabric", "ring:4"}}, 4).empty());
  CHECK(
      complaint({{"fabric", "ring:4"}}, 3) ==
      "invalid_setting: SIRCL_FABRIC=ring:4 has 4 positions, but the group has 3 ranks; name what "
      "these ranks are cabled as, or set it to auto");
  CHECK(complaint({{"fabric", "pair"}}, 1) ==
        "invalid_setting: SIRCL_FABRIC=pair has 2 positions, but the group has 1 rank; name what "
        "these ranks are cabled as, or set it to auto");
  CHECK(complaint({{"fabric", "star:4"}}, 4).find("star:4") != std::string::npos);
  CHECK(complaint({{"numerics", "exact"}, {"algorithm", "exchange"}}, 4).empty());
  CHECK(
      complaint({{"numerics", "exact"}, {"algorithm", "ring"}}, 4) ==
      "invalid_setting: SIRCL_NUMERICS=exact rounds a sum once, but SIRCL_ALGORITHM=ring rounds it "
      "on the way; choose direct, exchange or auto");
  CHECK(complaint({{"simd", "abacus"}}, 4).find("abacus") != std::string::npos);
  CHECK(complaint({{"pin", "0-"}}, 4).find("invalid_setting: SIRCL_PIN=0-: ") == 0);
}
