// Matrices of random numbers, and products of them in higher precision.
#pragma once

#include <dsl/linear.hpp>

#include <complex>
#include <limits>
#include <random>
#include <vector>

namespace matrices {

using std::int64_t;
using c32 = std::complex<float>;
using c64 = std::complex<double>;

template <class T>
struct real_of_type {
  using type = T;
};
template <class T>
struct real_of_type<std::complex<T>> {
  using type = T;
};
template <class T> using real_t = typename real_of_type<T>::type;

// Numbers from -1 to 1, which a seed decides.
template <class T>
std::vector<T> numbers(int64_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> all(static_cast<std::size_t>(n));
  for (T& x : all) {
    if constexpr (std::is_same_v<T, real_t<T>>) x = T(static_cast<float>(uniform(engine)));
    else x = {static_cast<real_t<T>>(uniform(engine)), static_cast<real_t<T>>(uniform(engine))};
  }
  return all;
}
template <class T, int R>
dsl::array<T, R> filled(const dsl::extents<R>& shape, unsigned seed) {
  dsl::array<T, R> x(shape);
  x.copy_from_host(numbers<T>(x.size(), seed));
  return x;
}

template <class T>
auto widened(T x) {
  if constexpr (std::is_same_v<T, real_t<T>>)
    return static_cast<long double>(static_cast<double>(x));
  else return std::complex<long double>(x.real(), x.imag());
}
// Of sums of k products of such numbers.
template <class T>
double bound_of(int64_t k) {
  using real = real_t<T>;
  const double eps = sizeof(real) == 2   ? 1.0 / 128
                     : sizeof(real) == 4 ? std::numeric_limits<float>::epsilon()
                                         : std::numeric_limits<double>::epsilon();
  return 4 * eps * static_cast<double>(k + 1);
}

// Element (i, j) of a product, in long double.
template <class T>
auto element_of_product(const std::vector<T>& x, const std::vector<T>& y, int64_t k, int64_t m,
                        int64_t i, int64_t j) {
  auto sum = widened(T{});
  for (int64_t l = 0; l < k; ++l)
    sum += widened(x[static_cast<std::size_t>(i * k + l)]) *
           widened(y[static_cast<std::size_t>(l * m + j)]);
  return sum;
}

// Compares a product of matrices with sums in long double.
template <class T, class A, class B>
void expect_product(const A& a, const B& b) {
  const dsl::array<T, 2> got = dsl::matmul(a, b), left = a, right = b;
  const int64_t n = left.extents()[0], k = left.extents()[1], m = right.extents()[1];
  ASSERT_EQ(got.extents(), (dsl::extents<2>{n, m}));
  const auto x = left.copy_to_host(), y = right.copy_to_host(), z = got.copy_to_host();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      ASSERT_LE(std::abs(widened(z[static_cast<std::size_t>(i * m + j)]) -
                         element_of_product(x, y, k, m, i, j)),
                bound_of<T>(k))
          << n << " " << k << " " << m << " " << i << " " << j;
}

// The greatest magnitude in an expression.
template <class E>
double off(const E& expression) {
  return static_cast<double>(dsl::max(abs(expression)).value());
}

}  // namespace matrices
