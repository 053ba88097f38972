// What reductions are to be: NumPy's values (tests/data/reductions.txt), and for other operands the
// same computed one group of elements at a time. Compiled once: dtypes are values here.
#pragma once

#include "../on_device.hpp"
#include "../stored_values.hpp"

#include <map>

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
inline constexpr const char* names[] = {
#define ROW(level, name, ...) #name,
#include "rows.inc"
#undef ROW
};
constexpr const char* name_of(row r) { return names[static_cast<int>(r)]; }

constexpr bool ignores_nan(row r) {
  return name_of(r)[0] == 'n' && name_of(r)[1] == 'a';
}  // not norm
constexpr bool takes_several_axes(row r) {
  return r != row::argmin && r != row::argmax && r != row::nanargmin && r != row::nanargmax;
}
constexpr bool takes_axes(row r) { return r != row::dot && r != row::vdot; }
constexpr bool needs_elements(row r) {
  switch (r) {
    case row::min:
    case row::max:
    case row::nanmin:
    case row::nanmax:
    case row::ptp:
    case row::norm_inf:
    case row::argmin:
    case row::argmax:
    case row::nanargmin:
    case row::nanargmax: return true;
    default: return false;
  }
}

/// Random operands. whole: small whole numbers, whose sums are exact, with an extreme at two places
/// each; near_one: numbers of magnitude 1, of integers odd ones, and a few near 1; with_nan: whole,
/// and NaNs; few: zeros, of either sign, but one; most: ones but one.
enum class operand_kind { whole, near_one, with_nan, few, most };
inline constexpr int operand_kinds = 5;
bytes draw(operand_kind kind, dsl::dtype type, std::int64_t n);

/// Elements in row-major order.
struct operand {
  dsl::dtype type;
  shape extents;
  bytes elements;
};
/// n elements, however many: element i is the i-th of the period, over and over, unless it is one
/// of the others. What becomes of them is known from these. One of the others is the last element.
struct pattern {
  dsl::dtype type;
  std::int64_t n;
  bytes period;
  std::map<std::int64_t, bytes> others;
};
pattern draw_pattern(operand_kind kind, dsl::dtype type, std::int64_t n);
pattern backwards(const pattern& p);
bytes elements_of(const pattern& p);

/// Which of them become one.
struct axes {
  std::vector<int> along;  // none: all of them
  bool keep_dims = false;
  std::string text() const;
};
/// All sets of axes of an array of this rank, the empty one first.
std::vector<std::vector<int>> axis_sets(int rank);

/// The places of the elements that become one, for each element of the result; and its extents.
std::vector<std::vector<std::size_t>> groups_of(const shape& extents, const axes& a, shape& result);

/// What came of a reduction: an array or, without extents, a scalar; or shape_error.
struct outcome {
  bool shape_error = false;
  dsl::dtype type{};
  shape extents;
  bytes values;
};

/// Expects what `r` of `x` is by definition. Integers exactly; floating point numbers within the
/// bounds that reductions.py states for a sum of as many terms as are added one after another at
/// most.
void expect_reduced(row r, const operand& x, const axes& a, const outcome& got);
/// The same of all elements of a vector, dot and vdot with the vector backwards.
void expect_reduced(row r, const pattern& x, const outcome& got);

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
/// The sections of one dtype, no result compared yet. Throws std::runtime_error where there is
/// none.
std::vector<section> sections_of(dsl::dtype type);

/// Expects what reductions.txt says.
void expect_stored(const section& s, row r, const axes& a, const outcome& got);
/// The axes along which a section has the reduction.
std::vector<std::vector<int>> stored_axes(const section& s, row r);
/// Expects that these rows have results, of which none has been left out, and that every result is
/// a row's.
void expect_complete(const std::vector<section>& all, const std::vector<row>& compared);

}  // namespace reduction
