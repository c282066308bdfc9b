// Shared memory and futexes: what processes share, and the error of every shortage.
#include "sys/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include "support/catch.hpp"
#include "support/ranks.hpp"
#include "sys/fd.hpp"
#include "sys/futex.hpp"

using namespace sircl;
using namespace sircl::sys;
using test::Ranks;

namespace {

#if defined(SIRCL_SANITIZED_ADDRESS) || defined(SIRCL_SANITIZED_THREAD)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// The text that `body` returns in a process of its own, where it may spoil limits and rights.
std::string in_child(const std::function<std::string()>& body) {
  Ranks child(1, [&](int) { return body(); });
  return child.wait(0).text;
}

void limit(int resource, rlim_t value) {
  rlimit both{};
  getrlimit(static_cast<__rlimit_resource>(resource), &both);
  both.rlim_cur = value;
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

SharedMemory created(std::size_t bytes) {
  auto memory = SharedMemory::create(bytes);
  INFO(memory.status().to_string());
  REQUIRE(memory.ok());
  return *std::move(memory);
}

}  // namespace

TEST_CASE("memory is zeroed, and another process sees the same bytes") {
  const auto memory = created(3 << 20);
  CHECK(memory.size() == 3 << 20);
  for (std::size_t i = 0; i < memory.size(); i += 4096) REQUIRE(memory.data()[i] == std::byte{0});
  memory.data()[12345] = std::byte{0x77};
  const pid_t owner = getpid();
  const int fd = memory.fd();
  const std::string text = in_child([&]() -> std::string {
    auto theirs = SharedMemory::open(owner, fd, 3 << 20);
    if (!theirs) return theirs.status().to_string();
    if (theirs->data()[12345] != std::byte{0x77}) return "other bytes";
    theirs->data()[(3 << 20) - 1] = std::byte{0x88};
    return "";
  });
  CHECK(text.empty());
  CHECK(memory.data()[(3 << 20) - 1] == std::byte{0x88});
}

TEST_CASE("the mapping outlives the descriptor, moves, and ends once") {
  auto memory = created(8192);
  const int fd = memory.fd();
  memory.close_fd();
  memory.close_fd();
  CHECK(memory.fd() == -1);
  CHECK(fcntl(fd, F_GETFD) == -1);
  memory.data()[8191] = std::byte{1};
  SharedMemory other(std::move(memory));
  CHECK(memory.data() == nullptr);
  memory = std::move(other);
  CHECK(memory.data()[8191] == std::byte{1});
  CHECK(memory.size() == 8192);
}

TEST_CASE("nothing gets a name, and no descriptor leaks into other programs") {
  const auto memory = created(4096);
  CHECK((fcntl(memory.fd(), F_GETFD) & FD_CLOEXEC) != 0);
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", missing)) {
    CHECK(entry.path().filename().string().find("sircl") == std::string::npos);
  }
}

TEST_CASE("another size than was announced is refused") {
  const auto memory = created(8192);
  const auto opened = SharedMemory::open(getpid(), memory.fd(), 4096);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.status().code() == StatusCode::resource);
  CHECK(
      opened.status().message() ==
      fmt::format("the shared memory of process {} has not the size that was announced", getpid()));
}

TEST_CASE("a process that is not there is named, with the remedy") {
  const auto opened = SharedMemory::open(0x7FFFFFF0, 3, 4096);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.status().code() == StatusCode::resource);
  CHECK(opened.status().message() ==
        "cannot open the shared memory of process 2147483632 (/proc/2147483632/fd/3: No such file "
        "or directory); ranks of one host must run as the same user and see each other in /proc, "
        "else choose SIRCL_TRANSPORT=tcp");
}

TEST_CASE("memory of another user's process is refused with the reason") {
  if (geteuid() != 0) return;  // only root can become somebody else
  const auto memory = created(4096);
  const pid_t owner = getpid();
  const int fd = memory.fd();
  const std::string text = in_child([&]() -> std::string {
    if (setuid(65534) != 0) return "skipped";
    const auto opened = SharedMemory::open(owner, fd, 4096);
    return opened ? "opened" : opened.status().to_string();
  });
  if (text == "skipped") return;
  CHECK(text.find("resource: cannot open the shared memory of process ") == 0);
  CHECK(text.find("Permission denied); ranks of one host must run as the same user") !=
        std::string::npos);
}

