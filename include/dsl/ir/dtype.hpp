// The dtypes: element types of arrays, the types that programs compute with, and conversions
// between them.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <dsl/ir/complex.hpp>
#include <dsl/ir/half.hpp>

namespace dsl {

template <std::floating_point T> class complex;  // ir/complex_number.hpp

/// An element type, with NumPy's name. `complex64` is std::complex<float>, `complex128` is
/// std::complex<double>.
enum class dtype : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128
};

inline constexpr int dtype_count = 15;

/// The kinds, in the order of NumPy's scalar promotion: a scalar of a lower kind never widens an
/// array of a higher one.
enum class kind : std::uint8_t { boolean, integer, real, complex };

struct dtype_info {
  const char* name;
  std::uint8_t size;  // bytes
  kind of_kind;
  bool is_signed;
};

inline constexpr dtype_info dtype_table[dtype_count] = {
    {"bool", 1, kind::boolean, false},       {"int8", 1, kind::integer, true},
    {"int16", 2, kind::integer, true},       {"int32", 4, kind::integer, true},
    {"int64", 8, kind::integer, true},       {"uint8", 1, kind::integer, false},
    {"uint16", 2, kind::integer, false},     {"uint32", 4, kind::integer, false},
    {"uint64", 8, kind::integer, false},     {"float16", 2, kind::real, true},
    {"bfloat16", 2, kind::real, true},       {"float32", 4, kind::real, true},
    {"float64", 8, kind::real, true},        {"complex64", 8, kind::complex, true},
    {"complex128", 16, kind::complex, true},
};

constexpr const dtype_info& info(dtype type) { return dtype_table[static_cast<int>(type)]; }
constexpr const char* name(dtype type) { return info(type).name; }
constexpr kind kind_of(dtype type) { return info(type).of_kind; }
constexpr int size_of(dtype type) { return info(type).size; }

/// complex64 -> float32, complex128 -> float64; any other dtype is returned unchanged.
constexpr dtype real_of(dtype type) {
  return type == dtype::complex64    ? dtype::float32
         : type == dtype::complex128 ? dtype::float64
                                     : type;
}

namespace detail {

// memory: an array element's type in memory. value: the type that the evaluator computes with.
template <dtype D> struct types_of;
template <class Memory, class Value = Memory> struct types {
  using memory = Memory;
  using value = Value;
};
template <> struct types_of<dtype::boolean> : types<bool> {};
template <> struct types_of<dtype::int8> : types<std::int8_t> {};
template <> struct types_of<dtype::int16> : types<std::int16_t> {};
template <> struct types_of<dtype::int32> : types<std::int32_t> {};
template <> struct types_of<dtype::int64> : types<std::int64_t> {};
template <> struct types_of<dtype::uint8> : types<std::uint8_t> {};
template <> struct types_of<dtype::uint16> : types<std::uint16_t> {};
template <> struct types_of<dtype::uint32> : types<std::uint32_t> {};
template <> struct types_of<dtype::uint64> : types<std::uint64_t> {};
template <> struct types_of<dtype::float16> : types<half, float> {};
template <> struct types_of<dtype::bfloat16> : types<bfloat16, float> {};
template <> struct types_of<dtype::float32> : types<float> {};
template <> struct types_of<dtype::float64> : types<double> {};
template <> struct types_of<dtype::complex64> : types<complex_value<float>> {};
template <> struct types_of<dtype::complex128> : types<complex_value<double>> {};

template <dtype D> using memory_t = typename types_of<D>::memory;
template <dtype D> using value_t = typename types_of<D>::value;

template <class T> struct dtype_of { static constexpr bool known = false; };
template <dtype D> struct known_dtype {
  static constexpr bool known = true;
  static constexpr dtype value = D;
};

constexpr dtype integer_dtype(std::size_t size, bool is_signed) {
  const dtype narrowest = is_signed ? dtype::int8 : dtype::uint8;
  const int doublings = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return static_cast<dtype>(static_cast<int>(narrowest) + doublings);
}

// By size and sign: long and long long are both int64.
template <std::integral T>
  requires(sizeof(T) <= 8)
struct dtype_of<T> : known_dtype<integer_dtype(sizeof(T), std::is_signed_v<T>)> {};
template <> struct dtype_of<bool> : known_dtype<dtype::boolean> {};
template <> struct dtype_of<half> : known_dtype<dtype::float16> {};
template <> struct dtype_of<bfloat16> : known_dtype<dtype::bfloat16> {};
template <> struct dtype_of<float> : known_dtype<dtype::float32> {};
template <> struct dtype_of<double> : known_dtype<dtype::float64> {};
template <> struct dtype_of<std::complex<float>> : known_dtype<dtype::complex64> {};
template <> struct dtype_of<std::complex<double>> : known_dtype<dtype::complex128> {};
template <> struct dtype_of<complex<float>> : known_dtype<dtype::complex64> {};
template <> struct dtype_of<complex<double>> : known_dtype<dtype::complex128> {};

/// The dtype of the values that the evaluator computes with: float32 for shorter real dtypes, else
/// the dtype itself.
constexpr dtype computed_in(dtype type) {
  constexpr auto table = []<std::size_t... I>(std::index_sequence<I...>) {
    struct {
      dtype of[dtype_count];
    } made{{[] {
      constexpr auto D = static_cast<dtype>(I);
      if constexpr (std::is_same_v<memory_t<D>, value_t<D>>) return D;
      else return dtype_of<value_t<D>>::value;
    }()...}};
    return made;
  }(std::make_index_sequence<dtype_count>{});
  return table.of[static_cast<int>(type)];
}
/// Whether elements are stored in fewer bits than they are computed with.
constexpr bool is_widened(dtype type) { return computed_in(type) != type; }

// The type by which a user names a dtype.
template <dtype D> struct element_of { using type = memory_t<D>; };
template <> struct element_of<dtype::complex64> { using type = std::complex<float>; };
template <> struct element_of<dtype::complex128> { using type = std::complex<double>; };

}  // namespace detail

/// A type that an array may hold: bool, an integer of 8 to 64 bits, half, bfloat16, float, double,
/// and std::complex or dsl::complex of float or double.
template <class T>
concept element = detail::dtype_of<std::remove_cv_t<T>>::known;

template <element T>
inline constexpr dtype dtype_v = detail::dtype_of<std::remove_cv_t<T>>::value;

/// The C++ type of a dtype's elements: element_t<dtype::complex64> is std::complex<float>.
template <dtype D>
using element_t = typename detail::element_of<D>::type;

}  // namespace dsl
