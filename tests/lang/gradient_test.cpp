// dsl::gradient: every element of the gradient beside central differences of the loss, and beside
// formulas.
#include <dsl/by_key.hpp>
#include <dsl/dsl.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

namespace {

using dsl::array;
using dsl::scalar;

std::vector<double> numbers(std::size_t n, unsigned seed, double low = -1, double high = 1) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> of(low, high);
  std::vector<double> made(n);
  for (double& x : made) x = of(engine);
  return made;
}
array<double> line(std::int64_t n, unsigned seed, double low = -1, double high = 1) {
  return dsl::to_device(numbers(static_cast<std::size_t>(n), seed, low, high));
}
array<double, 2> matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
  return dsl::reshape(line(rows * columns, seed), rows, columns);
}

// Central differences of loss() with respect to each element of x.
template <class X, class Loss>
std::vector<double> differences(X& x, const Loss& loss) {
  constexpr double h = 1e-5;
  const auto view = [&] {
    if constexpr (X::rank == 0) return dsl::view<double, 1>(x.view().owner(), x.data(), {1}, {1});
    else return dsl::reshape(x, x.size());
  }();
  std::vector<double> found;
  for (std::int64_t i = 0; i < view.size(); ++i) {
    const double at = view(i).value();
    view(i) = at + h;
    const double above = loss().value();
    view(i) = at - h;
    const double below = loss().value();
    view(i) = at;
    found.push_back((above - below) / (2 * h));
  }
  return found;
}
template <class X>
std::vector<double> on_host(const X& x) {
  if constexpr (X::rank == 0) return {x.value()};
  else return x.copy_to_host();
}
void expect_close(const std::vector<double>& found, const std::vector<double>& expected,
                  double within = 1e-7) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], within * (1 + std::fabs(expected[i]))) << "element " << i;
}
template <class X> struct same_as { using type = array<double, X::rank>; };
template <class T> struct same_as<scalar<T>> { using type = scalar<T>; };
// The gradient of loss() with respect to all variables, beside differences.
template <class Loss, class... X>
void check(const Loss& loss, X&... x) {
  std::tuple<typename same_as<X>::type...> found;
  std::apply([&](auto&... d) { dsl::tie(d...) = dsl::gradient(loss(), x...); }, found);
  std::apply([&](auto&... d) { (expect_close(on_host(d), differences(x, loss)), ...); }, found);
}

TEST(Gradient, OfSumsOfElements) {
  for (const std::int64_t n : {1, 2, 31, 33}) {
    array<double> x = line(n, 1), y = line(n, 2);
    scalar<double> k = 0.3;
    check([&] { return dsl::mean(square(sin(x) * exp(k * y) - x * y)); }, x, k, y);
  }
}

TEST(Gradient, OfSeveralReductions) {
  array<double> x = line(7, 1), w = line(5, 2, 0.5, 2);
  scalar<double> k = 0.3;
  check(
      [&] { return dsl::sum(x * x) / dsl::prod(w) + k * dsl::norm(w) * dsl::max(x) + 0.1 * k * k; },
      x, w, k);
  check([&] { return dsl::var(x, dsl::ddof(1)) * dsl::vdot(x, sin(x)); }, x);
}

TEST(Gradient, OfBroadcastOperands) {
  array<double, 2> m = matrix(3, 5, 1), column = matrix(3, 1, 2);
  array<double> row = line(5, 4);
  check([&] { return dsl::sum(square(m * row + column - row)); }, m, row, column);
}

TEST(Gradient, AlongAxes) {
  array<double, 2> m = matrix(4, 6, 1);
  array<double> w = line(6, 2), y = line(4, 3);
  check([&] { return dsl::mean(log1p(exp(-y * dsl::sum(m * w, dsl::axis(1))))); }, m, w, y);
  check(
      [&] {
        return dsl::sum(dsl::max(m, dsl::axis(0)) * w) +
               dsl::sum(dsl::norm(m * w, dsl::axis(1)) * y);
      },
      m, w, y);
}

