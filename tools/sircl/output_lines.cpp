#include "output_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace sircl::cli {
namespace {

constexpr std::size_t kLongestLine = 1 << 16;  // longer ones are broken

}  // namespace

OutputLines::~OutputLines() {
  for (const Source& source : sources_) {
    if (source.fd >= 0) close(source.fd);
  }
}

void OutputLines::add(int fd, int rank, std::FILE* to) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  sources_.push_back({fd, rank, to, {}});
}

void OutputLines::append_to(std::vector<pollfd>& wanted) const {
  for (const Source& source : sources_) {
    if (source.fd >= 0) wanted.push_back({source.fd, POLLIN, 0});
  }
}

void OutputLines::write_line(Source& source, const char* text, std::size_t size) {
  std::fputs(fmt::format("[{}] ", source.rank).c_str(), source.to);
  std::fwrite(text, 1, size, source.to);
  std::fputc('\n', source.to);
}

void OutputLines::write_lines(Source& source, std::size_t scanned) {
  std::size_t begin = 0;
  for (std::size_t end = source.partial.find('\n', scanned); end != std::string::npos;
       end = source.partial.find('\n', begin)) {
    write_line(source, source.partial.data() + begin, end - begin);
    begin = end + 1;
  }
  source.partial.erase(0, begin);
  if (source.partial.size() >= kLongestLine) {
    write_line(source, source.partial.data(), source.partial.size());
    source.partial.clear();
  }
  std::fflush(source.to);
}

void OutputLines::read_from(Source& source) {
  std::array<char, 16384> buffer;
  // A bound, so that one talkative rank does not keep the others and signals waiting.
  for (int i = 0; i < 64; ++i) {
    const ssize_t size = read(source.fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      close(source.fd);
      source.fd = -1;
      return;
    }
    const std::size_t scanned = source.partial.size();
    source.partial.append(buffer.data(), static_cast<std::size_t>(size));
    write_lines(source, scanned);
  }
}

void OutputLines::pass_on() {
  for (Source& source : sources_) {
    if (source.fd >= 0) read_from(source);
  }
}

void OutputLines::finish() {
  pass_on();
  for (Source& source : sources_) {
    if (source.partial.empty()) continue;
    write_line(source, source.partial.data(), source.partial.size());
    source.partial.clear();
    std::fflush(source.to);
  }
}

}  // namespace sircl::cli
