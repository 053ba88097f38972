// A bundle of formulas as one kernel, called by a test with addresses of leaves and outputs.
#pragma once

#include <vector>

#include "formula.hpp"
#include "layout.hpp"

namespace property {

/// An operand: its block of memory on the device, and the placement of its elements there. A scalar
/// by value is read on the host.
struct operand {
  dsl::view<unsigned char, 1> block;
  const void* host;
  placement place;
};

/// A bundle compiled by the library.
struct compiled_bundle {
  int number;
  void (*run)(const operand* leaves, const operand* outputs);
  std::vector<typed> (*types)(
      int formula);  // of each node, by the language's rules; literals have none
};
std::vector<compiled_bundle>& compiled_bundles();

constexpr typed typed_of(dsl::weak_dtype t) {
  int found = 0;
  const dsl::dtype types[] = {dsl::dtype::boolean, dsl::dtype::int8,      dsl::dtype::int16,
                              dsl::dtype::int32,   dsl::dtype::int64,     dsl::dtype::uint8,
                              dsl::dtype::uint16,  dsl::dtype::uint32,    dsl::dtype::uint64,
                              dsl::dtype::float16, dsl::dtype::bfloat16,  dsl::dtype::float32,
                              dsl::dtype::float64, dsl::dtype::complex64, dsl::dtype::complex128};
  while (types[found] != t.type) ++found;
  return {static_cast<dtype>(found), t.weak};
}

template <class T, int Rank> dsl::view<T, Rank> view_of(const operand& o) {
  dsl::extents<Rank> extents{}, strides{};
  for (std::size_t d = 0; d != Rank; ++d) {
    extents[d] = o.place.of.extents[d];
    strides[d] = o.place.strides[d];
  }
  return {o.block.owner(), reinterpret_cast<T*>(o.block.data()) + o.place.offset, extents, strides};
}

template <int Bundle, int Leaf> auto leaf_of(const operand& o) {
  constexpr leaf l = bundle_of<Bundle>.leaves[Leaf];
  using T = element_t<l.type>;
  if constexpr (l.from == source::value) return static_cast<const T*>(o.host)[o.place.offset];
  else return view_of<T, l.rank>(o);
}

// Outputs have the dtypes that the language gives.
template <int Rank, class... Results, class E, std::size_t... I>
void assign_all(std::type_identity<std::tuple<Results...>>, const E& expression,
                const operand* outputs, std::index_sequence<I...>) {
  std::tuple views{view_of<dsl::element_t<Results::type.type>, Rank>(outputs[I])...};
  dsl::tie(std::get<I>(views)...) = expression;
}

template <int Bundle, int... Leaf>
void run_bundle(const operand* leaves, const operand* outputs,
                std::integer_sequence<int, Leaf...>) {
  const auto expression =
      dsl::vectorize(formulas<Bundle>{})(leaf_of<Bundle, Leaf>(leaves[Leaf])...);
  using results = dsl::detail::trace_t<std::remove_const_t<decltype(expression)>>;
  assign_all<bundle_of<Bundle>.rank>(std::type_identity<results>{}, expression, outputs,
                                     std::make_index_sequence<bundle::trees>{});
}

template <class T> constexpr typed type_of_result() {
  if constexpr (dsl::is_symbol<T>) return typed_of(T::type);
  else return {cpp_dtype<T>, true};
}

template <int Bundle, int Tree, class Leaves, int... At> std::vector<typed> types_of_nodes(
    std::integer_sequence<int, At...>) {
  return {type_of_result<std::remove_cvref_t<decltype(value_at<Bundle, Tree, At>(
      std::declval<const Leaves&>()))>>()...};
}

template <int Bundle> struct compiled {
  using leaf_numbers = std::make_integer_sequence<int, bundle_of<Bundle>.leaf_count>;

  static void run(const operand* leaves, const operand* outputs) {
    run_bundle<Bundle>(leaves, outputs, leaf_numbers{});
  }

  template <int... Leaf>
  static auto symbols(std::integer_sequence<int, Leaf...>)
      -> std::tuple<dsl::symbol<dsl::dtype_v<element_t<bundle_of<Bundle>.leaves[Leaf].type>>,
                                bundle_of<Bundle>.leaves[Leaf].from == source::value>...>;

  template <int... Tree> static std::vector<typed> type_of(int formula,
                                                           std::integer_sequence<int, Tree...>) {
    using leaves = decltype(symbols(leaf_numbers{}));
    std::vector<typed> (*const all[])(){+[] {
      return types_of_nodes<Bundle, Tree, leaves>(
          std::make_integer_sequence<int, bundle_of<Bundle>.formula[Tree].size>{});
    }...};
    return all[formula]();
  }
  static std::vector<typed> types(int formula) { return type_of(formula, formula_numbers{}); }
};

/// Adds the bundles from First on to those that the test runs.
template <int First, int... I> bool compile_bundles(std::integer_sequence<int, I...>) {
  (compiled_bundles().push_back(
       {First + I, &compiled<First + I>::run, &compiled<First + I>::types}),
   ...);
  return true;
}

}  // namespace property
