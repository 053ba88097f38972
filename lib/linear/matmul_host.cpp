// Products on the host, by OpenBLAS.
#include <cblas.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tbb/parallel_for.h>

#include <dsl/ir/half.hpp>

#include "linear/matrices.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

// OpenBLAS as most distributions build it counts in 32 bits.
blasint narrow(std::int64_t n) {
  if (n > std::numeric_limits<blasint>::max())
    raise<shape_error>("matmul: the host's BLAS has no extents or strides of " + std::to_string(n));
  return static_cast<blasint>(n);
}

CBLAS_TRANSPOSE way_of(const matrix& m) {
  return !m.transposed ? CblasNoTrans : m.conjugated ? CblasConjTrans : CblasTrans;
}

// One product of row-major matrices in BLAS's terms.
struct call {
  CBLAS_TRANSPOSE a, b;
  blasint rows, columns, inner, step_a, step_b, step_c;
  std::complex<double> times, plus;

  explicit call(const products& p)
      : a(way_of(p.a)),
        b(way_of(p.b)),
        rows(narrow(p.a.rows)),
        columns(narrow(p.b.columns)),
        inner(narrow(p.a.columns)),
        step_a(narrow(p.a.step)),
        step_b(narrow(p.b.step)),
        step_c(narrow(p.step_c)),
        times(p.times),
        plus(p.plus) {}
  // A matrix times a vector: rows and columns as they lie in memory.
  bool is_matrix_times_vector() const { return columns == 1 && b == CblasNoTrans; }
  blasint rows_in_memory() const { return a == CblasNoTrans ? rows : inner; }
  blasint columns_in_memory() const { return a == CblasNoTrans ? inner : rows; }

  void run(const float* x, const float* y, float* c) const {
    const auto alpha = static_cast<float>(times.real()), beta = static_cast<float>(plus.real());
    if (is_matrix_times_vector())
      cblas_sgemv(CblasRowMajor, a, rows_in_memory(), columns_in_memory(), alpha, x, step_a, y,
                  step_b, beta, c, step_c);
    else
      cblas_sgemm(CblasRowMajor, a, b, rows, columns, inner, alpha, x, step_a, y, step_b, beta, c,
                  step_c);
  }
  void run(const double* x, const double* y, double* c) const {
    const double alpha = times.real(), beta = plus.real();
    if (is_matrix_times_vector())
      cblas_dgemv(CblasRowMajor, a, rows_in_memory(), columns_in_memory(), alpha, x, step_a, y,
                  step_b, beta, c, step_c);
    else
      cblas_dgemm(CblasRowMajor, a, b, rows, columns, inner, alpha, x, step_a, y, step_b, beta, c,
                  step_c);
  }
  void run(const std::complex<float>* x, const std::complex<float>* y,
           std::complex<float>* c) const {
    const std::complex<float> alpha(times), beta(plus);
    cblas_cgemm(CblasRowMajor, a, b, rows, columns, inner, &alpha, x, step_a, y, step_b, &beta, c,
                step_c);
  }
  void run(const std::complex<double>* x, const std::complex<double>* y,
           std::complex<double>* c) const {
    cblas_zgemm(CblasRowMajor, a, b, rows, columns, inner, &times, x, step_a, y, step_b, &plus, c,
                step_c);
  }
};

// The elements of the results, one after another.
template <class Visit>
void visit_results(const products& p, const Visit& visit) {
  for (std::int64_t i = 0; i < p.count; ++i)
    for (std::int64_t row = 0; row < p.a.rows; ++row)
      for (std::int64_t column = 0; column < p.b.columns; ++column)
        visit(i * p.next_c + row * p.step_c + column);
}

template <class T>
void multiply_all(const products& p) {
  const call one(p);
  if (p.a.columns == 0) {
    // Not every routine multiplies c then.
    visit_results(p, [c = static_cast<T*>(p.c), &one](std::int64_t at) {
      if (one.plus == 0.0) c[at] = T{};
      else if constexpr (std::is_floating_point_v<T>) c[at] *= static_cast<T>(one.plus.real());
      else c[at] *= T(one.plus);
    });
    return;
  }
  const auto run = [&](std::int64_t i) {
    one.run(reinterpret_cast<const T*>(p.a.at) + i * p.next_a,
            reinterpret_cast<const T*>(p.b.at) + i * p.next_b, static_cast<T*>(p.c) + i * p.next_c);
  };
  // OpenBLAS uses all cores for a large product; small ones share the cores here.
  constexpr std::int64_t operations_of_a_thread = 1 << 15;
  const std::int64_t each = p.a.rows * p.b.columns * p.a.columns;
  if (p.count == 1 || each > operations_of_a_thread * 32) {
    for (std::int64_t i = 0; i < p.count; ++i) run(i);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(
                        0, p.count, std::max<std::int64_t>(operations_of_a_thread / each, 1)),
                    [&](const tbb::blocked_range<std::int64_t>& some) {
                      for (std::int64_t i = some.begin(); i != some.end(); ++i) run(i);
                    });
}

// Number of elements from the first to behind the last one that a matrix reads.
std::int64_t span_of(const matrix& m, std::int64_t count, std::int64_t next) {
  const std::int64_t lines = m.transposed ? m.columns : m.rows,
                     along = m.transposed ? m.rows : m.columns;
  return lines == 0 || along == 0 ? 0 : (lines - 1) * m.step + along + (count - 1) * next;
}

// Halves are multiplied as floats.
template <class ToFloat, class FromFloat>
void multiply_halves(const products& p, const ToFloat& to_float, const FromFloat& from_float) {
  const auto widened = [&](const matrix& m, std::int64_t next) {
    std::vector<float> all(static_cast<std::size_t>(span_of(m, p.count, next)));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = to_float(reinterpret_cast<const std::uint16_t*>(m.at)[i]);
    return all;
  };
  const std::vector<float> a = widened(p.a, p.next_a), b = widened(p.b, p.next_b);
  const std::int64_t size = p.a.rows * p.b.columns;
  std::vector<float> c(static_cast<std::size_t>(size * p.count));
  products wide = p;
  wide.a.at = reinterpret_cast<const char*>(a.data());
  wide.b.at = reinterpret_cast<const char*>(b.data());
  wide.c = c.data();
  wide.step_c = p.b.columns;
  wide.next_c = size;
  auto* const to = static_cast<std::uint16_t*>(p.c);
  std::size_t k = 0;
  if (p.plus != 0.0) visit_results(p, [&](std::int64_t at) { c[k++] = to_float(to[at]); });
  multiply_all<float>(wide);
  k = 0;
  visit_results(p, [&](std::int64_t at) { to[at] = from_float(c[k++]); });
}

}  // namespace

void multiply_on_host(const products& p) {
  switch (p.type) {
    case dtype::float32: return multiply_all<float>(p);
    case dtype::float64: return multiply_all<double>(p);
    case dtype::complex64: return multiply_all<std::complex<float>>(p);
    case dtype::complex128: return multiply_all<std::complex<double>>(p);
    case dtype::float16: return multiply_halves(p, half_to_float, float_to_half);
    default: return multiply_halves(p, bfloat16_to_float, float_to_bfloat16);
  }
}

}  // namespace dsl::detail
