// States of a loop that are kept in device memory.
#pragma once

#include <vector>

#include <dsl/exec/loop/loop_arguments.hpp>
#include <dsl/lang/gather.hpp>
#include <dsl/lang/loop_step.hpp>

namespace dsl::detail {

/// Whether a device is a mesh, whose members have a part of each array.
bool is_mesh(device where);

/// Memory for states of the variables V of a loop, arrays and scalars. On one device the states are
/// one after another, at the same distance, so that one kernel can read several; on a mesh each has
/// memory of its own.
template <class... V>
class kept_states {
  template <class X> using view_of = view<typename X::value_type, X::rank>;

 public:
  using state = tuple<view_of<V>...>;

  /// Places for `count` states with the extents of `like`.
  kept_states(const tuple<V...>& like, std::int64_t count) {
    places_.reserve(static_cast<std::size_t>(count));
    if (is_mesh(get<0>(like).where()))
      for (std::int64_t k = 0; k < count; ++k)
        unpack([&](const auto&... v) { places_.push_back(state{alone(v)...}); }, like);
    else unpack([&](const auto&... v) { place(count, together(v, count)...); }, like);
  }
  state& operator[](std::int64_t place) { return places_[static_cast<std::size_t>(place)]; }

  /// `count` states of variable I from a place on as an operand of a loop that begins with step 0:
  /// each step reads the state before that of the step before it. On a mesh `count` is 1.
  template <std::size_t I>
  auto in_reverse(std::int64_t place, std::int64_t count) {
    using X = std::tuple_element_t<I, tuple<V...>>;
    using T = const typename X::value_type;
    if constexpr (X::rank == 0) {
      const auto& first = get<I>((*this)[place]);
      return take(view<T, 1>(first.owner(), first.origin(), {count}, {distance(first)}),
                  (count - 1) - step_number{});
    } else {
      const auto& last = get<I>((*this)[place + count - 1]);
      return step_array<T, X::rank>{last, count > 1 ? -distance(last) : 0};
    }
  }

 private:
  template <class View>
  static std::int64_t distance(const View& of) {
    return distance_of_states(of.size(), sizeof(typename View::value_type));
  }
  template <class X>
  static view_of<X> alone(const X& like) {
    return view_of<X>(
        array<typename X::value_type, X::rank>(extents_of(like), like.where()).view());
  }
  template <class X>
  static view_of<X> together(const X& like, std::int64_t count) {
    using T = typename X::value_type;
    auto memory = buffer_ref::allocate(
        static_cast<std::size_t>(count * distance(as_operand(like))) * sizeof(T), like.where());
    T* const first = static_cast<T*>(memory.data());
    return view_of<X>(std::move(memory), first, extents_of(like), row_major(extents_of(like)));
  }
  void place(std::int64_t count, const view_of<V>&... first) {
    for (std::int64_t k = 0; k < count; ++k)
      places_.push_back(state{view_of<V>(first.owner(), first.origin() + k * distance(first),
                                         first.extents(), first.strides())...});
  }
  template <class X>
  static extents<X::rank> extents_of(const X& x) {
    return as_operand(x).extents();
  }

  std::vector<state> places_;
};

}  // namespace dsl::detail
