// Operands of any dtype, rank and layout with their own memory, drawn at random at run time,
// without arrays and expressions.
#pragma once

#include <dsl/exec/plan/operand.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "mem/buffer.hpp"

using shape_of_test = std::vector<std::int64_t>;

inline int draw_below(std::mt19937& engine, int n) {
  return static_cast<int>(engine() % static_cast<unsigned>(n));
}

/// An operand and the number of elements of its memory; element (0, 0, ...) is number `first` of
/// these.
struct random_operand {
  dsl::detail::operand is;
  dsl::detail::buffer_ref memory;
  std::int64_t first = 0, size = 0;

  unsigned char* data() const { return static_cast<unsigned char*>(memory.data()); }
  /// Offset from `first` of the element at a place of the whole shape.
  std::int64_t offset(const shape_of_test& at) const {
    std::int64_t sum = 0;
    const auto skipped = at.size() - static_cast<std::size_t>(is.rank);
    for (int d = 0; d < is.rank; ++d)
      sum += (is.extents[d] == 1 ? 0 : at[skipped + static_cast<std::size_t>(d)]) * is.strides[d];
    return sum;
  }
};

/// Draws a layout: dimensions in any order, reversed, with gaps. An input may also be broadcast,
/// from extent 1 or by stride 0, or have fewer dimensions. A quarter are row-major and aligned.
inline random_operand make_random_operand(const shape_of_test& shape, dsl::dtype type,
                                          dsl::device where, bool is_read, std::mt19937& engine) {
  const bool plain = draw_below(engine, 4) == 0;
  const auto happens = [&](int one_in) { return !plain && draw_below(engine, one_in) == 0; };
  random_operand made;
  dsl::detail::operand& o = made.is;
  const int all = static_cast<int>(shape.size()),
            dropped = is_read && happens(4) ? draw_below(engine, all + 1) : 0;
  o.kind = dsl::detail::operand_kind::array;
  o.type = type;
  o.rank = all - dropped;
  std::vector<int> order(static_cast<std::size_t>(o.rank));
  std::iota(order.rbegin(), order.rend(), 0);
  if (happens(2)) std::shuffle(order.begin(), order.end(), engine);
  std::int64_t step = happens(3) ? 2 : 1;
  made.first = happens(2) ? draw_below(engine, 4) : 0;
  for (const int d : order) {
    o.extents[d] = is_read && happens(4) ? 1 : shape[static_cast<std::size_t>(d + dropped)];
    o.strides[d] = step;
    if (is_read && happens(8)) {
      o.strides[d] = 0;
      continue;
    }
    step =
        step * std::max<std::int64_t>(o.extents[d], 1) + (happens(3) ? draw_below(engine, 4) : 0);
    if (o.extents[d] > 0 && happens(4)) {
      made.first += (o.extents[d] - 1) * o.strides[d];
      o.strides[d] = -o.strides[d];
    }
  }
  made.size = step + 8;
  const auto bytes = static_cast<std::size_t>(made.size * dsl::size_of(type));
  made.memory = dsl::detail::buffer_ref::allocate(bytes, where);
  for (std::size_t i = 0; i < bytes; ++i) made.data()[i] = static_cast<unsigned char>(engine());
  o.memory = made.memory.get();
  o.word[0] = reinterpret_cast<std::uintptr_t>(made.data() + made.first * dsl::size_of(type));
  return made;
}

/// Calls visit(place) for each place of a shape, in row-major order.
template <class Visit> void for_each_place(const shape_of_test& shape, const Visit& visit) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  shape_of_test at(shape.size(), 0);
  for (;;) {
    visit(at);
    std::size_t d = shape.size();
    for (; d > 0 && ++at[d - 1] == shape[d - 1]; --d) at[d - 1] = 0;
    if (d == 0) return;
  }
}
