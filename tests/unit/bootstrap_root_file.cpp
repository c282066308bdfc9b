// Meeting through a file, also when an earlier run has left one behind.
#include "bootstrap/root_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "bootstrap/join.hpp"
#include "bootstrap_support.hpp"

using namespace sircl;
using namespace sircl::test;
using namespace sircl::bootstrap;

namespace {

class Directory {
 public:
  Directory() { path_ = mkdtemp(pattern_); }
  ~Directory() {
    unlink(file().c_str());
    rmdir(path_.c_str());
  }
  std::string file() const { return path_ + "/root"; }

 private:
  char pattern_[32] = "/tmp/sircl-test-XXXXXX";
  std::string path_;
};

Result<Joined> join(const std::string& file, int rank, int size,
                    std::map<std::string, std::string> more = {}) {
  more.emplace("startup_wait_s", "10");
  auto settings = config::Settings::load(more, {});
  if (!settings) return settings.status();
  Launch launch;
  launch.rank = rank;
  launch.size = size;
  launch.root.file = file;
  return join_group(launch, *settings, nullptr, {});
}

std::vector<std::string> meet(const std::string& file, int size,
                              const std::map<std::string, std::string>& more = {}) {
  return on_ranks(size,
                  [&](int rank) { return join(file, rank, size, more).status().to_string(); });
}

void write_stale(const std::string& file, const RootFileParts& parts) {
  std::ofstream(file) << encode_root_file(parts);
  chmod(file.c_str(), 0600);
}

}  // namespace

TEST_CASE("a file brings a group together and is gone afterwards") {
  const Directory directory;
  for (const int size : {1, 2, 5}) {
    CHECK(meet(directory.file(), size) ==
          std::vector<std::string>(static_cast<std::size_t>(size), "ok"));
    CHECK(access(directory.file().c_str(), F_OK) != 0);
  }
}

TEST_CASE("a file of an earlier run misleads nobody: dead port, other service, other group") {
  const Directory directory;
  RootOptions other = root_options(2);
  other.secret = "of another job";
  const auto busy = start_root(other);
  std::uint16_t dead = 0;
  { dead = start_root(other)->port(); }
  for (const std::uint16_t port : {dead, busy->port()}) {
    write_stale(directory.file(), {"127.0.0.1", port, "earlier", "host"});
    std::string first;
    std::thread early([&] { first = join(directory.file(), 1, 2).status().to_string(); });
    std::this_thread::sleep_for(
        100ms);  // it has read the stale file by now; if not, nothing is lost
    const std::string second = join(directory.file(), 0, 2).status().to_string();
    early.join();
    CHECK(first == "ok");
    CHECK(second == "ok");
  }
}

TEST_CASE("a wrong secret is refused at once, also through a file") {
  const Directory directory;
  const auto begin = std::chrono::steady_clock::now();
  const auto texts = on_ranks(2, [&](int rank) {
    return join(directory.file(), rank, 2,
                {{"secret", rank == 0 ? "a" : "b"}, {"startup_wait_s", "1"}})
        .status()
        .to_string();
  });
  CHECK(contains(texts[1], "secret differs"));
  CHECK(contains(texts[0], "rank 1 did not join"));
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
  CHECK(access(directory.file().c_str(), F_OK) != 0);
}

TEST_CASE("no root at all is named with the file") {
  const Directory directory;
  const auto joined = join(directory.file(), 1, 2, {{"startup_wait_s", "1"}});
  REQUIRE_FALSE(joined.ok());
  CHECK(joined.status().code() == StatusCode::unreachable);
  CHECK(contains(joined.status().message(), directory.file()));
}

TEST_CASE("a file that others could have written is refused") {
  const Directory directory;
  write_stale(directory.file(), {"127.0.0.1", 1, "g", "h"});
  chmod(directory.file().c_str(), 0666);
  CHECK(read_root_file(directory.file()).status().code() == StatusCode::refused);
  unlink(directory.file().c_str());
  REQUIRE(symlink("/etc/hostname", directory.file().c_str()) == 0);
  CHECK_FALSE(read_root_file(directory.file()).ok());
}

TEST_CASE("publishing is private, and removes only its own file") {
  const Directory directory;
  const RootFileParts parts{"10.0.0.1", 4000, "group", "host"};
  {
    const auto file = RootFile::publish(directory.file(), parts);
    REQUIRE(file.ok());
    struct stat info {};
    REQUIRE(stat(directory.file().c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(read_root_file(directory.file()).value() == parts);
    write_stale(directory.file(), {"10.0.0.2", 1, "next", "host"});
  }
  CHECK(access(directory.file().c_str(), F_OK) == 0);
  const auto nowhere = RootFile::publish("/nonexistent/root", parts);
  CHECK(contains(nowhere.status().message(), "/nonexistent/root"));
}

TEST_CASE("what is not a file of ours is nothing") {
  for (const char* text :
       {"", "127.0.0.1 80 g h", "sircl-root-1 h 0 g m", "sircl-root-1 h 65536 g m",
        "sircl-root-1 h 1 g", "sircl-root-1 h 1 g m x"}) {
    INFO(text);
    CHECK_FALSE(decode_root_file(text));
  }
}

TEST_CASE("the settings of the root: port range, interface, secrets") {
  const auto settings = [](const std::map<std::string, std::string>& values) {
    return config::Settings::load(values, {}).value();
  };
  const auto ranged =
      bootstrap::start_root(settings({{"port_range", "29100-29200"}}), "", 0, 2, "g");
  REQUIRE(ranged.ok());
  CHECK((*ranged)->port() >= 29100);
  CHECK((*ranged)->port() <= 29200);
  for (const char* wrong : {"29100", "2-1", "0-5", "1-70000", "1-2x"}) {
    CHECK_FALSE(bootstrap::start_root(settings({{"port_range", wrong}}), "", 0, 2, "g").ok());
  }
  CHECK((*bootstrap::start_root(settings({{"socket_ifname", "=lo"}}), "", 0, 2, "g"))->host() ==
        "127.0.0.1");
  CHECK_FALSE(bootstrap::start_root(settings({{"socket_ifname", "=none"}}), "", 0, 2, "g").ok());
  CHECK_FALSE(
      bootstrap::start_root(settings({{"secret_file", "/nonexistent"}}), "", 0, 2, "g").ok());
  CHECK_FALSE(bootstrap::start_root(settings({{"secret_file", "/etc/hostname"}, {"secret", "x"}}),
                                    "", 0, 2, "g")
                  .ok());
}
