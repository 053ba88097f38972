// Every reduction alone, around every boundary that a block, a vector or a chunk has.
#include "rows.hpp"

namespace {

using reduction::bytes;
using reduction::row;

std::vector<std::int64_t> every_size() {
  std::vector<std::int64_t> n{0, 1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 1536, 34567};
  if (!on_device::simulated()) n.insert(n.end(), {1'048'576, 1'049'600, 1'049'728});
  return n;
}

template <class T, row R>
void compare(std::int64_t n) {
  if constexpr (reduction::exists(R, dsl::dtype_v<T>)) {
    const bytes elements = reduction::draw(reduction::written<R>::operand, dsl::dtype_v<T>, n);
    const auto x = stored::to_array<T>(elements);
    reduction::expect_reduced(R, {dsl::dtype_v<T>, {n}, elements}, {}, reduction::evaluate<R>(x));
  }
}
template <class T, row... R>
void compare_sizes(std::int64_t largest = std::int64_t{1} << 40) {
  for (const std::int64_t n : every_size())
    if (n <= largest) (compare<T, R>(n), ...);
}
#define ROW(group, name, ...) , row::name

TEST_P(reductions, sizes_of_int32) {
  compare_sizes<std::int32_t
#include "rows.inc"
                >();
}
TEST_P(reductions, sizes_of_float32) {
  compare_sizes<float
#include "rows.inc"
                >();
}
TEST_P(reductions, sizes_of_complex64) {
  compare_sizes<std::complex<float>, row::sum, row::prod, row::min, row::argmax, row::var, row::norm_2, row::vdot>();
}
// A sum of 1,048,576 is beyond float16.
TEST_P(reductions, sizes_of_float16) { compare_sizes<dsl::half, row::sum, row::mean, row::std, row::max, row::argmin>(34567); }
TEST_P(reductions, sizes_of_bfloat16) { compare_sizes<dsl::bfloat16, row::sum, row::norm_2, row::nanmin>(); }
TEST_P(reductions, sizes_of_float64) { compare_sizes<double, row::sum, row::var, row::nanargmax, row::dot>(); }
TEST_P(reductions, sizes_of_uint8) { compare_sizes<std::uint8_t, row::sum, row::prod, row::min, row::argmax, row::mean>(); }
TEST_P(reductions, sizes_of_bool) { compare_sizes<bool, row::sum, row::any, row::all, row::count_nonzero, row::argmin>(); }
#undef ROW

}  // namespace
