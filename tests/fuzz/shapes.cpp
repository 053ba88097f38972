// Fuzz target: for any shape and any functions of shape, sizes do not overflow, and every remaining
// element belongs to the array.
#include "mem/buffer.hpp"

#include <dsl/exec/plan/operand.hpp>
#include <dsl/mem/slice.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace {

using namespace dsl::detail;
using wide = __int128;

// Reads an input as a sequence of numbers; zeros after its end.
class numbers {
 public:
  numbers(const std::uint8_t* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}

  bool are_left() const { return at_ < end_; }
  std::uint8_t byte() { return at_ < end_ ? *at_++ : 0; }
  int below(int n) { return byte() % n; }
  // Small numbers and neighbours of powers of two, of either sign.
  std::int64_t any() {
    const int kind = byte();
    if (kind < 128) return kind % 12 - 4;
    if (kind < 140)
      return kind % 2 == 0 ? std::numeric_limits<std::int64_t>::min()
                           : std::numeric_limits<std::int64_t>::max();
    const auto power = static_cast<std::int64_t>(std::uint64_t{1} << below(63));
    return kind % 2 == 0 ? power + below(3) - 1 : -power;
  }
  std::int64_t extent() {
    const std::int64_t n = any();
    return n < 0 && n >= -4 ? 1 : n;
  }

 private:
  const std::uint8_t *at_, *end_;
};

mapping packed(mapping m) {
  std::int64_t step = 1;
  for (int d = m.rank - 1; d >= 0; --d) {
    m.strides[d] = step;
    step *= m.extents[d];
  }
  return m;
}

mapping any_array(numbers& in, int element_size) {
  mapping m;
  m.rank = in.below(dsl::max_rank + 1);
  for (int d = 0; d < m.rank; ++d) m.extents[d] = in.extent();
  dsl::detail::element_count(m.extents, m.rank, element_size);  // throws
  return packed(m);
}

mapping changed(const mapping& m, numbers& in) {
  int axes[dsl::max_rank];
  std::int64_t sizes[dsl::max_rank];
  const auto some_axes = [&] {
    for (int& a : axes) a = in.below(10) - 4;
  };
  switch (in.below(10)) {
    case 0: {
      subscript chosen[dsl::max_rank] = {0, 0, 0, 0, 0, 0, 0, 0};
      for (int d = 0; d < m.rank; ++d) {
        const auto bound_of = [&] { return in.below(4) == 0 ? bound(dsl::end) : bound(in.any()); };
        if (in.below(3) == 0) chosen[d] = in.any();
        else chosen[d] = dsl::slice(bound_of(), bound_of(), in.any());
      }
      return subscripted(m, chosen, m.rank);
    }
    case 1: some_axes(); return permute(m, axes, m.rank);
    case 2: return transpose(m);
    case 3: {
      const int rank = in.below(dsl::max_rank + 1);
      for (auto& n : sizes) n = in.extent();
      if (in.below(2) == 0) {
        std::copy_n(m.extents, m.rank, sizes);
        std::rotate(sizes, sizes + in.below(8), sizes + dsl::max_rank);
      }
      return reshape(m, sizes, rank);
    }
    case 4: {
      const int added = std::min(in.below(4), dsl::max_rank - m.rank);
      for (int d = 0; d < m.rank; ++d)
        sizes[added + d] = m.extents[d] == 1 ? in.extent() : m.extents[d];
      for (int d = 0; d < added; ++d) sizes[d] = in.extent();
      return broadcast_to(m, sizes, m.rank + added);
    }
    case 5: return flip(m);
    case 6: return flip(m, in.below(10) - 4);
    case 7: return m.rank < 2 ? m : diagonal(m, in.any());
    case 8: some_axes(); return squeeze(m, axes, std::min(in.below(4), m.rank));
    default:
      some_axes();
      return expand_dims(m, axes, std::min(in.below(3), dsl::max_rank - m.rank));
  }
}

// Requires that every element is one of the array's `count`; computed in wider arithmetic.
void require_inside(const mapping& m, std::int64_t count) {
  wide low = m.offset, high = m.offset, n = 1;
  for (int d = 0; d < m.rank; ++d) {
    if (m.extents[d] < 0) std::abort();
    if (m.extents[d] == 0) return;
    n *= m.extents[d];
    (m.strides[d] < 0 ? low : high) += wide(m.extents[d] - 1) * m.strides[d];
  }
  if (low < 0 || high >= count || n != element_count(m)) std::abort();
}

operand operand_of(const mapping& m, dsl::dtype type, const buffer_ref& memory) {
  operand o;
  o.kind = memory ? operand_kind::array : operand_kind::index;
  o.type = type;
  o.rank = m.rank;
  o.word[0] = memory ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0;
  o.memory = memory.get();
  std::copy_n(m.extents, dsl::max_rank, o.extents);
  std::copy_n(m.strides, dsl::max_rank, o.strides);
  return o;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const buffer_ref memory = buffer_ref::allocate(16, dsl::backend::host);
  numbers in(bytes, size);
  const auto type = static_cast<dsl::dtype>(in.below(dsl::dtype_count));
  operand all[5];
  int count = 0;
  try {
    while (in.are_left() && count < 3) {
      mapping m = any_array(in, dsl::size_of(type));
      const std::int64_t elements = element_count(m);
      for (int changes = in.below(6); changes > 0; --changes) {
        m = changed(m, in);
        require_inside(m, elements);
        is_contiguous(m);
      }
      all[count++] = operand_of(m, type, in.below(4) == 0 ? buffer_ref() : memory);
    }
    if (count == 0) return 0;
    geometry g;
    lay_out(g, all, count, 0, 1, pass_view{});
    mapping target;  // of the broadcast shape
    target.rank = g.shape_rank;
    std::copy_n(g.shape, g.shape_rank, target.extents);
    dsl::detail::element_count(target.extents, target.rank,
                               dsl::size_of(type));  // throws if such an array cannot exist
    all[count] = operand_of(packed(target), type, memory);
    lay_out(g, all, count, 1, 4, pass_view{});
    overlaps(all, count, 1, g);

    all[count++].kind = operand_kind::position;  // reduced along some axes, with positions
    const std::uint32_t reduced = in.byte() & ((1u << target.rank) - 1);
    for (int d = 0; d < target.rank; ++d)
      if ((reduced >> d & 1) != 0) target.extents[d] = 1;
    operand& result = all[count] = operand_of(packed(target), type, memory);
    result.kind = operand_kind::result;
    result.reduced = reduced;
    for (int d = 0; d < target.rank; ++d)
      if ((reduced >> d & 1) != 0) result.strides[d] = 0;
    lay_out(g, all, count, 1, 4, pass_view{});
    overlaps(all, count, 1, g);
  } catch (const dsl::error&) {}
  return 0;
}
