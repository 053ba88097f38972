// A Fourier transform as an operation on whole arrays, its options and its factor.
#pragma once

#include <memory>

#include <dsl/lang/array_operation.hpp>
#include <dsl/lang/reduce.hpp>

namespace dsl {

/// Option of a transform: which direction is divided by the number n of points. backward: the
/// inverse one; forward: the other one; ortho: both, by the root of n.
enum class fft_norm : std::uint8_t { backward, ortho, forward };

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::fft, Explicit> = true;

/// The axes that a transform goes along, counted from 0, and the number of points along each.
struct transform_axes {
  int count = 0;
  int axis[max_rank] = {};
  std::int64_t points[max_rank] = {};

  /// The last axis alone, and all but the last.
  transform_axes last() const { return {1, {axis[count - 1]}, {points[count - 1]}}; }
  transform_axes without_last() const {
    transform_axes others = *this;
    --others.count;
    return others;
  }
};

/// The options of a call. `axes` and `lengths`: how many of them there are.
struct transform_request {
  const char* function;
  int axes = 0, lengths = 0;
  int axis[max_rank] = {};
  std::int64_t length[max_rank] = {};
  fft_norm norm = fft_norm::backward;

  template <int N>
  void take(const dsl::axes<N>& given) {
    for (const int k : given.number) axis[axes++] = k;
  }
  void take(fft_norm given) { norm = given; }
  void take(std::integral auto n) { length[lengths++] = static_cast<std::int64_t>(n); }
  template <std::size_t N>
  void take(const std::array<std::int64_t, N>& given) {
    for (const std::int64_t n : given) length[lengths++] = n;
  }
};

template <class Option>
inline constexpr int lengths_in = std::integral<Option> && !std::same_as<Option, bool> ? 1 : 0;
template <std::size_t N>
inline constexpr int lengths_in<std::array<std::int64_t, N>> = static_cast<int>(N);
template <class... Options>
inline constexpr bool has_norm = (std::same_as<Options, fft_norm> || ...);
template <class... Options>
inline constexpr int length_count = (0 + ... + lengths_in<Options>);

/// How many axes a call transforms. Default: how many without options, 0 for all.
template <int Default, int Rank, class... Options>
inline constexpr int transformed_axes = axis_count<Options...> > 0     ? axis_count<Options...>
                                        : length_count<Options...> > 0 ? length_count<Options...>
                                        : Default > 0                  ? Default
                                                                       : Rank;

/// Throws shape_error unless there are such axes, each once, with at least one point along each,
/// and device_error where no transform runs. `halved`: x has n / 2 + 1 elements for the n points
/// along the last of these axes.
transform_axes axes_of_transform(const transform_request& request, int count,
                                 const std::int64_t* shape, int rank, bool halved, device where);
/// The factor of a transform with this norm.
double factor_of(const transform_axes& axes, fft_norm norm, bool inverse);

/// Whether the libraries read elements that lie like this.
bool may_be_transformed(const operand& x);
/// A transform with all that it needs to run: what may fail is done when it is made, and nothing is
/// written. Along an axis x may have fewer elements than there are points, which zeros follow, or
/// more, which are not read. From complex to real numbers it goes along one axis, and has a factor
/// where `is_scaled_by_transform` says so; on a GPU it has none, and overwrites x.
class prepared_transform {
 public:
  /// Throws memory_error, device_error and cuda_error.
  prepared_transform(const transform_axes& axes, bool inverse, const operand& result,
                     const operand& x, double factor = 1);
  ~prepared_transform();
  prepared_transform(const prepared_transform&) = delete;
  /// Queues it on the stream that was the current one of the result's device. Does not wait.
  void run();

 private:
  struct state;
  std::unique_ptr<state> state_;
};
/// Whether a device's transform from complex to real numbers has a factor, and does not read the
/// imaginary parts of x's ends.
bool is_scaled_by_transform(device where);
/// Whether x's device has such a transform, and it reads elements that lie like x's.
bool may_be_transformed_and_scaled(const operand& x);
text describe_transform(const transform_axes& axes, bool inverse, const operand& x);

/// Number of points of one number for each of them, when they are real, or of their spectrum.
constexpr std::int64_t spectrum_of(std::int64_t points) { return points / 2 + 1; }

/// From elements of dtype A to elements of dtype D: between complex numbers, from real numbers to
/// the first half of their spectrum, or back.
template <dtype A, dtype D>
struct fourier_transform {
  static constexpr dtype argument_types[] = {A};
  static constexpr bool in_place = A == D;
  transform_axes axes;
  bool inverse = false;

