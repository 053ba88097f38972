// Expected values of reductions: NumPy's (tests/data/reductions.txt), and for other operands values
// computed one group of elements at a time. Compiled once, because dtypes are run-time values here.
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

/// Random operands. whole: small integers, whose sums are exact, with an extreme at two places
/// each; near_one: numbers of magnitude 1 (odd ones for integers) and a few near 1; with_nan:
/// whole, and NaNs; few: zeros, of either sign, but one; most: ones but one.
enum class operand_kind { whole, near_one, with_nan, few, most };
inline constexpr int operand_kinds = 5;
bytes draw(operand_kind kind, dsl::dtype type, std::int64_t n);

/// Elements in row-major order.
struct operand {
  dsl::dtype type;
  shape extents;
  bytes elements;
};
/// n elements, for any n: element i is taken from the period, repeated, unless it is listed in
/// `others`. Expected values follow from these alone. The last element is always one of the others.
struct pattern {
  dsl::dtype type;
  std::int64_t n;
  bytes period;
  std::map<std::int64_t, bytes> others;
};
pattern draw_pattern(operand_kind kind, dsl::dtype type, std::int64_t n);
pattern backwards(const pattern& p);
bytes elements_of(const pattern& p);

/// The axes that are reduced.
struct axes {
  std::vector<int> along;  // none: all of them
  bool keep_dims = false;
  std::string text() const;
};
/// All sets of axes of an array of this rank, the empty one first.
std::vector<std::vector<int>> axis_sets(int rank);

/// For each element of the result, the places of the elements that are reduced to it; and the
/// result's extents.
std::vector<std::vector<std::size_t>> groups_of(const shape& extents, const axes& a, shape& result);

/// The outcome of a reduction: an array, a scalar (without extents), or shape_error.
struct outcome {
  bool shape_error = false;
  dsl::dtype type{};
  shape extents;
  bytes values;
};

/// Expects the result of `r` of `x` by definition: integers exactly, floating point numbers within
/// the bounds that reductions.py states for the maximum number of consecutive additions.
void expect_reduced(row r, const operand& x, const axes& a, const outcome& got);
/// The same for all elements of a vector; for dot and vdot with the vector reversed.
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
/// The sections of one dtype; no result has been compared yet. Throws std::runtime_error if there
/// are none.
std::vector<section> sections_of(dsl::dtype type);

/// Expects the result in reductions.txt.
void expect_stored(const section& s, row r, const axes& a, const outcome& got);
/// The axes along which a section has the reduction.
std::vector<std::vector<int>> stored_axes(const section& s, row r);
/// Expects that these rows have results, that each has been compared, and that every result belongs
/// to a row.
void expect_complete(const std::vector<section>& all, const std::vector<row>& compared);

}  // namespace reduction
