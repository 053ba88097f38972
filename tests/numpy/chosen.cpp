// NumPy's values for some tens of compiled programs: every row of the op table once, every dtype. All dtypes of every row are compiled in
// the other files, for `./dev test --all`, and interpreted in interpreted_test.cpp.
#include "every_function.hpp"

ON_EVERY_DEVICE(numpy);  // which they are depends on the compiler, so not in reference.cpp

TEST_P(numpy, every_row_once_and_every_dtype) {
  using dsl::dtype;
  int compared = 0;
  const auto of = [&]<dtype... D>() {
    for (const int count : {numpy_values::compare_every_function<D, numpy_values::rows::chosen>()...}) {
      EXPECT_GT(count, 0);
      compared += count;
    }
  };
  of.operator()<dtype::boolean, dtype::int8, dtype::int16, dtype::int32, dtype::int64, dtype::uint8, dtype::uint16, dtype::uint32, dtype::uint64,
                dtype::float16, dtype::bfloat16, dtype::float32, dtype::float64, dtype::complex64, dtype::complex128>();
  EXPECT_EQ(compared, static_cast<int>(std::size(all_rows)));
}
