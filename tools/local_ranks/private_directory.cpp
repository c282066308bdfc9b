#include "local_ranks/private_directory.hpp"

#include <cstdlib>
#include <filesystem>

namespace sircl::local {

std::optional<PrivateDirectory> PrivateDirectory::make(const std::string& stem) {
  std::string path = "/tmp/" + stem + "-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return std::nullopt;
  return PrivateDirectory(path);
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace sircl::local
