#pragma once

#include <optional>
#include <string>
#include <utility>

namespace sircl::local {

/// A directory in /tmp that only this user can read, gone with the object.
class PrivateDirectory {
 public:
  /// `stem` is the start of its name; nothing, with errno set, when it cannot be made.
  static std::optional<PrivateDirectory> make(const std::string& stem);
  PrivateDirectory(PrivateDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace sircl::local
