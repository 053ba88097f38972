// Numbers in a table, with the functions of a statement computed by their definitions, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <dsl/lang/reduce.hpp>

/// Rank 0, 1 (`columns` elements in one row) or 2. `error`: allowed difference of a device's
/// values; 0 as long as all are integers.
struct table {
  int rank = 0;
  std::int64_t rows = 1, columns = 1;
  std::vector<double> values{0};
  double error = 0;

  double at(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>((rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j))];
  }
  double largest() const {
    double most = 0;
    for (const double v : values) most = std::max(most, std::abs(v));
    return most;
  }
};

inline table table_of(double value) { return {0, 1, 1, {value}}; }

/// Adds a rounding error, for values that are no longer integers.
inline table with_error(table t, double error) {
  t.error = error > 0 ? error + 0x1p-21 * t.largest() : 0;
  return t;
}
template <class F>
table join(const table& a, const table& b, const F& f) {
  table to{std::max(a.rank, b.rank), std::max(a.rows, b.rows), std::max(a.columns, b.columns), {}};
  for (std::int64_t i = 0; i < to.rows; ++i)
    for (std::int64_t j = 0; j < to.columns; ++j) to.values.push_back(f(a.at(i, j), b.at(i, j)));
  return to;
}
inline table operator+(const table& a, const table& b) {
  return with_error(join(a, b, std::plus{}), a.error + b.error);
}
inline table operator-(const table& a, const table& b) {
  return with_error(join(a, b, std::minus{}), a.error + b.error);
}
inline table operator*(const table& a, const table& b) {
  return with_error(join(a, b, std::multiplies{}), a.error * b.largest() + b.error * a.largest());
}
inline table max(const table& a, const table& b) {
  return with_error(join(a, b, [](double x, double y) { return std::max(x, y); }),
                    std::max(a.error, b.error));
}
inline table min(const table& a, const table& b) {
  return with_error(join(a, b, [](double x, double y) { return std::min(x, y); }),
                    std::max(a.error, b.error));
}
#define WITH_NUMBERS(name)                                                     \
  inline table name(const table& a, double b) { return name(a, table_of(b)); } \
  inline table name(double a, const table& b) { return name(table_of(a), b); }
WITH_NUMBERS(operator+)
WITH_NUMBERS(operator-)
WITH_NUMBERS(operator*)
WITH_NUMBERS(max)
WITH_NUMBERS(min)
#undef WITH_NUMBERS
inline table operator-(const table& a) { return 0 - a; }
inline table abs(const table& a) { return max(a, -a); }
inline table square(const table& a) { return a * a; }
inline table clip(const table& a, double low, double high) { return min(max(a, low), high); }
template <class T> table cast(const table& a) { return a; }

/// Reduces along the axes of a mask (1: rows, 2: columns). F starts with the first element and is
/// then called with (accumulator, element, its number).
template <class F>
table reduced(const table& t, int axes, bool keeps, double first, const F& f) {
  table to{t.rank, (axes & 1) != 0 ? 1 : t.rows, (axes & 2) != 0 ? 1 : t.columns, {}};
  to.values.assign(static_cast<std::size_t>(to.rows * to.columns), first);
  for (std::int64_t i = 0; i < t.rows; ++i)
    for (std::int64_t j = 0; j < t.columns; ++j) {
      double& value = to.values[static_cast<std::size_t>((to.rows == 1 ? 0 : i) * to.columns +
                                                         (to.columns == 1 ? 0 : j))];
      value = f(value, t.at(i, j), i, j);
    }
  if (!keeps) {
    to.rank = axes == 3 ? 0 : t.rank - 1;
    if (axes == 2) std::swap(to.rows, to.columns);
  }
  return to;
}
struct reduced_axes {
  int mask = 3;
  bool keeps = false;
  explicit reduced_axes(const table&) {}
  template <dsl::detail::reduction_option... O>
  explicit reduced_axes(const table& t, const O&... options) {
    (take(t, options), ...);
  }

