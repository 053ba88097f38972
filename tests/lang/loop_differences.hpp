// Time loops and their derivatives by central differences of the whole loop, for tests of
// dsl::iterate_gradient.
#pragma once

#include "../on_device.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace loop_differences {

using dsl::array;
using dsl::scalar;
using complex = std::complex<double>;

// Those that the test is compiled for and the machine has; the first one gives the differences.
inline std::vector<const char*> loop_devices() {
  std::vector<const char*> all = compiled_devices();
  if (dsl::devices().front().kind != dsl::backend::cuda)
    std::erase_if(all, [](const char* name) { return std::string(name) == "cuda"; });
  if (std::find(all.begin(), all.end(), std::string("sim")) != all.end()) all.push_back("sim:0-3");
  return all;
}
inline const std::vector<const char*> devices = loop_devices();

template <class T = double>
std::vector<T> numbers(std::int64_t n, unsigned seed, double low = -1, double high = 1) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> of(low, high);
  std::vector<T> made(static_cast<std::size_t>(n));
  for (T& x : made) {
    if constexpr (std::is_same_v<T, complex>) x = complex(of(engine), of(engine));
    else x = static_cast<T>(of(engine));
  }
  return made;
}
template <class T = double>
array<T> line(std::int64_t n, unsigned seed, double low = -1, double high = 1) {
  return dsl::to_device(numbers<T>(n, seed, low, high));
}

template <class T = double>
array<T, 2> matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
  return dsl::reshape(line<T>(rows * columns, seed), rows, columns);
}

// A loop: what its variables and parameters are when it begins, f, and the loss.
template <class Make, class F, class Loss>
struct loop {
  Make make;  // returns std::pair of two tuples
  F f;
  Loss loss;
  std::int64_t first = 0;
  double h = 1e-5;  // of the differences

  template <class Variables, class Parameters, class... Options>
  auto gradient(std::int64_t steps, Variables& v, const Parameters& p,
                const Options&... options) const {
    return std::apply(
        [&](auto&... x) {
          return std::apply(
              [&](const auto&... y) {
                return dsl::iterate_gradient(steps, f, loss, dsl::state(x...), y...,
                                             dsl::from_step(first), options...);
              },
              p);
        },
        v);
  }
  // The loss after `steps` steps.
  template <class Variables, class Parameters>
  double value(std::int64_t steps, Variables& v, const Parameters& p) const {
    return std::apply(
        [&](auto&... x) {
          std::apply(
              [&](const auto&... y) {
                dsl::iterate(steps, f, dsl::state(x...), y..., dsl::from_step(first),
                             dsl::detail::no_histories{});
              },
              p);
          return static_cast<double>(dsl::eval(loss(x...)).value());
        },
        v);
  }
};
template <class Make, class F, class Loss>
loop(Make, F, Loss) -> loop<Make, F, Loss>;
template <class Make, class F, class Loss>
loop(Make, F, Loss, int) -> loop<Make, F, Loss>;

template <class X> constexpr bool has_derivative = false;
template <class T, int R> constexpr bool has_derivative<array<T, R>> = !std::is_integral_v<T>;
template <class T> constexpr bool has_derivative<scalar<T>> = !std::is_integral_v<T>;

template <class X>
auto on_host(const X& x) {
  using T = typename X::value_type;
  std::vector<complex> all;
  if constexpr (X::rank == 0) all.push_back(x.value());
  else
    for (const T e : x.copy_to_host()) all.push_back(e);
  return all;
}

