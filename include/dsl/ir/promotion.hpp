// Result dtypes: NumPy 2's promotion (NEP 50), for arrays and for weak scalars.
#pragma once

#include <dsl/ir/dtype.hpp>

namespace dsl {

namespace detail {

constexpr dtype promote_integers(dtype a, dtype b) {
  const bool sa = info(a).is_signed, sb = info(b).is_signed;
  if (sa == sb) return size_of(a) >= size_of(b) ? a : b;
  const dtype with_sign = sa ? a : b, without = sa ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  return size_of(without) == 8 ? dtype::float64 : integer_dtype(2u * static_cast<unsigned>(size_of(without)), true);
}

// The narrowest real dtype that NumPy takes to hold the integers of a dtype, beside a real operand of dtype `beside`.
constexpr dtype real_for(dtype integer, dtype beside) {
  if (kind_of(integer) == kind::boolean) return beside;
  const int size = size_of(integer);
  return size == 1 ? beside : size == 2 ? dtype::float32 : dtype::float64;
}

constexpr dtype promote_reals(dtype a, dtype b) {
  if (a == b) return a;
  if (size_of(a) == size_of(b)) return dtype::float32;  // float16 with bfloat16
  return size_of(a) > size_of(b) ? a : b;
}

}  // namespace detail

/// NumPy's result dtype for two arrays; bfloat16 promotes as in ml_dtypes.
constexpr dtype promote(dtype a, dtype b) {
  if (a == b || kind_of(b) == kind::boolean) return a;
  if (kind_of(a) < kind_of(b)) return promote(b, a);
  switch (kind_of(a)) {
    case kind::boolean: return a;
    case kind::integer: return detail::promote_integers(a, b);
    case kind::real: return detail::promote_reals(a, kind_of(b) == kind::real ? b : detail::real_for(b, a));
    case kind::complex: break;
  }
  const dtype real = real_of(a);
  const dtype other = kind_of(b) == kind::integer ? detail::real_for(b, real) : real_of(b);
  return detail::promote_reals(real, other) == dtype::float64 ? dtype::complex128 : dtype::complex64;
}

/// A dtype and whether it is weak. C++ scalars and literals are weak: they only bring in their kind.
struct weak_dtype {
  dtype type{};
  bool weak = false;
  friend constexpr bool operator==(const weak_dtype&, const weak_dtype&) = default;
};

/// NEP 50's rule for operands of which some are weak: an array with a scalar of no higher kind keeps its dtype, and a scalar of a
/// higher kind brings in that kind's default (int64, float64, or complex of the array's precision).
constexpr weak_dtype promote(weak_dtype a, weak_dtype b) {
  if (a.weak == b.weak) {
    if (!a.weak) return {promote(a.type, b.type)};
    // Two scalars: the higher kind decides, so that `h / 2` of a float h stays float.
    const kind ka = kind_of(a.type), kb = kind_of(b.type);
    if (ka == kb || (ka >= kind::real && kb >= kind::real)) return {promote(a.type, b.type), true};
    return ka > kb ? a : b;
  }
  const dtype strong = a.weak ? b.type : a.type, weak = a.weak ? a.type : b.type;
  if (kind_of(weak) <= kind_of(strong)) return {strong};
  switch (kind_of(weak)) {
    case kind::integer: return {dtype::int64};
    case kind::real: return {dtype::float64};
    default: break;
  }
  const bool narrow = kind_of(strong) == kind::real && size_of(strong) <= 4;
  return {narrow ? dtype::complex64 : dtype::complex128};
}

/// True where a value of dtype `from` may be assigned to an array of dtype `to` without a cast.
constexpr bool assignable(dtype to, weak_dtype from) {
  return from.weak ? kind_of(from.type) <= kind_of(to) : promote(to, from.type) == to;
}

}  // namespace dsl
