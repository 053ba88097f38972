#include <dsl/mem/mapping.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <dsl/mem/slice.hpp>

#include "mem/mapping.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

std::string spell(const mapping& m) { return spell_shape(m.extents, m.rank); }

// The message names the rank if the expression's shape is unknown.
[[noreturn]] void fail(const mapping& m, const char* function, const std::string& why) {
  const bool is_known = m.rank == 0 || m.extents[0] >= 0;
  const std::string of =
      is_known ? "shape " + spell(m)
               : std::to_string(m.rank) + (m.rank == 1 ? " dimension" : " dimensions");
  raise<shape_error>(std::string(function) + " of " + of + ": " + why);
}

std::string no_axis(int axis, int rank) {
  const std::string last = std::to_string(rank - 1), first = std::to_string(-rank);
  return "there is no axis " + std::to_string(axis) +
         (rank == 0 ? ", nor any other"
                    : ": axes are 0 to " + last + ", or " + first + " to -1 from the end");
}

int axis_of(const mapping& m, int axis, int rank, const char* function) {
  if (axis < -rank || axis >= rank) fail(m, function, no_axis(axis, rank));
  return axis < 0 ? axis + rank : axis;
}

// Marks which of `rank` axes are chosen.
struct chosen_axes { bool is[max_rank] = {}; };
chosen_axes choose(const mapping& m, const int* axes, int count, int rank, const char* function) {
  chosen_axes chosen;
  for (int i = 0; i < count; ++i) {
    bool& mine = chosen.is[axis_of(m, axes[i], rank, function)];
    if (mine) fail(m, function, "axis " + std::to_string(axes[i]) + " is given twice");
    mine = true;
  }
  return chosen;
}

void append(mapping& m, std::int64_t extent, std::int64_t stride) {
  m.extents[m.rank] = extent;
  m.strides[m.rank++] = stride;
}

// Appends the elements along an axis from `first` on. An axis of at most one element keeps its
// stride: the product of stride and step could overflow.
void append_axis(mapping& m, std::int64_t extent, std::int64_t stride, std::int64_t first,
                 std::int64_t step) {
  if (extent > 0) m.offset += first * stride;
  append(m, extent, extent > 1 ? stride * step : stride);
}

// Python's rule for a bound: negative bounds count from the end, and bounds are clipped to where a
// slice can start or stop.
std::int64_t place(const bound& b, std::int64_t extent, bool backwards, std::int64_t omitted) {
  if (b.omitted) return omitted;
  const std::int64_t at = b.at < 0 ? b.at + extent : b.at;
  return backwards ? std::clamp<std::int64_t>(at, -1, extent - 1)
                   : std::clamp<std::int64_t>(at, 0, extent);
}

void append_slice(mapping& to, const slice& s, std::int64_t extent, std::int64_t stride) {
  const bool backwards = s.step < 0;
  const std::int64_t first = place(s.start, extent, backwards, backwards ? extent - 1 : 0);
  const std::int64_t past = place(s.stop, extent, backwards, backwards ? -1 : extent);
  // In unsigned arithmetic, because the most negative step has no positive counterpart.
  const std::uint64_t step =
      backwards ? -static_cast<std::uint64_t>(s.step) : static_cast<std::uint64_t>(s.step);
  const std::int64_t distance = backwards ? first - past : past - first;
  const auto count =
      distance > 0
          ? static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / step) + 1
          : 0;
  append_axis(to, count, stride, first, s.step);
}

}  // namespace

bool is_contiguous(const mapping& m) {
  std::int64_t packed = 1;
  for (int d = m.rank - 1; d >= 0; --d) {
    if (m.extents[d] == 0) return true;
    packed *= m.extents[d];
  }
  for (int d = 0; d < m.rank; ++d) {
    packed /= m.extents[d];
    if (m.extents[d] != 1 && m.strides[d] != packed) return false;
  }
  return true;
}

mapping subscripted(const mapping& from, const subscript* chosen, int count) {
  mapping to{0, {}, {}, from.offset};
  for (int d = 0; d < from.rank; ++d) {
    const std::int64_t extent = from.extents[d], stride = from.strides[d];
    if (d >= count) {
      append(to, extent, stride);
    } else if (!chosen[d].drops) {
      if (chosen[d].range.step == 0)
        raise<index_error>("a slice's step is 0, along axis " + std::to_string(d) + " of extent " +
                           std::to_string(extent));
      append_slice(to, chosen[d].range, extent, stride);
    } else {
      const std::int64_t index = chosen[d].range.start.at;
      if (index < -extent || index >= extent)
        raise<index_error>("index " + spell_position(index) + " is out of range for axis " +
                           std::to_string(d) + " of extent " + std::to_string(extent) +
                           ", in shape " + spell(from));
      to.offset += (index < 0 ? index + extent : index) * stride;
    }
  }
  return to;
}

int axis_of(const mapping& m, int axis, const char* function) {
  return axis_of(m, axis, m.rank, function);
}

