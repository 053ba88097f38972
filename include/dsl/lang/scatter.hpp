// Writes to positions that an index gives.
#pragma once

#include <dsl/exec/tasks/scatter.hpp>
#include <dsl/lang/by_key.hpp>
#include <dsl/lang/scan.hpp>
#include <dsl/lang/sort.hpp>

namespace dsl {

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::scatter, Explicit> = true;

template <class T, int R>
view<T, 1> all_in_line(const view<T, R>& x) {
  if constexpr (R == 1) return x;
  else return reshape(x, x.size());
}
template <class T, int R>
view<T, 1> all_in_line(array<T, R>& x) {
  return all_in_line(x.view());
}
// The values of an expression, evaluated, in one dimension.
template <class E>
auto values_in_line(const E& e) {
  const auto values = eval(e);
  return ravel(values.view());
}

// Negative positions count from the end. An invalid position is left as it is, for the error
// message.
template <class Index>
auto keys_of_positions(const Index& index, std::int64_t n) {
  return vectorize([](auto i, auto size) {
    const auto at = cast<std::int64_t>(position_symbol(i));
    return where((at < 0) & (at >= -size), at + size, at);
  })(index, n);
}

// Positions in rising order; equal ones stay in their order. `order` is where each stood before.
struct sorted_positions {
  explicit sorted_positions(const view<const std::int64_t, 1>& keys)
      : order(argsort(keys)), sorted(take(keys, order)) {}
  array<std::int64_t> order, sorted;
};

/// Broadcasts the first operand to the shape of both.
template <class X, class Y>
auto broadcast_like(const X& x, const Y& to) {
  return make_expression<broadcast_value>(x, to);
}

/// Throws overflow_error if the target's dtype cannot hold a C++ integer, as an assignment does.
template <class T, class Value>
void require_value_fits([[maybe_unused]] const Value& value) {
  if constexpr (std::integral<Value> && kind_of(dtype_v<T>) == kind::integer)
    require_range(operand_of(value_leaf<Value>{value}), {dtype_v<T>, dtype_v<T>});
}

template <class T>
void scatter(const sorted_positions& at, const array<T>& values, const view<T, 1>& target) {
  run_scatter(operand_in_memory(at.sorted.view()), operand_in_memory(values.view()),
              operand_in_memory(target));
}

template <class T, class Keys, class Values>
void add_to_few(const view<T, 1>& target, const Keys& keys, const Values& values) {
  const sorted_positions at(values_in_line(broadcast_like(keys, values)));
  const std::int64_t n = at.sorted.size();
  const auto number = positions(n);
  const auto is_new =
      (number > 0) & (at.sorted != take(at.sorted, max(cast<std::int64_t>(number) - 1, 0)));
  const array<std::int64_t> run = cumsum(cast<std::int64_t>(is_new));
  const auto sums =
      eval(sum_by(run, take(values_in_line(broadcast_like(values, keys)), at.order), n));
  scatter(at, eval(take(target, at.sorted) + cast<T>(take(sums, run))), target);
}

}  // namespace detail

/// Adds `values` to the elements of `target` at the positions `index`; if a position occurs several
/// times, all its values are added: np.add.at. Positions are integers that count elements in
/// row-major order, negative ones from the end. `values` broadcasts with `index`. The result is the
/// same from run to run. Does not wait.
///
/// If there are fewer positions than a quarter of the target's elements, the time does not depend
/// on the target's size. A position outside the target is a memory_error in the simulator and
/// ignored elsewhere. Throws overflow_error if the target's dtype cannot hold a C++ integer.
template <class Target, class Index, class Values>
  requires detail::operands<Index> && detail::any_operand<Values>
void scatter_add(Target&& target, const Index& index, const Values& values) {
  if constexpr (detail::require_keys<Index>() && detail::require_operand<Values>()) {
    const auto all = detail::all_in_line(target);
    detail::require_positions(detail::operand_in_memory(all));
    using T = typename decltype(all)::value_type;
    detail::require_value_fits<T>(values);
    const auto keys = detail::keys_of_positions(detail::as_operand(index), all.size());
    const auto added = detail::as_operand(values);
    const auto shape = detail::shape_of(detail::broadcast_like(keys, added));
    const std::int64_t count =
        detail::element_count(shape.data(), static_cast<int>(shape.size()), 1);
    if (count == 0) return;
    if (count < all.size() / 4) return detail::add_to_few(all, keys, added);
    const auto sums = eval(sum_by(keys, added, all.size()));
    assign(all, all + cast<T>(sums));
  }
}

/// Sets the elements of `target` at the positions `index` to `values`: np.put. If a position occurs
/// several times, the last value counts. `values` is a C++ scalar, an array or an expression. The
/// k-th value belongs to the k-th position; if there are fewer values than positions they are
/// repeated from the first one. Positions are those of `scatter_add`. Takes as long as sorting the
/// positions. Does not wait.
template <class Target, class Index, class Values>
  requires detail::operands<Index> && detail::any_operand<Values>
void put(Target&& target, const Index& index, const Values& values) {
  if constexpr (detail::require_keys<Index>() && detail::require_operand<Values>()) {
    const auto all = detail::all_in_line(target);
    detail::require_positions(detail::operand_in_memory(all));
    using T = typename decltype(all)::value_type;
    detail::require_value_fits<T>(values);
    const auto keys =
        detail::values_in_line(detail::keys_of_positions(detail::as_operand(index), all.size()));
    if (keys.size() == 0) return;
    const detail::sorted_positions at(keys);
    if constexpr (detail::operand_t<Values>::rank == 0) {
      detail::scatter(at,
                      eval(cast<T>(detail::broadcast_like(detail::as_operand(values),
                                                          detail::positions(keys.size())))),
                      all);
    } else {
      const auto given = eval(values);
      detail::scatter(at, eval(cast<T>(take(given, at.order % given.size()))), all);
    }
  }
}

}  // namespace dsl
