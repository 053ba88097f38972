// The operations' code for float32, and the code specific to the 16-bit dtypes.
#include "node_code.hpp"

namespace interpreter {

void add_code_of_float(std::vector<node_code>& to) {
  add_code<dtype::float32>(to);
  add_code<dtype::float16>(to);
  add_code<dtype::bfloat16>(to);
}

}  // namespace interpreter
