// dsl::gradient: each reduction, axes, views, shifts, formulas, dtypes.
#include "gradient_check.hpp"

#include <dsl/by_key.hpp>

#include <complex>

namespace {

using namespace gradient_check;
using dsl::array;
using dsl::scalar;

struct more_gradients : on_device {};
ON_EVERY_DEVICE(more_gradients);

TEST_P(more_gradients, of_several_reductions) {
  array<double> x = line(7, 1), w = line(5, 2, 0.5, 2);
  scalar<double> k = 0.3;
  check(
      [&] { return dsl::sum(x * x) / dsl::prod(w) + k * dsl::norm(w) * dsl::max(x) + 0.1 * k * k; },
      x, w, k);
  check([&] { return dsl::var(x, dsl::ddof(1)) * dsl::vdot(x, sin(x)); }, x);
}

TEST_P(more_gradients, along_axes) {
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

TEST_P(more_gradients, of_softmax) {
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

TEST_P(more_gradients, of_views) {
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

TEST_P(more_gradients, of_shifts) {
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

// Weights that elements share along the axis of a shift; operands that are broadcast along it.
TEST_P(more_gradients, of_shifts_beside_broadcasts) {
  array<double, 2> m = matrix(4, 5, 3), c = matrix(4, 1, 4);
  array<double> v = line(5, 4);
  scalar<double> k = 0.7;
  const auto zero = dsl::boundary::zero;
  check([&] { return dsl::sum(dsl::shift(v * v, 1)); }, v);
  check(
      [&] {
        return dsl::sum(exp(dsl::sum(dsl::shift(m * m, 1, zero, 1), dsl::axis(1)))) +
               dsl::sum(v * exp(dsl::mean(dsl::shift(m, 1, zero, 0), dsl::axis(0))));
      },
      m);
  check([&] { return k * dsl::sum(v * dsl::shift(m, 1, zero, 0)); }, m, v, k);
  check([&] { return dsl::mean(c * dsl::shift(m, 2, zero, 1)) + dsl::max(c); }, m, c);
  for (const auto beyond : {dsl::boundary::zero, dsl::boundary::wrap, dsl::boundary::clamp})
    check([&] { return dsl::sum(m * dsl::shift(c, 1, beyond, 1)); }, c, m);
}

TEST_P(more_gradients, of_formulas) {
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

TEST_P(more_gradients, of_complex_numbers) {
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

TEST_P(more_gradients, of_floats_and_halves) {
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

TEST_P(more_gradients, of_formulas_that_take) {
  array<double> x = line(6, 1), table = line(5, 2), row = line(4, 3);
  array<double, 2> m = matrix(6, 4, 3);
  scalar<double> k = 0.7;
  const array<std::int64_t> at = dsl::to_device(std::vector<std::int64_t>{3, 3, -1, 0, 7, 3});
  // An expression; a value that all elements share.
  const auto look = dsl::vectorize(
      [](auto t, auto u, auto i, auto a) { return dsl::take(t, i) * a + u * dsl::take(u, i - 1); });
  check([&] { return dsl::sum(square(look(table, x * x, at, k))); }, x, table, k);
  check([&] { return dsl::mean(exp(look(x, x, at, 2.0))) * dsl::sum(x); }, x);
  // Along axes, of arrays that are broadcast; within a sum.
  const auto along = dsl::vectorize([](auto u, auto v, auto t) {
    return dsl::sum(dsl::take(u, 1, 0) * dsl::take(v, 2, 1) * dsl::take(t, 1, 0) * u);
  });
  check([&] { return along(m, m * m, row); }, m, row);
}

}  // namespace
