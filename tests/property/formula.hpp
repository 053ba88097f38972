// A tree as a formula of the language: its operators and functions, applied to anything that
// represents the leaves.
#pragma once

#include <dsl/dsl.hpp>

#include "tree.hpp"

namespace property {

using elements =
    std::tuple<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
               std::uint16_t, std::uint32_t, std::uint64_t, dsl::half, dsl::bfloat16, float, double,
               std::complex<float>, std::complex<double>>;
template <dtype T> using element_t = std::tuple_element_t<static_cast<std::size_t>(T), elements>;

/// An operation of fewer operands ignores the rest.
template <operation What, class A, class B, class C>
constexpr auto apply([[maybe_unused]] const A& a, [[maybe_unused]] const B& b,
                     [[maybe_unused]] const C& c) {
#define OPERATION(name, arity, operands, gives, lowest, highest, code) \
  if constexpr (What == operation::name) return code;                  \
  else
#include "operations.inc"
  return;
}

/// Node `At` of formula `Tree`. A name consists of these numbers alone, because nvcc cannot print
/// larger types.
template <int Bundle, int Tree, int At, class Leaves> constexpr auto value_at(const Leaves& leaves);

template <int Bundle, int Tree, int At, int K, class Leaves> constexpr auto operand_at(
    const Leaves& leaves) {
  constexpr node n = bundle_of<Bundle>.formula[Tree].nodes[At];
  if constexpr (K < arity(n.what)) return value_at<Bundle, Tree, n.operand[K]>(leaves);
  else return 0;
}

template <int Bundle, int Tree, int At, class Leaves> constexpr auto value_at(
    const Leaves& leaves) {
  constexpr node n = bundle_of<Bundle>.formula[Tree].nodes[At];
  if constexpr (n.what == operation::leaf) return std::get<n.number>(leaves);
  else if constexpr (n.what == operation::literal) return std::get<n.number>(literals);
  else if constexpr (n.what == operation::cast)
    return dsl::cast<element_t<n.type.type>>(operand_at<Bundle, Tree, At, 0>(leaves));
  else
    return apply<n.what>(operand_at<Bundle, Tree, At, 0>(leaves),
                         operand_at<Bundle, Tree, At, 1>(leaves),
                         operand_at<Bundle, Tree, At, 2>(leaves));
}

using formula_numbers = std::make_integer_sequence<int, bundle::trees>;

/// All formulas of a bundle, for dsl::vectorize.
template <int Bundle> struct formulas {
  template <class... S> constexpr auto operator()(S... leaves) const {
    return all(std::tuple{leaves...}, formula_numbers{});
  }
  template <class Leaves, int... Tree> static constexpr auto all(
      const Leaves& leaves, std::integer_sequence<int, Tree...>) {
    return std::tuple{value_at<Bundle, Tree, bundle_of<Bundle>.formula[Tree].size - 1>(leaves)...};
  }
};

}  // namespace property
