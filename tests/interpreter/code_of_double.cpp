// The operations' code for float64.
#include "node_code.hpp"

namespace interpreter {

void add_code_of_double(std::vector<node_code>& to) { add_code<dtype::float64>(to); }

}  // namespace interpreter
