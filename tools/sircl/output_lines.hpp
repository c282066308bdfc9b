// The output of ranks, line by line, each with the number of its rank.
#pragma once

#include <poll.h>

#include <cstdio>
#include <string>
#include <vector>

namespace sircl::cli {

class OutputLines {
 public:
  OutputLines() = default;
  OutputLines(const OutputLines&) = delete;
  OutputLines& operator=(const OutputLines&) = delete;
  ~OutputLines();

  /// Reads `fd`, which it then owns, and writes its lines to `to`.
  void add(int fd, int rank, std::FILE* to);
  /// What to wait for.
  void append_to(std::vector<pollfd>& wanted) const;
  /// Passes on everything that can be read at once; a line without an end waits for its end.
  void pass_on();
  /// The same at the end of the ranks: lines without an end, too.
  void finish();

 private:
  struct Source {
    int fd = -1;
    int rank = 0;
    std::FILE* to = nullptr;
    std::string partial;
  };
  static void read_from(Source& source);
  static void write_lines(Source& source, std::size_t scanned);
  static void write_line(Source& source, const char* text, std::size_t size);

  std::vector<Source> sources_;
};

}  // namespace sircl::cli
