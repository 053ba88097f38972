// The operations' code for complex numbers.
#include "node_code.hpp"

namespace interpreter {

void add_code_of_complex(std::vector<node_code>& to) {
  add_code<dtype::complex64>(to);
  add_code<dtype::complex128>(to);
}

}  // namespace interpreter
