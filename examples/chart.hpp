// Lines over a common x, as an SVG file to look at and as a CSV file to work with.
#pragma once

#include <string>
#include <vector>

struct line {
  std::string name, colour;  // the colour as CSS writes it
  double width;              // pixels
  std::vector<double> y;     // as many as the chart has x; the line breaks where one is not finite
};

struct chart {
  std::string title, subtitle, x_label, y_label;
  std::vector<double> x;  // ascending
  std::vector<line> lines;
};

/// Throw std::runtime_error where the file can't be written.
void write_svg(const std::string& path, const chart& c);
/// A column of row numbers, x, and one column a line. `header` is the first line.
void write_csv(const std::string& path, const std::string& header, const chart& c);
