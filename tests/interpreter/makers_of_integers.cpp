// Makes the language's nodes of bool and the integers.
#include "node_maker.hpp"

namespace interpreter {

void add_makers_of_integers(std::vector<node_maker>& to) {
  add_makers<dtype::boolean, dtype::int8, dtype::int16, dtype::int32, dtype::int64, dtype::uint8,
             dtype::uint16, dtype::uint32, dtype::uint64>(to);
}

}  // namespace interpreter
