// Writes charts, lines over a common x, as SVG pictures and as CSV files.
#pragma once

#include <string>
#include <vector>

struct line {
  std::string name,
      colour;    // Without a name it is not in the legend. The colour is in CSS notation.
  double width;  // In pixels.
  // One for each x of the chart. The line has a gap where a value is not finite;
  // a value between two gaps is a dot.
  std::vector<double> y;
};

struct chart {
  std::string title, subtitle, x_label, y_label;
  std::vector<double> x;  // Ascending.
  std::vector<line> lines;
};

/// Writes a picture of 960 x 540 pixels. Throws std::runtime_error if the file cannot be written.
void write_svg(const std::string& path, const chart& c);
/// Writes columns: the row's number, x, and each line's y. `header` is the file's first line.
/// Throws std::runtime_error if the file cannot be written.
void write_csv(const std::string& path, const std::string& header, const chart& c);
