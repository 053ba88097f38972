// More random loops: elements at positions, ends, floats, complex numbers.
#include "random_gradient_loops.hpp"

namespace {

using namespace random_gradient_loops;

// A complex field, a real one, and a sum of the new state that is used in the next step.
struct complex_fields {
  drawing d;
  auto make() const {
    const auto& a = d.a;
    return std::pair{
        std::tuple{d.matrix<complex>(1), d.matrix(2), scalar<complex>(complex(0.3, -0.2))},
        std::tuple{d.matrix<complex>(3), scalar<double>(0.7), scalar<complex>(complex(0.5, 1)), 0.2,
                   a[0], a[1], a[2], a[3], a[4]}};
  }
  template <class Given>
  auto gradient(Given& given) const {
    const auto step = dsl::vectorize([](auto f, auto g, auto delta, auto source, auto k, auto d,
                                        auto h, auto a, auto b, auto c, auto e, auto m) {
      auto new_f = f + h * (a * dsl::constant(complex(0, 1)) * g * f + b * d * conj(f) +
                            c * k * dsl::shift(f, 1, boundary::wrap, 1) + e * delta * source);
      auto new_g = g + h * (a * real(d * f) + m * abs2(dsl::shift(f, -1, boundary::clamp, 0)));
      return std::tuple{new_f, new_g, dsl::mean(new_f * conj(source)) * d};
    });
    const auto loss = [](auto f, auto g, auto delta) {
      return dsl::sum(abs2(f) * g) + abs2(delta);
    };
    return std::apply(
        [&](const auto&... p) {
          auto& [f, g, delta] = given.first;
          return dsl::iterate_gradient(d.steps, step, loss, dsl::state(f, g, delta), p...,
                                       d.limit(3 * d.size() + 2));
        },
        given.second);
  }
  wide_loss reference() const {
    return [d = d](const all_values& all) {
      values f = all[0], g = all[1];
      wide delta = all[2][0];
      const values& source = all[3];
      const wide k = all[4][0], by = all[5][0];
      const long double h = 0.2, size = static_cast<long double>(f.size());
      const auto a = [&d](int i) { return static_cast<long double>(d.a[i]); };
      for (int64_t step = 0; step < d.steps; ++step) {
        values new_f = f, new_g = g;
        wide sum = 0;
        for (std::size_t i = 0; i < f.size(); ++i) {
          new_f[i] +=
              h * (a(0) * wide(0, 1) * g[i] * f[i] + a(1) * by * std::conj(f[i]) +
                   a(2) * k * d.shifted(f, i, 1, boundary::wrap, 1) + a(3) * delta * source[i]);
          new_g[i] += h * (a(0) * (by * f[i]).real() +
                           a(4) * std::norm(d.shifted(f, i, -1, boundary::clamp, 0)));
          sum += new_f[i] * std::conj(source[i]) / size;
        }
        f = new_f;
        g = new_g;
        delta = sum * by;
      }
      long double loss = std::norm(delta);
      for (std::size_t i = 0; i < f.size(); ++i) loss += std::norm(f[i]) * g[i].real();
      return loss;
    };
  }
};

TEST(IterateGradient, OfRandomPositionsAndEnds) { check_loops<sums<true>>(2000, 50); }
TEST(IterateGradient, OfRandomFloats) { check_loops<neighbours<float>>(3000, 25, 3e-4); }
TEST(IterateGradient, OfRandomComplexFields) { check_loops<complex_fields>(4000, 25); }

}  // namespace
