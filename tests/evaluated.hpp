// A formula's values, for tests of its arithmetic. By default it is interpreted in every form of
// the current device. With DSL_TEST_ALL, and in files compiled by nvcc, it runs as a kernel.
// Compiling kernels is most of such tests' cost.
#pragma once

#if defined(__CUDACC__) || defined(DSL_TEST_ALL)
#define COMPILED_FORMULAS
#endif

#include "on_device.hpp"
#if !defined(COMPILED_FORMULAS)
#include "interpreter/formula.hpp"
#endif

/// Evaluates a lambda that returns a std::tuple of symbols; arrays are std::vector, scalars C++
/// numbers.
template <class F, class... X> class evaluated {
 public:
  explicit evaluated(F formula, const X&... x) : formula_(formula), operands_(x...) {}

  /// Calls check(elements...) with a vector for each output, once for each form.
  template <class Check> void check(Check check) const {
#if defined(COMPILED_FORMULAS)
    std::apply(
        [&](const auto&... x) {
          const auto outputs_of = [&]<class... S>(std::type_identity<std::tuple<S...>>) {
            std::tuple<dsl::array<dsl::element_t<S::type.type>>...> made;
            std::apply(
                [&](auto&... m) { dsl::tie(m...) = dsl::vectorize(formula_)(operand(x)...); },
                made);
            std::apply([&](const auto&... m) { check(m.copy_to_host()...); }, made);
          };
          outputs_of(
              std::type_identity<decltype(formula_(symbol_of(std::declval<const X&>())...))>{});
        },
        operands_);
#else
    for (const interpreter::form how : interpreter::forms_on(dsl::device::current())) {
      SCOPED_TRACE(name(how));
      const auto made = std::apply(
          [&](const auto&... x) { return interpreter::evaluate(how, formula_, x...); }, operands_);
      std::apply([&](const auto&... m) { check(m.elements...); }, made);
    }
#endif
  }

 private:
#if defined(COMPILED_FORMULAS)
  template <class T> static auto operand(const std::vector<T>& x) { return dsl::to_device(x); }
  template <class T> static T operand(const T& x) { return x; }
  template <class T> static dsl::symbol<dsl::dtype_v<T>> symbol_of(const std::vector<T>& x);
  template <class T> static dsl::symbol<dsl::dtype_v<T>, true> symbol_of(const T& x);
#endif
  F formula_;
  std::tuple<const X&...> operands_;
};
