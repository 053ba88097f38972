// Unusual layouts of arrays: dimensions in any order, reversed, with gaps, or of extent 1.
#pragma once

#include <dsl/dsl.hpp>

#include <algorithm>
#include <numeric>
#include <random>

template <int Rank>
struct random_layout {
  dsl::extents<Rank> extents, strides{};
  std::int64_t first, size;  // of the memory, in elements

  random_layout(const dsl::extents<Rank>& shape, std::mt19937& engine, bool may_stretch)
      : extents(shape) {
    const auto pick = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
    std::array<int, Rank> order;
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine);
    std::int64_t step = pick(3) == 0 ? 2 : 1;
    first = pick(4);
    for (const int d : order) {
      const auto i = static_cast<std::size_t>(d);
      if (may_stretch && pick(4) == 0) extents[i] = 1;
      strides[i] = step;
      step = step * extents[i] + (pick(3) == 0 ? 3 : 0);
      if (extents[i] > 0 && pick(4) == 0) {
        first += (extents[i] - 1) * strides[i];
        strides[i] = -strides[i];
      }
    }
    size = step + 8;
  }
  template <class T> dsl::view<T, Rank> of(dsl::array<T>& memory) const {
    return {memory.view().owner(), memory.data() + first, extents, strides};
  }
};
