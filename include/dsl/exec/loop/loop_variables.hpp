// The variables that a loop carries, by number: arrays, and scalars that are results of reductions.
#pragma once

#include <dsl/exec/access/lanes.hpp>
#include <dsl/ir/pass.hpp>

namespace dsl::detail {

/// A group of lanes of each array among a loop's variables, in its memory type.
template <int I, class T, int Lanes> struct array_lanes { pack<T, Lanes> group; };
template <class Pass, int Lanes, class Numbers> struct state_lanes;
template <int I, class Pass> using state_element =
    memory_t<Pass::elements::output(target_word{Pass::target_words[I]}.output()).type()>;
template <int I, class Pass, int Lanes, bool Reduced> struct variable_lanes {};
template <int I, class Pass, int Lanes> struct variable_lanes<I, Pass, Lanes, false>
    : array_lanes<I, state_element<I, Pass>, Lanes> {};
template <class Pass, int Lanes, std::size_t... I>
struct state_lanes<Pass, Lanes, std::index_sequence<I...>>
    : variable_lanes<static_cast<int>(I), Pass, Lanes, Pass::is_result(static_cast<int>(I))>... {};
template <int I, class T, int Lanes> DSL_DETAIL_FN pack<T, Lanes>& lanes_of(
    array_lanes<I, T, Lanes>& h) {
  return h.group;
}
template <int I, class T, int Lanes> DSL_DETAIL_FN const pack<T, Lanes>& lanes_of(
    const array_lanes<I, T, Lanes>& h) {
  return h.group;
}

template <class Pass, int States>
struct loop_variables {
  using states = std::make_index_sequence<static_cast<std::size_t>(States)>;
  template <int I> static constexpr bool is_array = !Pass::is_result(I);
  template <int I> static constexpr int output = target_word{Pass::target_words[I]}.output();

  /// Calls each<number, element type>() for each array.
  template <class Each> DSL_DETAIL_KERNEL_FN static void for_arrays(const Each& each) {
    each_array(each, states{});
  }

 private:
  template <class Each, std::size_t... I>
  DSL_DETAIL_KERNEL_FN static void each_array(const Each& each, std::index_sequence<I...>) {
    (of_array<static_cast<int>(I)>(each), ...);
  }
  template <int I, class Each>
  DSL_DETAIL_KERNEL_FN static void of_array([[maybe_unused]] const Each& each) {
    if constexpr (is_array<I>) each.template operator()<I, state_element<I, Pass>>();
  }
};

}  // namespace dsl::detail
