// Targets of a statement.
#pragma once

#include <dsl/exec/run/run.hpp>
#include <dsl/lang/leaves.hpp>

namespace dsl::detail {

// A view, like a pointer, can be written through even if the view itself is const.
template <class Target> inline constexpr bool is_writable = !std::is_const_v<Target>;
template <class T, int R> inline constexpr bool is_writable<view<T, R>> = !std::is_const_v<T>;
template <class T, int R> inline constexpr bool is_writable<const view<T, R>> = !std::is_const_v<T>;

/// A target while its statement is checked and queued.
template <class Target>
struct bound_target {
  Target& target;
  bool imagined = false;
  static constexpr bool needs_memory() { return false; }
  static void give_memory(const geometry&, std::uint32_t, const pass_view&, const operand*) {}
  const Target& elements() const { return target; }
  static void adopt() {}
};
/// An array without memory gets new memory, which it takes over only when the statement is queued.
/// If the target is imagined (for a plan), only its first byte is allocated.
template <class T, int R>
struct bound_target<array<T, R>> {
  array<T, R>& target;
  bool imagined = false;
  array<T, R> made{};
  buffer_ref byte{};
  dsl::extents<R> sizes{};

  bool needs_memory() const { return !target.has_memory(); }
  void give_memory(const geometry& g, std::uint32_t reduced, const pass_view& pass,
                   const operand* all) {
    if (!needs_memory()) return;
    shape_target(sizes.data(), R, g, reduced, pass, all);
    element_count(sizes.data(), R, sizeof(T));  // throws
    if (imagined) byte = buffer_ref::allocate(1, g.where);
    else made = array<T, R>(sizes, g.where);
  }
  view<const T, R> elements() const {
    if (imagined && needs_memory())
      return {byte, static_cast<T*>(byte.data()), sizes, row_major(sizes)};
    return std::as_const(needs_memory() ? made : target).view();
  }
  void adopt() {
    if (made.has_memory()) take_over();
  }
  DSL_DETAIL_SMALL void take_over() { target = std::move(made); }
};

/// A scalar that was moved from gets memory in the same way.
template <class T>
struct bound_target<scalar<T>> {
  scalar<T>& target;
  bool imagined = false;
  buffer_ref made{};

  bool needs_memory() const { return !target.has_memory(); }
  void give_memory(const geometry& g, std::uint32_t, const pass_view&, const operand*) {
    if (needs_memory()) made = buffer_ref::allocate(sizeof(T), g.where);
  }
  view<const T, 0> elements() const {
    if (made) return {made, static_cast<T*>(made.data()), {}, {}};
    return std::as_const(target).view();
  }
  void adopt() {
    if (made) target = scalar<T>(made);
  }
};

/// Checks all targets before anything is computed: throws shape_error if two of them are one object
/// or share elements.
template <class... Targets>
void check_targets([[maybe_unused]] const Targets&... targets) {
  if constexpr (sizeof...(Targets) > 1) {
    const void* const objects[] = {&targets...};
    operand elements[sizeof...(Targets)], *at = elements;
    (add_leaves(as_operand(targets), at), ...);
    require_apart(objects, elements, sizeof...(Targets));
  }
}

// A separate function: nvcc before 12.5 cannot expand the types together with a lambda's
// parameters.
template <class... Targets>
tuple<bound_target<Targets>...> bind_each(bool imagined, Targets&... target) {
  check_targets(target...);
  return tuple<bound_target<Targets>...>{bound_target<Targets>{target, imagined}...};
}
/// Throws as `check_targets`.
template <class... Targets>
tuple<bound_target<Targets>...> bind_targets(const tuple<Targets&...>& targets,
                                             bool imagined = false) {
  return unpack([imagined](auto&... target) { return bind_each(imagined, target...); }, targets);
}

// Gives a target without memory the given number of elements, or one value.
template <class T, int R>
void give_elements(bound_target<array<T, R>>& to, std::int64_t elements, device where) {
  static_assert(R == 1);
  if (to.needs_memory()) to.made = array<T, 1>(dsl::extents<1>{elements}, where);
}
template <class Target>
void give_elements(bound_target<Target>& to, std::int64_t, device where) {
  geometry g;
  g.where = where;
  to.give_memory(g, 0, pass_view{}, nullptr);
}

template <std::size_t First, class... Targets, std::size_t... I>
auto some_targets(tuple<bound_target<Targets>...>& all, std::index_sequence<I...>) {
  return references(get<First + I>(all)...);
}
template <class... Targets>
auto all_targets(tuple<bound_target<Targets>...>& all) {
  return some_targets<0>(all, std::index_sequence_for<Targets...>{});
}

}  // namespace dsl::detail
