// Where values come from, which wins, and what is refused.
#include "config/settings.hpp"

#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::config;

namespace {

using Map = std::map<std::string, std::string>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string refusal(const Map& overrides, const Map& environment) {
  const auto settings = Settings::load(overrides, environment);
  REQUIRE_FALSE(settings.ok());
  CHECK(settings.status().code() == StatusCode::invalid_setting);
  return settings.status().message();
}

class File {
 public:
  explicit File(const std::string& text) { std::ofstream(path) << text; }
  ~File() { unlink(path.c_str()); }
  const std::string path = "/tmp/sircl-config-test-" + std::to_string(getpid());
};

}  // namespace

TEST_CASE(
    "options beat the environment, which beats another library's variable, the file and the "
    "default") {
  const File file("SIRCL_TCP_SLOTS = 3\nSIRCL_TRANSPORT=tcp\nSIRCL_SOCKET_IFNAME=file0\n");
  Map environment{{"SIRCL_CONFIG_FILE", file.path}};
  auto load = [&](const Map& overrides) {
    auto settings = Settings::load(overrides, environment);
    INFO(settings.status().to_string());
    REQUIRE(settings.ok());
    return *std::move(settings);
  };
  CHECK(load({}).integer("SIRCL_TCP_SLOTS") == 3);
  CHECK(contains(load({}).source("SIRCL_TCP_SLOTS"), "file " + file.path));
  CHECK(load({}).is_default("SIRCL_SHM_SLOTS"));
  CHECK(load({}).source("SIRCL_SHM_SLOTS") == "default");

  environment["NCCL_SOCKET_IFNAME"] = "eth7";
  CHECK(load({}).text("SIRCL_SOCKET_IFNAME") == "eth7");
  CHECK(load({}).source("SIRCL_SOCKET_IFNAME") == "environment NCCL_SOCKET_IFNAME");
  environment["SIRCL_SOCKET_IFNAME"] = "eth8";
  environment["SIRCL_TCP_SLOTS"] = "4";
  CHECK(load({}).text("SIRCL_SOCKET_IFNAME") == "eth8");
  CHECK(load({}).integer("SIRCL_TCP_SLOTS") == 4);
  CHECK(load({}).source("SIRCL_TCP_SLOTS") == "environment");
  CHECK(load({{"tcp_slots", "5"}}).integer("SIRCL_TCP_SLOTS") == 5);
  CHECK(load({{"Sircl_Tcp_Slots", "6"}}).source("SIRCL_TCP_SLOTS") == "options");
  // An empty value is as good as none.
  CHECK(load({{"tcp_slots", ""}}).integer("SIRCL_TCP_SLOTS") == 4);
}

TEST_CASE("unknown names are refused with the nearest known one") {
  const std::string text = refusal({}, {{"SIRCL_TRANSPROT", "tcp"}});
  CHECK(contains(text, "SIRCL_TRANSPROT"));
  CHECK(contains(text, "environment"));
  CHECK(contains(text, "did you mean SIRCL_TRANSPORT?"));
  CHECK(contains(refusal({{"numerix", "exact"}}, {}), "SIRCL_NUMERICS"));
  CHECK(Settings::load({}, {{"NOT_OURS", "x"}, {"SIRCLE", "x"}}).ok());
  const File file("\nSIRCL_NUMERIC=exact\n");
  CHECK(contains(refusal({}, {{"SIRCL_CONFIG_FILE", file.path}}), "line 2"));
}

TEST_CASE(
    "malformed and out-of-range values name the setting, the value, the source and what is "
    "allowed") {
  const std::string text = refusal({}, {{"SIRCL_TCP_SLOTS", "1"}});
  CHECK(contains(text, "SIRCL_TCP_SLOTS=1 (from environment)"));
  CHECK(contains(text, "from 2 to 1024"));
  CHECK(contains(refusal({{"tcp_slots", "many"}}, {}), "from options"));
  CHECK(contains(refusal({{"transport", "smoke"}}, {}), "auto|shm|tcp"));
  CHECK(contains(refusal({{"startup_wait_s", "0.5"}}, {}), "at least 1 s"));
  CHECK(contains(refusal({{"startup_wait_s", "soon"}}, {}), "seconds"));
  CHECK(contains(refusal({{"tcp_slot_bytes", "64Q"}}, {}), "1MiB"));
  CHECK(contains(refusal({{"spin", "often"}}, {}), "auto"));
  CHECK(contains(refusal({}, {{"SIRCL_CONFIG_FILE", "/nonexistent"}}), "/nonexistent"));
  CHECK(contains(refusal({}, {{"SIRCL_CONFIG_FILE", "/tmp"}}), "/tmp"));
  const File file("SIRCL_CONFIG_FILE=/tmp/other\n");
  CHECK(contains(refusal({{"config_file", file.path}}, {}), "another one"));
}

TEST_CASE("values are read in their type, whatever the case of words") {
  const auto settings = Settings::load(
      {{"debug", "INFO"}, {"spin", "AUTO"}, {"tcp_slot_bytes", "64K"}, {"serving_wait_s", "2.5"}},
      {});
  REQUIRE(settings.ok());
  CHECK(settings->text("SIRCL_DEBUG") == "info");
  CHECK(settings->text("SIRCL_SPIN") == "auto");
  CHECK(settings->integer("SIRCL_TCP_SLOT_BYTES") == 65536);
  CHECK(settings->duration("SIRCL_SERVING_WAIT_S") == std::chrono::milliseconds(2500));
}

TEST_CASE("the record of wire settings compares values, not spellings, and holds no secret") {
  const auto one = Settings::load({{"tcp_slot_bytes", "64K"}, {"secret", "hush"}}, {});
  const auto other = Settings::load({{"tcp_slot_bytes", "65536"}}, {});
  REQUIRE((one.ok() && other.ok()));
  CHECK(one->wire_values() == other->wire_values());
  bool has_transport = false;
  for (const auto& [name, value] : one->wire_values()) {
    CHECK_FALSE(contains(value, "hush"));
    has_transport = has_transport || name == "SIRCL_TRANSPORT";
  }
  CHECK(has_transport);
}

TEST_CASE("another launcher's variables are handed out as they are") {
  const auto settings = Settings::load({}, {{"RANK", "3"}, {"EMPTY", ""}});
  REQUIRE(settings.ok());
  CHECK(settings->foreign("RANK") == "3");
  CHECK_FALSE(settings->foreign("EMPTY"));
  CHECK_FALSE(settings->foreign("WORLD_SIZE"));
}
