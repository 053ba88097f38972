// Python modules made of formulas.
#pragma once

#include <dsl/python/loop.hpp>

namespace dsl::python {

namespace detail {
template <class F, class Options, class... P> class ensemble_function;  // python/ensemble.hpp
}  // namespace detail

/// A Python module under construction. Its functions accept arrays of NumPy, CuPy, PyTorch and JAX,
/// and of any library that supports DLPack, in place and ordered with their library's stream. They
/// return arrays of the first argument's library.
///
/// A signature is a list of types: dsl::array<T, rank> is an array of that dtype and rank,
/// dsl::python::any_rank<T> one of any rank, dsl::scalar<T> one value in device memory (an array of
/// rank 0), T a Python number. A name may have several signatures, which differ in dtypes, ranks or
/// number of parameters; a call uses the first that fits.
class module_builder {
 public:
  /// Defines a function that evaluates a formula. Its results are new arrays (of rank 0 for
  /// reductions), or are written to `out=`. `f` is made by `dsl::vectorize`, or takes operands and
  /// returns expressions. help() shows `documentation`. Reusing the name of a loop, or the same
  /// signature, is an ImportError.
  /// ```cpp
  /// m.kernel<dsl::array<float, 2>>("row_sums", [](auto x) { return dsl::sum(x, dsl::axis(1)); });
  /// ```
  template <class... P, class F>
  module_builder& kernel(const char* name, F f, const char* documentation = "") {
    if constexpr (are_parameters<P...>()) {
      using made = detail::kernel_function<F, P...>;
      add(name,
          {detail::function_kind::kernel,
           {detail::parameter_of<P>::value...},
           made::list(),
           0,
           new F(std::move(f)),
           &made::run},
          documentation);
    }
    return *this;
  }
  /// Defines a function that runs a time loop, `dsl::iterate`: name(steps, state..., parameters...,
  /// every=1, out=None). The state consists of the first parameters, one for each value of the
  /// formula. The function returns the state after the last step, and the histories of its
  /// dsl::scalar.
  /// ```cpp
  /// m.loop<field, field, dsl::scalar<c32>, float>("integrate", step,
  ///                                               "Many steps, with the mean fed back.");
  /// ```
  template <class... P, class F>
  module_builder& loop(const char* name, F f, const char* documentation = "") {
    if constexpr (are_parameters<P...>()) {
      using made = detail::loop_function<F, P...>;
      add(name,
          {detail::function_kind::loop,
           {detail::parameter_of<P>::value...},
           made::results(),
           made::variables,
           new F(std::move(f)),
           &made::run},
          documentation);
    }
    return *this;
  }
  /// Defines a function that integrates differential equations in each element by itself,
  /// `dsl::ode::ensemble`: name(t0, t1, fields..., arguments..., rtol=, atol=, first_step=,
  /// largest_step=, most_steps=, save_at=, out=). Needs #include <dsl/python/ensemble.hpp>. The
  /// fields are the first of the types, one for each derivative that f returns. options: a method,
  /// fixed_steps and events as for `dsl::ode::ensemble`; `dsl::python::times<T0, T1>` gives t0 and
  /// t1 other types than double. The function returns the fields at the end, and an EnsembleResult.
  /// ```cpp
  /// m.ensemble<dsl::array<double>, double>(
  ///     "decline", [](auto y, auto rate) { return -rate * y; }, "", dsl::ode::method::rodas5p,
  ///     dsl::python::times<double, dsl::array<double>>);
  /// ```
  template <class... P, class F, class... Options>
  module_builder& ensemble(const char* name, F f, const char* documentation = "",
                           const Options&... options) {
    if constexpr (are_parameters<P...>()) {
      using made = detail::ensemble_function<F, dsl::detail::tuple<Options...>, P...>;
      constexpr bool is_included = requires { sizeof(made); };
      static_assert(is_included,
                    "m.ensemble has a header of its own: add #include <dsl/python/ensemble.hpp>");
      if constexpr (is_included)
        if constexpr (made::fields > 0)
          add(name,
              {detail::function_kind::ensemble, made::parameters(), made::results(), made::fields,
               new dsl::detail::tuple<F, Options...>(f, options...), &made::run},
              documentation);
    }
    return *this;
  }

  class state;
  explicit module_builder(state& made) : state_(made) {}

 private:
  template <class... P>
  static constexpr bool are_parameters() {
    constexpr bool known = (detail::parameter_of<P>::known && ...),
                   few = sizeof...(P) <= detail::max_parameters;
    static_assert(known,
                  "a parameter of a Python function is dsl::array<T, rank>, "
                  "dsl::python::any_rank<T>, dsl::scalar<T> or a C++ scalar");
    static_assert(few, "a Python function takes at most 32 parameters");
    return known && few;
  }
  void add(const char* name, detail::signature&& one, const char* documentation);

  state& state_;
};

namespace detail {

struct module_definition {
  const char* name;
  void (*fill)(module_builder&);
};

}  // namespace detail
}  // namespace dsl::python

/// Defines a Python module, at file scope, once for each module: DSL_PYTHON_MODULE(fields, m) {
/// m.kernel<...>("rk4", step); }. The name is that of the target made by CMake's
/// `dsl_python_module`.
#undef DSL_PYTHON_MODULE
#define DSL_PYTHON_MODULE(name, m)                                                    \
  static void dsl_fill_python_module_##name(::dsl::python::module_builder& m);        \
  extern const ::dsl::python::detail::module_definition dsl_python_module_definition; \
  const ::dsl::python::detail::module_definition dsl_python_module_definition{        \
      #name, &dsl_fill_python_module_##name};                                         \
  static void dsl_fill_python_module_##name([[maybe_unused]] ::dsl::python::module_builder& m)
