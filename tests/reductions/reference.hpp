// What reductions are to be: NumPy's values (tests/data/reductions.txt), and for other operands the same computed one group of elements
// at a time. Compiled once: dtypes are values here.
#pragma once

#include "../on_device.hpp"
#include "../stored_values.hpp"

/// A test for each device and dtype, size or layout.
struct reductions : on_device {};

namespace reduction {

using stored::bytes;
using shape = std::vector<std::int64_t>;

enum class row {
#define ROW(level, name, ...) name,
#include "rows.inc"
#undef ROW
};
inline constexpr row all_rows[] = {
#define ROW(level, name, ...) row::name,
#include "rows.inc"
#undef ROW
};
inline constexpr int levels[] = {
#define ROW(level, ...) level,
#include "rows.inc"
#undef ROW
};
inline constexpr const char* names[] = {
#define ROW(level, name, ...) #name,
#include "rows.inc"
#undef ROW
};
constexpr const char* name_of(row r) { return names[static_cast<int>(r)]; }

/// Up to which level rows are compared for a dtype; reductions.txt has them up to 2, and up to 3 for those that have 3 here. A row takes
/// g++ 0.5 s and nvcc 1.5 s for each dtype, so some dtypes stand for others.
constexpr int level_of(dsl::dtype type) {
  using enum dsl::dtype;
#if defined(__CUDACC__)
  const int most = 1;
#else
  const int most = 2;
#endif
  switch (type) {
    case int32: case float32: return 3;
    case complex64: return most == 2 ? 3 : most;
    case uint8: case int16: case uint16: case uint32: case bfloat16: return most - 1;
    default: return most;
  }
}
constexpr bool ignores_nan(row r) { return name_of(r)[0] == 'n' && name_of(r)[1] == 'a'; }
constexpr bool is_compared(row r, dsl::dtype type) {
  if (r == row::ptp && type == dsl::dtype::boolean) return false;  // an error in NumPy
  if (ignores_nan(r) && dsl::kind_of(type) <= dsl::kind::integer && level_of(type) < 3) return false;
  return levels[static_cast<int>(r)] <= level_of(type);
}
constexpr bool takes_several_axes(row r) { return r != row::argmin && r != row::argmax && r != row::nanargmin && r != row::nanargmax; }
constexpr bool takes_axes(row r) { return r != row::dot && r != row::vdot; }

/// What the sweep over sizes draws: small whole numbers, whose sums are exact, with an extreme at two places each; factors whose
/// products stay near 1, all of them odd where they are integers; whole ones and NaNs; zeros but one; one zero.
enum class operand_kind { whole, near_one, with_nan, few, most };
inline constexpr int operand_kinds = 5;
bytes draw(operand_kind kind, dsl::dtype type, std::int64_t n);

/// Elements in row-major order.
struct operand {
  dsl::dtype type;
  shape extents;
  bytes elements;
};
/// Which of them become one.
struct axes {
  std::vector<int> along;  // none: all of them
  bool keep_dims = false;
  std::string text() const;
};
/// All sets of axes of an array of this rank, the empty one first.
std::vector<std::vector<int>> axis_sets(int rank);

/// What came of a reduction: an array or, without extents, a scalar; or shape_error.
struct outcome {
  bool shape_error = false;
  dsl::dtype type{};
  shape extents;
  bytes values;
};

/// Expects what `r` of `x` is by definition. Integers exactly; floating point numbers within the bounds that reductions.py states for
/// a sum of as many terms as are added one after another at most.
void expect_reduced(row r, const operand& x, const axes& a, const outcome& got);

/// A line of reductions.txt.
struct stored_result {
  std::string name;
  std::vector<int> axes;
  outcome values;
  std::vector<long double> allowed;
  mutable bool compared = false;
};
/// An operand of rank 3 in reductions.txt.
struct section {
  dsl::dtype type;
  dsl::extents<3> extents;
  bytes values;
  std::vector<stored_result> results;
};
/// The sections of one dtype, no result compared yet. Throws std::runtime_error where there is none.
std::vector<section> sections_of(dsl::dtype type);

/// Expects what reductions.txt says.
void expect_stored(const section& s, row r, const axes& a, const outcome& got);
/// The axes along which a section has the reduction.
std::vector<std::vector<int>> stored_axes(const section& s, row r);
/// Expects that no result has been left out of what is compared, and that there is one for every row that is.
void expect_complete(const std::vector<section>& all);

}  // namespace reduction
