// Index spaces: merging, dropping and reordering dimensions leaves each element's address
// unchanged.
#include <gtest/gtest.h>

#include <dsl/exec/run/run.hpp>

#include "exec/plan/layout.hpp"
#include "random_operand.hpp"

namespace {

using namespace dsl::detail;

using offsets = std::vector<std::int64_t>;  // of all operands, element by element

// The places of a space's elements in visiting order.
offsets visited(const geometry& g, int operands) {
  offsets all;
  for_each_place(shape_of_test(g.extents, g.extents + g.rank), [&](const shape_of_test& at) {
    for (int k = 0; k < operands; ++k) {
      std::int64_t sum = 0;
      for (int d = 0; d < g.rank; ++d)
        sum += at[static_cast<std::size_t>(d)] * g.layouts[k].strides[d];
      all.push_back(sum);
    }
  });
  return all;
}

// Groups of `each` offsets in order of their values.
std::vector<offsets> sorted(const offsets& all, std::size_t each) {
  std::vector<offsets> groups;
  for (std::size_t i = 0; i < all.size(); i += each)
    groups.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i),
                        all.begin() + static_cast<std::ptrdiff_t>(i + each));
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::int64_t draw_extent(std::mt19937& engine) {
  constexpr std::int64_t some[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 7};
  return some[draw_below(engine, 10)];
}

// Draws strides, often contiguous with the next inner dimension; some are zero or negative.
void draw_strides(geometry& g, const int (&order)[dsl::max_rank], int rank, operand_layout& w,
                  std::mt19937& engine) {
  std::int64_t end = 1;
  for (int d = rank - 1; d >= 0; --d) {
    std::int64_t& stride = w.strides[order[d]];
    const int kind = draw_below(engine, 8);
    stride = kind < 5 ? end : kind == 5 ? 0 : kind == 6 ? -end : draw_below(engine, 9) - 4;
    end = stride * g.shape[order[d]];
  }
}

