// Matrices of random numbers, and what is expected of their products, solutions and decompositions.
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

template <class T>
void products_of_sizes(std::initializer_list<int64_t> all) {
  unsigned seed = 1;
  for (const int64_t n : all)
    for (const int64_t k : all) {
      seed += 2;
      expect_product<T>(filled<T, 2>({n, k}, seed), filled<T, 2>({k, (n + 2 * k) % 37}, seed + 1));
    }
}
template <class T>
void expect_solutions(int64_t n, int64_t count) {
  const auto noise = filled<T, 3>({count, n, n}, 3);
  const dsl::array<T, 3> a =
      where(dsl::index(1, count, n, n) == dsl::index(2, count, n, n), noise + T(2), noise);
  const auto b = filled<T, 2>({count, n}, 4);
  const double most = 50 * bound_of<T>(n * n);
  const dsl::array<T, 2> x = dsl::solve(a, b);
  // The residual beside the solution's size.
  const double size = 1 + off(x);
  ASSERT_LE(off(dsl::sum(a * dsl::expand_dims(x, 1), dsl::axis(2)) - b), most * size) << n;
  const auto sides = filled<T, 3>({count, n, 3}, 5);
  const dsl::array<T, 3> several = dsl::solve(a, sides);
  ASSERT_LE(off(dsl::matmul(a, several) - sides), most * (1 + off(several))) << n;
  const dsl::array<T, 3> inverse = dsl::inv(a);
  const auto identity = dsl::cast<T>(dsl::index(1, count, n, n) == dsl::index(2, count, n, n));
  ASSERT_LE(off(dsl::matmul(a, inverse) - identity), most * (1 + off(inverse))) << n;
  // A matrix for all right sides; solved where the right side lies.
  const dsl::array<T, 2> of_one = dsl::solve(a(dsl::slice(0, 1), dsl::slice(), dsl::slice()), b);
  ASSERT_LE(
      off(dsl::matmul(b * T(0) + of_one, dsl::transpose(a(0, dsl::slice(), dsl::slice()))) - b),
      most * (1 + off(of_one)))
      << n;
  dsl::array<T, 2> again = b;
  again = dsl::solve(a, again);
  ASSERT_EQ(again.copy_to_host(), x.copy_to_host());
}

template <class T>
void expect_decompositions(int64_t n, int64_t count) {
  const auto a = filled<T, 3>({count, n, n}, 3);
  const auto adjoint = [](const dsl::array<T, 3>& x) {
    return dsl::array<T, 3>(conj(dsl::permute(x, 0, 2, 1)));
  };
  const double most = 20 * bound_of<T>(n * n);
  const auto identity = dsl::cast<T>(dsl::index(1, count, n, n) == dsl::index(2, count, n, n));
  const dsl::array<T, 3> positive = dsl::matmul(a, adjoint(a)) + identity,
                         lower = dsl::cholesky(positive);
  EXPECT_LE(off(dsl::matmul(lower, adjoint(lower)) - positive), most);
  EXPECT_EQ(off(where(dsl::index(2, count, n, n) > dsl::index(1, count, n, n), lower, T(0))), 0);
  // The upper triangle is not read.
  const dsl::array<T, 3> half =
      where(dsl::index(2, count, n, n) > dsl::index(1, count, n, n), T(99), positive);
  EXPECT_EQ(dsl::eval(dsl::cholesky(half)).copy_to_host(), lower.copy_to_host());
  const auto [values, vectors] = dsl::eigh(half);
  EXPECT_LE(off(dsl::matmul(positive, vectors) - vectors * dsl::expand_dims(values, 1)), most);
  EXPECT_LE(off(dsl::matmul(adjoint(vectors), vectors) - identity), most);
  if (n > 1) {
    EXPECT_TRUE(dsl::all(values(dsl::slice(), dsl::slice(1, dsl::end)) >=
                         values(dsl::slice(), dsl::slice(0, -1)))
                    .value());
  }
  for (const auto& [rows, columns] : {std::pair{n, n}, {n, n + 3}, {n + 3, n}}) {
    const auto m = filled<T, 3>({count, rows, columns}, 7);
    const auto [u, s, vh] = dsl::svd(m);
    EXPECT_LE(off(dsl::matmul(u * dsl::expand_dims(s, 1), vh) - m), most);
    EXPECT_LE(off(dsl::matmul(adjoint(u), u) - identity), most);
    EXPECT_LE(off(dsl::matmul(vh, adjoint(vh)) - identity), most);
    if (n > 1) {
      EXPECT_TRUE(
          dsl::all(s(dsl::slice(), dsl::slice(1, dsl::end)) <= s(dsl::slice(), dsl::slice(0, -1)))
              .value());
    }
  }
}

}  // namespace matrices
