// Compiled as CUDA if there is a toolkit.
#include "exec/run/copy.hpp"

#include "exec/run/divided.hpp"
#include "mem/buffer.hpp"
#include "mem/mapping.hpp"

namespace dsl::detail {

namespace {

template <op Code, dtype D>
const program_code& move_of() {
  using elements = program_with<program_nodes<1, 1>{
      {head::make(Code, D, 0).word}, {}, {reference::make(D, 0).word}}>;
  return code_of<
      unnamed,
      pass_with<elements, no_program, words<target_word::make(false, 0).word>, pass_reductions<>>,
      1>();
}

template <op Code>
const program_code& move_of(int size) {
  switch (size) {
    case 1: return move_of<Code, dtype::uint8>();
    case 2: return move_of<Code, dtype::uint16>();
    case 4: return move_of<Code, dtype::uint32>();
    case 8: return move_of<Code, dtype::uint64>();
    default: return move_of<Code, dtype::complex128>();
  }
}

}  // namespace

const program_code& copy_code(int size) { return move_of<op::load>(size); }

program_code code_of_move(const pass_view& pass) {
  const int size = size_of(pass.type(0));
  program_code made =
      head{pass.elements.heads[0]}.code() == op::load ? copy_code(size) : move_of<op::value>(size);
  made.pass.view = pass;
  return made;
}

operand temporary_for(const operand& target, buffer_ref& memory, bool imagined) {
  operand o = target;
  if (imagined) {
    constexpr std::uint64_t aligned = 1 << 20;
    o.word[0] = aligned;
  } else {
    memory = memory_like(target);
    o.memory = memory.get();
    o.word[0] = reinterpret_cast<std::uintptr_t>(memory.data());
  }
  set_row_major(o.strides, o.extents, o.rank);
  for (int d = 0; d < o.rank; ++d)
    if ((o.reduced >> d & 1) != 0) o.strides[d] = 0;
  return o;
}

late_copy redirect(operand& target, bool imagined) {
  late_copy copy{{}, target, {}};
  target = copy.from = temporary_for(target, copy.memory, imagined);
  return copy;
}

void copy_elements(const operand& from, const operand& to) { copy_all(&from, &to, 1); }

void copy_all(const operand* from, const operand* to, int count) {
  std::vector<bound_pass> copies;
  for (int i = 0; i < count; ++i) {
    operand from_to[] = {from[i], to[i]};
    for (operand& o : from_to) o.kind = operand_kind::array;
    copies.emplace_back(copy_code(size_of(to[i].type)), from_to, launch{});
  }
  for (bound_pass& copy : copies) copy.run();
}

}  // namespace dsl::detail
