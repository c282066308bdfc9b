// Finding and starting other programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sircl::cli {

/// The value of PATH, or the system's default.
std::string path_variable();
/// `name` itself when it has a slash, else the first executable of that name in `path`.
std::optional<std::string> find_program(const std::string& name, const std::string& path);
/// For exec: valid as long as `words` is, ends with a null pointer.
std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace sircl::cli
