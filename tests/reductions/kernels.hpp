// Several reductions of one operand as one kernel, without the types of arrays and axes: dtypes,
// shapes and layouts are data, and the code that runs a kernel is compiled once. A kernel takes
// half the compile time that it takes in a statement.
#pragma once

#include "rows.hpp"

namespace reduction {

/// Placement of an operand's elements: element (i, j, ...) is at first + i * strides[0] + ...
struct layout {
  std::int64_t first = 0, size = 0;  // in elements; size: of the whole memory
  shape strides;
};
layout in_rows(const shape& extents, std::int64_t first = 0);
/// A random layout of rank 1 to 4: dimensions in any order, some reversed, with gaps.
layout anywhere(const shape& extents, std::mt19937& engine);

/// Runs a kernel on an operand on the current device. Returns the result of each reduction.
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
/// All rows of one operand that need elements, or all that are defined without.
template <dsl::dtype D, bool NeedsElements>
compiled_rows every_row() {
  using rows = rows_in_one_pass<D, NeedsElements, true>;
  return compiled<rows>(typename rows::numbers{});
}

/// Expects every row of an operand along all sets of axes.
void compare_layout(const compiled_rows& c, const shape& extents, const layout& where);
/// The same in several layouts.
void compare_shapes(const compiled_rows& c, const std::vector<shape>& shapes);
/// The same for vectors, for every kind of operand.
void compare_sizes(const compiled_rows& c, const std::vector<std::int64_t>& sizes);

}  // namespace reduction
