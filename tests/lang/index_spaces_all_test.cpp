// All of the drawn statements.
#include "drawn_statements.hpp"

namespace {

TEST_P(index_spaces, all_drawn_at_random) { run_drawn_statements<0, 1, 2, 3, 4, 5, 6, 7, 8, 9>(); }

}  // namespace
