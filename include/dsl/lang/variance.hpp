// The algorithm of var and std.
#pragma once

#include <dsl/lang/reduction_rules.hpp>

namespace dsl::detail {

/// Where a formula uses the variance for each element, and so reads the row again anyway, the
/// variance is computed from the differences from the mean.
///
/// Otherwise it is computed in one pass. Elements are taken relative to an element, the origin: d =
/// x - origin. n, sum(d) and sum(d^2) are accumulated, so that no mean is rounded at each element.
/// Two partial results are combined by moving one, as a rule the smaller, to the other's origin. If
/// the moved one has more than a few elements (a thread's lanes), the origin then becomes the mean
/// of both, so that the correction sum(d)^2 / n is never large (Chan, Golub and LeVeque, Algorithms
/// for computing the sample variance, 1983).
template <bool IgnoreNan, bool Root>
struct variance : without_calls {
  template <class S, class N> static constexpr auto trace(tracer&, S s, N ddof) {
    constexpr dtype C = mean_accumulator(type_of<S>), R = real_of(C);
    constexpr bool ignores = IgnoreNan && may_be_nan<S>;
    auto one = constant<R>(s.owner, value_t<R>(1)), zero = constant<R>(s.owner, value_t<R>(0));
    auto x = as<C>(s);
    auto n = one;
    if constexpr (ignores) {
      n = choose(is_nan(s), zero, one);
      x = as<C>(without_nan(s, 0));
    }
    auto elements = as<R>(count_of(s.owner));
    s.owner->has_variance = true;
    if (s.owner->reads_rows_again) {
      if constexpr (ignores) elements = reduce_by<op::add>(n, value_t<R>(0));
      const auto mean =
          named(IgnoreNan ? "nanmean" : "mean",
                as<C>(apply<op::divide>(reduce_by<op::add>(x, value_t<C>{}), elements)), s);
      auto about_mean = as<C>(apply<op::subtract>(x, mean));
      if constexpr (ignores)
        about_mean = choose(is_nan(s), constant<C>(s.owner, value_t<C>{}), about_mean);
      return finished(
          s, as<R>(reduce_by<op::add>(as<R>(inner_product(about_mean, about_mean)), value_t<R>(0))),
          elements, ddof);
    }
    const auto combine = [](const auto& a, const auto& b) {
      const auto [na, origin_a, sum_a, squares_a] = a;
      const auto [nb, origin_b, sum_b, squares_b] = b;
      const auto nothing = constant<R>(na.owner, value_t<R>(0)),
                 most = constant<R>(na.owner, value_t<R>(16));
      const auto few = apply<op::less_equal>(nb, most);
      const auto count = apply<op::add>(na, nb);
      const auto origin = choose(apply<op::equal>(na, nothing), origin_b, origin_a);
      const auto moved = relative_to(origin, nb, origin_b, sum_b, squares_b);
      const auto sum = as<C>(apply<op::add>(sum_a, moved.first));
      const auto squares = apply<op::add>(squares_a, moved.second);
      const auto shift =
          choose(apply<op::greater>(count, nothing), as<C>(apply<op::divide>(sum, count)),
                 constant<C>(na.owner, value_t<C>{}));
      const auto mean = as<C>(apply<op::add>(origin, shift));
      const auto about_mean = relative_to(mean, count, origin, sum, squares);
      return tuple{count, choose(few, origin, mean), choose(few, sum, about_mean.first),
                   choose(few, squares, about_mean.second)};
    };
    // -0 + x is x for every x, so that the compiler can remove the sums of an element's known
    // values.
    constexpr value_t<R> none = -value_t<R>(0);
    constexpr value_t<C> no_sum = [] {
      if constexpr (is_complex<value_t<C>>) return value_t<C>{-value_t<R>(0), -value_t<R>(0)};
      else return -value_t<C>(0);
    }();
    const auto [counted, origin, sum, squares] =
        reduce_together(false, combine, tuple{value_t<R>(0), value_t<C>{}, no_sum, none}, n, x,
                        constant<C>(s.owner, no_sum), constant<R>(s.owner, none));
    (void)origin;
    const auto taken_off = choose(apply<op::greater>(counted, zero),
                                  apply<op::divide>(inner_product(sum, sum), counted), zero);
    const auto about_mean = apply<op::add>(
        apply<op::max>(apply<op::subtract>(squares, taken_off), zero), zero);  // 0, not -0
    if (ignores || s.owner->counts_groups) return finished(s, about_mean, counted, ddof);
    return finished(s, about_mean, elements, ddof);
  }
  template <class S> static constexpr auto trace(tracer& t, S s) {
    return named(name, trace(t, s, constant<dtype::int64>(s.owner, 0)), s);
  }

 private:
  static constexpr const char* name =
      Root ? (IgnoreNan ? "nanstd" : "std") : (IgnoreNan ? "nanvar" : "var");
  template <class S, class R, class N>
  static constexpr auto finished(S s, R squares, R elements, N ddof) {
    const auto zero = constant<type_of<R>>(squares.owner, value_t<type_of<R>>(0));
    const auto taken_off = as<type_of<R>>(ddof);
    const auto free = apply<op::max>(apply<op::subtract>(elements, taken_off), zero);
    const auto result = [&] {
      const auto quotient = apply<op::divide>(squares, free);
      if constexpr (Root) return apply<op::sqrt>(quotient);
      else return quotient;
    }();
    return named(name, as<real_of(mean_dtype(type_of<S>))>(result), s, taken_off.id);
  }
  /// The sums of n elements relative to another origin:
  /// sum(d + m) = sum(d) + n m
  /// sum((d + m)^2) = sum(d^2) + m (sum(d) + sum(d + m))
  template <class C, class R>
  static constexpr std::pair<C, R> relative_to(C origin, R n, C from, C sum, R squares) {
    const auto by = apply<op::subtract>(from, origin);
    const auto moved = as<type_of<C>>(apply<op::add>(sum, apply<op::multiply>(by, n)));
    return {moved,
            apply<op::add>(squares, inner_product(by, as<type_of<C>>(apply<op::add>(sum, moved))))};
  }
  template <class S>
  static constexpr auto inner_product(S a, S b) {
    if constexpr (kind_of(type_of<S>) == kind::complex)
      return apply<op::add>(apply<op::multiply>(apply<op::real>(a), apply<op::real>(b)),
                            apply<op::multiply>(apply<op::imag>(a), apply<op::imag>(b)));
    else return apply<op::multiply>(a, b);
  }
};
using var_function = variance<false, false>;
using std_function = variance<false, true>;
using nanvar_function = variance<true, false>;
using nanstd_function = variance<true, true>;

}  // namespace dsl::detail
