// The results as files for programs (JSON, CSV) and for people (a page with plots).
#pragma once

#include <string>

#include "report.hpp"

namespace sircl::bench {

[[nodiscard]] std::string to_json(const Report& report);
[[nodiscard]] std::string to_csv(const Report& report);
/// One self-contained page: styles and drawings inside, no script, light and dark.
[[nodiscard]] std::string to_html(const Report& report);

}  // namespace sircl::bench
