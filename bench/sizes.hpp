// Sizes as people write them: 4096, 64K, 16M, 1G (powers of 1024).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sircl::bench {

[[nodiscard]] std::optional<std::size_t> parse_size(std::string_view text);
/// "64 KiB", or "12,288 B" where no unit fits.
[[nodiscard]] std::string format_size(std::size_t bytes);

}  // namespace sircl::bench