TEST(Gradient, OfSoftmax) {
  array<double, 2> x = matrix(3, 5, 1), labels = matrix(3, 5, 2);
  check(
      [&] {
        const auto moved = x - dsl::max(x, dsl::axis(1), dsl::keep_dims);
        return -dsl::mean(labels *
                          (moved - log(dsl::sum(exp(moved), dsl::axis(1), dsl::keep_dims))));
      },
      x);
  check(
      [&] {
        return dsl::sum(labels * dsl::apply_along_axis(
                                     [](auto r) {
                                       auto e = exp(r - dsl::max(r));
                                       return e / dsl::sum(e);
                                     },
                                     dsl::axis(1), x));
      },
      x, labels);
}

TEST(Gradient, OfViews) {
  array<double> x = line(12, 1);
  check(
      [&] {
        return dsl::sum(square(x(dsl::slice(1, dsl::end)) - x(dsl::slice(0, -1)))) +
               dsl::sum(x) * x(3);
      },
      x);
  check([&] { return dsl::sum(dsl::flip(x) * x * x); }, x);
  array<double, 2> m = matrix(4, 4, 2);
  check(
      [&] {
        return dsl::sum(square(m + 2 * dsl::transpose(m)) +
                        exp(m(1) * m(dsl::slice(), 2)) *
                            dsl::broadcast_to(m(0, dsl::slice(0, 1)), 4, 4));
      },
      m);
}

TEST(Gradient, OfShifts) {
  array<double, 2> m = matrix(5, 4, 2);
  for (const auto beyond : {dsl::boundary::zero, dsl::boundary::wrap}) {
    check([&] { return dsl::sum(square(dsl::shift(m, 1, beyond, 0) - m) * m); }, m);
    check([&] { return dsl::sum(dsl::shift(m * m, -3, beyond, 0) * m); }, m);
  }
  const auto loss = [&] {
    return dsl::sum(square(dsl::shift(m, 1, dsl::boundary::clamp, 0) - m) * m);
  };
  EXPECT_THROW(dsl::eval(dsl::gradient(loss(), m)), dsl::value_error);
}

TEST(Gradient, OfTaken) {
  array<double> x = line(10, 1);
  array<double, 2> m = matrix(4, 3, 2);
  const array<std::int64_t> at = dsl::to_device(std::vector<std::int64_t>{3, 3, -1, 0, 7, 100, 3}),
                            rows = dsl::to_device(std::vector<std::int64_t>{2, 0, 2});
  check(
      [&] {
        return dsl::sum(exp(dsl::take(x, at)) * dsl::mean(x * x)) +
               dsl::sum(square(dsl::take(m, rows, 0)));
      },
      x, m);
}

TEST(Gradient, OfFormulasThatTake) {
  array<double> x = line(6, 1), table = line(5, 2), row = line(4, 3);
  array<double, 2> m = matrix(6, 4, 3);
  scalar<double> k = 0.7;
  const array<std::int64_t> at = dsl::to_device(std::vector<std::int64_t>{3, 3, -1, 0, 7, 3});
  // A table; an array that is also read, and an expression; a value that all elements share.
  const auto look = dsl::vectorize(
      [](auto t, auto u, auto i, auto a) { return dsl::take(t, i) * a + u * dsl::take(u, i - 1); });
  check([&] { return dsl::sum(square(look(table, x * x, at, k))); }, x, table, k);
  check([&] { return dsl::mean(exp(look(x, x, at, 2.0))) * dsl::sum(x); }, x);
  // Along axes, of arrays that are broadcast; within a sum.
  const auto along = dsl::vectorize([](auto u, auto v, auto t) {
    return dsl::sum(dsl::take(u, 1, 0) * dsl::take(v, 2, 1) * dsl::take(t, 1, 0) * u);
  });
  check([&] { return along(m, m * row, row); }, m, row);
}

