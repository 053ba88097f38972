// NEP 50: the rules, one by one, and every row of the op table against NumPy.
#include <gtest/gtest.h>

#include <dsl/ir/op.hpp>

#include <string>

using dsl::assignable, dsl::dtype, dsl::promote, dsl::weak_dtype;
using enum dsl::dtype;

static_assert(promote(int8, uint8) == int16 && promote(int32, uint32) == int64 &&
              promote(int64, uint64) == float64);
static_assert(promote(int8, float16) == float16 && promote(int16, float16) == float32 &&
              promote(int32, float32) == float64);
static_assert(promote(float16, bfloat16) == float32 && promote(boolean, float16) == float16);
static_assert(promote(complex64, float64) == complex128 && promote(complex64, int16) == complex64 &&
              promote(complex64, int32) == complex128);

constexpr weak_dtype strong(dtype d) { return {d}; }
constexpr weak_dtype weak(dtype d) { return {d, true}; }
static_assert(promote(strong(float32), weak(float64)) == strong(float32));  // float_array * 2.0
static_assert(promote(strong(int32), weak(float64)) == strong(float64));    // int_array * 2.5
static_assert(promote(strong(int8), weak(int64)) == strong(int8));          // int8_array + 1
static_assert(promote(strong(float32), weak(complex128)) == strong(complex64));  // float_array * 1i
static_assert(promote(strong(float64), weak(complex128)) == strong(complex128));
static_assert(promote(strong(boolean), weak(int32)) == strong(int64));
static_assert(promote(weak(float32), weak(int64)) == weak(float32));  // h / 2 of a float h
static_assert(assignable(float32, weak(float64)) && !assignable(float32, strong(float64)) &&
              !assignable(float64, weak(complex128)));
static_assert(assignable(float64, strong(float32)) && !assignable(int32, strong(int64)));

// All three operands are promoted at once. In pairs, int8 and uint8 would give int16, and with
// float16 float32.
static_assert(resolve(dsl::op::clip, strong(int8), strong(uint8), strong(float16)).result ==
              strong(float16));
static_assert(resolve(dsl::op::clip, strong(int8), weak(float64), weak(float64)).result ==
              strong(float64));
static_assert(resolve(dsl::op::fma, strong(int8), strong(uint8), strong(int8)).result ==
              strong(float16));
static_assert(resolve(dsl::op::where, weak(boolean), strong(float32), weak(float64)).result ==
              strong(float32));
// Two scalars stay weak.
static_assert(resolve(dsl::op::atan2, weak(int32), weak(int32)).result == weak(float64));
static_assert(resolve(dsl::op::sin, weak(float32)).result == weak(float32));
// A real operand of a complex operation stays real.
static_assert(resolve(dsl::op::pow, strong(complex64), strong(float32)).operand[1] == float32);
static_assert(resolve(dsl::op::ldexp, strong(float32), strong(int64)).operand[1] == int64);

TEST(promotion, is_symmetric) {
  for (int a = 0; a < dsl::dtype_count; ++a)
    for (int b = 0; b < dsl::dtype_count; ++b)
      EXPECT_EQ(promote(dtype(a), dtype(b)), promote(dtype(b), dtype(a)))
          << name(dtype(a)) << ' ' << name(dtype(b));
}

namespace {

struct numpy_row {
  dsl::op code;
  const char* name;
  int arity;
  std::string results;
};
const numpy_row numpy_rows[] = {
#define DSL_PROMOTION(name, arity, results) {dsl::op::name, #name, arity, results},
#define DSL_BFLOAT16(results)
#include "../data/promotion.inc"
#undef DSL_PROMOTION
#undef DSL_BFLOAT16
};
#define DSL_PROMOTION(...)
#define DSL_BFLOAT16(results) const std::string bfloat16_results = results;
#include "../data/promotion.inc"

// NumPy's characters of dtypes; E, for bfloat16, is ml_dtypes'.
constexpr dtype numpy_dtypes[] = {boolean, int8,    int16,     int32,     int64,
                                  uint8,   uint16,  uint32,    uint64,    float16,
                                  float32, float64, complex64, complex128};
constexpr dtype scalar_dtypes[] = {boolean, int64, float64, complex128};
char character(dtype d) { return "?bhilBHILeEfdFD"[static_cast<int>(d)]; }

void compare(const numpy_row& row, char numpy, weak_dtype a, weak_dtype b = {}) {
  if (numpy == '.') return;
  const dsl::signature s = row.code == dsl::op::where  ? resolve(row.code, strong(boolean), a, b)
                           : row.code == dsl::op::clip ? resolve(row.code, a, b, b)
                                                       : resolve(row.code, a, b);
  const auto spelled = [](weak_dtype d) {
    return std::string(d.weak ? "scalar " : "") + name(d.type);
  };
  EXPECT_EQ(s.valid ? character(s.result.type) : 'x', numpy)
      << row.name << ' ' << spelled(a) << ", " << spelled(b);
  EXPECT_FALSE(s.valid && s.result.weak) << row.name << ' ' << spelled(a) << ", " << spelled(b);
}

}  // namespace

TEST(promotion, every_row_as_numpy) {
  for (const numpy_row& row : numpy_rows) {
    auto at = row.results.begin();
    if (row.arity == 1) {
      ASSERT_EQ(row.results.size(), std::size(numpy_dtypes));
      for (const dtype a : numpy_dtypes) compare(row, *at++, strong(a));
      continue;
    }
    ASSERT_EQ(row.results.size(),
              (std::size(numpy_dtypes) + 2 * std::size(scalar_dtypes)) * std::size(numpy_dtypes));
    for (const dtype a : numpy_dtypes)
      for (const dtype b : numpy_dtypes) compare(row, *at++, strong(a), strong(b));
    for (const dtype s : scalar_dtypes)
      for (const dtype a : numpy_dtypes) compare(row, *at++, strong(a), weak(s));
    for (const dtype s : scalar_dtypes)
      for (const dtype a : numpy_dtypes) compare(row, *at++, weak(s), strong(a));
  }
}

TEST(promotion, bfloat16_as_ml_dtypes) {
  for (std::size_t i = 0; i < std::size(numpy_dtypes); ++i)
    EXPECT_TRUE(bfloat16_results[i] == '.' ||
                bfloat16_results[i] == character(promote(bfloat16, numpy_dtypes[i])))
        << name(numpy_dtypes[i]);
}

// Every row that NumPy has is in the file, so a new row cannot be forgotten.
TEST(promotion, the_file_has_every_row) {
  for (const dsl::op_info& row : dsl::op_table) {
    if (std::string(row.numpy).rfind("np.", 0) != 0) continue;
    bool found = false;
    for (const numpy_row& r : numpy_rows) found = found || std::string(r.name) == row.name;
    EXPECT_TRUE(found) << row.name << " is missing: run tests/data/promotion.py";
  }
}