void throw_empty_take() { raise<index_error>("take from an array without elements"); }

mapping permute(const mapping& from, const int* axes, int count) {
  choose(from, axes, count, from.rank, "permute");
  mapping to{0, {}, {}, from.offset};
  for (int i = 0; i < count; ++i) {
    const int d = axes[i] < 0 ? axes[i] + from.rank : axes[i];
    append(to, from.extents[d], from.strides[d]);
  }
  return to;
}

mapping transpose(const mapping& from) {
  mapping to{0, {}, {}, from.offset};
  for (int d = from.rank - 1; d >= 0; --d) append(to, from.extents[d], from.strides[d]);
  return to;
}

mapping reshape(const mapping& from, const std::int64_t* sizes, int rank) {
  const auto fail = [&](const char* why) {
    raise<shape_error>("cannot reshape " + spell(from) + " to " + spell_shape(sizes, rank) + ": " +
                       why);
  };
  mapping to{rank, {}, {}, from.offset};
  std::copy_n(sizes, rank, to.extents);
  std::int64_t* const open = std::find(to.extents, to.extents + rank, -1);
  const std::int64_t elements = element_count(from);
  if (open != to.extents + rank) {
    *open = 1;
    const std::int64_t others = element_count(to.extents, rank, 1);
    if (others == 0 || elements % others != 0)
      fail("no extent in the place of -1 gives as many elements");
    *open = elements / others;
  }
  if (element_count(to.extents, rank, 1) != elements) fail("the numbers of elements differ");

  // Axes that one stride covers are merged. A new axis must lie within one of the merged axes;
  // otherwise it needs a copy.
  mapping runs;
  for (int d = 0; d < from.rank; ++d) {
    if (from.extents[d] == 1) continue;
    const int last = runs.rank - 1;
    if (last >= 0 && strides_merge(runs.strides[last], from.strides[d], from.extents[d])) {
      runs.extents[last] *= from.extents[d];
      runs.strides[last] = from.strides[d];
    } else append(runs, from.extents[d], from.strides[d]);
  }
  std::int64_t left = 1, stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    if (elements != 0 && to.extents[d] != 1 && left == 1) {
      left = runs.extents[--runs.rank];
      stride = runs.strides[runs.rank];
    }
    to.strides[d] = stride;
    if (elements != 0 && left % to.extents[d] != 0)
      fail(
          "its elements do not lie in an order that allows it without a copy (dsl::eval makes "
          "one)");
    if (elements != 0) left /= to.extents[d];
    // At the end of a merged axis the product may overflow.
    if (elements == 0 || left > 1) stride *= to.extents[d];
  }
  return to;
}

mapping broadcast_to(const mapping& from, const std::int64_t* sizes, int rank) {
  element_count(sizes, rank, 1);  // throws
  const auto fail = [&] {
    raise<shape_error>("shape " + spell(from) + " does not broadcast to " +
                       spell_shape(sizes, rank));
  };
  const int added = rank - from.rank;
  if (added < 0) fail();
  mapping to{0, {}, {}, from.offset};
  for (int d = 0; d < rank; ++d) {
    const int source = d - added;
    const bool stretches = source < 0 || (from.extents[source] == 1 && sizes[d] != 1);
    if (!stretches && from.extents[source] != sizes[d]) fail();
    append(to, sizes[d], stretches ? 0 : from.strides[source]);
  }
  return to;
}

mapping flip(const mapping& from) {
  mapping to = from;
  for (int d = 0; d < from.rank; ++d) to = flip(to, d);
  return to;
}

mapping flip(const mapping& from, int axis) {
  const int flipped = axis_of(from, axis, from.rank, "flip");
  mapping to{0, {}, {}, from.offset};
  for (int d = 0; d < from.rank; ++d) {
    if (d == flipped) append_axis(to, from.extents[d], from.strides[d], from.extents[d] - 1, -1);
    else append(to, from.extents[d], from.strides[d]);
  }
  return to;
}

mapping diagonal(const mapping& from, std::int64_t offset) {
  mapping to{0, {}, {}, from.offset};
  for (int d = 2; d < from.rank; ++d) append(to, from.extents[d], from.strides[d]);
  // An offset beyond the matrix gives an empty diagonal. It is clipped so that nothing below
  // overflows.
  const std::int64_t down = std::clamp<std::int64_t>(offset, -from.extents[0], from.extents[1]);
  const std::int64_t row = down < 0 ? -down : 0, column = down < 0 ? 0 : down;
  const std::int64_t length =
      std::max<std::int64_t>(0, std::min(from.extents[0] - row, from.extents[1] - column));
  if (length > 0) to.offset += row * from.strides[0] + column * from.strides[1];
  append(to, length, length > 1 ? from.strides[0] + from.strides[1] : from.strides[1]);
  return to;
}

