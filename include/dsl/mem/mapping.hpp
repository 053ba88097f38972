// Where the elements of a view lie, and the views of it that need no copy.
#pragma once

#include <dsl/mem/extents.hpp>

namespace dsl::detail {

/// Extents and strides, outermost first, and the first element's place; all in elements. Views, and
/// positions that are computed, are both mapped by it, so each function below is written once.
struct mapping {
  int rank = 0;
  std::int64_t extents[max_rank] = {}, strides[max_rank] = {}, offset = 0;
};

template <std::size_t Rank>
constexpr mapping to_mapping(const std::array<std::int64_t, Rank>& extents,
                             const std::array<std::int64_t, Rank>& strides,
                             std::int64_t offset = 0) {
  mapping m{static_cast<int>(Rank), {}, {}, offset};
  for (std::size_t d = 0; d != Rank; ++d) {
    m.extents[d] = extents[d];
    m.strides[d] = strides[d];
  }
  return m;
}
/// The first `Rank` of an array of max_rank.
template <int Rank>
constexpr dsl::extents<Rank> first_of(const std::int64_t (&values)[max_rank]) {
  dsl::extents<Rank> first{};
  for (std::size_t d = 0; d != first.size(); ++d) first[d] = values[d];
  return first;
}

constexpr std::int64_t element_count(const mapping& m) {
  std::int64_t n = 1;
  for (int d = 0; d < m.rank; ++d) n *= m.extents[d];
  return n;
}
/// Whether the elements lie in row-major order without gaps.
bool is_contiguous(const mapping& m);

/// An axis from 0 on. Throws shape_error that names the function; extents of -1 are not known.
int axis_of(const mapping& m, int axis, const char* function);
[[noreturn]] void throw_empty_take();

// NumPy's functions of the same names. Negative axes count from the end. All throw shape_error.

/// Axis d of the result is axis axes[d], each of them once.
mapping permute(const mapping& from, const int* axes, int count);
mapping transpose(const mapping& from);
/// In row-major order; one extent may be -1. Throws where the sizes differ, and where it would take
/// a copy.
mapping reshape(const mapping& from, const std::int64_t* sizes, int rank);
mapping broadcast_to(const mapping& from, const std::int64_t* sizes, int rank);
mapping flip(const mapping& from);
mapping flip(const mapping& from, int axis);
/// The diagonals of axes 0 and 1, which the result has as its last axis.
mapping diagonal(const mapping& from, std::int64_t offset);
/// Without these axes, which must be of extent 1.
mapping squeeze(const mapping& from, const int* axes, int count);
/// The one whose offsets count along an axis: stride 1 there, 0 along the others.
mapping index_mapping(int axis, const std::int64_t* sizes, int rank);
/// With new axes of extent 1 at these places of the result.
mapping expand_dims(const mapping& from, const int* axes, int count);

/// A bit for each axis; negative ones count from the end. 0 where one is not there or is named
/// twice.
std::uint32_t bits_of_axes(const int* axes, int count, int rank);
/// Throws shape_error for an axis of a shape that is not there or is named twice; extents of -1 are
/// not known.
void require_axes(const int* axes, int count, const std::int64_t* shape, int rank);

}  // namespace dsl::detail
