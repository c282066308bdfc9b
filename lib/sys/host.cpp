#include "sys/host.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace sircl::sys {

std::string host_key() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat info {};
  const bool known = stat("/proc/self/ns/pid", &info) == 0;
  return fmt::format("{}/{}", boot, known ? info.st_ino : 0);
}

std::string host_name() {
  char name[256] = "unknown";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string process_label() { return fmt::format("{}:{}", host_name(), getpid()); }

int allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace sircl::sys
