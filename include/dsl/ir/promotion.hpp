// Result dtypes by NumPy 2's promotion rules (NEP 50), for arrays and weak scalars.
#pragma once

#include <dsl/ir/dtype.hpp>

namespace dsl {

namespace detail {

constexpr dtype promote_integers(dtype a, dtype b) {
  const bool sa = info(a).is_signed, sb = info(b).is_signed;
  if (sa == sb) return size_of(a) >= size_of(b) ? a : b;
  const dtype with_sign = sa ? a : b, without = sa ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  return size_of(without) == 8 ? dtype::float64
                               : integer_dtype(2u * static_cast<unsigned>(size_of(without)), true);
}

// The narrowest real dtype that NumPy uses for the integers of a dtype, combined with a real
// operand of dtype `beside`.
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

/// NumPy's result dtype for two arrays. bfloat16 promotes as in ml_dtypes.
constexpr dtype promote(dtype a, dtype b) {
  if (a == b || kind_of(b) == kind::boolean) return a;
  if (kind_of(a) < kind_of(b)) return promote(b, a);
  switch (kind_of(a)) {
    case kind::boolean: return a;
    case kind::integer: return detail::promote_integers(a, b);
    case kind::real:
      return detail::promote_reals(a, kind_of(b) == kind::real ? b : detail::real_for(b, a));
    case kind::complex: break;
  }
  const dtype real = real_of(a);
  const dtype other = kind_of(b) == kind::integer ? detail::real_for(b, real) : real_of(b);
  return detail::promote_reals(real, other) == dtype::float64 ? dtype::complex128
                                                              : dtype::complex64;
}

/// A dtype, and whether it is weak. C++ scalars and literals are weak: they contribute only their
/// kind.
struct weak_dtype {
  dtype type{};
  bool weak = false;
  friend constexpr bool operator==(const weak_dtype&, const weak_dtype&) = default;
};

/// NEP 50's rule if some operands are weak. An array combined with a scalar of the same or a lower
/// kind keeps its dtype. A scalar of a higher kind contributes that kind's default dtype (int64,
/// float64, or complex of the array's precision).
constexpr weak_dtype promote(weak_dtype a, weak_dtype b) {
  if (a.weak == b.weak) {
    if (!a.weak) return {promote(a.type, b.type)};
    // Two scalars: the higher kind decides, so `h / 2` of a float h stays float.
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

/// The result dtype of several operands. Higher kinds are promoted first: (int8, uint8, float16) is
/// float16, although int8 with uint8 is int16.
constexpr weak_dtype promote(const weak_dtype* operands, int count) {
  // Arrays, scalars. A boolean scalar gives way to any other.
  weak_dtype side[2] = {{}, {dtype::boolean, true}};
  int arrays = 0;
  for (int k = static_cast<int>(kind::complex); k >= 0; --k)
    for (int i = 0; i < count; ++i) {
      if (static_cast<int>(kind_of(operands[i].type)) != k) continue;
      weak_dtype& mine = side[operands[i].weak ? 1 : 0];
      mine = promote(mine, operands[i]);
      if (!operands[i].weak) ++arrays;
    }
  return arrays == 0 ? side[1] : arrays == count ? side[0] : promote(side[0], side[1]);
}

/// The floating point dtype to which NumPy's floating point functions convert a dtype: the
/// narrowest that holds its integers, float16 for 8 bits and booleans, float32 for 16 bits, float64
/// for wider ones.
constexpr dtype floating_of(dtype type) {
  if (kind_of(type) >= kind::real) return type;
  return size_of(type) == 1 ? dtype::float16 : size_of(type) == 2 ? dtype::float32 : dtype::float64;
}

/// The common dtype of the operands' floating point dtypes. A scalar of a higher kind than all
/// arrays is promoted first, as in NumPy: atan2(int8_array, 1.0) is float64, atan2(int8_array, 1)
/// is float16.
constexpr weak_dtype promote_floating(const weak_dtype* operands, int count) {
  weak_dtype through[3]{};
  bool arrays = false;
  kind array_kind = kind::boolean, scalar_kind = kind::boolean;
  for (int i = 0; i < count; ++i) {
    const bool weak = operands[i].weak;
    kind& highest = weak ? scalar_kind : array_kind;
    if (kind_of(operands[i].type) > highest) highest = kind_of(operands[i].type);
    arrays = arrays || !weak;
    through[i] = {weak ? operands[i].type : floating_of(operands[i].type), weak};
  }
  const weak_dtype common = promote(scalar_kind > array_kind ? operands : through, count);
  const bool integer_scalars = !arrays && kind_of(common.type) < kind::real;
  return {integer_scalars ? dtype::float64 : floating_of(common.type), common.weak};
}

namespace detail {

constexpr std::int64_t least_of(dtype integer) {
  return info(integer).is_signed
             ? static_cast<std::int64_t>(~std::uint64_t{0} << (8 * size_of(integer) - 1))
             : 0;
}
constexpr std::uint64_t greatest_of(dtype integer) {
  return ~std::uint64_t{0} >> (64 - 8 * size_of(integer) + (info(integer).is_signed ? 1 : 0));
}

/// The integers from the least of one dtype to the greatest of another; by default all integers.
struct integer_range {
  dtype least = dtype::int64, greatest = dtype::uint64;

  constexpr void narrow(integer_range by) {
    if (least_of(by.least) > least_of(least)) least = by.least;
    if (greatest_of(by.greatest) < greatest_of(greatest)) greatest = by.greatest;
  }
  /// The name of the dtype that does not hold a 64-bit integer, given as bits and signedness; null
  /// if the range contains it.
  constexpr const char* outside(std::uint64_t bits, bool is_signed) const {
    const auto value = static_cast<std::int64_t>(bits);
    if (is_signed && value < 0) return value < least_of(least) ? name(least) : nullptr;
    return bits > greatest_of(greatest) ? name(greatest) : nullptr;
  }
};

}  // namespace detail

/// Whether a value of dtype `from` may be assigned to an array of dtype `to` without a cast.
constexpr bool assignable(dtype to, weak_dtype from) {
  return from.weak ? kind_of(from.type) <= kind_of(to) : promote(to, from.type) == to;
}

namespace detail {

/// Whether a cast can convert one dtype to another. Complex numbers cannot become real ones.
constexpr bool may_cast(dtype to, dtype from) {
  return kind_of(to) >= kind::complex || kind_of(to) == kind::boolean ||
         kind_of(from) != kind::complex;
}
/// The same; a conversion that is impossible fails to compile.
template <dtype To, dtype From>
constexpr bool require_real_value() {
  constexpr bool has_value = may_cast(To, From);
  static_assert(has_value, "a complex number has no real value: take real(x), imag(x) or abs(x)");
  return has_value;
}

}  // namespace detail

}  // namespace dsl
