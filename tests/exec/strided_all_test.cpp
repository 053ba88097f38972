// Random layouts of elements of other sizes.
#include "layouts.hpp"

#include <complex>

namespace {

struct all_strided : on_device {};
ON_EVERY_DEVICE(all_strided);

TEST_P(all_strided, rank_2_of_bytes_and_doubles) {
  random_layouts<std::int8_t, double, double, 2>({{3, 5}, {129, 131}, {64, 40}}, 8);
}
TEST_P(all_strided, rank_5) {
  random_layouts<float, float, float, 5>({{2, 3, 4, 5, 6}, {17, 2, 3, 16, 5}}, 4);
}
TEST_P(all_strided, neighbours_of_bytes) {
  random_neighbours<std::int8_t, 3>({{2, 3, 4}, {3, 2, 300}, {40, 5, 7}, {1, 1, 1000}},
                                    simulated() ? 5 : 30);
}
TEST_P(all_strided, neighbours_of_complex_doubles) {
  random_neighbours<std::complex<double>, 1>({{1}, {2}, {64}, {257}, {3000}}, simulated() ? 5 : 30);
}

}  // namespace
