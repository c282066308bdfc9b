#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sizes.hpp"

namespace sircl::bench {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 380;
constexpr double kLeft = 70;
constexpr double kRight = 20;
constexpr double kTop = 16;
constexpr double kBottom = 46;

/// Maps a logarithmic range to pixels.
class Axis {
 public:
  Axis(double low, double high, double from, double to)
      : low_(std::log(low)), high_(std::log(high)), from_(from), to_(to) {}
  [[nodiscard]] double at(double value) const {
    return from_ + (std::log(value) - low_) / (high_ - low_) * (to_ - from_);
  }

 private:
  double low_;
  double high_;
  double from_;
  double to_;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// 1, 2 and 5 times powers of ten, or only the powers when these would be many.
std::vector<double> decimal_ticks(const Range& range) {
  const bool fine = range.high / range.low < 2000;
  std::vector<double> ticks;
  for (int exponent = static_cast<int>(std::floor(std::log10(range.low)));
       std::pow(10.0, exponent) <= range.high; ++exponent) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, exponent);
      const bool inside = tick >= range.low * 0.999 && tick <= range.high * 1.001;
      if (inside && (fine || factor == 1.0)) ticks.push_back(tick);
    }
  }
  return ticks;
}

/// Powers of two, thinned out until at most ten are left.
std::vector<double> binary_ticks(const Range& range) {
  const int first = static_cast<int>(std::ceil(std::log2(range.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log2(range.high) + 1e-9));
  const int step = std::max(1, (last - first + 9) / 10);
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; exponent += step) {
    ticks.push_back(std::exp2(exponent));
  }
  return ticks;
}

void draw_grid(std::string& svg, const Plot& plot, const Axis& x, const Axis& y,
               const Range& x_range, const Range& y_range) {
  const double bottom = kHeight - kBottom;
  for (const double tick : binary_ticks(x_range)) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        x.at(tick), kTop, bottom, bottom + 17, format_size(static_cast<std::size_t>(tick)));
  }
  for (const double tick : decimal_ticks(y_range)) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
        y.at(tick), kLeft, kWidth - kRight, kLeft - 6, y.at(tick) + 4, tick);
  }
  svg += fmt::format(
      "<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">message size</text>\n"
      "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      kLeft, kTop, kWidth - kLeft - kRight, bottom - kTop, (kLeft + kWidth - kRight) / 2,
      kHeight - 8, (kTop + bottom) / 2, escape_html(plot.y_label));
}

void draw_line(std::string& svg, const PlotLine& line, std::size_t style, const Axis& x,
               const Axis& y) {
  std::string points;
  for (const auto& [size, value] : line.points) {
    points += fmt::format("{:.1f},{:.1f} ", x.at(size), y.at(value));
  }
  svg += fmt::format("<g class=\"s{}\"><polyline points=\"{}\"/>", style, points);
  for (const auto& [size, value] : line.points) {
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{}: {:.4g}</title></circle>",
        x.at(size), y.at(value),
        escape_html(line.name + ", " + format_size(static_cast<std::size_t>(size))), value);
  }
  svg += "</g>\n";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string to_svg(const Plot& plot) {
  Range x_range;
  Range y_range;
  for (const PlotLine& line : plot.lines) {
    for (const auto& [size, value] : line.points) {
      x_range.add(size);
      y_range.add(value);
    }
  }
  if (x_range.high <= 0 || y_range.high <= 0) return "<p>Nothing was measured.</p>\n";
  // Room around the outermost points; a single one stands in the middle.
  const double x_room = x_range.high > x_range.low ? 1.15 : 2.0;
  y_range = {y_range.low / 1.4, y_range.high * 1.4};
  // Two ticks at least, else the scale cannot be read.
  while (decimal_ticks(y_range).size() < 2) y_range = {y_range.low / 1.3, y_range.high * 1.3};
  x_range = {x_range.low / x_room, x_range.high * x_room};
  const Axis x(x_range.low, x_range.high, kLeft, kWidth - kRight);
  const Axis y(y_range.low, y_range.high, kHeight - kBottom, kTop);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                                kWidth, kHeight, escape_html(plot.title));
  draw_grid(svg, plot, x, y, x_range, y_range);
  // The first line last, so that it lies on top.
  for (std::size_t i = plot.lines.size(); i-- > 0;) draw_line(svg, plot.lines[i], i, x, y);
  return svg + "</svg>\n";
}

}  // namespace sircl::bench
