// reduce of several values: an accumulator made of each element, joined, and finished.
#pragma once

#include <dsl/lang/accumulator.hpp>
#include <dsl/lang/reduce.hpp>

namespace dsl {

/// A reduction with a user's accumulator; the result of `reduce` with a function that makes one.
template <class Name, class A, class Op, class Lift, class Finish>
struct accumulator_reducer {
  A init;

  template <class... T>
  constexpr auto operator()(const T&... all) const {
    constexpr std::size_t operands = (std::size_t{0} + ... + (detail::reduction_option<T> ? 0 : 1));
    return reduce(detail::tuple<const T&...>{all...}, std::make_index_sequence<operands>{},
                  std::make_index_sequence<sizeof...(T) - operands>{});
  }

 private:
  using functions = detail::accumulator_functions<A, Op, Lift, Finish>;
  template <class All, std::size_t... X, std::size_t... O>
  constexpr auto reduce(const All& all, std::index_sequence<X...>, std::index_sequence<O...>) const {
    const auto options = detail::tuple{detail::get<sizeof...(X) + O>(all)...};
    return detail::unpack(
        [&](const auto&... first) {
          return detail::reduce_by<detail::accumulation<Name, functions>>(
              options, detail::get<X>(all)..., first...);
        },
        functions::values_of(init));
  }
};

template <class Name = detail::unnamed, class Op, class A, class Lift, class Finish>
constexpr accumulator_reducer<Name, A, Op, Lift, Finish> reduce(Op, const A& init, Lift, Finish) {
  return {init};
}

}  // namespace dsl
