// Gradients of losses beside central differences of the loss, for every element.
#pragma once

#include "../on_device.hpp"

#include <cmath>
#include <random>
#include <tuple>
#include <vector>

namespace gradient_check {

inline std::vector<double> numbers(std::size_t n, unsigned seed, double low = -1, double high = 1) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> of(low, high);
  std::vector<double> made(n);
  for (double& x : made) x = of(engine);
  return made;
}
inline dsl::array<double> line(std::int64_t n, unsigned seed, double low = -1, double high = 1) {
  return dsl::to_device(numbers(static_cast<std::size_t>(n), seed, low, high));
}
inline dsl::array<double, 2> matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
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
inline void expect_close(const std::vector<double>& found, const std::vector<double>& expected,
                         double within = 1e-7) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], within * (1 + std::fabs(expected[i]))) << "element " << i;
}
// The gradient of loss() with respect to all variables, beside differences.
template <class Loss, class... X>
void check(const Loss& loss, X&... x) {
  std::tuple<X...> found{X{}...};
  std::apply([&](auto&... d) { dsl::tie(d...) = dsl::gradient(loss(), x...); }, found);
  std::apply([&](auto&... d) { (expect_close(on_host(d), differences(x, loss)), ...); }, found);
}
// The value of loss() and its gradient beside dsl::eval and dsl::gradient: equal derivatives,
// unless `within` is greater than 0.
template <class Loss, class... X>
void check_value(double within, const Loss& loss, const X&... x) {
  auto wanted = dsl::eval(loss());
  decltype(wanted) value;
  std::tuple<X...> found{X{}...}, of{X{}...};
  std::apply([&](auto&... d) { dsl::tie(d...) = dsl::gradient(loss(), x...); }, of);
  std::apply([&](auto&... d) { dsl::tie(value, d...) = dsl::value_and_gradient(loss(), x...); },
             found);
  using std::abs;
  EXPECT_LE(abs(value.value() - wanted.value()), 1e-14 * abs(wanted.value()));
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (expect_close(on_host(std::get<I>(found)), on_host(std::get<I>(of)), within), ...);
  }(std::index_sequence_for<X...>{});
}

}  // namespace gradient_check
