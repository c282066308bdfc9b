// SIRCL_PIN, and who shares a host.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "comm/hosts.hpp"
#include "comm/pin.hpp"
#include "support/catch.hpp"
#include "transport/tcp/tcp_transport.hpp"

using namespace sircl;
using namespace sircl::detail;

namespace {

using List = std::vector<int>;

std::string refusal(const std::string& text, const List& allowed) {
  const auto processors = parse_pin(text, allowed);
  if (processors) return "accepted";
  CHECK(processors.status().code() == StatusCode::invalid_setting);
  return processors.status().message();
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("lists of processors are read and written in one form") {
  for (const char* text : {"0", "0-3", "0,2,4-7", "5,3-4"}) {
    INFO(text);
    const auto processors = parse_processor_list(text);
    REQUIRE(processors.ok());
    CHECK(processor_list(*processors) == text);
  }
  CHECK(processor_list({}).empty());
  CHECK(*parse_processor_list("4-6,1") == List{4, 5, 6, 1});
  for (const char* text : {"", ",", "1,", ",1", "a", "1-", "-1", "3-1", "1--2", "1 2", "0,0",
                           "0-3,2", "99999999999", "0-1000000", "0x1"}) {
    INFO(text);
    CHECK_FALSE(parse_processor_list(text).ok());
  }
}

TEST_CASE("SIRCL_PIN deals processors out among the ranks of a host") {
  const List allowed{2, 3, 5};
  CHECK(parse_pin("none", allowed)->empty());
  CHECK(parse_pin("", allowed)->empty());
  CHECK(*parse_pin("auto", allowed) == allowed);
  CHECK(*parse_pin("5,2", allowed) == List{5, 2});
  CHECK(pin_choice(allowed, 0) == 2);
  CHECK(pin_choice(allowed, 2) == 5);
  CHECK(pin_choice(allowed, 4) == 3);

  CHECK(has(refusal("2,4", allowed), "SIRCL_PIN=2,4: processor 4 is not one of those"));
  CHECK(has(refusal("2,4", allowed), "(2-3,5)"));
  CHECK(has(refusal("2-", allowed), "SIRCL_PIN=2-: '2-' is not a processor"));
  CHECK(has(refusal("2,2", allowed), "stands twice"));
  CHECK(has(refusal("yes", allowed), "none, auto or a list"));
}

TEST_CASE("a process is bound once") {
  const pid_t child = fork();
  if (child == 0) {
    const List before = allowed_processors();
    const bool first =
        pin_to(before.back()).ok() && is_pinned() && allowed_processors() == List{before.back()};
    const bool second = pin_to(before.front()).ok() && allowed_processors() == List{before.back()};
    _exit(first && second ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_FALSE(is_pinned());
}

TEST_CASE("binding to a processor that there is not says so") {
  const pid_t child = fork();
  if (child == 0) _exit(has(pin_to(CPU_SETSIZE - 1).message(), "cannot bind") ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("hosts: who shares one, and how many processors its ranks have together") {
  const std::vector<Place> places = {{"k1", "alpha", {0}},
                                     {"k2", "beta", {0, 1, 2, 3}},
                                     {"k1", "alpha", {1}},
                                     {"k1", "alpha", {1}}};
  const Hosts last(places, 3);
  CHECK(last.ranks_here() == 3);
  CHECK_FALSE(last.one_host());
  CHECK(last.local_index() == 2);
  CHECK(last.processors_here() == 2);
  CHECK(last.to_string() == "alpha (ranks 0,2-3), beta (rank 1)");
  const Hosts other(places, 1);
  CHECK(other.ranks_here() == 1);
  CHECK(other.local_index() == 0);
  CHECK(other.processors_here() == 4);
  CHECK(Hosts({places[0], places[2]}, 0).one_host());
}

TEST_CASE("a place survives the way to other ranks, whatever comes") {
  const Place mine = Place::here({0, 1, 5});
  const Place theirs = Place::from_text(mine.to_text());
  CHECK(theirs.key == mine.key);
  CHECK(theirs.name == mine.name);
  CHECK(theirs.processors == mine.processors);
  for (const char* text : {"", "\n", "\n\n\n\n", "key", "key\nname\nnonsense"}) {
    INFO(text);
    CHECK(Place::from_text(text).processors.empty());
  }
}

TEST_CASE("the address towards a host is one of this host") {
  CHECK(transport::tcp::address_towards("127.0.0.1") == "127.0.0.1");
  CHECK(transport::tcp::address_towards("").empty());
  CHECK(transport::tcp::address_towards("not a name").empty());
}
