// Compiled as CUDA where there is a toolkit.
#include "exec/copy.hpp"

#include <algorithm>

namespace dsl::detail {

namespace {

template <dtype D>
const program_code& copy_of() {
  using elements = program<heads<head::make(op::load, D, 0).word>, words<0>, words<reference::make(D, 0).word>>;
  return code_of<unnamed, pass<elements, program<heads<>, words<>, words<>>, words<target_word::make(false, 0).word>, foldings<>>, 1>();
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

void copy_elements(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from, const void* source, const mapping& elements,
                   std::size_t size) {
  const program_code& code = copy_code(static_cast<int>(size));
  const auto in = [&](const buffer_ref& memory, const void* data, const mapping& m) {
    operand o;
    o.kind = operand_kind::array, o.type = code.pass.view.type(0), o.rank = m.rank;
    o.word[0] = reinterpret_cast<std::uintptr_t>(data), o.memory = memory.get();
    std::copy_n(m.extents, max_rank, o.extents);
    std::copy_n(m.strides, max_rank, o.strides);
    return o;
  };
  const operand from_to[] = {in(from, source, elements), in(to, at, target)};
  prepared(code, from_to, {}).run();
}

}  // namespace dsl::detail
