// Arrays as states of Boost.odeint's steppers. Not part of dsl.hpp. Each sum of states in a stepper
// is one kernel, because odeint's own operations write it as a formula.
#pragma once

#include <boost/numeric/odeint/algebra/algebra_dispatcher.hpp>
#include <boost/numeric/odeint/algebra/vector_space_algebra.hpp>
#include <boost/numeric/odeint/util/is_resizeable.hpp>
#include <boost/numeric/odeint/util/resize.hpp>
#include <boost/numeric/odeint/util/same_size.hpp>
#include <boost/numeric/odeint/util/unit_helper.hpp>

#include <dsl/lang/functions.hpp>
#include <dsl/lang/reduce.hpp>

namespace boost::numeric::odeint {

/// Calls a stepper's operations with whole states:
/// boost::numeric::odeint::runge_kutta4<dsl::array<float>>, or runge_kutta4<state, double, state,
/// double> if the time is not double.
template <class T, int Rank>
struct algebra_dispatcher<dsl::array<T, Rank>> {
  using algebra_type = vector_space_algebra;
};

/// A stepper's own states get the extents and the device of the state that it is given.
template <class T, int Rank>
struct is_resizeable<dsl::array<T, Rank>> : boost::true_type {};
template <class T, int Rank>
struct same_size_impl<dsl::array<T, Rank>, dsl::array<T, Rank>> {
  static bool same_size(const dsl::array<T, Rank>& a, const dsl::array<T, Rank>& b) {
    return a.has_memory() == b.has_memory() && a.extents() == b.extents() &&
           (!a.has_memory() || a.where() == b.where());
  }
};
template <class T, int Rank>
struct resize_impl<dsl::array<T, Rank>, dsl::array<T, Rank>> {
  static void resize(dsl::array<T, Rank>& to, const dsl::array<T, Rank>& from) {
    if (!same_size_impl<dsl::array<T, Rank>, dsl::array<T, Rank>>::same_size(to, from))
      to = from.has_memory() ? dsl::array<T, Rank>(from.extents(), from.where())
                             : dsl::array<T, Rank>();
  }
};

/// The largest |x|, by which odeint judges the error of a step. Waits: the host decides whether a
/// step is accepted.
template <class T, int Rank>
struct vector_space_norm_inf<dsl::array<T, Rank>> {
  using result_type = decltype(dsl::max(abs(std::declval<const dsl::array<T, Rank>&>())).value());
  result_type operator()(const dsl::array<T, Rank>& x) const {
    return x.size() == 0 ? result_type{} : dsl::max(abs(x)).value();
  }
};

/// Without units, the values of a state are the state itself. A view, because odeint would copy the
/// state.
template <class T, int Rank>
struct detail::get_unit_value_impl<dsl::array<T, Rank>> {
  using result_type = dsl::view<const T, Rank>;
  static result_type value(const dsl::array<T, Rank>& x) { return x.view(); }
};

}  // namespace boost::numeric::odeint
