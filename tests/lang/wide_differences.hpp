// Derivatives by central differences of a reference in long doubles.
#pragma once

#include "loop_differences.hpp"

#include <functional>

namespace loop_differences {

using wide = std::complex<long double>;
using values = std::vector<wide>;        // of an array, or of a single value
using all_values = std::vector<values>;  // of each variable, then of each parameter
using wide_loss = std::function<long double(const all_values&)>;

/// Those of variables and parameters on the host; none of expressions.
template <class... X>
all_values values_of(const std::tuple<X...>& all) {
  all_values made;
  const auto add = [&](const auto& x) {
    using type = std::remove_cvref_t<decltype(x)>;
    if constexpr (std::is_arithmetic_v<type>) {
      made.push_back({wide(static_cast<long double>(x))});
    } else if constexpr (dsl::detail::is_array<type> || dsl::detail::is_scalar<type>) {
      const auto on = on_host(x);
      made.emplace_back(on.begin(), on.end());
    } else {
      made.emplace_back();
    }
  };
  std::apply([&](const auto&... x) { (add(x), ...); }, all);
  return made;
}

inline constexpr long double wide_step = 1e-6L;  // of the differences

/// The derivatives df/dx - i df/dy of the loss with respect to the floating point numbers in device
/// memory among `given`, a pair of two tuples.
template <class... Y, class... X>
derivatives wide_differences(const std::pair<std::tuple<Y...>, std::tuple<X...>>& given,
                             const wide_loss& loss) {
  all_values all = values_of(std::tuple_cat(given.first, given.second));
  derivatives found;
  const auto add = [&]<class Input>(std::type_identity<Input>, values& x) {
    std::vector<complex>& d = found.emplace_back();
    if constexpr (has_derivative<Input>) {
      for (wide& e : x) {
        const wide at = e;
        const auto slope = [&](wide by) {
          e = at + by;
          const long double above = loss(all);
          e = at - by;
          const long double below = loss(all);
          e = at;
          return static_cast<double>((above - below) / (2 * wide_step));
        };
        if constexpr (std::is_same_v<typename Input::value_type, complex>)
          d.emplace_back(slope(wide_step), -slope(wide(0, wide_step)));
        else d.emplace_back(slope(wide_step));
      }
    }
  };
  std::size_t k = 0;
  (add(std::type_identity<Y>{}, all[k++]), ...);
  (add(std::type_identity<X>{}, all[k++]), ...);
  return found;
}

/// Compares <found, v> with the change of the loss along v, whose elements are random numbers. For
/// a loss that is a sum with weights w this is <v, J^T w> = <J v, w>.
template <class Given>
void expect_change_along(const Given& given, const wide_loss& loss, const derivatives& found,
                         unsigned seed, double within, const std::string& where) {
  const all_values all = values_of(std::tuple_cat(given.first, given.second));
  ASSERT_EQ(all.size(), found.size());
  all_values along = all;
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  long double product = 0, size = 1;
  for (std::size_t k = 0; k < found.size(); ++k) {
    for (wide& v : along[k]) v = 0;
    for (std::size_t i = 0; i < found[k].size(); ++i) {
      const double v = draw(engine);
      along[k][i] = v;
      product += v * found[k][i].real();
      size += std::fabs(v * found[k][i].real());
    }
  }
  const auto at = [&](long double by) {
    all_values moved = all;
    for (std::size_t k = 0; k < moved.size(); ++k)
      for (std::size_t i = 0; i < moved[k].size(); ++i) moved[k][i] += by * along[k][i];
    return loss(moved);
  };
  EXPECT_NEAR(static_cast<double>(product),
              static_cast<double>((at(wide_step) - at(-wide_step)) / (2 * wide_step)),
              within * static_cast<double>(size))
      << where;
}

}  // namespace loop_differences
