// How threads share the transform of a row: each keeps some of its elements in registers, and
// passes of radix up to 16 exchange them through shared memory (Stockham's order, in which elements
// go in and come out in their own).
#pragma once

#include <bit>

#include <dsl/ir/dtype.hpp>

namespace dsl::detail {

/// The passes of a transform of 2^k points of which a thread has `elements`, a power of two. Thread
/// t of a row has elements t, t + threads(), t + 2 threads(), ... before and after a transform. All
/// passes have radix `elements`, but for the first one if the number of points is no power of it.
struct row_passes {
  int points, elements;

  constexpr int threads() const { return points / elements; }
  constexpr int count() const { return (log2(points) + log2(elements) - 1) / log2(elements); }
  constexpr int radix(int pass) const {
    const int rest = log2(points) % log2(elements);
    return pass == 0 && rest != 0 ? 1 << rest : elements;
  }
  /// The product of the radices of the passes before.
  constexpr int before(int pass) const {
    int product = 1;
    for (int p = 0; p < pass; ++p) product *= radix(p);
    return product;
  }

  /// A pass multiplies its inputs by roots of unity. Of radix R = A B, B = min(4, R), input a B + b
  /// is multiplied by w^(a B) and later by w^b, where w = exp(-2 pi i j / (R before(pass))) and j
  /// is the thread's number modulo before(pass). The table has the roots of a pass one exponent
  /// after another, those with a first, and of each exponent one for each j. The first pass has
  /// none.
  constexpr int inner(int pass) const { return radix(pass) < 4 ? radix(pass) : 4; }
  constexpr int outer(int pass) const { return radix(pass) / inner(pass); }
  constexpr int exponents(int pass) const { return inner(pass) + outer(pass) - 2; }
  constexpr int exponent(int pass, int number) const {
    const int of_outer = outer(pass) - 1;
    return number < of_outer ? (number + 1) * inner(pass) : number - of_outer + 1;
  }
  /// Where the roots of a pass begin in the table.
  constexpr int first_root(int pass) const {
    int roots = 0;
    for (int p = 1; p < pass; ++p) roots += exponents(p) * before(p);
    return roots;
  }
  constexpr int roots() const { return first_root(count()); }

  /// Places in shared memory, `place_of_element`.
  constexpr int places() const { return count() > 1 ? points + threads() : 0; }

 private:
  static constexpr int log2(int n) { return std::countr_zero(static_cast<unsigned>(n)); }
};

/// The place of a row's element in shared memory: behind as many elements as a thread has one place
/// stays free, so that threads that write elements so far apart use different banks.
template <int Elements>
DSL_DETAIL_FN constexpr int place_of_element(int element) {
  return element + static_cast<int>(static_cast<unsigned>(element) / Elements);
}

/// Numbers of points of rows that one kernel transforms.
inline constexpr int least_row_points = 2, most_row_points = 4096;
constexpr bool are_row_points(std::int64_t n) {
  return n >= least_row_points && n <= most_row_points && (n & (n - 1)) == 0;
}

/// More elements a thread: fewer exchanges. Of short rows fewer, so that threads side by side read
/// whole sectors of memory.
constexpr row_passes passes_of_row(int points) {
  return {points, points >= 128 ? 16 : points >= 32 ? 8 : points >= 8 ? 4 : points};
}

/// Threads of a block: those of one row, or of several short ones.
constexpr int row_transform_block(const row_passes& p) {
  return p.threads() < 64 ? 128 : p.threads();
}
/// Blocks that should fit on a multiprocessor, so that some load while others compute.
constexpr int row_transform_blocks(const row_passes& p, bool is_wide) {
  return (is_wide ? 512 : 1024) / row_transform_block(p);
}

}  // namespace dsl::detail