// The derivatives df/dx - i df/dy with respect to the elements of x, by differences.
template <class X, class Value>
std::vector<complex> differences(X& x, double h, const Value& value) {
  using T = typename X::value_type;
  std::vector<complex> found;
  if constexpr (has_derivative<X>) {
    const auto all = [&] {
      if constexpr (X::rank == 0) return dsl::view<T, 1>(x.view().owner(), x.data(), {1}, {1});
      else return dsl::reshape(x, x.size());
    }();
    for (std::int64_t i = 0; i < all.size(); ++i) {
      const T at = all(i).value();
      const auto slope = [&](T by) {
        all(i) = at + by;
        const double above = value();
        all(i) = at - by;
        const double below = value();
        all(i) = at;
        return (above - below) / (2 * h);
      };
      if constexpr (std::is_same_v<T, complex>) found.emplace_back(slope(h), -slope(complex(0, h)));
      else found.emplace_back(slope(static_cast<T>(h)));
    }
  }
  return found;
}

using derivatives = std::vector<std::vector<complex>>;

// By differences: of each variable, then of each parameter.
template <class Loop>
std::pair<double, derivatives> expected_of(const Loop& of, std::int64_t steps) {
  const dsl::device_guard guard(devices.front());
  auto given = of.make();
  const auto value = [&] {
    auto v =
        std::apply([](const auto&... x) { return std::tuple{dsl::eval(x * 1)...}; }, given.first);
    return of.value(steps, v, given.second);
  };
  derivatives found;
  const auto add = [&](auto& x) { found.push_back(differences(x, of.h, value)); };
  std::apply([&](auto&... x) { (add(x), ...); }, given.first);
  std::apply(
      [&]<class... P>(P&... p) {
        const auto one = [&](auto& x) {
          if constexpr (has_derivative<std::remove_cvref_t<decltype(x)>>) add(x);
          else found.emplace_back();
        };
        (one(p), ...);
      },
      given.second);
  return {value(), found};
}

template <class Given, class Found>
derivatives found_in(const Given&, const Found& found) {
  derivatives all;
  [&]<class... V, class... P>(const std::pair<std::tuple<V...>, std::tuple<P...>>*) {
    [&]<std::size_t... I, std::size_t... K>(std::index_sequence<I...>, std::index_sequence<K...>) {
      const auto variable = [&]<std::size_t N, class X>() {
        if constexpr (has_derivative<X>) all.push_back(on_host(found.template state<N>()));
        else all.emplace_back();
      };
      const auto parameter = [&]<std::size_t N, class X>() {
        if constexpr (has_derivative<X>) all.push_back(on_host(found.template parameter<N>()));
        else all.emplace_back();
      };
      (variable.template operator()<I, V>(), ...);
      (parameter.template operator()<K, P>(), ...);
    }(std::index_sequence_for<V...>{}, std::index_sequence_for<P...>{});
  }(static_cast<const Given*>(nullptr));
  return all;
}

inline void expect_near(const derivatives& found, const derivatives& expected, double within,
                        const std::string& where) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].size(), expected[k].size()) << "derivative " << k << where;
    for (std::size_t i = 0; i < found[k].size(); ++i)
      ASSERT_LE(std::abs(found[k][i] - expected[k][i]), within * (1 + std::abs(expected[k][i])))
          << "derivative " << k << ", element " << i << ": " << found[k][i] << ", by differences "
          << expected[k][i] << where;
  }
}

// Compares with differences on every device.
template <class Loop>
void check(const Loop& of, std::int64_t steps, double within = 1e-7,
           const std::vector<const char*>& where_to = devices) {
  const auto expected = expected_of(of, steps);
  for (const char* const name : where_to) {
    const dsl::device_guard guard{dsl::device(name)};
    auto given = of.make();
    const auto found = of.gradient(steps, given.first, given.second);
    const std::string where =
        std::string(" on ") + name + " after " + std::to_string(steps) + " steps";
    EXPECT_NEAR(found.loss.value(), expected.first, within * (1 + std::fabs(expected.first)))
        << where;
    expect_near(found_in(given, found), expected.second, within, where);
    // The variables hold the last state.
    EXPECT_NEAR(
        static_cast<double>(std::apply(
            [&](const auto&... v) { return dsl::eval(of.loss(v...)).value(); }, given.first)),
        expected.first, within * (1 + std::fabs(expected.first)))
        << where;
  }
}

}  // namespace loop_differences
