// Products, systems, windows, convolutions, sparse products and the largest elements on the host.
// Rows for array_operations.py, which runs this program: work, milliseconds
// of a call (the median of several measurements), sum of the results.
//
// usage: bench_array_operations
#include <dsl/by_key.hpp>
#include <dsl/linear.hpp>
#include <dsl/sparse.hpp>
#include <dsl/window.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "timed.hpp"

namespace {

using std::int64_t;

/// Element i of operand k: from 0.5 to 1.5, as in array_operations.py.
template <class T, int Rank>
dsl::array<T, Rank> operand(const dsl::extents<Rank>& shape, int64_t k) {
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  const auto i = dsl::arange<int64_t>(size);
  const auto values = dsl::cast<double>((i * 7919 + k * 131) % 1021) / 1021.0 + 0.5;
  return dsl::array<T, Rank>(dsl::reshape(dsl::eval(dsl::cast<T>(values)), shape));
}

/// Measures out = call(), which the other program names alike.
template <class Out, class Call>
void row(const std::string& work, Out& out, const Call& call) {
  const double ms = milliseconds([&] { out = call(); });
  std::printf("%s|%.6g|%.9g\n", work.c_str(), ms, sum<double>(dsl::ravel(out)).value());
  std::fflush(stdout);
}

template <class T>
void products(const std::string& dtype) {
  for (const int64_t n : {64, 500, 1024}) {
    const auto a = operand<T, 2>({n, n}, 0), b = operand<T, 2>({n, n}, 1);
    dsl::array<T, 2> c(n, n);
    row("matmul " + dtype + " " + std::to_string(n), c, [&] { return dsl::matmul(a, b); });
  }
  const auto batch = operand<T, 3>({1000, 32, 32}, 0);
  dsl::array<T, 3> squares(1000, 32, 32);
  row("matmul of 1000 " + dtype + " 32", squares, [&] { return dsl::matmul(batch, batch); });
  const auto m = operand<T, 2>({4097, 4096}, 0);
  const auto v = operand<T, 1>({4096}, 1);
  dsl::array<T> y(4097);
  row("matrix times vector " + dtype + " 4097 4096", y, [&] { return dsl::matmul(m, v); });
}

/// Diagonals are large, so that systems are well conditioned.
dsl::array<double, 3> matrices(int64_t count, int64_t n) {
  const auto noise = operand<double, 3>({count, n, n}, 0);
  const auto i = dsl::index(1, count, n, n), j = dsl::index(2, count, n, n);
  return dsl::array<double, 3>(where(i == j, noise + 2.0 * static_cast<double>(n), noise));
}

void systems() {
  for (const auto& [count, n] :
       {std::pair<int64_t, int64_t>{100'003, 3}, {10'007, 8}, {1000, 30}, {1, 1000}}) {
    const auto a = matrices(count, n);
    const auto b = operand<double, 2>({count, n}, 1);
    dsl::array<double, 2> x(count, n);
    dsl::array<double, 3> inverse(count, n, n);
    const std::string of = std::to_string(count) + " of " + std::to_string(n);
    row("solve " + of, x, [&] { return dsl::solve(a, b); });
    row("inv " + of, inverse, [&] { return dsl::inv(a); });
  }
}

void windows() {
  constexpr int64_t n = 10'000'019;
  const auto x = operand<float, 1>({n}, 0);
  for (const int64_t size : {7, 64, 1024}) {
    const auto w = dsl::sliding_window(x, size);
    dsl::array<float> y(n - size + 1);
    const std::string of = " of windows of " + std::to_string(size);
    row("mean" + of, y, [&] { return mean(w, dsl::axis(-1)); });
    row("max" + of, y, [&] { return max(w, dsl::axis(-1)); });
  }
  const auto taps = operand<float, 1>({63}, 1);
  dsl::array<float> smooth(n - 62), highest(100);
  row("convolve with 63", smooth,
      [&] { return dsl::convolve(x, taps, dsl::convolve_mode::valid); });
  row("the 100 largest", highest, [&] { return dsl::topk(x, 100); });
}

/// 5 to 50 entries a row.
void sparse_products() {
  constexpr int64_t rows = 300'007;
  const auto i = dsl::arange<int64_t>(rows);
  const auto lengths = dsl::eval(i * 7919 % 46 + 5);
  const dsl::array<int64_t> ends = dsl::cumsum(lengths);
  dsl::array<std::int32_t> offsets = dsl::zeros<std::int32_t>(rows + 1);
  offsets(dsl::slice(1, dsl::end)) = dsl::cast<std::int32_t>(ends);
  const int64_t entries = dsl::scalar<int64_t>(max(ends)).value();
  const auto k = dsl::arange<int64_t>(entries);
  const dsl::array<std::int32_t> columns = dsl::cast<std::int32_t>(k * 104729 % rows);
  const dsl::sparse::csr<float> a(rows, rows, operand<float, 1>({entries}, 0), columns, offsets);
  const auto x = operand<float, 1>({rows}, 1);
  dsl::array<float> y(rows);
  row("sparse matrix times vector", y, [&] { return dsl::matmul(a, x); });
}

}  // namespace

int main() {
  std::fprintf(stderr, "%s\n", dsl::device::current().name().c_str());
  products<float>("float32");
  products<double>("float64");
  systems();
  windows();
  sparse_products();
}
