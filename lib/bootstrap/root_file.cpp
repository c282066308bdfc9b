#include "bootstrap/root_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "sys/fd.hpp"

namespace sircl::bootstrap {
namespace {

constexpr std::string_view kFormat = "sircl-root-1";

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  constexpr std::string_view kSpace = " \n";
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return found;
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

}  // namespace

std::string encode_root_file(const RootFileParts& parts) {
  return fmt::format("{} {} {} {} {}\n", kFormat, parts.host, parts.port, parts.group,
                     parts.machine);
}

std::optional<RootFileParts> decode_root_file(std::string_view text) {
  const auto fields = words(text);
  if (fields.size() != 5 || fields[0] != kFormat) return std::nullopt;
  std::uint16_t port = 0;
  const char* const last = fields[2].data() + fields[2].size();
  const auto [end, error] = std::from_chars(fields[2].data(), last, port);
  if (error != std::errc() || end != last || port == 0) return std::nullopt;
  return RootFileParts{std::string(fields[1]), port, std::string(fields[3]),
                       std::string(fields[4])};
}

RootFile::RootFile(std::string path, RootFileParts parts)
    : path_(std::move(path)), parts_(std::move(parts)) {}

RootFile::RootFile(RootFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), parts_(std::move(other.parts_)) {}

RootFile::~RootFile() {
  if (path_.empty()) return;
  const auto now = read_root_file(path_);
  if (now && *now && **now == parts_) unlink(path_.c_str());
}

Result<RootFile> RootFile::publish(const std::string& path, const RootFileParts& parts) {
  const std::string text = encode_root_file(parts);
  const std::string temporary = fmt::format("{}.{}", path, getpid());
  unlink(temporary.c_str());  // of a killed process with the same id
  const sys::Fd fd(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool written =
      fd && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const int error = errno;
    if (fd) unlink(temporary.c_str());
    return {
        StatusCode::resource,
        fmt::format("cannot write the rendezvous file {} ({}); check that its directory exists and "
                    "is writable",
                    path, std::strerror(error))};
  }
  return RootFile(path, parts);
}

Result<std::optional<RootFileParts>> read_root_file(const std::string& path) {
  const sys::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT || errno == ESTALE) return std::optional<RootFileParts>();
    return {StatusCode::resource,
            fmt::format("cannot read the rendezvous file {} ({}); remove it or "
                        "set SIRCL_ROOT to another place",
                        path, std::strerror(errno))};
  }
  struct stat info {};
  if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 022) != 0) {
    return {StatusCode::refused,
            fmt::format("the rendezvous file {} is not this user's own, or others may write to it; "
                        "remove it or set SIRCL_ROOT to another place",
                        path)};
  }
  std::array<char, 1024> buffer;
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  if (got <= 0) return std::optional<RootFileParts>();
  return decode_root_file({buffer.data(), static_cast<std::size_t>(got)});
}

}  // namespace sircl::bootstrap
