// Compiled as CUDA where there is a toolkit.
#include "exec/copy.hpp"

namespace dsl::detail {

namespace {

template <dtype D>
const program_code& copy_of() {
  using elements = program_with<program_nodes<1, 1>{{head::make(op::load, D, 0).word}, {}, {reference::make(D, 0).word}}>;
  return code_of<unnamed, pass<elements, no_program, words<target_word::make(false, 0).word>, pass_reductions<>>, 1>();
}

}  // namespace

const program_code& copy_code(int size) {
  switch (size) {
    case 1: return copy_of<dtype::uint8>();
    case 2: return copy_of<dtype::uint16>();
    case 4: return copy_of<dtype::uint32>();
    case 8: return copy_of<dtype::uint64>();
    default: return copy_of<dtype::complex128>();
  }
}

}  // namespace dsl::detail
