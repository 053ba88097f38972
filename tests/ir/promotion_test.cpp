// NEP 50. The whole table against NumPy belongs to the language's tests; here are the rules, one by one.
#include <gtest/gtest.h>

#include <dsl/ir/promotion.hpp>

using dsl::assignable, dsl::dtype, dsl::promote, dsl::weak_dtype;
using enum dsl::dtype;

static_assert(promote(int8, uint8) == int16 && promote(int32, uint32) == int64 && promote(int64, uint64) == float64);
static_assert(promote(int8, float16) == float16 && promote(int16, float16) == float32 && promote(int32, float32) == float64);
static_assert(promote(float16, bfloat16) == float32 && promote(boolean, float16) == float16);
static_assert(promote(complex64, float64) == complex128 && promote(complex64, int16) == complex64 && promote(complex64, int32) == complex128);

constexpr weak_dtype strong(dtype d) { return {d}; }
constexpr weak_dtype weak(dtype d) { return {d, true}; }
static_assert(promote(strong(float32), weak(float64)) == strong(float32));        // float_array * 2.0
static_assert(promote(strong(int32), weak(float64)) == strong(float64));          // int_array * 2.5
static_assert(promote(strong(int8), weak(int64)) == strong(int8));                // int8_array + 1
static_assert(promote(strong(float32), weak(complex128)) == strong(complex64));   // float_array * 1i
static_assert(promote(strong(float64), weak(complex128)) == strong(complex128));
static_assert(promote(strong(boolean), weak(int32)) == strong(int64));
static_assert(promote(weak(float32), weak(int64)) == weak(float32));              // h / 2 of a float h
static_assert(assignable(float32, weak(float64)) && !assignable(float32, strong(float64)) && !assignable(float64, weak(complex128)));
static_assert(assignable(float64, strong(float32)) && !assignable(int32, strong(int64)));

TEST(promotion, is_symmetric) {
  for (int a = 0; a < dsl::dtype_count; ++a)
    for (int b = 0; b < dsl::dtype_count; ++b) EXPECT_EQ(promote(dtype(a), dtype(b)), promote(dtype(b), dtype(a))) << name(dtype(a)) << ' ' << name(dtype(b));
}
