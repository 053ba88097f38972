// An expression with the maximum number of operands.
#include "../on_device.hpp"
#include "many_operands.hpp"

namespace {

#if !defined(__CUDACC__)  // nvcc takes minutes for it
struct operands : on_device {};
ON_EVERY_DEVICE(operands);

TEST_P(operands, as_many_as_there_may_be) { sum_of_operands<64>(); }
#endif

}  // namespace
