// dsl::iterate_gradient of loops drawn at random, beside differences in long doubles.
#include "random_gradient_loops.hpp"

namespace {

using namespace random_gradient_loops;

#ifdef DSL_TEST_ALL
constexpr unsigned loops = 50;  // of each kind
#else
constexpr unsigned loops = 15;
#endif

TEST(IterateGradient, OfRandomNeighbours) { check_loops<neighbours<double>>(0, loops); }
TEST(IterateGradient, OfRandomSums) { check_loops<sums<false>>(1000, loops); }

}  // namespace
