// The dtypes and NumPy 2's promotion as the tests know them: written from NumPy's tables, without
// any code of the library's.
#pragma once

#include <cstdint>

namespace property {

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
inline constexpr const char* dtype_names[] = {
    "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
    "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
inline constexpr const char* name(dtype t) { return dtype_names[static_cast<int>(t)]; }
inline constexpr int bytes_of(dtype t) {
  return "\1\1\2\4\10\1\2\4\10\2\2\4\10\10\20"[static_cast<int>(t)];
}

enum class kind : std::uint8_t { boolean, integer, real, complex };
constexpr kind kind_of(dtype t) {
  return t == dtype::boolean   ? kind::boolean
         : t <= dtype::uint64  ? kind::integer
         : t <= dtype::float64 ? kind::real
                               : kind::complex;
}
constexpr bool is_signed_integer(dtype t) { return t >= dtype::int8 && t <= dtype::int64; }
constexpr dtype part_of(dtype t) {
  return t == dtype::complex64 ? dtype::float32 : t == dtype::complex128 ? dtype::float64 : t;
}

// np.promote_types in NumPy's one-letter codes (E: ml_dtypes' bfloat16).
inline constexpr const char* dtype_codes = "?bhiqBHIQeEfdFD";
inline constexpr const char* promotion_table[] = {
    "?bhiqBHIQeEfdFD",  // bool
    "bbhiqhiqdeEfdFD",  // int8
    "hhhiqhiqdfffdFD",  // int16
    "iiiiqiiqdddddDD",  // int32
    "qqqqqqqqdddddDD",  // int64
    "BhhiqBHIQeEfdFD",  // uint8
    "HiiiqHHIQfffdFD",  // uint16
    "IqqqqIIIQddddDD",  // uint32
    "QddddQQQQddddDD",  // uint64
    "eefddefddeffdFD",  // float16
    "EEfddEfddfEfdFD",  // bfloat16
    "fffddffddfffdFD",  // float32
    "dddddddddddddDD",  // float64
    "FFFDDFFDDFFFDFD",  // complex64
    "DDDDDDDDDDDDDDD",  // complex128
};
constexpr dtype promote_arrays(dtype a, dtype b) {
  const char code = promotion_table[static_cast<int>(a)][static_cast<int>(b)];
  int t = 0;
  while (dtype_codes[t] != code) ++t;
  return static_cast<dtype>(t);
}

/// A dtype, and whether it is weak, i.e. made of C++ scalars alone (NEP 50).
struct typed {
  dtype type{};
  bool weak = false;
  friend constexpr bool operator==(typed, typed) = default;
};

/// NEP 50: a scalar of no higher kind takes the array's dtype. A scalar of a higher kind gives
/// int64, float64, or complex numbers of the array's precision. Of two scalars the higher kind
/// wins; reals and complex numbers are also promoted by precision.
constexpr typed promote(typed a, typed b) {
  if (a.weak && b.weak) {
    const bool numbers = kind_of(a.type) >= kind::real && kind_of(b.type) >= kind::real;
    if (kind_of(a.type) == kind_of(b.type) || numbers)
      return {promote_arrays(a.type, b.type), true};
    return kind_of(a.type) > kind_of(b.type) ? a : b;
  }
  if (!a.weak && !b.weak) return {promote_arrays(a.type, b.type)};
  const dtype array = a.weak ? b.type : a.type, scalar = a.weak ? a.type : b.type;
  if (kind_of(scalar) <= kind_of(array)) return {array};
  if (kind_of(scalar) == kind::integer) return {dtype::int64};
  if (kind_of(scalar) == kind::real) return {dtype::float64};
  return {kind_of(array) == kind::real && array != dtype::float64 ? dtype::complex64
                                                                  : dtype::complex128};
}

}  // namespace property
