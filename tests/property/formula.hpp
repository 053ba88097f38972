// A tree as a formula of the language: its operators and functions, applied to whatever stands for the leaves.
#pragma once

#include <dsl/dsl.hpp>

#include "tree.hpp"

namespace property {

using elements = std::tuple<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                            std::uint64_t, dsl::half, dsl::bfloat16, float, double, std::complex<float>, std::complex<double>>;
template <dtype T> using element_t = std::tuple_element_t<static_cast<std::size_t>(T), elements>;

template <operation What, class A>
constexpr auto apply(const A& a) {
  if constexpr (What == operation::positive) return +a;
  else if constexpr (What == operation::negative) return -a;
  else if constexpr (What == operation::logical_not) return !a;
  else if constexpr (What == operation::exp) return exp(a);
  else if constexpr (What == operation::log) return log(a);
  else if constexpr (What == operation::sqrt) return sqrt(a);
  else if constexpr (What == operation::sin) return sin(a);
  else if constexpr (What == operation::cos) return cos(a);
  else if constexpr (What == operation::tan) return tan(a);
  else if constexpr (What == operation::abs) return abs(a);
  else if constexpr (What == operation::real) return real(a);
  else if constexpr (What == operation::imag) return imag(a);
  else if constexpr (What == operation::conj) return conj(a);
}

template <operation What, class A, class B>
constexpr auto apply(const A& a, const B& b) {
  if constexpr (What == operation::add) return a + b;
  else if constexpr (What == operation::subtract) return a - b;
  else if constexpr (What == operation::multiply) return a * b;
  else if constexpr (What == operation::divide) return a / b;
  else if constexpr (What == operation::modulo) return a % b;
  else if constexpr (What == operation::equal) return a == b;
  else if constexpr (What == operation::not_equal) return a != b;
  else if constexpr (What == operation::less) return a < b;
  else if constexpr (What == operation::less_equal) return a <= b;
  else if constexpr (What == operation::greater) return a > b;
  else if constexpr (What == operation::greater_equal) return a >= b;
  else if constexpr (What == operation::logical_and) return a && b;
  else if constexpr (What == operation::logical_or) return a || b;
  else if constexpr (What == operation::pow) return pow(a, b);
  else if constexpr (What == operation::atan2) return atan2(a, b);
  else if constexpr (What == operation::min) return min(a, b);
  else if constexpr (What == operation::max) return max(a, b);
}

/// Node `At` of formula `Tree`. The numbers are all that a name holds: nvcc cannot spell more.
template <int Bundle, int Tree, int At, class Leaves>
constexpr auto value_at(const Leaves& leaves) {
  constexpr node n = bundle_of<Bundle>.formula[Tree].nodes[At];
  if constexpr (n.what == operation::leaf) return std::get<n.number>(leaves);
  else if constexpr (n.what == operation::literal) return std::get<n.number>(literals);
  else if constexpr (n.what == operation::cast)
    return dsl::cast<element_t<static_cast<dtype>(n.number)>>(value_at<Bundle, Tree, n.operand[0]>(leaves));
  else if constexpr (n.what == operation::where)
    return where(value_at<Bundle, Tree, n.operand[0]>(leaves), value_at<Bundle, Tree, n.operand[1]>(leaves),
                 value_at<Bundle, Tree, n.operand[2]>(leaves));
  else if constexpr (arity(n.what) == 2)
    return apply<n.what>(value_at<Bundle, Tree, n.operand[0]>(leaves), value_at<Bundle, Tree, n.operand[1]>(leaves));
  else return apply<n.what>(value_at<Bundle, Tree, n.operand[0]>(leaves));
}

template <int Bundle> using formula_numbers = std::make_integer_sequence<int, bundle::trees>;

/// All formulas of a bundle, for dsl::vectorize.
template <int Bundle>
struct formulas {
  template <class... S>
  constexpr auto operator()(S... leaves) const {
    return all(std::tuple{leaves...}, formula_numbers<Bundle>{});
  }
  template <class Leaves, int... Tree>
  static constexpr auto all(const Leaves& leaves, std::integer_sequence<int, Tree...>) {
    return std::tuple{value_at<Bundle, Tree, bundle_of<Bundle>.formula[Tree].size - 1>(leaves)...};
  }
};

}  // namespace property
