// Subscripts that select positions along an axis: Python's slices, and integers.
#pragma once

#include <dsl/mem/mapping.hpp>

namespace dsl {

/// An omitted bound of a slice: the end of the axis at which the slice starts or stops.
struct end_t {};
inline constexpr end_t end{};

namespace detail {

inline constexpr std::int64_t furthest = 0x7fffffffffffffff;
/// A number of elements. An unsigned number of 2^63 or more lies beyond every end.
template <std::integral I>
constexpr std::int64_t clipped(I n) {
  if constexpr (std::unsigned_integral<I>)
    return static_cast<std::uint64_t>(n) > furthest ? furthest : static_cast<std::int64_t>(n);
  else return n;
}

/// A slice's bound: a position (negative: from the end of the axis), or omitted.
struct bound {
  std::int64_t at = 0;
  bool omitted = false;

  constexpr bound(end_t) : omitted(true) {}
  template <std::integral I>
  constexpr bound(I position) : at(clipped(position)) {}
};

}  // namespace detail

/// Python's start:stop:step. Negative bounds count from the end, bounds outside are clipped, and a
/// negative step walks backwards: slice(1, -1), slice(0, dsl::end, 2), slice(dsl::end, dsl::end,
/// -1). `slice()` is the whole axis. A step of 0 throws index_error when the slice is used.
struct slice {
  detail::bound start = end, stop = end;
  std::int64_t step = 1;

  constexpr slice() = default;
  constexpr slice(detail::bound first, detail::bound past) : start(first), stop(past) {}
  template <std::integral I>
  constexpr slice(detail::bound first, detail::bound past, I each)
      : start(first), stop(past), step(detail::clipped(each)) {}
};

namespace detail {

/// One argument of x(...): a slice, or an integer, which drops its axis.
struct subscript {
  slice range;
  bool drops = false;

  constexpr subscript(const slice& s) : range(s) {}
  template <std::integral I>
  constexpr subscript(I i) : range(i, end), drops(true) {}
};

template <class... I>
concept subscripts =
    (((std::integral<I> && !std::same_as<I, bool>) || std::same_as<I, slice>) && ...);

/// The rank that remains of `rank` after these subscripts.
template <class... I>
constexpr int rank_after(int rank) {
  return rank - (0 + ... + static_cast<int>(std::integral<I>));
}

/// The elements that subscripts select, one subscript for each of the first axes. Throws
/// index_error for an integer outside its axis (the message names axis and extent) and for a step
/// of 0.
mapping subscripted(const mapping& from, const subscript* chosen, int count);

}  // namespace detail
}  // namespace dsl
