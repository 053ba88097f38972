// A formula written as a user writes it, traced at run time and run by the interpreter; no kernel
// is compiled.
#pragma once

#include "interpreter.hpp"
#include "language.hpp"

#include <dsl/dsl.hpp>

#include <tuple>
#include <vector>

namespace interpreter {

/// The forms that represent a device: scalar for the simulator, every instruction set for the host.
inline std::vector<form> forms_on(const dsl::device& device) {
  if (device.kind == dsl::backend::sim) return {form::scalar};
  std::vector<form> all = forms();
  all.erase(all.begin());
  return all;
}

template <class T> struct column { std::vector<T> elements; };
// std::vector<bool> has no elements in memory.
template <> struct column<bool> { std::vector<unsigned char> elements; };

/// Evaluates a lambda of arrays (std::vector) and C++ scalars. Returns a std::tuple of columns with
/// the outputs' dtypes.
template <class F, class... X> auto evaluate(form how, F f, const X&... operand) {
  using namespace dsl::detail;
  using dsl::op;
  graph g;
  std::vector<const void*> in;
  std::size_t count = 0;
  const auto symbol_of = [&]<class T>(const T& x) {
    const auto number = static_cast<std::uint64_t>(in.size());
    if constexpr (requires { x.data(); }) {
      using E = typename T::value_type;
      static_assert(!std::is_same_v<E, bool>);
      in.push_back(x.data());
      count = x.size();
      return dsl::symbol<dsl::dtype_v<E>>{&g, g.add(op::load, dsl::dtype_v<E>, {number})};
    } else {
      static_assert(sizeof(T) > 2 || std::is_integral_v<T>,
                    "the language holds 16-bit scalars as float");
      in.push_back(&x);
      return dsl::symbol<dsl::dtype_v<T>, true>{&g, g.add(op::value, dsl::dtype_v<T>, {number})};
    }
  };
  const std::tuple symbols{symbol_of(operand)...};
  const auto made = std::apply(f, symbols);
  return std::apply(
      [&](const auto&... output) {
        sequence<int> roots, reductions;
        (roots.push_back(output.id), ...);
        frozen_programs p;
        freeze(g, roots, reductions, p);
        std::tuple<column<dsl::element_t<std::remove_cvref_t<decltype(output)>::type.type>>...>
            results;
        std::apply(
            [&](auto&... r) {
              (r.elements.resize(count), ...);
              void* const out[] = {r.elements.data()...};
              executable(view_of(p)).run(how, static_cast<int>(count), in.data(), out);
            },
            results);
        return results;
      },
      made);
}

}  // namespace interpreter
