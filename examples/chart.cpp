#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace {

constexpr double width = 960, height = 540, left = 92, right = 28, top = 112, bottom = 64;
// Maximum number of points of a line. The plot is 840 pixels wide, so more would not be visible.
constexpr std::size_t most_points = 2000;

struct axis {
  // Labels are in multiples of `unit`, a power of ten.
  double low, high, tick, unit;
  int decimals;
};

// Makes an axis with about `wanted` ticks, at multiples of 1, 2 or 5 times a power of ten. With
// `ends_on_ticks` the range is widened to the next tick at both ends.
axis make_axis(double low, double high, int wanted, bool ends_on_ticks) {
  // Nothing finite to draw.
  if (!(low <= high)) {
    low = 0;
    high = 1;
  }
  if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high))) {
    const double margin = low == 0 ? 1 : std::abs(low) / 2;
    low -= margin;
    high += margin;
  }
  const double rough = (high - low) / wanted, power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  axis a{low, high, power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10), 1, 0};
  if (ends_on_ticks) {
    a.low = std::floor(low / a.tick + 1e-9) * a.tick;
    a.high = std::ceil(high / a.tick - 1e-9) * a.tick;
  }
  const double largest = std::max(std::abs(a.low), std::abs(a.high));
  if (largest >= 1e5 || largest < 1e-3)
    a.unit = std::pow(10, 3 * std::floor(std::log10(largest) / 3));
  a.decimals = std::max(0, static_cast<int>(-std::floor(std::log10(a.tick / a.unit) + 1e-9)));
  return a;
}

std::string number(double value, int decimals) {
  char s[64];
  std::snprintf(s, sizeof s, "%.*f", decimals, value == 0 ? 0 : value);  // Never "-0".
  return s;
}

std::string tick_label(double value, const axis& a) {
  if (std::abs(value) < a.tick / 1000) value = 0;
  const std::string s = number(value / a.unit, a.decimals);
  return s.front() == '-' ? "\u2212" + s.substr(1) : s;
}

