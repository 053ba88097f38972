// Derivatives of maxima, minima and what is computed from them, along axes: they belong to the
// first element of each row that attains it, wherever the row is.
#pragma once

#include "iterate_loops.hpp"

#include <dsl/by_key.hpp>
#include <dsl/scan.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace positions_check {

using dsl::axis;
using dsl::grad;
using shape = std::array<std::int64_t, 3>;

constexpr auto greatest = [](auto r) { return dsl::max(r); };
constexpr auto at_greatest = [](auto r) { return grad<0>(greatest)(r); };

inline std::int64_t count(const shape& s) { return s[0] * s[1] * s[2]; }

// Few values, so that rows have ties.
inline std::vector<double> numbers(const shape& s, unsigned seed = 1) {
  std::vector<double> x;
  for (const float v : random_floats(count(s), -4, 4, seed)) x.push_back(std::round(v));
  return x;
}

inline dsl::array<double, 3> in_device(const shape& s, const std::vector<double>& given) {
  dsl::array<double, 3> m(s[0], s[1], s[2]);
  m = dsl::reshape(dsl::to_device(given), s[0], s[1], s[2]);
  return m;
}
// The elements in row-major order.
template <class X>
auto on_host(const X& x) {
  return dsl::eval(dsl::reshape(dsl::eval(x), -1)).copy_to_host();
}

// Calls use(the places of a row's elements) for each row along the axes, a bit for each.
template <class Use>
void for_each_row(const shape& s, std::uint32_t axes, const Use& use) {
  std::vector<std::vector<std::size_t>> rows(static_cast<std::size_t>(count(s)));
  for (std::int64_t i = 0; i < s[0]; ++i)
    for (std::int64_t j = 0; j < s[1]; ++j)
      for (std::int64_t k = 0; k < s[2]; ++k) {
        const std::int64_t at[] = {i, j, k};
        std::int64_t row = 0;
        for (std::size_t d = 0; d < 3; ++d)
          if ((axes >> d & 1) == 0) row = row * s[d] + at[d];
        rows[static_cast<std::size_t>(row)].push_back(
            static_cast<std::size_t>((i * s[1] + j) * s[2] + k));
      }
  for (const auto& row : rows)
    if (!row.empty()) use(row);
}

// The position in a row of the first element that compares best.
template <class Better>
std::size_t first_of(const std::vector<double>& x, const std::vector<std::size_t>& row,
                     const Better& better) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < row.size(); ++i)
    if (better(x[row[i]], x[row[best]])) best = i;
  return best;
}
// 1 at the first greatest element of each row, else 0.
inline std::vector<double> ones_at_greatest(const shape& s, std::uint32_t axes,
                                            const std::vector<double>& x) {
  std::vector<double> ones(x.size(), 0.0);
  for_each_row(s, axes, [&](const auto& row) { ones[row[first_of(x, row, std::greater{})]] = 1; });
  return ones;
}

inline const shape shapes[] = {{1, 1, 1},    {3, 1, 5},    {1, 33, 4},  {7, 33, 1},
                               {4, 3, 33},   {2, 5, 7},    {33, 2, 9},  {2, 1000, 3},
                               {3, 2, 1000}, {1000, 1, 3}, {2, 64, 64}, {1, 1, 20011}};

}  // namespace positions_check
