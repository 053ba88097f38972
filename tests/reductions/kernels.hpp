// Several reductions of one operand as one kernel, without the types of arrays and axes: dtypes,
// shapes and layouts are data, and what runs a kernel is compiled once. A kernel costs the
// compilers half of what it costs in a statement.
#pragma once

#include "rows.hpp"

namespace reduction {

/// Where an operand's elements lie in memory: element (i, j, ...) at first + i * strides[0] + ...
struct layout {
  std::int64_t first = 0, size = 0;  // in elements; all of the memory
  shape strides;
};
layout in_rows(const shape& extents, std::int64_t first = 0);
/// Of rank 1 to 4: dimensions in any order, some of them backwards, with gaps.
layout anywhere(const shape& extents, std::mt19937& engine);

/// What a kernel makes of an operand on the current device, for each of its reductions.
std::vector<outcome> run(const dsl::detail::program_code& kernel, const operand& x,
                         const layout& where, const axes& a);

/// Rows of one operand of dtype D.
template <dsl::dtype D, row... R>
struct rows_of {
  static constexpr row all[sizeof...(R)] = {R...};

  static constexpr dsl::detail::graph run() {
    dsl::detail::graph g;
    const dsl::symbol<D> x{&g, g.add(dsl::op::load, D, {0})};
    (g.outputs.push_back(written<R>::of(x, x).id), ...);
    g.operands = 1;
    g.scalar_outputs = (1u << sizeof...(R)) - 1;
    return g;
  }
  static const dsl::detail::program_code& kernel() {
    using pass = dsl::detail::pass_of<rows_of>;
    constexpr int inputs = dsl::detail::counts_positions(pass::elements::view(), 1) ? 2 : 1;
    return dsl::detail::code_for<inputs>(std::type_identity<dsl::detail::unnamed>{}, pass{});
  }
};

/// A kernel and its rows as data.
struct compiled_rows {
  dsl::dtype type;
  std::vector<row> rows;
  const dsl::detail::program_code* kernel;
};
template <dsl::dtype D, row... R>
compiled_rows compiled() {
  using rows = rows_of<D, R...>;
  return {D, {rows::all, rows::all + sizeof...(R)}, &rows::kernel()};
}

template <class Rows, std::size_t... N>
compiled_rows compiled(std::index_sequence<N...>) {
  return compiled<Rows::type, Rows::all[N]...>();
}
/// All rows of one operand, those that no elements have a value for or those that need elements.
template <dsl::dtype D, bool NeedsElements>
compiled_rows every_row() {
  using rows = rows_in_one_pass<D, NeedsElements, true>;
  return compiled<rows>(typename rows::numbers{});
}

/// Expects every row of an operand along all sets of axes.
void compare_layout(const compiled_rows& c, const shape& extents, const layout& where);
/// The same in several layouts.
void compare_shapes(const compiled_rows& c, const std::vector<shape>& shapes);
/// The same of vectors, of every kind of operand.
void compare_sizes(const compiled_rows& c, const std::vector<std::int64_t>& sizes);

}  // namespace reduction
