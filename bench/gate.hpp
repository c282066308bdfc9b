// Lets all ranks but one sleep in the kernel while that one measures somebody else.
#pragma once

#include <unistd.h>

#include <array>
#include <vector>

namespace sircl::bench {

/// Made before the ranks are forked.
class Gate {
 public:
  explicit Gate(int ranks) : pipes_(static_cast<std::size_t>(ranks)) {
    for (auto& ends : pipes_) {
      if (pipe(ends.data()) != 0) ends = {-1, -1};
    }
  }
  ~Gate() {
    for (const auto& ends : pipes_) {
      for (const int fd : ends) close(fd);
    }
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// In a rank that waits: only rank 0 keeps the writing ends, so that its death opens the gate.
  void keep_reading_ends() {
    for (auto& ends : pipes_) {
      close(ends[1]);
      ends[1] = -1;
    }
  }
  void wait(int rank) {
    char token = 0;
    (void)!read(pipes_[static_cast<std::size_t>(rank)][0], &token, 1);
  }
  void open() {
    for (const auto& ends : pipes_) (void)!write(ends[1], "x", 1);
  }

 private:
  std::vector<std::array<int, 2>> pipes_;
};

}  // namespace sircl::bench
