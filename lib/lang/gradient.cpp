#include <algorithm>
#include <cstdlib>

#include <dsl/lang/gradient_memory.hpp>

#include "exec/plan/layout.hpp"
#include "mem/buffer.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

struct byte_range { std::uint64_t first, last; };
byte_range bytes_of(const operand& o) {
  std::int64_t least = 0, most = 0;
  for (int d = 0; d < o.rank; ++d)
    (o.strides[d] < 0 ? least : most) += o.strides[d] * (o.extents[d] - 1);
  const std::int64_t size = size_of(o.type);
  return {o.word[0] + static_cast<std::uint64_t>(least * size),
          o.word[0] + static_cast<std::uint64_t>((most + 1) * size)};
}
bool is_empty(const operand& o) {
  return std::find(o.extents, o.extents + o.rank, 0) != o.extents + o.rank;
}
// Whether no two positions are the same element, apart from axes along which it is broadcast.
bool is_injective(const operand& o) {
  std::int64_t strides[max_rank], extents[max_rank];
  int rank = 0;
  for (int d = 0; d < o.rank; ++d) {
    if (o.extents[d] == 1 || o.strides[d] == 0) continue;
    int at = rank++;
    for (; at > 0 && strides[at - 1] > std::abs(o.strides[d]); --at) {
      strides[at] = strides[at - 1];
      extents[at] = extents[at - 1];
    }
    strides[at] = std::abs(o.strides[d]);
    extents[at] = o.extents[d];
  }
  std::int64_t reached = 0;
  for (int d = 0; d < rank; ++d) {
    if (strides[d] <= reached) return false;
    reached += strides[d] * (extents[d] - 1);
  }
  return true;
}
bool is_read_from_memory(const operand& o) {
  return o.kind == operand_kind::array || o.kind == operand_kind::neighbour ||
         o.kind == operand_kind::device_scalar || o.kind == operand_kind::address;
}

}  // namespace

variable_gradient* variable_of(const operand& leaf, variable_gradient* all, int count) {
  if (!is_read_from_memory(leaf) || leaf.memory == nullptr || is_empty(leaf)) return nullptr;
  for (int i = 0; i < count; ++i) {
    const operand& v = all[i].variable;
    if (is_empty(v) || !share_memory(leaf.memory, v.memory)) continue;
    operand read = leaf;
    const bool is_taken = leaf.kind == operand_kind::address;
    if (is_taken && leaf.size == size_of(v.type)) read.type = v.type;
    const byte_range mine = bytes_of(read), whole = bytes_of(v);
    // Elements that are taken may be any of the memory.
    if (!is_taken && (mine.last <= whole.first || whole.last <= mine.first)) continue;
    const std::uint64_t from = mine.first - whole.first;
    const bool is_within = mine.first >= whole.first && mine.last <= whole.last &&
                           from % static_cast<std::uint64_t>(size_of(v.type)) == 0;
    if (read.type != v.type || !is_within || !is_injective(read))
      raise<value_error>("gradient: an operand of the loss of shape " +
                         spell_shape(leaf.extents, leaf.rank) + " and dtype " + name(read.type) +
                         " overlaps a variable of shape " + spell_shape(v.extents, v.rank) +
                         " and dtype " + name(v.type) +
                         ", but its elements are not the variable's");
    return all[i].is_complete ? nullptr : &all[i];
  }
  return nullptr;
}

gradient_part part_of(variable_gradient& of, const operand& leaf, const std::int64_t* shape,
                      int rank) {
  gradient_part part;
  part.of = &of;
  part.origin = of.origin + (leaf.word[0] - of.variable.word[0]);
  part.rank = rank;
  for (int d = 0; d < rank; ++d) {
    const int at = d - (rank - leaf.rank);
    const bool is_one = at < 0 || leaf.extents[at] == 1 || leaf.strides[at] == 0;
    part.extents[d] = is_one ? 1 : leaf.extents[at];
    part.strides[d] = is_one ? 0 : leaf.strides[at];
    if (is_one && shape[d] != 1) part.summed |= 1u << d;
  }
  return part;
}

bool begin_part(const gradient_part& part) {
  std::int64_t elements = 1;
  for (int d = 0; d < part.rank; ++d) elements *= part.extents[d];
  variable_gradient& of = *part.of;
  if (of.is_written) return true;
  of.is_written = true;
  if (elements == of.elements) return false;
  const std::uint64_t zero[2]{};
  fill(of.memory, of.origin, zero, static_cast<std::size_t>(size_of(of.variable.type)),
       of.elements);
  return true;
}

void describe(variable_gradient& to, const operand& variable, const operand& gradient,
              const buffer_ref& memory) {
  to.variable = variable;
  to.memory = memory;
  to.origin = reinterpret_cast<char*>(gradient.word[0]);
  to.elements = element_count(variable.extents, variable.rank, 1);
  std::int64_t next = 1;
  for (int d = variable.rank - 1; d >= 0; --d) {
    if (variable.extents[d] != 1 && variable.strides[d] != next && to.elements > 0)
      raise<value_error>("gradient: a variable of shape " +
                         spell_shape(variable.extents, variable.rank) +
                         " is not contiguous in row-major order");
    next *= variable.extents[d];
  }
}

void require_variables(const variable_gradient* all, int count) {
  for (int i = 0; i < count; ++i)
    if (!all[i].occurs && all[i].elements > 0)
      raise<value_error>("gradient: variable number " + std::to_string(i) + " of shape " +
                         spell_shape(all[i].variable.extents, all[i].variable.rank) +
                         " does not occur in the loss");
}

void throw_no_gradient_of_operation() {
  raise<value_error>(
      "gradient: none goes through a product of matrices, a transform or another operation on "
      "whole arrays: derive it by hand, or dsl::stop_gradient(...) of it");
}

void finish_gradient(variable_gradient& of) {
  const std::uint64_t zero[2]{};
  if (!of.is_written && !of.is_complete && of.elements > 0)
    fill(of.memory, of.origin, zero, static_cast<std::size_t>(size_of(of.variable.type)),
         of.elements);
}

void require_taken_within(const variable_gradient& of, const operand& first, std::int64_t count,
                          std::int64_t stride) {
  operand all = first;
  all.type = of.variable.type;
  std::int64_t least = stride < 0 ? stride * (count - 1) : 0,
               most = stride < 0 ? 0 : stride * (count - 1);
  for (int d = 0; d < all.rank; ++d)
    (all.strides[d] < 0 ? least : most) += all.strides[d] * (all.extents[d] - 1);
  const std::int64_t origin =
      static_cast<std::int64_t>(first.word[0] - of.variable.word[0]) / size_of(all.type);
  if (origin + least < 0 || origin + most >= of.elements)
    raise<value_error>(
        "gradient: dsl::take reads elements of an array of which the variable of shape " +
        spell_shape(of.variable.extents, of.variable.rank) + " is a part");
}

bool is_owned_by_one(const buffer_ref& of_view) {
  const buffer& memory = *of_view.get();
  return memory.owners.load(std::memory_order_acquire) == 2 && !memory.is_foreign;
}

void require_linear(std::int64_t distance, boundary beyond) {
  if (distance != 0 && (beyond == boundary::clamp || beyond == boundary::reflect))
    raise<value_error>(
        "gradient: dsl::shift by boundary::clamp or boundary::reflect: write the loss as a lambda "
        "given to dsl::vectorize, where the distance is known");
}

}  // namespace dsl::detail
