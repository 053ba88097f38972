#include <dsl/exec/plan/operand.hpp>

#include <algorithm>

namespace dsl::detail {

void count_step(operand& o, std::int64_t number) {
  if (o.counts_steps) o.word[0] = static_cast<std::uint64_t>(number);
  if (o.step_bytes != 0) o.word[0] = o.word[1] + static_cast<std::uint64_t>(number * o.step_bytes);
}

void replace_scalars(operand* all, int count, const changed_scalar* changed, int changes) {
  for (operand* o = all; o != all + count; ++o) {
    if (o->kind != operand_kind::value) continue;
    const auto* const found =
        std::find_if(changed, changed + changes, [o](const changed_scalar& each) {
          return each.was.type == o->type && each.was.word[0] == o->word[0] &&
                 each.was.word[1] == o->word[1];
        });
    if (found != changed + changes) std::copy_n(found->is.word, 2, o->word);
  }
}

namespace {

void set_shape(operand& o, int rank, const std::int64_t* extents, const std::int64_t* strides) {
  o.rank = rank;
  for (int d = 0; d < rank; ++d) {
    o.extents[d] = extents[d];
    o.strides[d] = strides[d];
  }
}

}  // namespace

void set_array(operand& o, dtype type, int rank, const buffer_ref& owner, const void* data,
               const std::int64_t* extents, const std::int64_t* strides) {
  o.kind = rank == 0 ? operand_kind::device_scalar : operand_kind::array;
  o.type = type;
  o.memory = owner.get();
  o.out_of_date = owner.is_out_of_date();
  o.word[0] = reinterpret_cast<std::uintptr_t>(data);
  set_shape(o, rank, extents, strides);
}

void set_shape_of_values(operand& o, dtype type, int rank, const std::int64_t* extents,
                         const operand* of, int count) {
  const operand* const found =
      std::find_if(of, of + count, [](const operand& each) { return each.memory != nullptr; });
  const bool has_device = found != of + count;
  o.kind = has_device ? operand_kind::array : operand_kind::index;
  o.type = type;
  if (has_device) o.memory = found->memory;
  const std::int64_t strides[max_rank]{};
  set_shape(o, rank, extents, strides);
}

void set_index(operand& o, int rank, std::int64_t first, const std::int64_t* extents,
               const std::int64_t* strides) {
  o.kind = operand_kind::index;
  o.type = dtype::int64;
  o.word[0] = static_cast<std::uint64_t>(first);
  set_shape(o, rank, extents, strides);
}

}  // namespace dsl::detail
