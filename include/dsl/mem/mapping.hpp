// Mappings from indices to places in memory, and the views that need no copy.
#pragma once

#include <dsl/mem/extents.hpp>

namespace dsl::detail {

/// Extents and strides, outermost first, and the place of the first element; all in elements. Views
/// and computed positions both use it, so each function below exists once.
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
/// The first `Rank` values of an array of max_rank.
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
/// Whether the elements are contiguous in row-major order.
bool is_contiguous(const mapping& m);

/// The axis counted from 0. Throws shape_error that names the function. An extent of -1 is unknown.
int axis_of(const mapping& m, int axis, const char* function);
[[noreturn]] void throw_empty_take();

// NumPy's functions of the same names. Negative axes count from the end. All throw shape_error.

/// Axis d of the result is axis axes[d] of `from`; each axis occurs once.
mapping permute(const mapping& from, const int* axes, int count);
mapping transpose(const mapping& from);
/// In row-major order; one extent may be -1. Throws if the sizes differ or a copy would be needed.
mapping reshape(const mapping& from, const std::int64_t* sizes, int rank);
mapping broadcast_to(const mapping& from, const std::int64_t* sizes, int rank);
mapping flip(const mapping& from);
mapping flip(const mapping& from, int axis);
/// The diagonals of axes 0 and 1; they become the last axis of the result.
mapping diagonal(const mapping& from, std::int64_t offset);
/// Windows of n elements along an axis, which has n - 1 fewer; the last axis is within a window.
mapping sliding_window(const mapping& from, int axis, std::int64_t n);
/// Removes these axes, which must have extent 1.
mapping squeeze(const mapping& from, const int* axes, int count);
/// The mapping whose offsets count along an axis: stride 1 along it, 0 along the others.
mapping index_mapping(int axis, const std::int64_t* sizes, int rank);
/// Inserts new axes of extent 1 at these positions of the result.
mapping expand_dims(const mapping& from, const int* axes, int count);

/// A bit for each axis; negative axes count from the end. 0 if an axis does not exist or is named
/// twice.
std::uint32_t bits_of_axes(const int* axes, int count, int rank);
/// Throws shape_error for an axis that does not exist in `shape` or is named twice. An extent of -1
/// is unknown.
void require_axes(const int* axes, int count, const std::int64_t* shape, int rank);

}  // namespace dsl::detail
