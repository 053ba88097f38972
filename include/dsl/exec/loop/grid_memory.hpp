// Arrays of a loop in global memory, read by position in the grid.
#pragma once

#include <dsl/exec/stencil/window.hpp>

namespace dsl::detail {

/// An array's elements in global memory, by position in the grid.
template <class T>
struct grid_memory {
  T* first;
  std::int64_t strides[3], extents[3];
  bool in_vectors;

  DSL_DETAIL_FN T* at(const std::int64_t (&position)[3]) const {
    return first + (position[0] * strides[0] + position[1] * strides[1] + position[2] * strides[2]);
  }
};

/// The vector that a halo or a patch reads at a position; at least lanes `begin` to `end` are
/// valid.
template <class Window, class Memory>
DSL_DETAIL_KERNEL_FN auto find_vector(Memory memory, const grid_memory<typename Window::T>& from,
                                      std::int64_t x, std::int64_t y, std::int64_t z, int begin,
                                      int end) {
  constexpr auto shape = Window::shape;
  constexpr int lanes = Window::lanes;
  using T = typename Window::T;
  y = near_inside<shape.beyond[1]>(y, from.extents[1]);
  z = near_inside<shape.beyond[2]>(z, from.extents[2]);
  if (y < 0 || z < 0) return pack<T, lanes>{};
  const T* const line = from.at({0, y, z});
  const std::int64_t n = from.extents[0], whole = shape.beyond[0] == boundary::wrap
                                                      ? near_inside<boundary::wrap>(x, n)
                                                      : x;
  if (from.in_vectors && whole >= 0 && whole + lanes <= n && whole % lanes == 0)
    return memory.template load<pack<T, lanes>>(line + whole);
  return vector_across_end<T, lanes, shape.beyond[0]>(memory, line, x, from.extents[0],
                                                      from.strides[0], begin, end);
}
/// Everything that a patch reads, if some of it may be beyond an end.
template <class Window, class Memory>
DSL_DETAIL_NOINLINE Window find_window(Memory memory, grid_memory<typename Window::T> from,
                                       std::int64_t x, std::int64_t y, std::int64_t z, int begin,
                                       int end) {
  Window w;
  w.find_vectors([&](int column, int row, int plane) {
    return find_vector<Window>(memory, from, x + column, y + row, z + plane, begin - column,
                               end - column);
  });
  return w;
}

}  // namespace dsl::detail
