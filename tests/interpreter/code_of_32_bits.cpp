// The operations' code for the 32-bit integers.
#include "node_code.hpp"

namespace interpreter {

void add_code_of_32_bits(std::vector<node_code>& to) {
  add_code<dtype::int32>(to);
  add_code<dtype::uint32>(to);
}

}  // namespace interpreter