TEST(Gradient, OfFormulas) {
  array<double> x = line(9, 1), y = line(9, 2);
  scalar<double> k = 0.7;
  const auto smooth = dsl::vectorize([](auto u, auto v, auto a) {
    auto d =
        dsl::shift(u, 1, dsl::boundary::clamp) - u + a * dsl::shift(v, -2, dsl::boundary::reflect);
    return dsl::sum(d * d) / dsl::norm(u);
  });
  check([&] { return smooth(x * y, y, k); }, x, y, k);
  const auto elementwise = dsl::vectorize([](auto u, auto a) { return u / (a + dsl::sum(u * u)); });
  check([&] { return dsl::sum(exp(elementwise(x, k) * y)); }, x, k);
}

TEST(Gradient, OfComplexNumbers) {
  using complex = std::complex<double>;
  const std::vector<double> re = numbers(5, 1), im = numbers(5, 2);
  std::vector<complex> given;
  for (std::size_t i = 0; i < 5; ++i) given.emplace_back(re[i], im[i]);
  const array<complex> z = dsl::to_device(given);
  const auto value = [](const array<complex>& of) {
    return dsl::sum(abs2(of * of + complex(0, 1))) + dsl::sum(real(exp(of) * conj(of)));
  };
  const std::vector<complex> found = dsl::eval(dsl::gradient(value(z), z)).copy_to_host();
  constexpr double h = 1e-5;
  for (std::size_t i = 0; i < 5; ++i) {
    const auto slope = [&](complex by) {
      std::vector<complex> moved = given;
      moved[i] += h * by;
      const double above = dsl::scalar<double>(value(dsl::to_device(moved))).value();
      moved[i] -= 2 * h * by;
      return (above - dsl::scalar<double>(value(dsl::to_device(moved))).value()) / (2 * h);
    };
    EXPECT_NEAR(found[i].real(), slope(1), 1e-7);
    EXPECT_NEAR(found[i].imag(), -slope(complex(0, 1)), 1e-7);
  }
}

TEST(Gradient, OfFloatsAndHalves) {
  const std::vector<double> x = numbers(100, 1), y = numbers(100, 2);
  const array<float> a = dsl::eval(dsl::cast<float>(dsl::to_device(x)));
  const array<dsl::half> b = dsl::eval(dsl::cast<dsl::half>(dsl::to_device(y)));
  array<float> da;
  array<dsl::half> db;
  dsl::tie(da, db) = dsl::gradient(dsl::sum(a * a * b), a, b);
  const auto of_a = da.copy_to_host(), a_host = a.copy_to_host();
  const auto of_b = db.copy_to_host(), b_host = b.copy_to_host();
  for (std::size_t i = 0; i < 100; ++i) {
    const double bi = static_cast<double>(static_cast<float>(b_host[i])), ai = a_host[i];
    EXPECT_NEAR(of_a[i], 2 * ai * bi, 1e-6);
    EXPECT_NEAR(static_cast<float>(of_b[i]), ai * ai, 1e-3);
  }
}

TEST(Gradient, OfTargetsAndErrors) {
  array<double> x = line(8, 1), other = line(8, 2), kept = line(8, 3);
  const dsl::view<const double, 1> seen = kept.view();
  kept = dsl::gradient(dsl::sum(x * x), x);
  EXPECT_EQ(seen.copy_to_host(), dsl::eval(2 * x).copy_to_host());
  // The target is the variable.
  const array<double> twice = 2 * x;
  x = dsl::gradient(dsl::sum(x * x), x);
  EXPECT_EQ(x.copy_to_host(), twice.copy_to_host());
  array<double> target = line(8, 4);
  const auto before = target.copy_to_host();
  EXPECT_THROW(target = dsl::gradient(dsl::sum(x * x), other), dsl::value_error);
  EXPECT_EQ(target.copy_to_host(), before);
  const auto every_other = x(dsl::slice(0, dsl::end, 2));
  EXPECT_THROW(dsl::eval(dsl::gradient(dsl::sum(x * x), every_other)), dsl::value_error);
  // A variable that is not used with a derivative.
  EXPECT_EQ(dsl::eval(dsl::gradient(dsl::sum(floor(x) * other), x)).copy_to_host(),
            std::vector<double>(8, 0));
  array<double> none(0);
  EXPECT_EQ(dsl::eval(dsl::gradient(dsl::sum(none * none), none)).size(), 0);
}

}  // namespace
