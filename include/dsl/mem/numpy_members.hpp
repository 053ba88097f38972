// Compiler messages for x.sum(), x.shape and other members of NumPy's arrays that dsl's arrays do
// not have.
#pragma once

#include <dsl/mem/refused.hpp>

#pragma GCC system_header  // GCC then shows only the use of these macros in its messages

namespace dsl::detail {

#define DSL_NO_MEMBER(name, instead) \
  "arrays and expressions have no member " #name ": write " instead

/// NumPy's methods. Not a template of the element type, so that they are compiled once. `OfMemory`
/// distinguishes the empty bases of an expression and of its first operand, which otherwise could
/// not share an address.
template <bool OfMemory>
struct no_methods {
#define DSL_NO_METHOD(name, instead)                                \
  template <class Explicit = void, class... X>                      \
  refused name(const X&...) const {                                 \
    static_assert(sizeof...(X) > 64, DSL_NO_MEMBER(name, instead)); \
    return {};                                                      \
  }
#define DSL_IS_FUNCTION(name) DSL_NO_METHOD(name, "dsl::" #name "(x)")
  DSL_IS_FUNCTION(sum)
  DSL_IS_FUNCTION(prod)
  DSL_IS_FUNCTION(mean)
  DSL_IS_FUNCTION(var)
  DSL_IS_FUNCTION(std)
  DSL_IS_FUNCTION(min)
  DSL_IS_FUNCTION(max)
  DSL_IS_FUNCTION(ptp)
  DSL_IS_FUNCTION(any)
  DSL_IS_FUNCTION(all)
  DSL_IS_FUNCTION(argmin)
  DSL_IS_FUNCTION(argmax)
  DSL_IS_FUNCTION(round)
  DSL_IS_FUNCTION(conj)
  DSL_IS_FUNCTION(transpose)
  DSL_IS_FUNCTION(ravel)
  DSL_IS_FUNCTION(squeeze)
  DSL_IS_FUNCTION(diagonal)
  DSL_IS_FUNCTION(norm)
  DSL_NO_METHOD(dot, "dsl::dot(x, y)")
  DSL_NO_METHOD(clip, "dsl::clip(x, low, high)")
  DSL_NO_METHOD(take, "dsl::take(x, indices)")
  DSL_NO_METHOD(reshape, "dsl::reshape(x, 3, -1)")
  DSL_NO_METHOD(cumsum, "dsl::cumsum(x), of #include <dsl/scan.hpp>")
  DSL_NO_METHOD(cumprod, "dsl::cumprod(x), of #include <dsl/scan.hpp>")
  DSL_NO_METHOD(sort, "dsl::sort(x), of #include <dsl/by_key.hpp>")
  DSL_NO_METHOD(argsort, "dsl::argsort(x), of #include <dsl/by_key.hpp>")
  DSL_NO_METHOD(nonzero, "dsl::nonzero(x), of #include <dsl/by_key.hpp>")
  DSL_NO_METHOD(searchsorted, "dsl::searchsorted(sorted, x), of #include <dsl/by_key.hpp>")
  DSL_NO_METHOD(copy, "dsl::eval(x)")
  DSL_NO_METHOD(flatten, "dsl::eval(dsl::ravel(x))")
  DSL_NO_METHOD(astype, "dsl::cast<float>(x)")
  DSL_NO_METHOD(fill, "x = 0")
  DSL_NO_METHOD(item, "x(i), or x.value() of an expression without dimensions")
  DSL_NO_METHOD(tolist, "x.copy_to_host(), a std::vector")
#undef DSL_IS_FUNCTION
#undef DSL_NO_METHOD
};

/// NumPy's attributes. The initializer, and so the message, is instantiated where the member is
/// used.
template <bool OfMemory>
struct no_attributes {
#define DSL_NO_ATTRIBUTE(name, instead)                                 \
 private:                                                               \
  static constexpr refused no_##name() {                                \
    static_assert(OfMemory && !OfMemory, DSL_NO_MEMBER(name, instead)); \
    return {};                                                          \
  }                                                                     \
                                                                        \
 public:                                                                \
  static constexpr refused name = no_##name();
  DSL_NO_ATTRIBUTE(shape, "x.extent(i) or x.extents(), of an array")
  DSL_NO_ATTRIBUTE(ndim, "x.rank")
  DSL_NO_ATTRIBUTE(dtype, "value_type, a type, of an array's type")
  DSL_NO_ATTRIBUTE(nbytes, "x.size() * sizeof(float)")
  DSL_NO_ATTRIBUTE(T, "dsl::transpose(x)")
  DSL_NO_ATTRIBUTE(real, "dsl::real(x)")
  DSL_NO_ATTRIBUTE(imag, "dsl::imag(x)")
#undef DSL_NO_ATTRIBUTE
};
#undef DSL_NO_MEMBER

/// Methods and attributes as one base class.
template <bool OfMemory>
struct numpy_members : no_methods<OfMemory>, no_attributes<OfMemory> {};

}  // namespace dsl::detail
