// The file through which rank 0 says where the hub is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sircl/status.hpp"

namespace sircl::bootstrap {

struct RootFileParts {
  std::string host;
  std::uint16_t port = 0;
  std::string group;    ///< a name that no earlier file can have had
  std::string machine;  ///< host name of rank 0, for the message about a loopback address
  bool operator==(const RootFileParts&) const = default;
};

std::string encode_root_file(const RootFileParts& parts);
std::optional<RootFileParts> decode_root_file(std::string_view text);

/// A published file; removed by the destructor unless somebody else's stands there by then.
class RootFile {
 public:
  /// Readable by this user only, and whole from the moment that it is there.
  static Result<RootFile> publish(const std::string& path, const RootFileParts& parts);
  RootFile(RootFile&& other) noexcept;
  RootFile& operator=(RootFile&&) = delete;
  ~RootFile();

 private:
  RootFile(std::string path, RootFileParts parts);
  std::string path_;
  RootFileParts parts_;
};

/// What the file says now; nothing if there is none yet. A file that another user could have
/// written is an error.
Result<std::optional<RootFileParts>> read_root_file(const std::string& path);

}  // namespace sircl::bootstrap
