#include <dsl/exec/statement/counts.hpp>

#include <algorithm>

#include "exec/plan/layout.hpp"

namespace dsl::detail {

namespace {

struct shape {
  int rank = 0;
  std::int64_t extents[max_rank] = {};  // From the right.

  void stretch(int axes, const std::int64_t* sizes) {
    for (int k = 0; k < axes; ++k) {
      const std::int64_t size = sizes[axes - 1 - k];
      if (k >= rank || extents[k] == 1) extents[k] = size;
    }
    rank = std::max(rank, axes);
  }
  bool is_reduced(int k, std::uint32_t axes) const { return (axes >> (rank - 1 - k) & 1) != 0; }
  // The number of elements that are reduced along axes.
  void set_count(operand& o, std::uint32_t axes) const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k)
      if (is_reduced(k, axes)) n *= extents[k];
    o.kind = operand_kind::value;
    o.type = dtype::int64;
    o.word[0] = static_cast<std::uint64_t>(n);
  }
  // Each element's position among these.
  void set_positions(operand& o, std::uint32_t axes) const {
    std::int64_t sizes[max_rank], strides[max_rank], step = 1;
    for (int k = 0; k < rank; ++k) {
      sizes[rank - 1 - k] = extents[k];
      strides[rank - 1 - k] = is_reduced(k, axes) ? step : 0;
      if (is_reduced(k, axes)) step *= extents[k];
    }
    set_index(o, rank, 0, sizes, strides);
    o.is_position = true;
  }
};

class shapes {
 public:
  explicit shapes(const leaves_of_spaces& of) : of_(of) {}
  /// The shape of a space: its own leaves and those of the spaces within it that give elements,
  /// and the results of those that reduce along axes.
  shape of(int number) const {
    shape made;
    for (int k = 0; k < of_.leaf_count; ++k)
      if (const operand& o = of_.leaves[k]; has_elements(o) && reaches(space_of_leaf(k), number))
        made.stretch(o.rank, o.extents);
    for (int k = 1; k <= of_.space_count; ++k) {
      const auto gives = at(k).gives;
      if (gives != nested_space::reduced_along_axes && gives != nested_space::value_of_each_row)
        continue;
      if (k != number && reaches(at(k).parent, number)) stretch_by_results(made, k);
    }
    return made;
  }
  std::uint32_t axes_of(int number) const {
    return number == 0 ? ~0u : of_.reduced[number - 1].axes.axes;
  }

 private:
  const nested_space& at(int number) const { return of_.spaces[number - 1]; }
  int space_of_leaf(int leaf) const {
    int found = 0;
    for (int k = 1; k <= of_.space_count; ++k)
      if (leaf >= at(k).first && leaf < at(k).end) found = k;
    return found;
  }
  // Whether elements of a space are elements of another one around it.
  bool reaches(int number, int outer) const {
    while (number != outer && number != 0 && at(number).gives == nested_space::elements)
      number = at(number).parent;
    return number == outer;
  }
  void stretch_by_results(shape& to, int number) const {
    const shape own = of(number);
    const reduced_space& space = of_.reduced[number - 1];
    const bool keeps_axes =
        at(number).gives == nested_space::reduced_along_axes && space.rank == space.axes.rank;
    std::int64_t sizes[max_rank];
    int rank = 0;
    for (int k = own.rank - 1; k >= 0; --k) {
      const bool is_reduced = own.is_reduced(k, space.axes.axes);
      if (!is_reduced || keeps_axes) sizes[rank++] = is_reduced ? 1 : own.extents[k];
    }
    to.stretch(rank, sizes);
  }

  const leaves_of_spaces& of_;
};

}  // namespace

void set_space_operands(operand* operands, const space_operand* given, int count,
                        const leaves_of_spaces& of) {
  const shapes all(of);
  for (int i = 0; i < count; ++i) {
    const shape space = all.of(given[i].space);
    const std::uint32_t axes = all.axes_of(given[i].space);
    operands[i] = {};
    if (given[i].is_position) space.set_positions(operands[i], axes);
    else space.set_count(operands[i], axes);
  }
}

}  // namespace dsl::detail
