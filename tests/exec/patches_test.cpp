// Stencils whose displacements are known at compile time, read by patches: up to three dimensions,
// compared with plain loops.
#include "../lang/boundary_reference.hpp"
#include "../on_device.hpp"

#include <array>
#include <random>
#include <string>

namespace {

using dsl::boundary;

struct patches : on_device {};
ON_EVERY_DEVICE(patches);

// A neighbour's displacement (plane, row, column) and its factor.
struct point { int at[3], factor; };

// Boundaries along the three axes, and neighbours.
struct star_of_two {
  static constexpr boundary beyond[] = {boundary::zero, boundary::wrap, boundary::zero};
  static constexpr point points[] = {{{0, -2, 0}, 1}, {{0, -1, 0}, 2}, {{0, 0, 0}, -7},
                                     {{0, 1, 0}, 3},  {{0, 2, 0}, 1},  {{0, 0, -2}, 2},
                                     {{0, 0, -1}, 5}, {{0, 0, 1}, 4},  {{0, 0, 2}, 3}};
};
struct lopsided {
  static constexpr boundary beyond[] = {boundary::zero, boundary::reflect, boundary::clamp};
  static constexpr point points[] = {{{0, -3, 1}, 1},  {{0, 0, 5}, 2}, {{0, 1, -3}, 3},
                                     {{0, -1, -1}, 4}, {{0, 0, 0}, 5}, {{0, 4, 0}, 6}};
};
struct in_three_dimensions {
  static constexpr boundary beyond[] = {boundary::clamp, boundary::zero, boundary::wrap};
  static constexpr point points[] = {{{-1, 0, 0}, 1}, {{1, 0, 0}, 2},  {{0, -1, 0}, 3},
                                     {{0, 1, 0}, 4},  {{0, 0, -1}, 5}, {{0, 0, 1}, 6},
                                     {{1, 1, -1}, 7}, {{0, 0, 0}, -9}};
};
struct life {
  static constexpr boundary beyond[] = {boundary::zero, boundary::wrap, boundary::wrap};
  static constexpr point points[] = {{{0, -1, -1}, 1}, {{0, -1, 0}, 1}, {{0, -1, 1}, 1},
                                     {{0, 0, -1}, 1},  {{0, 0, 1}, 1},  {{0, 1, -1}, 1},
                                     {{0, 1, 0}, 1},   {{0, 1, 1}, 1}};
};
struct line {
  static constexpr boundary beyond[] = {boundary::zero, boundary::zero, boundary::reflect};
  static constexpr point points[] = {
      {{0, 0, -2}, 1}, {{0, 0, 1}, -3}, {{0, 0, 0}, 2}, {{0, 0, 4}, 1}};
};
template <class Stencil, int Rank, std::size_t I = 0, class Symbol>
constexpr auto formula(const Symbol& x) {
  const auto along_z = [](const auto& v) {
    if constexpr (Rank > 2) return dsl::shift(v, -Stencil::points[I].at[0], Stencil::beyond[0], -3);
    else return v;
  };
  const auto along_y = [](const auto& v) {
    if constexpr (Rank > 1) return dsl::shift(v, -Stencil::points[I].at[1], Stencil::beyond[1], -2);
    else return v;
  };
  const auto term =
      dsl::shift(along_y(along_z(x)), -Stencil::points[I].at[2], Stencil::beyond[2], -1) *
      Stencil::points[I].factor;
  if constexpr (I + 1 < std::size(Stencil::points)) return term + formula<Stencil, Rank, I + 1>(x);
  else return term;
}

using extents3 = std::array<std::int64_t, 3>;

// An array's elements. They are integers, so that sums are the same in any order.
struct numbers {
  extents3 sizes;
  std::vector<int> values;
  numbers(std::mt19937& engine, extents3 n)
      : sizes(n), values(static_cast<std::size_t>(n[0] * n[1] * n[2])) {
    for (int& v : values) v = static_cast<int>(engine() % 9) - 4;
  }
  int at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>((z * sizes[1] + y) * sizes[2] + x)];
  }
  template <class Stencil>
  int sum(std::int64_t z, std::int64_t y, std::int64_t x) const {
    int total = 0;
    const std::int64_t place[] = {z, y, x};
    for (const point& p : Stencil::points) {
      std::int64_t from[3];
      bool exists = true;
      for (std::size_t d = 0; d < 3; ++d) {
        from[d] = p.at[d] == 0 ? place[d]
                               : inside_by_steps(Stencil::beyond[d], place[d] + p.at[d], sizes[d]);
        exists = exists && from[d] >= 0;
      }
      if (exists) total += p.factor * at(from[0], from[1], from[2]);
    }
    return total;
  }
};

// A view with its own memory of `elements` elements: with gaps between its rows, misaligned, or
// with its last two axes exchanged.
template <class T, int Rank>
dsl::view<T, Rank> placed(const extents3& n, std::int64_t gap, std::int64_t offset, bool turned) {
  const std::int64_t inner = turned ? n[1] : n[2], second = turned ? n[2] : n[1], row = inner + gap,
                     plane = second * row;
  dsl::array<T> memory = dsl::zeros<T>(n[0] * plane + offset + 1);
  dsl::extents<3> strides{plane, turned ? 1 : row, turned ? row : 1};
  dsl::extents<Rank> sizes{}, steps{};
  for (std::size_t d = 0; d < Rank; ++d) {
    sizes[d] = n[d + 3 - Rank];
    steps[d] = strides[d + 3 - Rank];
  }
  return {memory.view().owner(), memory.data() + offset, sizes, steps};
}

