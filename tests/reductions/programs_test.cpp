// The programs of every reduction of every dtype: against NumPy's values, and for element counts
// that reach every way of combining them.
#include "programs.hpp"
#include "rows.hpp"

namespace {

using reduction::row;

/// The traced formula of row R for dtype D. y is the second operand; for reductions of one operand
/// it is the first one again.
template <row R, dsl::dtype D>
reduction::programs programs_of() {
  dsl::detail::graph g;
  const auto operand = [&g](std::uint64_t number) {
    return dsl::symbol<D>{&g, g.add(dsl::op::load, D, {number})};
  };
  const auto x = operand(0);
  g.outputs.push_back((reduction::takes_axes(R) ? reduction::written<R>::of(x, x)
                                                : reduction::written<R>::of(x, operand(1)))
                          .id);
  g.operands = 2;
  g.scalar_outputs = 1;
  return reduction::programs(g);
}

struct traced_row {
  row of;
  reduction::programs programs;
};
template <dsl::dtype D>
std::vector<traced_row> traced_rows() {
  std::vector<traced_row> all;
#define ROW(level, name, ...)                        \
  if constexpr (reduction::is_defined(row::name, D)) \
    all.push_back({row::name, programs_of<row::name, D>()});
#include "rows.inc"
#undef ROW
  return all;
}
std::vector<traced_row> (*const traced_rows_of[])() = {
#define DSL_TRACED(type) &traced_rows<dsl::dtype::type>
    DSL_TRACED(boolean), DSL_TRACED(int8),      DSL_TRACED(int16),      DSL_TRACED(int32),
    DSL_TRACED(int64),   DSL_TRACED(uint8),     DSL_TRACED(uint16),     DSL_TRACED(uint32),
    DSL_TRACED(uint64),  DSL_TRACED(float16),   DSL_TRACED(bfloat16),   DSL_TRACED(float32),
    DSL_TRACED(float64), DSL_TRACED(complex64), DSL_TRACED(complex128),
};

struct programs_of_reductions : testing::TestWithParam<int> {
  dsl::dtype type() const { return static_cast<dsl::dtype>(GetParam()); }
  const std::vector<traced_row> rows = traced_rows_of[GetParam()]();
};
INSTANTIATE_TEST_SUITE_P(dtypes, programs_of_reductions, testing::Range(0, dsl::dtype_count),
                         [](const auto& each) {
                           return std::string(dsl::name(static_cast<dsl::dtype>(each.param)));
                         });

// Each row along all axes for which reductions.txt has it.
TEST_P(programs_of_reductions, numpy) {
  const std::vector<reduction::section> sections = reduction::sections_of(type());
  for (const reduction::order how : reduction::all_orders)
    for (const traced_row& each : rows)
      for (const reduction::section& s : sections) {
        const reduction::operand x{type(), {s.extents.begin(), s.extents.end()}, s.values};
        for (const std::vector<int>& along : reduction::stored_axes(s, each.of))
          reduction::expect_stored(s, each.of, {along}, each.programs.of(x, {along}, how));
      }
  std::vector<row> compared;
  for (const traced_row& each : rows)
    if (reduction::is_stored(each.of, type())) compared.push_back(each.of);
  reduction::expect_complete(sections, compared);
}

TEST_P(programs_of_reductions, sizes) {
  for (const std::int64_t n : {0, 1, 2, 3, 31, 130})
    for (int k = 0; k < reduction::operand_kinds; ++k) {
      const auto kind = static_cast<reduction::operand_kind>(k);
      const reduction::operand x{type(), {n}, reduction::draw(kind, type(), n)};
      const reduction::pattern once{type(), n, x.elements, {}};
      for (const traced_row& each : rows)
        if (reduction::is_operand_of(each.of, kind))
          for (const reduction::order how : reduction::all_orders)
            reduction::expect_reduced(each.of, once, each.programs.of(x, {}, how));
    }
}

}  // namespace
