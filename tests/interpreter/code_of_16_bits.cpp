// The operations' code for the 16-bit integers.
#include "node_code.hpp"

namespace interpreter {

void add_code_of_16_bits(std::vector<node_code>& to) {
  add_code<dtype::int16>(to);
  add_code<dtype::uint16>(to);
}

}  // namespace interpreter