std::string escaped(const std::string& s) {
  std::string out;
  for (const char c : s)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

// The factor that an axis's labels leave out, such as " (×10⁹)".
std::string unit_label(const axis& a) {
  if (a.unit == 1) return {};
  static const char* const raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                       "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string s = " (\u00d710";
  for (const char c : number(std::log10(a.unit), 0)) s += c == '-' ? "\u207b" : raised[c - '0'];
  return s + ")";
}

// Indices of the points to draw. Points are divided into buckets; the lowest and the highest of
// each are kept, so that no peak is lost, and one NaN if the line breaks there.
std::vector<std::size_t> thinned(const std::vector<double>& y) {
  std::vector<std::size_t> kept;
  const std::size_t per_bucket =
      std::max<std::size_t>(1, (2 * y.size() + most_points - 1) / most_points);
  for (std::size_t first = 0; first < y.size(); first += per_bucket) {
    const std::size_t last = std::min(first + per_bucket, y.size());
    std::size_t low = first, high = first;
    for (std::size_t i = first; i < last; ++i) {
      if (!std::isfinite(y[i])) low = high = i;
      if (!std::isfinite(y[low])) break;
      if (y[i] < y[low]) low = i;
      if (y[i] > y[high]) high = i;
    }
    kept.push_back(std::min(low, high));
    if (low != high) kept.push_back(std::max(low, high));
  }
  return kept;
}

std::ofstream open(const std::string& path) {
  std::ofstream out(path);
  if (!out) throw std::runtime_error("cannot write to " + path);
  return out;
}

void close(std::ofstream& out, const std::string& path) {
  if (!out.flush()) throw std::runtime_error("could not write all of " + path);
}

}  // namespace

void write_svg(const std::string& path, const chart& c) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const line& l : c.lines)
    for (const double v : l.y)
      if (std::isfinite(v)) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
  const axis x = make_axis(c.x.empty() ? 1 : c.x.front(), c.x.empty() ? 0 : c.x.back(), 10, false),
             y = make_axis(low, high, 7, true);
  const auto at_x = [&](double v) {
    return number(left + (v - x.low) / (x.high - x.low) * (width - left - right), 2);
  };
  const auto at_y = [&](double v) {
    return number(height - bottom - (v - y.low) / (y.high - y.low) * (height - top - bottom), 2);
  };
  const auto text = [&](double px, double py, const char* style, const std::string& s) {
    return "<text x=\"" + number(px, 1) + "\" y=\"" + number(py, 1) + "\" " + style + ">" +
           escaped(s) + "</text>\n";
  };

  std::ofstream out = open(path);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"540\" viewBox=\"0 0 960 "
         "540\" "
         "font-family=\"'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
         "font-size=\"14\" fill=\"#444\">\n"
         "<rect width=\"960\" height=\"540\" fill=\"#fff\"/>\n"
      << text(left, 38, "font-size=\"20\" font-weight=\"bold\" fill=\"#222\"", c.title)
      << text(left, 62, "fill=\"#666\"", c.subtitle);

  // Both ends have a tolerance, so that rounding does not lose a tick.
  const auto ticks = [](const axis& a, const auto& draw) {
    for (double k = std::ceil(a.low / a.tick - 1e-6); k * a.tick <= a.high + 1e-6 * a.tick; ++k)
      draw(k * a.tick);
  };
  out << "<g stroke=\"#e4e4e4\">\n";
  ticks(x, [&](double v) {
    out << "<path d=\"M" << at_x(v) << ' ' << top << "V" << height - bottom << "\"/>\n";
  });
  ticks(y, [&](double v) {
    out << "<path d=\"M" << left << ' ' << at_y(v) << "H" << width - right << "\"/>\n";
  });
  out << "</g>\n<g stroke=\"#888\" fill=\"none\">\n<path d=\"M" << left << ' ' << top << "V"
      << height - bottom << "H" << width - right << "\"/>\n";
  if (y.low < 0 && y.high > 0)
    out << "<path d=\"M" << left << ' ' << at_y(0) << "H" << width - right << "\"/>\n";
  out << "</g>\n<g text-anchor=\"middle\">\n";
  ticks(x, [&](double v) {
    out << text(std::stod(at_x(v)), height - bottom + 20, "", tick_label(v, x));
  });
  out << text((left + width - right) / 2, height - 16, "font-size=\"15\"",
              c.x_label + unit_label(x))
      << "</g>\n<g text-anchor=\"end\">\n";
  ticks(y, [&](double v) { out << text(left - 10, std::stod(at_y(v)) + 5, "", tick_label(v, y)); });
  const double middle = (top + height - bottom) / 2;
  out << "</g>\n<text transform=\"translate(28 " << middle
      << ") rotate(-90)\" text-anchor=\"middle\" font-size=\"15\">"
      << escaped(c.y_label + unit_label(y)) << "</text>\n";

  for (const line& l : c.lines) {
    out << "<path fill=\"none\" stroke=\"" << l.colour << "\" stroke-width=\"" << l.width
        << "\" stroke-linejoin=\"round\" stroke-linecap=\"round\" d=\"";
    bool pen_down = false;
    for (const std::size_t i : thinned(l.y)) {
      const bool draws = std::isfinite(l.y[i]);
      // A line of length 0 is a dot.
      if (draws)
        out << (pen_down ? "L" : "M") << at_x(c.x[i]) << ' ' << at_y(l.y[i])
            << (pen_down ? "\n" : "h0\n");
      pen_down = draws;
    }
    out << "\"/>\n";
  }
  double at = left;
  for (const line& l : c.lines) {
    if (l.name.empty()) continue;
    out << "<path stroke=\"" << l.colour << "\" stroke-width=\"" << l.width + 1 << "\" d=\"M" << at
        << " 88h28\"/>\n"
        << text(at + 36, 93, "fill=\"#222\"", l.name);
    at += 36 + 7.5 * static_cast<double>(l.name.size()) + 24;
  }
  out << "</svg>\n";
  close(out, path);
}

void write_csv(const std::string& path, const std::string& header, const chart& c) {
  std::ofstream out = open(path);
  out.precision(9);  // Digits that reproduce every float.
  out << header << '\n';
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    out << i << ',' << c.x[i];
    for (const line& l : c.lines) out << ',' << l.y[i];
    out << '\n';
  }
  close(out, path);
}