template <class T, int Rank>
struct drawn {
  std::mt19937& engine;
  int pick(int n) const { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
  // Mostly row-major, with aligned vectors.
  dsl::view<T, Rank> layout(const extents3& n) const {
    const bool plain = pick(3) > 0;
    const std::int64_t row = plain ? (16 - n[2] % 16) % 16 : pick(5);
    return placed<T, Rank>(n, row, plain ? 16 * pick(2) : pick(4), !plain && pick(3) == 0);
  }
  dsl::view<T, Rank> array(const numbers& of) const {
    const dsl::view<T, Rank> v = layout(of.sizes);
    std::vector<T> values(of.values.begin(), of.values.end());
    dsl::array<T, Rank> same(v.extents());
    same.copy_from_host(values);
    auto target = v;
    target = same;
    return v;
  }
};

template <class Stencil, class T, int Rank>
void check_stencil() {
  std::mt19937 engine(7);
  const drawn<T, Rank> draw{engine};
  const auto step = dsl::vectorize([](auto x) { return formula<Stencil, Rank>(x); });
  for (int round = 0; round < (Rank > 2 ? 24 : 60); ++round) {
    const bool large = round % 3 != 0;
    const int row = 1 + draw.pick(large ? 300 : 20);
    const extents3 n{Rank > 2 ? 1 + draw.pick(large ? 30 : 7) : 1,
                     Rank > 1 ? 1 + draw.pick(large ? 60 : 9) : 1,
                     // a multiple of the vector length, or not
                     draw.pick(2) > 0 ? (row + 15) / 16 * 16 : row};
    const numbers values(engine, n);
    const dsl::view<T, Rank> from = draw.array(values);
    dsl::view<T, Rank> to = draw.layout(n);
    to = step(from);
    const auto got = dsl::array<T, Rank>(to).copy_to_host();
    std::size_t i = 0;
    for (std::int64_t z = 0; z < n[0]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[2]; ++x)
          ASSERT_EQ(static_cast<int>(got[i++]), values.sum<Stencil>(z, y, x))
              << "round " << round << " of " << n[0] << " x " << n[1] << " x " << n[2] << " at "
              << z << ' ' << y << ' ' << x;
  }
}

TEST_P(patches, star) { check_stencil<star_of_two, float, 2>(); }
TEST_P(patches, lopsided_box) { check_stencil<lopsided, double, 2>(); }
TEST_P(patches, three_dimensions) { check_stencil<in_three_dimensions, float, 3>(); }
TEST_P(patches, bytes) { check_stencil<life, std::int8_t, 2>(); }
TEST_P(patches, one_dimension) { check_stencil<line, float, 1>(); }
TEST_P(patches, along_rows) { check_stencil<line, float, 2>(); }

TEST_P(patches, beyond_three_dimensions) {
  std::mt19937 engine(9);
  const auto step = dsl::vectorize([](auto x) { return formula<star_of_two, 2>(x); });
  for (const extents3 n : {extents3{6, 20, 64}, extents3{6, 41, 36}, extents3{6, 13, 15}}) {
    const numbers values(engine, n);
    const std::int64_t row = (n[2] + 3) / 4 * 4, plane = n[1] * row + 16, three = 3 * plane + 8;
    dsl::array<float> memory(2 * three), results(2 * three);
    std::vector<float> all(static_cast<std::size_t>(2 * three));
    const auto at = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      return z / 3 * three + z % 3 * plane + y * row + x;
    };
    for (std::int64_t z = 0; z < n[0]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[2]; ++x)
          all[static_cast<std::size_t>(at(z, y, x))] = static_cast<float>(values.at(z, y, x));
    memory.copy_from_host(all);
    const auto in_four = [&](dsl::array<float>& of) {
      return dsl::view<float, 4>{
          of.view().owner(), of.data(), {2, 3, n[1], n[2]}, {three, plane, row, 1}};
    };
    auto to = in_four(results);
    to = step(in_four(memory));
    const std::vector<float> got = results.copy_to_host();
    for (std::int64_t z = 0; z < n[0]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[2]; ++x)
          ASSERT_EQ(static_cast<int>(got[static_cast<std::size_t>(at(z, y, x))]),
                    values.sum<star_of_two>(z, y, x))
              << z << ' ' << y << ' ' << x;
  }
}

// Only plans: the memory does not exist and is never read.
TEST_P(patches, rows_far_apart_are_not_taken_by_patches) {
  if (!has_grid()) GTEST_SKIP() << "this device has no patches";
  const auto step = dsl::vectorize([](auto x) { return formula<star_of_two, 2>(x); });
  dsl::array<float> memory(64);
  dsl::array<float, 2> out(dsl::extents<2>{64, 64});
  for (const bool far : {false, true}) {
    const std::int64_t row = std::int64_t{1} << (far ? 29 : 28);
    const dsl::view<float, 2> from{memory.view().owner(), memory.data(), {64, 64}, {row, 1}};
    const std::string plan = dsl::plan_of(out, step(from)).describe();
    EXPECT_EQ(plan.find("elements a thread in registers") == std::string::npos, far) << plan;
  }
}

}  // namespace
