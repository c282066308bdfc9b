// SIRCL_PIN: which processor a rank is bound to.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::detail {

/// "0-2,5"; the form that /proc and taskset use.
[[nodiscard]] std::string processor_list(std::span<const int> processors);
/// Reads that form; an error says what is wrong with it.
Result<std::vector<int>> parse_processor_list(std::string_view text);

/// Processors that this thread may run on, in ascending order.
[[nodiscard]] std::vector<int> allowed_processors();

/// The processors that SIRCL_PIN deals out among the ranks of a host, in that order: nothing for
/// "none", all of `allowed` for "auto", else the list, which must be of `allowed`.
Result<std::vector<int>> parse_pin(std::string_view text, std::span<const int> allowed);
/// Whose turn it is.
[[nodiscard]] int pin_choice(std::span<const int> processors, int local_index);

/// Binds this thread, and those it starts from now on, to one processor. Only the first call of a
/// process does: the ranks of a part of a group stay where they are.
Status pin_to(int processor);
[[nodiscard]] bool is_pinned() noexcept;

}  // namespace sircl::detail
