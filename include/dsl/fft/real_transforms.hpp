// Transforms of real numbers to the first half of their spectrum, and back.
#pragma once

#include <dsl/fft/transforms.hpp>
#include <dsl/lang/generate.hpp>
#include <dsl/lang/vectorize.hpp>

namespace dsl {

namespace detail {

/// Elements number `first` and `last` along a row without their imaginary parts, which a real row's
/// spectrum does not have there; all times a factor.
inline constexpr auto real_at_ends = vectorize([](auto x, auto position, auto last, auto factor) {
  return factor * where(position == 0 || position == last, real(x), x);
});

/// From the first half of a spectrum, of dtype A, to real numbers of dtype D, along one axis. On a
/// GPU the library is given a copy of x, whose ends are real and which has the factor.
template <dtype A, dtype D>
struct transform_of_spectrum : fourier_transform<A, D> {
  using fourier_transform<A, D>::axes;
  double factor = 1;

  static bool takes(const operand& x) { return may_be_transformed_and_scaled(x); }
  auto converted(const auto& x) const {
    const std::int64_t points = axes.points[0];
    return real_at_ends(cast<element_t<A>>(x), index(axes.axis[0], shape_of_expression(x)),
                        points % 2 == 0 ? points / 2 : 0,
                        is_scaled_by_transform(device_of(x)) ? 1 : factor);
  }
  prepared_transform prepare(const operand& result, const operand* x) const {
    return {axes, true, result, *x, factor};
  }
};

template <int Most, int Default, class X, class... Options>
auto real_transform_by(const char* function, const X& x, const Options&... options) {
  if constexpr (!may_transform<Most, Default, X, Options...>()) {
    return refused{};
  } else if constexpr (is_complex_operand<X>) {
    static_assert(!is_complex_operand<X>,
                  "dsl::rfft transforms real numbers; complex ones by dsl::fft");
    return refused{};
  } else {
    constexpr int rank = operand_t<X>::rank, count = transformed_axes<Default, rank, Options...>;
    constexpr dtype D = spectrum_of_operand<X>, A = real_of(D);
    const auto of = as_operand(x);
    const transform_request request = request_of(function, options...);
    const auto shape = shape_of_expression(of);
    const transform_axes axes =
        axes_of_transform(request, count, shape.data(), rank, false, home_of(of));
    // Along the last axis first: half of the elements are left for the others.
    const auto along_others = [&](const auto& half) {
      if constexpr (count == 1) return half;
      else return transform<D, D>(half, axes.without_last(), false);
    };
    if constexpr (!has_norm<Options...>) {
      return along_others(transform<A, D>(of, axes.last(), false));
    } else {
      const double factor = factor_of(axes, request.norm, false);
      if constexpr (is_read_in_memory<operand_t<X>, A>)
        return factor * along_others(transform<A, D>(of, axes.last(), false));
      else
        return along_others(transform<A, D>(factor * cast<element_t<A>>(of), axes.last(), false));
    }
  }
}

template <int Most, int Default, class X, class... Options>
auto inverse_real_transform_by(const char* function, const X& x, const Options&... options) {
  if constexpr (!may_transform<Most, Default, X, Options...>()) {
    return refused{};
  } else {
    constexpr int rank = operand_t<X>::rank, count = transformed_axes<Default, rank, Options...>;
    constexpr dtype A = spectrum_of_operand<X>, D = real_of(A);
    const auto of = as_operand(x);
    const transform_request request = request_of(function, options...);
    const transform_axes axes =
        axes_of_transform(request, count, shape_of_expression(of).data(), rank, true, home_of(of));
    const auto along_last = [&]<class H>(const H& half) {
      using operation = transform_of_spectrum<A, D>;
      return array_operation<operation, D, rank, H>{
          operation{{axes.last(), true}, factor_of(axes, request.norm, true)}, {half}};
    };
    if constexpr (count == 1) return along_last(of);
    else return along_last(transform<A, A>(of, axes.without_last(), true));
  }
}

}  // namespace detail

// Options and errors are those of fft (<dsl/fft/transforms.hpp>).

/// The elements 0 ... n / 2 of the transform of n real numbers, the complex conjugates of which are
/// the others: np.fft.rfft. float32 and 16-bit numbers give complex64, others complex128.
/// ```cpp
/// dsl::array<std::complex<double>> d = 2i * pi * dsl::rfftfreq(128, 1.0 / 128) * dsl::rfft(u);
/// ```
template <class X, class... Options>
  requires detail::operands<X>
auto rfft(const X& x, const Options&... options) {
  return detail::real_transform_by<1, 1>("rfft", x, options...);
}
/// The n real numbers of which x is the rfft: np.fft.irfft. n is 2 (m - 1) by default for m
/// elements: give odd ones. The imaginary parts of elements 0 and n / 2 are not read.
/// ```cpp
/// dsl::array<double> same = dsl::irfft(dsl::rfft(wave), 127);
/// ```
template <class X, class... Options>
  requires detail::operands<X>
auto irfft(const X& x, const Options&... options) {
  return detail::inverse_real_transform_by<1, 1>("irfft", x, options...);
}
/// rfft along the last of several axes, then fft along the others: np.fft.rfftn. By default all
/// axes.
template <class X, class... Options>
  requires detail::operands<X>
auto rfftn(const X& x, const Options&... options) {
  return detail::real_transform_by<max_rank, 0>("rfftn", x, options...);
}
/// The inverse of rfftn: np.fft.irfftn. The extent along the last axis is 2 (m - 1) by default.
/// ```cpp
/// dsl::array<double, 2> potential = dsl::irfftn(
///     where(square_of_k == 0, 0.0, 1 / square_of_k) * dsl::rfftn(density), dsl::extents<2>{32,
///     64});
/// ```
template <class X, class... Options>
  requires detail::operands<X>
auto irfftn(const X& x, const Options&... options) {
  return detail::inverse_real_transform_by<max_rank, 0>("irfftn", x, options...);
}

}  // namespace dsl
