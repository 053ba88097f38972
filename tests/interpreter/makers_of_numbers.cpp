// Makes the language's nodes of real and complex numbers.
#include "node_maker.hpp"

namespace interpreter {

void add_makers_of_numbers(std::vector<node_maker>& to) {
  add_makers<dtype::float16, dtype::bfloat16, dtype::float32, dtype::float64, dtype::complex64,
             dtype::complex128>(to);
}

}  // namespace interpreter
