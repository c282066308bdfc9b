// Starts N ranks of a program on this host and waits for them.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace sircl::bench {

/// A directory in /tmp that only this user can read, gone with the object.
class PrivateDirectory {
 public:
  /// Nothing, after a line on stderr, when it cannot be made.
  static std::optional<PrivateDirectory> make();
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

/// Forks `ranks` children; each is pinned to core rank mod cores and runs `body(rank)`; after that
/// `parent` runs once here. If one ends badly the others get five seconds to report, then they are
/// killed; so they are when this process is asked to end. Returns the worst exit status.
int run_locally(int ranks, const std::function<int(int rank)>& body,
                const std::function<void()>& parent);

}  // namespace sircl::bench