TEST(layout, merged_dimensions_walk_the_same_addresses) {
  std::mt19937 engine(1);
  int merged = 0;
  for (int round = 0; round < 20'000; ++round) {
    geometry g;
    g.shape_rank = draw_below(engine, 6);
    for (int d = 0; d < g.shape_rank; ++d) g.shape[d] = draw_extent(engine);
    int order[dsl::max_rank];
    std::iota(order, order + g.shape_rank, 0);
    std::shuffle(order, order + g.shape_rank, engine);
    const int count = 1 + draw_below(engine, 3);
    const std::uint32_t unmerged = draw_below(engine, 3) == 0 ? 1u << draw_below(engine, 6) : 0;
    for (int k = 0; k < count; ++k) {
      g.layouts[k] = {};
      draw_strides(g, order, g.shape_rank, g.layouts[k], engine);
    }
    for (int d = 0; d < g.shape_rank; ++d) g.moved |= (draw_below(engine, 12) == 0 ? 1u : 0u) << d;
    geometry before = g;
    before.rank = g.shape_rank;
    for (int d = 0; d < g.shape_rank; ++d) {
      before.extents[d] = g.shape[order[d]];
      for (int k = 0; k < count; ++k) before.layouts[k].strides[d] = g.layouts[k].strides[order[d]];
    }
    const auto place = merge_dimensions(g, count, order, g.shape_rank, unmerged);
    ASSERT_EQ(visited(g, count), visited(before, count)) << "round " << round;
    merged += before.rank - g.rank;

    // Each dimension is where the layout says; dimensions that must not be merged are alone there.
    std::uint32_t alone = unmerged;
    for (int d = 0; d < g.shape_rank; ++d) alone |= (g.moved >> (g.shape_rank - 1 - d) & 1) << d;
    for (int d = 0; d < before.rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      ASSERT_TRUE(place[at] == (d == 0 ? 0 : place[at - 1]) || place[at] == place[at - 1] + 1)
          << round;
      ASSERT_LT(place[at], g.rank);
      ASSERT_EQ(g.dimension[g.shape_rank - 1 - order[d]], place[at]) << round;
      if ((alone >> order[d] & 1) != 0) {
        ASSERT_EQ(std::count(place.begin(), place.begin() + before.rank, place[at]), 1) << round;
      }
      // Dimensions that are contiguous for all operands have been merged.
      if (d == 0 || ((alone >> order[d] | alone >> order[d - 1]) & 1) != 0 ||
          place[at] == place[at - 1])
        continue;
      bool as_one = true;
      for (int k = 0; k < count; ++k)
        as_one = as_one && before.layouts[k].strides[d - 1] ==
                               before.layouts[k].strides[d] * before.extents[d];
      ASSERT_FALSE(as_one) << "round " << round << ", dimension " << d;
    }
  }
  EXPECT_GT(merged, 10'000);
}

TEST(layout, dimensions_that_go_on_beyond_64_bits_stay_apart) {
  constexpr std::int64_t half = std::int64_t{1} << 62;
  EXPECT_TRUE(strides_merge(12, 3, 4));
  EXPECT_TRUE(strides_merge(0, 0, 9));
  EXPECT_TRUE(strides_merge(-12, -3, 4));
  EXPECT_FALSE(strides_merge(12, 3, 5));
  EXPECT_TRUE(strides_merge(half, half / 8, 8));
  EXPECT_FALSE(strides_merge(0, half, 4));
}

TEST(layout, a_moved_dimension_takes_its_strides_axes_and_marks_along) {
  std::mt19937 engine(2);
  for (int round = 0; round < 2000; ++round) {
    geometry g;
    g.rank = 1 + draw_below(engine, dsl::max_rank);
    struct dimension {
      std::int64_t extent, stride;
      bool is_kept, has_axis;
    };
    std::vector<dimension> want;
    const int axis = draw_below(engine, g.rank + 1) - 1;
    g.dimension[3] = axis;
    for (int d = 0; d < g.rank; ++d) {
      const dimension made{10 + d, 100 + d, draw_below(engine, 2) == 0, d == axis};
      want.push_back(made);
      g.extents[d] = made.extent;
      g.layouts[0].strides[d] = made.stride;
      g.kept |= (made.is_kept ? 1u : 0u) << d;
    }
    const int to = draw_below(engine, g.rank), from = draw_below(engine, to + 1);
    const dimension moved = want[static_cast<std::size_t>(from)];
    want.erase(want.begin() + from);
    want.insert(want.begin() + to, moved);
    move_dimension(g, 1, from, to);
    for (int d = 0; d < g.rank; ++d) {
      const dimension& each = want[static_cast<std::size_t>(d)];
      ASSERT_EQ(g.extents[d], each.extent) << from << " to " << to;
      ASSERT_EQ(g.layouts[0].strides[d], each.stride) << from << " to " << to;
      ASSERT_EQ((g.kept >> d & 1) != 0, each.is_kept) << from << " to " << to << " of " << g.rank;
      ASSERT_EQ(g.dimension[3] == d, each.has_axis) << from << " to " << to;
    }
    ASSERT_EQ(g.kept >> g.rank, 0u);
  }
}

// Whether every vector of lanes along the last dimension is contiguous and aligned to its size (or
// to 16 bytes).
bool has_whole_vectors(const geometry& g, const operand& o, const operand_layout& w, int lanes) {
  const std::int64_t size = dsl::size_of(o.type), vector = std::min<std::int64_t>(16, size * lanes);
  shape_of_test rows(g.extents, g.extents + g.rank - 1);
  bool whole = w.strides[g.rank - 1] == 1;
  for_each_place(rows, [&](const shape_of_test& at) {
    std::int64_t offset = 0;
    for (int d = 0; d + 1 < g.rank; ++d) offset += at[static_cast<std::size_t>(d)] * w.strides[d];
    whole = whole && (static_cast<std::int64_t>(o.word[0]) + offset * size) % vector == 0;
  });
  return whole;
}

constexpr dsl::dtype types[] = {dsl::dtype::uint8, dsl::dtype::int16, dsl::dtype::float32,
                                dsl::dtype::int64, dsl::dtype::complex128};

TEST(layout, of_an_expression_has_each_element_once) {
  std::mt19937 engine(3);
  int linear = 0, wide = 0, tiled = 0;
  for (int round = 0; round < 4000; ++round) {
    shape_of_test shape(static_cast<std::size_t>(draw_below(engine, 6)));
    for (auto& n : shape)
      n = draw_below(engine, 8) == 0 ? 16 + draw_below(engine, 4) : 1 + draw_below(engine, 4);
    if (!shape.empty() && draw_below(engine, 20) == 0) shape[0] = 0;
    const dsl::device where = draw_below(engine, 2) == 0 ? dsl::backend::host : dsl::backend::sim;
    std::vector<random_operand> made;
    for (int k = 0; k < 3; ++k)
      made.push_back(
          make_random_operand(shape, types[draw_below(engine, 5)], where, k < 2, engine));
    const operand all[] = {made[0].is, made[1].is, made[2].is};
    geometry g;
    const int lanes = 1 << draw_below(engine, 5);
    lay_out(g, all, 2, 1, lanes, pass_view{});
    ASSERT_EQ(g.where, where);
    ASSERT_EQ(g.elements,
              std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
    if (g.elements == 0) continue;
    offsets want;
    for_each_place(shape, [&](const shape_of_test& at) {
      for (const random_operand& each : made) want.push_back(each.offset(at));
    });
    ASSERT_EQ(sorted(visited(g, 3), 3), sorted(want, 3)) << "round " << round;
    linear += g.linear ? 1 : 0;
    for (int k = 0; k < 3; ++k) {
      const operand_layout& w = g.layouts[k];
      if (g.linear) {
        ASSERT_EQ(w.strides[0], 1) << round;
      }
      if (w.how == access::tiled) {
        ++tiled;
        ASSERT_TRUE(k < 2 && g.rank > 1 && std::abs(w.strides[g.rank - 2]) == 1 &&
                    std::abs(w.strides[g.rank - 1]) > 1)
            << round;
      } else if (g.rank > 0) {
        ASSERT_LE(w.how == access::wide, has_whole_vectors(g, all[k], w, lanes)) << round;
        ASSERT_EQ(w.how == access::wide, is_wide(g, all[k], w, lanes)) << round;
        wide += w.how == access::wide ? 1 : 0;
      }
    }
  }
  EXPECT_GT(linear, 100);
  EXPECT_GT(wide, 500);
  EXPECT_GT(tiled, 20);
}

// Arrays in the same order, whatever it is, merge into one dimension.
TEST(layout, of_arrays_in_one_order_is_one_line) {
  const shape_of_test shape{3, 4, 5};
  std::array<int, 3> order{0, 1, 2};
  do {
    std::mt19937 engine(4);
    std::vector<random_operand> made;
    for (int k = 0; k < 3; ++k) {
      made.push_back(
          make_random_operand({60}, dsl::dtype::float32, dsl::backend::host, false, engine));
      operand& o = made.back().is;
      o.rank = 3;
      std::int64_t step = 1;
      for (const int d : order) {
        o.extents[d] = shape[static_cast<std::size_t>(d)];
        o.strides[d] = step;
        step *= o.extents[d];
      }
    }
    const operand all[] = {made[0].is, made[1].is, made[2].is};
    geometry g;
    lay_out(g, all, 2, 1, 4, pass_view{});
    EXPECT_TRUE(g.linear);
    EXPECT_EQ(g.rank, 1);
    EXPECT_EQ(g.extents[0], 60);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(layout, of_a_reduction_has_each_element_with_its_result) {
  std::mt19937 engine(5);
  int kept_some = 0;
  for (int round = 0; round < 4000; ++round) {
    shape_of_test shape(static_cast<std::size_t>(1 + draw_below(engine, 5)));
    for (auto& n : shape) n = 1 + draw_below(engine, 6);
    const auto rank = static_cast<int>(shape.size());
    const std::uint32_t axes = engine() & ((1u << rank) - 1);
    shape_of_test kept;
    for (int d = 0; d < rank; ++d)
      if ((axes >> d & 1) == 0) kept.push_back(shape[static_cast<std::size_t>(d)]);
    const dsl::device where = draw_below(engine, 2) == 0 ? dsl::backend::host : dsl::backend::sim;
    const random_operand in = make_random_operand(shape, dsl::dtype::int32, where, false, engine),
                         out = make_random_operand(kept, dsl::dtype::int32, where, false, engine);
    operand all[] = {in.is, out.is};
    align_with_axes(all[1], {rank, axes});
    geometry g;
    lay_out(g, all, 1, 1, 4, pass_view{});
    std::int64_t results = 1;
    for (const auto n : kept) results *= n;
    ASSERT_EQ(g.results, results) << round;
    ASSERT_EQ(g.count, g.elements / results) << round;
    offsets want;
    for_each_place(shape, [&](const shape_of_test& at) {
      shape_of_test result;
      for (int d = 0; d < rank; ++d)
        if ((axes >> d & 1) == 0) result.push_back(at[static_cast<std::size_t>(d)]);
      want.push_back(in.offset(at));
      want.push_back(out.offset(result));
    });
    ASSERT_EQ(sorted(visited(g, 2), 2), sorted(want, 2)) << "round " << round;
    if (g.kept == 0) continue;
    ++kept_some;
    // Threads divide a dimension of each kind; on the host the reduced dimensions are innermost.
    const auto is_kept = [&](int d) { return (g.kept >> d & 1) != 0; };
    for (int d = 0; d < g.rank; ++d)
      if (g.extents[d] > 1 && !is_kept(d)) {
        ASSERT_EQ(g.layouts[1].strides[d], 0) << round;
      }
    if (where.kind == dsl::backend::sim) {
      ASSERT_NE(is_kept(g.rank - 1), is_kept(g.rank - 2)) << round;
    } else {
      for (int d = 1; d + 1 < g.rank; ++d)
        ASSERT_LE(is_kept(d), is_kept(d - 1)) << "round " << round;
    }
  }
  EXPECT_GT(kept_some, 500);
}

}  // namespace
