// A sum of many operands: elements, parts of an array, and a neighbour as the last.
#pragma once

#include <gtest/gtest.h>

#include <dsl/dsl.hpp>

#include <cstdint>
#include <utility>

template <std::size_t Operands>
void sum_of_operands() {
  constexpr std::size_t count = Operands - 3;
  const dsl::array<int, 2> m = dsl::reshape(dsl::arange<int>(70 * 80), 70, 80);
  const auto element = [&m](std::size_t i) { return m(static_cast<int>(i), 5).view(); };
  const auto part = [&m](int row, int column) {
    return m(dsl::slice(row, row + 60), dsl::slice(column, column + 60));
  };
  const auto total = dsl::vectorize([](auto... x) { return (x + ...); });
  const auto sum = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return total(element(I)..., part(3, 1), part(9, 20),
                 dsl::shift(part(1, 2), 2, dsl::boundary::zero, 0));
  }(std::make_index_sequence<count>{});
  const auto got = dsl::array<int, 2>(sum).copy_to_host();
  int constant = 0;
  for (int i = 0; i < static_cast<int>(count); ++i) constant += i * 80 + 5;
  for (int r = 0; r < 60; ++r)
    for (int c = 0; c < 60; ++c) {
      const int shifted = r >= 2 ? (r - 1) * 80 + c + 2 : 0;
      ASSERT_EQ(got[static_cast<std::size_t>(r * 60 + c)],
                constant + (r + 3) * 80 + c + 1 + (r + 9) * 80 + c + 20 + shifted)
          << r << ' ' << c;
    }
  // The shape is found for any number of operands.
  EXPECT_EQ(dsl::detail::shape_of((sum + sum)(dsl::slice(1, 3))), (dsl::extents<2>{2, 60}));
}
