// Transforms between complex numbers.
#pragma once

#include <dsl/fft/operation.hpp>

namespace dsl {

namespace detail {

/// A transform along axes that are chosen. The factor of one with a norm, or of an inverse one, is
/// part of the formula before it if there is one, otherwise of the formula that reads it.
template <bool IsScaled, class X>
auto complex_transform(const X& x, const transform_axes& axes, bool inverse, fft_norm norm) {
  constexpr dtype D = spectrum_of_operand<X>;
  if constexpr (!IsScaled) {
    return transform<D, D>(x, axes, inverse);
  } else {
    const double factor = factor_of(axes, norm, inverse);
    if constexpr (is_read_in_memory<X, D>) return factor * transform<D, D>(x, axes, inverse);
    else return transform<D, D>(factor * cast<element_t<D>>(x), axes, inverse);
  }
}

template <bool Inverse, int Most, int Default, class X, class... Options>
auto transform_by(const char* function, const X& x, const Options&... options) {
  if constexpr (!may_transform<Most, Default, X, Options...>()) {
    return refused{};
  } else {
    const auto of = as_operand(x);
    constexpr int rank = operand_t<X>::rank, count = transformed_axes<Default, rank, Options...>;
    constexpr bool is_scaled = Inverse || has_norm<Options...>;
    const transform_request request = request_of(function, options...);
    const transform_axes axes =
        axes_of_transform(request, count, shape_of_expression(of).data(), rank, false, home_of(of));
    return complex_transform<is_scaled>(of, axes, Inverse, request.norm);
  }
}

}  // namespace detail

// Discrete Fourier transforms of x, an array, a view or an expression. fft is the sum over j of
// x[j] exp(-2 pi i j k / n) for k = 0 ... n - 1, ifft the sum with +2 pi i divided by n, as in
// NumPy. Options follow x, in any order:
//
// - n, or dsl::extents<2>{n0, n1} of several axes: the number of points along each axis. x is
//   followed by zeros, or its last elements are not read. By default x's extents;
// - dsl::axis(k), dsl::axis(i, j): the axes. By default the last one (fft, ifft), the last two
//   (fft2, ifft2), or all (fftn, ifftn); with extents alone, the last ones;
// - dsl::fft_norm::ortho, ::forward, ::backward.
//
// Real numbers are converted: float32 and 16-bit ones to complex64, others to complex128. Arrays
// and views are read where they lie, whatever their strides; another expression is evaluated once,
// before. The result is an operand like any other, and the formula around it a kernel beside it.
// psi = dsl::fft(psi) needs no temporary.
//
// By cuFFT on a GPU, by KissFFT or FFTW on the host and in the simulator. Does not wait. Throws
// shape_error for an axis that does not exist or is named twice and for less than one point,
// device_error on OpenCL devices, meshes and several processes; memory_error, cuda_error.

/// The discrete Fourier transform along one axis: np.fft.fft.
/// ```cpp
/// dsl::array<std::complex<float>, 2> columns = dsl::fft(image, dsl::axis(0), 512);
/// ```
template <class X, class... Options>
  requires detail::operands<X>
auto fft(const X& x, const Options&... options) {
  return detail::transform_by<false, 1, 1>("fft", x, options...);
}
/// The inverse of fft: np.fft.ifft. Its factor 1 / n joins the formula that x is, or that reads the
/// result.
/// ```cpp
/// psi = dsl::ifft(exp(-0.5i * h * k * k) * dsl::fft(psi));
/// ```
template <class X, class... Options>
  requires detail::operands<X>
auto ifft(const X& x, const Options&... options) {
  return detail::transform_by<true, 1, 1>("ifft", x, options...);
}
/// fft along two axes: np.fft.fft2.
template <class X, class... Options>
  requires detail::operands<X>
auto fft2(const X& x, const Options&... options) {
  return detail::transform_by<false, max_rank, 2>("fft2", x, options...);
}
/// ifft along two axes: np.fft.ifft2.
template <class X, class... Options>
  requires detail::operands<X>
auto ifft2(const X& x, const Options&... options) {
  return detail::transform_by<true, max_rank, 2>("ifft2", x, options...);
}
/// fft along several axes: np.fft.fftn.
/// ```cpp
/// dsl::array<std::complex<double>, 3> planes = dsl::fftn(field, dsl::axis(0, 2));
/// ```
template <class X, class... Options>
  requires detail::operands<X>
auto fftn(const X& x, const Options&... options) {
  return detail::transform_by<false, max_rank, 0>("fftn", x, options...);
}
/// ifft along several axes: np.fft.ifftn.
template <class X, class... Options>
  requires detail::operands<X>
auto ifftn(const X& x, const Options&... options) {
  return detail::transform_by<true, max_rank, 0>("ifftn", x, options...);
}

}  // namespace dsl
