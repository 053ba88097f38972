// Checks of an ensemble's arguments, and the operands of its kernel.
#pragma once

#include <dsl/ode/ensemble_variables.hpp>

namespace dsl::ode::detail {

/// Checks the tolerances, the limits of the steps, and a time that is one for all elements.
void require_tolerance(const tolerance& wanted);
void require_finite(const char* name, double value);
void require_steps(std::int64_t steps);
/// Checks the numbers of save_every.
void require_rows(std::int64_t steps, std::int64_t rows);
/// Throws value_error unless the times are sorted in the direction from t0 to t1, and lie between
/// them.
void require_times(const std::vector<double>& times, double t0, double t1);
/// The same where the elements have times of their own: unless the times are finite, and sorted in
/// one of both directions.
void require_times(const std::vector<double>& times);
/// A magnitude as a float; the least or the greatest positive one where no float is so small or
/// large.
float as_float(double magnitude);
/// A power of two by which tolerances and errors are multiplied, so that they are moderate floats.
double unit_of(const tolerance& wanted);
/// Throws shape_error unless all fields have one shape and share no element, and memory_error if
/// one has no memory.
void require_fields(const operand* fields, int count);
/// The same for arrays of times. Waits.
template <class... Views>
void require_finite_elements(const Views&... times) {
  if constexpr (sizeof...(Views) > 0) {
    if (((times.size() == 0) && ...)) return;
    const auto magnitude = [](const auto& x, const auto&... y) {
      if constexpr (sizeof...(y) == 0) return abs(x);
      else return max(abs(x), abs(y)...);
    };
    require_finite("the largest magnitude of t0 and t1", dsl::max(magnitude(times...)).value());
  }
}
/// Whether the elements of an array may be those of a field.
bool may_share(const operand& array, const operand* fields, int count);

template <class T> inline constexpr bool is_time_of_all = std::is_arithmetic_v<T>;

/// The operand of an array, a view, a scalar or a number.
template <class V>
operand operand_of(const V& v) {
  operand one[1], *at = one;
  add_leaves(as_operand(v), at);
  return one[0];
}

/// Operands of the kernel of one call: arrays, then scalars; and the memory that the call needs
/// besides its arguments'.
template <int Rank>
class ensemble_operands {
 public:
  explicit ensemble_operands(const extents<Rank>& shape) : shape_(shape) {}
  const std::vector<operand>& all() const { return all_; }
  std::size_t arrays() const { return arrays_; }
  const extents<Rank>& shape() const { return shape_; }

  template <class V>
  void add(const V& v) {
    all_.push_back(operand_of(v));
  }
  /// Adds an array of the values of x: x itself, if it is a contiguous array of the fields' shape
  /// that shares no memory with them. The first `fields` operands are the fields. Returns it.
  template <class T, class X>
  view<const T, Rank> add_elements(const X& x, int fields) {
    if constexpr (std::same_as<X, view<const T, Rank>>) {
      const operand o = operand_of(x);
      if (x.is_contiguous() && x.extents() == shape_ && !may_share(o, all_.data(), fields)) {
        all_.push_back(o);
        return x;
      }
    }
    const array<T, Rank> made = cast<T>(broadcast_to(x, shape_));
    add(made);
    owners_.push_back(made.view().owner());
    return made.view();
  }
  /// Adds times, unless they are one number for all elements. Returns a tuple of what was added.
  template <class T>
  auto add_times(const T& times, int fields) {
    if constexpr (is_time_of_all<T>) return tuple<>{};
    else return tuple<view<const double, Rank>>{add_elements<double>(as_operand(times), fields)};
  }

  /// The scalars come after these.
  void begin_scalars() { arrays_ = all_.size(); }

 private:
  extents<Rank> shape_;
  std::vector<operand> all_;
  std::size_t arrays_ = 0;
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

/// Whether a right-hand side computes with one element alone.
template <class F, class... X>
constexpr bool is_of_one_element() {
  graph g;
  std::uint64_t number = 0;
  const auto operand_like = [&]<class S>(std::type_identity<S>) {
    return S{&g, g.add(op::load, S::type.type, {number++})};
  };
  const tuple seen{operand_like(std::type_identity<dsl::detail::trace_t<operand_t<X>>>{})...};
  const auto time = operand_like(std::type_identity<symbol<dtype::float64, true>>{});
  unpack([&](const auto&... x) { right_side<F>::at(time, x...); }, seen);
  bool alone = g.reduction_count() == 0;
  for (int i = 0; i < g.size(); ++i)
    alone = alone && !dsl::detail::is_placed(g[i].code) && g[i].code != op::gather &&
            g[i].code != op::index;
  return alone;
}
template <class F, class... X>
constexpr bool require_one_element() {
  constexpr bool alone = is_of_one_element<F, X...>();
  static_assert(alone,
                "in an ensemble each element is a system of its own, without sums, neighbours and "
                "elements of others: dsl::ode::integrate takes these");
  return alone;
}
/// Whether a method's noise may be that of these fields and parameters; otherwise a compile-time
/// error.
template <class G, class... S, class... X>
constexpr bool may_be_diffusion(std::type_identity<tuple<S...>>, std::type_identity<tuple<X...>>) {
  constexpr bool is_called = right_side<G>::template takes<symbol<dtype::float64, true>,
                                                           dsl::detail::trace_t<operand_t<S>>...,
                                                           dsl::detail::trace_t<operand_t<X>>...>;
  static_assert(is_called,
                "a method's noise takes the fields and the other arguments, after the time with "
                "ode::with_time");
  if constexpr (!is_called) {
    return false;
  } else {
    constexpr bool are_as_many =
        std::tuple_size_v<
            derivatives_of<G, symbol<dtype::float64, true>, dsl::detail::trace_t<operand_t<S>>...,
                           dsl::detail::trace_t<operand_t<X>>...>> == sizeof...(S);
    static_assert(are_as_many, "a method's noise returns one value for each field");
    if constexpr (!are_as_many) return false;
    else return require_one_element<G, S..., X...>();
  }
}
/// Whether an ensemble may have these fields and parameters; otherwise a compile-time error.
template <class F, class... S, class... X>
constexpr bool may_be_ensemble(std::type_identity<tuple<S...>>, std::type_identity<tuple<X...>>) {
  if constexpr (!(dsl::detail::require_operand<X>() && ...)) {
    return false;
  } else if constexpr (!may_integrate<F, sizeof...(S), S..., X...>()) {
    return false;
  } else {
    constexpr bool are_arrays =
        ((S::rank > 0 && S::rank == std::tuple_element_t<0, tuple<S...>>::rank) && ...);
    static_assert(are_arrays, "the fields of an ensemble are arrays or views of one rank");
    return require_one_element<F, S..., X...>() && are_arrays;
  }
}

}  // namespace dsl::ode::detail