TEST_CASE("no descriptor left: the limit is named") {
  const std::string text = in_child([] {
    limit(RLIMIT_NOFILE, 0);
    return SharedMemory::create(4096).status().to_string();
  });
  CHECK(text ==
        "resource: cannot create shared memory (memfd_create: Too many open files); raise the "
        "limit of open files (ulimit -n) or choose SIRCL_TRANSPORT=tcp");
}

// A file size limit stands for every shortage that shows while the memory is reserved.
TEST_CASE("no room: an error at once instead of a signal later") {
  const std::string text = in_child([] {
    signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_FSIZE, 1 << 20);
    const auto enough = SharedMemory::create(1 << 20);
    if (!enough) return enough.status().to_string();
    return SharedMemory::create((1 << 20) + 4096).status().to_string();
  });
  CHECK(text ==
        "resource: cannot reserve 1028 KiB of shared memory (File too large); free memory or lower "
        "SIRCL_SHM_PIECE_BYTES or SIRCL_SHM_SLOT_BYTES");
}

TEST_CASE("no address space: the limit is named, and the descriptor is closed") {
  if (kSanitized) return;  // sanitizers need more of it than there would be
  const std::string text = in_child([]() -> std::string {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    limit(RLIMIT_AS, pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (4 << 20));
    const int before = dup(0);
    close(before);
    const auto memory = SharedMemory::create(16 << 20);
    const int after = dup(0);
    if (before != after) return "a descriptor is left open";
    return memory.status().to_string();
  });
  CHECK(text ==
        "resource: cannot map 16384 KiB of shared memory (Cannot allocate memory); raise the limit "
        "of virtual memory");
}

TEST_CASE("a descriptor closes itself, once, and moves") {
  int raw = dup(0);
  {
    Fd fd(raw);
    CHECK(fd.get() == raw);
    Fd other(std::move(fd));
    CHECK_FALSE(static_cast<bool>(fd));
    CHECK(other.get() == raw);
    Fd third;
    third = std::move(other);
    CHECK(third.get() == raw);
    CHECK(fcntl(raw, F_GETFD) != -1);
  }
  CHECK(fcntl(raw, F_GETFD) == -1);
  raw = dup(0);
  Fd fd(raw);
  fd.reset();
  fd.reset();
  CHECK(fcntl(raw, F_GETFD) == -1);
}

TEST_CASE("a futex sleeps only while the word is what was seen, and ends at its limit") {
  using Clock = std::chrono::steady_clock;
  std::atomic<std::uint32_t> word{5};
  const auto began = Clock::now();
  futex_wait(word, 4, std::chrono::seconds(20));  // it changed before the sleep began
  CHECK(Clock::now() - began < std::chrono::seconds(20));
  const auto again = Clock::now();
  futex_wait(word, 5, std::chrono::milliseconds(20));
  CHECK(Clock::now() - again >= std::chrono::milliseconds(19));
}

TEST_CASE("a futex in shared memory wakes all sleepers of other processes") {
  const auto memory = created(4096);
  auto* word = new (memory.data()) std::atomic<std::uint32_t>(0);
  auto* asleep = new (memory.data() + 64) std::atomic<std::uint32_t>(0);
  Ranks sleepers(3, [&](int) -> std::string {
    const auto began = std::chrono::steady_clock::now();
    ++*asleep;
    while (*word == 0) futex_wait(*word, 0, std::chrono::seconds(20));
    return std::chrono::steady_clock::now() - began < std::chrono::seconds(20) ? "" : "overslept";
  });
  while (*asleep < 3) std::this_thread::yield();
  *word = 1;
  futex_wake_all(*word);
  for (const auto& ended : sleepers.wait_all()) {
    CHECK(ended.text.empty());
    CHECK(ended.exit_code == 0);
  }
}
