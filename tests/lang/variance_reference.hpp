// Variances in long double, of all elements and of each row or column.
#pragma once

#include "../on_device.hpp"

#include <complex>

struct reduce : on_device {};

template <class T>
double variance(const std::vector<T>& x, std::size_t first, std::size_t n, std::size_t step) {
  using wide = std::conditional_t<std::is_same_v<T, float>, long double, std::complex<long double>>;
  wide mean{};
  long double squares = 0;
  for (std::size_t i = 0; i < n; ++i) mean += wide(x[first + i * step]);
  mean /= static_cast<long double>(n);
  for (std::size_t i = 0; i < n; ++i) squares += std::norm(wide(x[first + i * step]) - mean);
  return static_cast<double>(squares / static_cast<long double>(n));
}
template <class T>
void check_variances(const std::vector<T>& h, std::size_t rows, double bound,
                     const std::string& what) {
  const std::size_t columns = h.size() / rows;
  const auto m = dsl::reshape(dsl::to_device(h), static_cast<std::int64_t>(rows),
                              static_cast<std::int64_t>(columns));
  const auto close = [&](double got, double want, const char* axes) {
    EXPECT_NEAR(got, want, bound * want) << what << ' ' << axes << ' ' << rows << " x " << columns;
  };
  close(dsl::var(m).value(), variance(h, 0, h.size(), 1), "all");
  const auto of_rows = dsl::eval(dsl::var(m, dsl::axis(1))).copy_to_host(),
             of_columns = dsl::eval(dsl::var(m, dsl::axis(0))).copy_to_host();
  for (std::size_t i = 0; i < rows; ++i)
    close(of_rows[i], variance(h, i * columns, columns, 1), "row");
  for (std::size_t j = 0; j < columns; ++j)
    close(of_columns[j], variance(h, j, rows, columns), "column");
}
