// Compiled as CUDA where there is a toolkit.
#include "exec/copy.hpp"

namespace dsl::detail {

namespace {

template <op Code, dtype D>
const program_code& move_of() {
  using elements = program_with<program_nodes<1, 1>{{head::make(Code, D, 0).word}, {}, {reference::make(D, 0).word}}>;
  return code_of<unnamed, pass<elements, no_program, words<target_word::make(false, 0).word>, pass_reductions<>>, 1>();
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
  program_code made = head{pass.elements.heads[0]}.code() == op::load ? copy_code(size) : move_of<op::value>(size);
  made.pass.view = pass;
  return made;
}

}  // namespace dsl::detail
