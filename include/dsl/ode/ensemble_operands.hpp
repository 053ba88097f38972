// The operands of an ensemble's kernel: what is checked, and what is added in which order.
#pragma once

#include <dsl/exec/ensemble/ensemble.hpp>
#include <dsl/ode/ensemble_problem.hpp>

namespace dsl::ode::detail {

template <class T> inline constexpr bool is_time_of_all = std::is_arithmetic_v<T>;

/// Checks the tolerances, the limits of the steps, and a time that is one for all elements.
void require_tolerance(const tolerance& wanted);
void require_finite(const char* name, double value);
void require_steps(std::int64_t steps);
/// Throws value_error unless the times are sorted in the direction from t0 to t1, and lie between
/// them.
void require_times(const std::vector<double>& times, double t0, double t1);
/// A magnitude as a float; the least or the greatest positive one where no float is so small or
/// large.
float as_float(double magnitude);
/// A power of two by which tolerances and errors are multiplied, so that they are moderate floats.
double unit_of(const tolerance& wanted);
/// What is checked before anything runs, besides the fields.
template <bool HasFixedSteps, class T0, class T1>
void require_call(const T0& t0, const T1& t1, const tolerance& wanted, std::int64_t fixed,
                  const std::vector<double>& times) {
  require_tolerance(wanted);
  if constexpr (HasFixedSteps) require_steps(fixed);
  if constexpr (is_time_of_all<T0>) require_finite("t0", static_cast<double>(t0));
  if constexpr (is_time_of_all<T1>) require_finite("t1", static_cast<double>(t1));
  if constexpr (is_time_of_all<T0> && is_time_of_all<T1>)
    require_times(times, static_cast<double>(t0), static_cast<double>(t1));
}
/// Throws shape_error unless all fields have one shape and share no element, and memory_error if
/// one has no memory.
void require_fields(const operand* fields, int count);
/// Whether the elements of an array may be those of a field.
bool may_share(const operand& array, const operand* fields, int count);

/// The most steps of an element. Each event adds one to steps of a fixed size.
template <class P>
constexpr std::int64_t steps_of_call(std::int64_t fixed, std::int64_t most) {
  return P::counts_steps ? fixed : P::has_fixed_steps ? fixed + most : most;
}

/// The operand of an array, a view, a scalar or a number.
template <class V>
operand operand_of(const V& v) {
  operand one[1], *at = one;
  add_leaves(as_operand(v), at);
  return one[0];
}

/// Operands of the kernel of one call, and the memory that the call needs besides its arguments'.
template <int Rank>
class ensemble_operands {
 public:
  explicit ensemble_operands(const extents<Rank>& shape) : shape_(shape) {}
  const std::vector<operand>& all() const { return all_; }
  const extents<Rank>& shape() const { return shape_; }

  template <class V>
  void add(const V& v) {
    all_.push_back(operand_of(v));
  }
  /// Adds an array of the values of x: x itself, if it is a contiguous array of the fields' shape
  /// that shares no memory with them. The first `fields` operands are the fields.
  template <class T, class X>
  void add_elements(const X& x, int fields) {
    if constexpr (std::same_as<X, view<const T, Rank>>) {
      const operand o = operand_of(x);
      if (x.is_contiguous() && x.extents() == shape_ && !may_share(o, all_.data(), fields)) {
        all_.push_back(o);
        return;
      }
    }
    const array<T, Rank> made = cast<T>(broadcast_to(x, shape_));
    add(made);
    owners_.push_back(made.view().owner());
  }

  /// Adds the parameters that are arrays.
  template <class... X>
  void add_parameters(const tuple<X...>& parameters, int fields) {
    unpack([&](const X&... x) { (add_parameter(x, fields), ...); }, parameters);
  }
  /// Adds t0 and t1 if they are arrays.
  template <class T0, class T1>
  void add_times(const T0& t0, const T1& t1, int fields) {
    if constexpr (!is_time_of_all<T0>) add_elements<double>(as_operand(t0), fields);
    if constexpr (!is_time_of_all<T1>) add_elements<double>(as_operand(t1), fields);
  }
  /// Adds the scalars that every ensemble has, the parameters that are single values, and the
  /// limits of the events.
  template <class Problem, class T0, class T1, class... X, class... Events>
  void add_scalars(const T0& t0, const T1& t1, const tolerance& wanted, std::int64_t fixed,
                   const tuple<X...>& parameters, const tuple<Events...>& events) {
    const double unit = unit_of(wanted);
    add(scalar_time(t0));
    add(scalar_time(t1));
    for (const double value : {wanted.relative * unit, wanted.absolute * unit, unit,
                               wanted.first_step, wanted.largest_step})
      add(as_float(value));
    add(as_count(steps_of_call<Problem>(fixed, wanted.most_steps)));
    add(fixed > 0 ? 1 / static_cast<double>(fixed) : 0.0);
    unpack([&](const X&... x) { (add_scalar(x), ...); }, parameters);
    unpack([&](const Events&... each) { (add(as_count(each.most)), ...); }, events);
  }

 private:
  template <class X>
  void add_parameter(const X& x, int fields) {
    if constexpr (is_array_parameter<X>)
      add_elements<element_t<dsl::detail::trace_t<X>::type.type>>(x, fields);
  }
  template <class X>
  void add_scalar(const X& x) {
    if constexpr (!is_array_parameter<X>) add(x);
  }
  template <class T>
  static double scalar_time(const T& t) {
    if constexpr (is_time_of_all<T>) return static_cast<double>(t);
    else return 0.0;
  }
  static std::int32_t as_count(std::int64_t n) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(n, 0x7fffffff));
  }
  extents<Rank> shape_;
  std::vector<operand> all_;
  std::vector<dsl::detail::buffer_ref> owners_;
};

/// The contiguous elements of a field: its own, or a copy that is given back.
template <class T, int R> view<T, R> place_of(array<T, R>& a, array<T, R>&) { return a.view(); }
template <class T, int R>
view<T, R> place_of(view<T, R>& v, array<T, R>& copy) {
  if (v.is_contiguous()) return v;
  copy = v;
  return copy.view();
}
template <class T, int R> void give_back(array<T, R>&, array<T, R>&) {}
template <class T, int R>
void give_back(view<T, R>& v, array<T, R>& copy) {
  if (copy.has_memory()) v = copy;
}

}  // namespace dsl::ode::detail