 private:
  void take(const table&, dsl::keep_dims_t) { keeps = true; }
  void take(const table& t, const dsl::axes<1>& a) {
    const int axis = a.number[0] < 0 ? a.number[0] + t.rank : a.number[0];
    mask = t.rank == 1 ? 3 : 1 << axis;
  }
};
inline std::int64_t count_of(const table& t, int mask) {
  return ((mask & 1) != 0 ? t.rows : 1) * ((mask & 2) != 0 ? t.columns : 1);
}

template <dsl::detail::reduction_option... O>
table sum(const table& t, const O&... options) {
  const reduced_axes along(t, options...);
  return with_error(
      reduced(t, along.mask, along.keeps, 0, [](double s, double v, auto...) { return s + v; }),
      t.error * static_cast<double>(count_of(t, along.mask)));
}
template <dsl::detail::reduction_option... O>
table mean(const table& t, const O&... options) {
  const reduced_axes along(t, options...);
  table made = sum(t, options...);
  const auto count = static_cast<double>(count_of(t, along.mask));
  for (double& v : made.values) v /= count;
  made.error = made.error / count + 0x1p-21 * std::max(1.0, t.largest());
  return made;
}
template <dsl::detail::reduction_option... O>
table max(const table& t, const O&... options) {
  const reduced_axes along(t, options...);
  return with_error(reduced(t, along.mask, along.keeps, -INFINITY,
                            [](double s, double v, auto...) { return std::max(s, v); }),
                    t.error);
}
template <dsl::detail::reduction_option... O>
table min(const table& t, const O&... options) {
  const reduced_axes along(t, options...);
  return with_error(reduced(t, along.mask, along.keeps, INFINITY,
                            [](double s, double v, auto...) { return std::min(s, v); }),
                    t.error);
}
template <dsl::detail::reduction_option... O>
table count_nonzero(const table& t, const O&... options) {
  const reduced_axes along(t, options...);
  return reduced(t, along.mask, along.keeps, 0,
                 [](double s, double v, auto...) { return s + (v != 0 ? 1 : 0); });
}
template <dsl::detail::reduction_option... O>
table argmax(const table& t, const O&... options) {
  const reduced_axes along(t, options...);
  const std::int64_t across = along.mask == 3 ? t.columns : 1;
  return reduced(t, along.mask, along.keeps, -1,
                 [&](double best, double v, std::int64_t i, std::int64_t j) {
                   const auto at = static_cast<std::int64_t>(best);
                   const bool along_rows = along.mask == 1, along_columns = along.mask == 2;
                   const double greatest = best < 0        ? -INFINITY
                                           : along_rows    ? t.at(at, j)
                                           : along_columns ? t.at(i, at)
                                                           : t.at(at / across, at % across);
                   const std::int64_t here = along_rows ? i : along_columns ? j : i * across + j;
                   return v > greatest ? static_cast<double>(here) : best;
                 });
}

/// Broadcasts to the shape of another table.
inline table stretched(const table& t, const table& like) {
  table to = join(t, like, [](double a, double) { return a; });
  to.error = t.error;
  return to;
}
/// Applies a formula to each row along an axis; it returns elements.
template <class F>
table each_row(const F& f, const dsl::axes<1>& axis, const table& t) {
  const bool down = axis.number[0] == 0;  // a row is a column of the table
  table to = t;
  to.error = 0;
  const std::int64_t rows = down ? t.columns : t.rows, length = down ? t.rows : t.columns;
  for (std::int64_t r = 0; r < rows; ++r) {
    table row{1, 1, length, {}, t.error};
    for (std::int64_t k = 0; k < length; ++k) row.values.push_back(down ? t.at(k, r) : t.at(r, k));
    const table made = stretched(f(row), row);
    for (std::int64_t k = 0; k < length; ++k)
      to.values[static_cast<std::size_t>(down ? k * t.columns + r : r * t.columns + k)] =
          made.values[static_cast<std::size_t>(k)];
    to.error = std::max(to.error, made.error);
  }
  return to;
}