mapping sliding_window(const mapping& from, int axis, std::int64_t n) {
  const int along = axis_of(from, axis, from.rank, "sliding_window");
  if (n < 1 || n > from.extents[along])
    fail(from, "sliding_window",
         "windows of " + std::to_string(n) + " elements along axis " + std::to_string(along) +
             ": they have at least 1 element and at most " + std::to_string(from.extents[along]));
  mapping to = from;
  to.extents[along] -= n - 1;
  append(to, n, from.strides[along]);
  return to;
}

mapping squeeze(const mapping& from, const int* axes, int count) {
  const chosen_axes gone = choose(from, axes, count, from.rank, "squeeze");
  mapping to{0, {}, {}, from.offset};
  for (int d = 0; d < from.rank; ++d) {
    if (!gone.is[d]) append(to, from.extents[d], from.strides[d]);
    else if (from.extents[d] != 1)
      fail(from, "squeeze", "axis " + std::to_string(d) + " is not of extent 1");
  }
  return to;
}

mapping expand_dims(const mapping& from, const int* axes, int count) {
  const int rank = from.rank + count;
  const chosen_axes added = choose(from, axes, count, rank, "expand_dims");
  mapping to{0, {}, {}, from.offset};
  for (int d = 0, source = 0; d < rank; ++d) {
    if (added.is[d]) append(to, 1, 0);
    else {
      append(to, from.extents[source], from.strides[source]);
      ++source;
    }
  }
  return to;
}

mapping index_mapping(int axis, const std::int64_t* sizes, int rank) {
  element_count(sizes, rank, 1);  // throws
  mapping to;
  for (int d = 0; d < rank; ++d) append(to, sizes[d], 0);
  to.strides[axis_of(to, axis, rank, "index")] = 1;
  return to;
}

namespace {

// The number of steps in a distance; both are unsigned.
std::int64_t count_between(std::uint64_t distance, std::uint64_t step) {
  if (distance == 0) return 0;
  const std::uint64_t steps = (distance - 1) / step;
  if (steps >= std::numeric_limits<std::int64_t>::max())
    raise<shape_error>("arange: too many elements");
  return static_cast<std::int64_t>(steps) + 1;
}
void require_step(bool is_zero) {
  if (is_zero) raise<shape_error>("arange: the step is 0");
}

}  // namespace

std::int64_t count_steps(double start, double stop, double step) {
  require_step(step == 0);
  const double steps = std::ceil((stop - start) / step);
  if (!(steps < 0x1p63))
    raise<shape_error>("arange: too many elements, or bounds that are not numbers");
  return steps > 0 ? static_cast<std::int64_t>(steps) : 0;
}
std::int64_t count_steps(std::int64_t start, std::int64_t stop, std::int64_t step) {
  require_step(step == 0);
  const auto low = static_cast<std::uint64_t>(start), high = static_cast<std::uint64_t>(stop),
             by = static_cast<std::uint64_t>(step);
  if (step > 0) return start < stop ? count_between(high - low, by) : 0;
  return stop < start ? count_between(low - high, -by) : 0;
}
std::int64_t count_steps(std::uint64_t start, std::uint64_t stop, std::uint64_t step) {
  require_step(step == 0);
  return start < stop ? count_between(stop - start, step) : 0;
}

std::uint32_t bits_of_axes(const int* axes, int count, int rank) {
  std::uint32_t bits = 0;
  for (int i = 0; i < count; ++i) {
    const int axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || (bits >> axis & 1) != 0) return 0;
    bits |= 1u << axis;
  }
  return bits;
}

void require_axes(const int* axes, int count, const std::int64_t* shape, int rank) {
  mapping operand;
  operand.rank = rank;
  std::copy_n(shape, rank, operand.extents);
  choose(operand, axes, count, rank, "a reduction");
}

std::int64_t element_count(const std::int64_t* sizes, int rank, int element_size) {
  // Extents of 0 are left out, so that strides and products of other extents do not overflow
  // either.
  constexpr int largest_element = 16;
  std::int64_t n = 1, bytes = 0;
  bool fits = true, empty = false;
  for (int d = 0; d < rank; ++d) {
    if (sizes[d] < 0) raise<shape_error>("a negative extent in " + spell_shape(sizes, rank));
    empty = empty || sizes[d] == 0;
    fits = fits && (sizes[d] == 0 || !__builtin_mul_overflow(n, sizes[d], &n));
  }
  if (!fits || __builtin_mul_overflow(n, empty ? largest_element : element_size, &bytes))
    raise<shape_error>("shape " + spell_shape(sizes, rank) + " is too large");
  return empty ? 0 : n;
}

void throw_misplaced_member(std::size_t offset, std::size_t size) {
  raise<shape_error>("a member of " + std::to_string(size) + " bytes stands " +
                     std::to_string(offset) +
                     " bytes into its struct, which is no multiple: its elements are not aligned");
}

void throw_size_mismatch(std::int64_t have, std::int64_t want, const char* what) {
  raise<shape_error>(std::string(what) + ": " + std::to_string(have) + " elements were given for " +
                     std::to_string(want));
}

}  // namespace dsl::detail
