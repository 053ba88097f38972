// The operations' code for bool and the 8-bit integers.
#include "node_code.hpp"

namespace interpreter {

void add_code_of_8_bits(std::vector<node_code>& to) {
  add_code<dtype::boolean>(to);
  add_code<dtype::int8>(to);
  add_code<dtype::uint8>(to);
}

}  // namespace interpreter
