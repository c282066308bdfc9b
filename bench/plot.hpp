// A log-log line plot as SVG text, coloured by the page's styles.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sircl::bench {

struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x > 0 and y > 0
};

struct Plot {
  std::string title;
  std::string y_label;
  std::vector<PlotLine> lines;  ///< drawn in the styles s0, s1, ... in this order
};

/// x is a size in bytes. Works with a single point and with none.
[[nodiscard]] std::string to_svg(const Plot& plot);
/// For text and attribute values.
[[nodiscard]] std::string escape_html(std::string_view text);

}  // namespace sircl::bench
