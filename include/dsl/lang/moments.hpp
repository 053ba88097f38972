// The algorithm of skew and kurtosis.
#pragma once

#include <dsl/lang/reduction_rules.hpp>

namespace dsl::detail {

/// The number of elements, their mean, and the sums of (x - mean)^2, (x - mean)^3 and, for
/// kurtosis, (x - mean)^4 are accumulated in one pass. Partial results are joined by the formulas
/// of P. Pebay, Formulas for robust, one-pass parallel computation of covariances and
/// arbitrary-order statistical moments, Sandia report SAND2008-6212, 2008, with shares of the
/// elements in the place of their numbers: one division, whose result the compiler knows for a
/// thread's lanes.
///
/// Where a formula uses the result for each element, and where it is differentiated, the mean is
/// computed first, as for a variance.
template <bool Fourth>
struct standardized_moment : without_calls {
  template <class S> static constexpr auto trace(tracer&, S s) {
    constexpr bool is_real = kind_of(type_of<S>) != kind::complex;
    static_assert(is_real,
                  "skew and kurtosis are of real numbers: take real(x), imag(x) or abs(x)");
    if constexpr (is_real) return named(Fourth ? "kurtosis" : "skew", reduce(s), s);
    else return s;
  }

 private:
  template <class S> static constexpr auto reduce(S s) {
    constexpr dtype C = mean_accumulator(type_of<S>);
    const auto x = as<C>(s);
    const auto elements = as<C>(count_of(s.owner));
    s.owner->has_variance = true;
    if (s.owner->reads_rows_again) {
      const auto n =
          s.owner->counts_groups ? sum_of(constant<C>(s.owner, value_t<C>(1))) : elements;
      const auto mean = named("mean", sum_of(x) / n, s), d = x - mean;
      return finished<type_of<S>>(n, mean, sum_of(d * d),
                                  sum_of(Fourth ? d * d * (d * d) : d * d * d));
    }
    // -0 + x is x for every x, so that the compiler can remove the sums of an element's known
    // values.
    constexpr value_t<C> none = -value_t<C>(0);
    const auto nothing = constant<C>(s.owner, none);
    const auto one = constant<C>(s.owner, value_t<C>(1));
    const auto all = [&] {
      if constexpr (Fourth)
        return reduce_together(false, join<C>, tuple{none, none, none, none, none}, one, x, nothing,
                               nothing, nothing);
      else
        return reduce_together(false, join<C>, tuple{none, none, none, none}, one, x, nothing,
                               nothing);
    }();
    return finished<type_of<S>>(s.owner->counts_groups ? get<0>(all) : elements, get<1>(all),
                                get<2>(all), get<Fourth ? 4 : 3>(all));
  }
  template <class S> static constexpr auto sum_of(S s) {
    return reduce_by<op::add>(s, value_t<type_of<S>>{});
  }

  template <dtype C>
  static constexpr auto join = [](const auto& a, const auto& b) {
    const auto n = get<0>(a) + get<0>(b);
    const auto of_b = get<0>(b) / max(n, 1), of_a = 1 - of_b;  // Shares of the elements.
    const auto apart = get<1>(b) - get<1>(a);
    const auto mean = get<1>(a) + apart * of_b;
    // The factor that may be 0 comes first, so that empty partial results add 0, not inf * 0.
    const auto between = apart * (apart * (get<0>(a) * of_b));
    const auto second = get<2>(a) + get<2>(b) + between;
    const auto third =
        get<3>(a) + get<3>(b) +
        apart * (between * (of_a - of_b) + 3 * (of_a * get<2>(b) - of_b * get<2>(a)));
    if constexpr (Fourth) {
      const auto squares = of_a * of_a * get<2>(b) + of_b * of_b * get<2>(a);
      const auto fourth =
          get<4>(a) + get<4>(b) +
          apart * (apart * (between * (of_a * of_a - of_a * of_b + of_b * of_b) + 6 * squares) +
                   4 * (of_a * get<3>(b) - of_b * get<3>(a)));
      return tuple{n, mean, second, third, fourth};
    } else {
      return tuple{n, mean, second, third};
    }
  };

  /// NaN, as SciPy, if the variance is not above what rounding the mean may make of equal elements.
  template <dtype D, class S>
  static constexpr auto finished(S n, S mean, S squares, S powers) {
    constexpr dtype C = type_of<S>;
    constexpr auto epsilon = static_cast<value_t<C>>(C == dtype::float32 ? 0x1p-23 : 0x1p-52);
    const auto variance = squares / n, least = mean * epsilon;
    const auto over_variance = powers / squares;
    const auto result = [&] {
      if constexpr (Fourth) return over_variance / variance - 3;
      else return over_variance / sqrt(variance);
    }();
    return as<mean_dtype(D)>(where(variance <= least * least, math::quiet_nan<value_t<C>>, result));
  }
};
using skew_function = standardized_moment<false>;
using kurtosis_function = standardized_moment<true>;

}  // namespace dsl::detail