  static bool takes(const operand& x) { return may_be_transformed(x); }
  template <std::size_t R>
  std::array<std::int64_t, R> shape(std::array<std::int64_t, R> extents) const {
    constexpr bool halves = kind_of(A) == kind::real;
    for (int i = 0; i < axes.count; ++i)
      extents[static_cast<std::size_t>(axes.axis[i])] =
          halves ? spectrum_of(axes.points[i]) : axes.points[i];
    return extents;
  }
  prepared_transform prepare(const operand& result, const operand* x) const {
    return {axes, inverse, result, *x};
  }
  text describe(const operand* x) const { return describe_transform(axes, inverse, *x); }
};

/// The dtype of a spectrum of numbers of this dtype.
constexpr dtype spectrum_dtype(dtype d) {
  const bool is_narrow = (kind_of(d) == kind::real || kind_of(d) == kind::complex) &&
                         size_of(real_of(d)) <= size_of(dtype::float32);
  return is_narrow ? dtype::complex64 : dtype::complex128;
}
template <class X>
inline constexpr dtype spectrum_of_operand = spectrum_dtype(trace_t<operand_t<X>>::type.type);
template <class X>
inline constexpr bool is_complex_operand =
    kind_of(trace_t<operand_t<X>>::type.type) == kind::complex;

template <dtype A, dtype D, class X>
array_operation<fourier_transform<A, D>, D, X::rank, X> transform(const X& x,
                                                                  const transform_axes& axes,
                                                                  bool inverse) {
  return {{axes, inverse}, {x}};
}

/// Whether a transform reads an operand where it lies: an array of its dtype, or values that are
/// materialised. Any other operand is evaluated first, and the factor is part of that formula.
template <class X, dtype A>
inline constexpr bool is_read_in_memory =
    std::same_as<X, view<const element_t<A>, X::rank>> || is_materialized<X>;

/// Whether a function takes an operand and options, which is reported otherwise. Most: how many
/// axes; Default: how many without options, 0 for all.
template <int Most, int Default, class X, class... Options>
constexpr bool may_transform() {
  if constexpr (std::same_as<X, refused>) {
    return false;
  } else if constexpr (is_symbol<X>) {
    static_assert(!is_symbol<X>,
                  "a transform is one of arrays: inside a formula there is one element");
    return false;
  } else if constexpr (!require_operand<X>()) {
    return false;
  } else {
    constexpr bool are_options =
        ((axes_in<Options> > 0 || lengths_in<Options> > 0 || std::same_as<Options, fft_norm>) &&
         ...);
    static_assert(are_options,
                  "after its operand a transform takes a number of points (of several axes: "
                  "dsl::extents<2>{n0, n1}), dsl::axis(k) and dsl::fft_norm::ortho");
    constexpr int rank = operand_t<X>::rank, axes = axis_count<Options...>,
                  lengths = length_count<Options...>;
    constexpr bool once = (0 + ... + (axes_in<Options> > 0)) <= 1 &&
                          (0 + ... + (lengths_in<Options> > 0)) <= 1 &&
                          (0 + ... + std::same_as<Options, fft_norm>) <= 1,
                   match = axes == 0 || lengths == 0 || axes == lengths,
                   fit = axes <= Most && lengths <= Most &&
                         transformed_axes<Default, rank, Options...> <= rank;
    static_assert(once, "an option of a transform is given twice");
    static_assert(match, "a transform has one number of points for each axis");
    static_assert(fit, "more axes than the transform or its operand has");
    static_assert(rank > 0, "a scalar has no axes to transform along");
    return are_options && once && match && fit && rank > 0;
  }
}

template <class... Options>
transform_request request_of(const char* function, const Options&... options) {
  transform_request request{function};
  (request.take(options), ...);
  return request;
}

}  // namespace detail
}  // namespace dsl
