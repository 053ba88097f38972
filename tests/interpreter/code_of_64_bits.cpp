// The operations' code for the 64-bit integers.
#include "node_code.hpp"

namespace interpreter {

void add_code_of_64_bits(std::vector<node_code>& to) {
  add_code<dtype::int64>(to);
  add_code<dtype::uint64>(to);
}

}  // namespace interpreter
