// The interpreter itself: every operation of the language has code, operands keep their order, and
// blocks and tails are complete.
#include "language.hpp"

#include "../table_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using dsl::dtype;
using dsl::op;
using interpreter::form;
using interpreter::value;

std::vector<dsl::weak_dtype> all_types() {
  std::vector<dsl::weak_dtype> types;
  for (int t = 0; t < dsl::dtype_count; ++t)
    for (const bool weak : {false, true}) types.push_back({static_cast<dtype>(t), weak});
  return types;
}

// Traces one row with operands of these dtypes; its program has code.
void trace(op code, const dsl::weak_dtype* types) {
  interpreter::traced formula;
  interpreter::written_out written;
  value x[3]{}, y[3]{};
  for (int k = 0; k < dsl::info(code).arity; ++k) {
    const op how = types[k].weak ? op::value : op::load;
    x[k] = formula.operand(how, types[k].type, k);
    y[k] = written.operand(how, types[k].type, k);
  }
  const value made = formula.apply(code, x);
  const auto program = formula.program({made}),
             as_written = written.program({written.apply(code, y)});
  interpreter::executable(interpreter::view_of(program));
  interpreter::executable(interpreter::view_of(as_written));
  EXPECT_EQ(dsl::detail::reference{program.outputs[0]}.type(), made.type.type);
  EXPECT_EQ(dsl::detail::reference{as_written.outputs[0]}.type(), made.type.type);
}

TEST(interpreter, has_code_for_all_that_the_language_defines) {
  const std::vector<dsl::weak_dtype> types = all_types();
  int rows = 0;
  for (const op code : all_rows) {
    const int arity = dsl::info(code).arity;
    for (const auto a : types)
      for (std::size_t j = 0; j < (arity > 1 ? types.size() : 1); ++j)
        for (std::size_t k = 0; k < (arity > 2 ? types.size() : 1); ++k) {
          const dsl::weak_dtype given[] = {a, types[j], types[k]};
          if (arity == 3 && (a.weak || (j + k) % 3 != 0)) continue;  // a third of them
          if (!dsl::resolve(code, a, arity > 1 ? given[1] : dsl::weak_dtype{},
                            arity > 2 ? given[2] : dsl::weak_dtype{})
                   .valid)
            continue;
          EXPECT_NO_THROW(trace(code, given))
              << dsl::info(code).name << ' ' << dsl::name(a.type) << ' ' << dsl::name(given[1].type)
              << ' ' << dsl::name(given[2].type);
          ++rows;
        }
  }
  EXPECT_GT(rows, 30000);
}

TEST(interpreter, runs_whole_blocks_and_tails_in_every_form) {
  for (const form how : interpreter::forms())
    for (const int n : {0, 1, 63, 64, 65, 255, 256, 257, 1000}) {
      std::vector<float> a, c(static_cast<std::size_t>(n) + 1, -7);
      std::vector<std::int16_t> b;
      std::vector<dsl::half> d(static_cast<std::size_t>(n) + 1);
      for (int i = 0; i < n; ++i) {
        a.push_back(static_cast<float>(i));
        b.push_back(static_cast<std::int16_t>(3 * i));
      }
      interpreter::traced f;
      const value x = f.operand(op::load, dtype::float32, 0),
                  y = f.operand(op::load, dtype::int16, 1),
                  s = f.operand(op::load_scalar, dtype::int16, 2),
                  h = f.operand(op::value, dtype::float64, 3);
      const value scaled[] = {y, s}, moved[] = {f.apply(op::multiply, scaled), x};
      const value difference = f.apply(op::subtract, moved), halved[] = {difference, h};
      const value quotient = f.apply(op::divide, halved);
      const auto program = f.program({quotient, f.cast(dtype::float16, x)});
      const std::int16_t two = 2;
      const double eight = 8;
      const void* const in[] = {a.data(), b.data(), &two, &eight};
      void* const out[] = {c.data(), d.data()};
      interpreter::executable(interpreter::view_of(program)).run(how, n, in, out);
      for (int i = 0; i < n; ++i) {
        ASSERT_EQ(c[static_cast<std::size_t>(i)],
                  static_cast<float>(static_cast<std::int16_t>(6 * i) - i) / 8)
            << name(how) << ' ' << n;
        ASSERT_EQ(float(d[static_cast<std::size_t>(i)]), static_cast<float>(i))
            << name(how) << ' ' << n;
      }
      ASSERT_EQ(c.back(), -7);  // elements behind the end are unchanged
      ASSERT_EQ(float(d.back()), 0);
    }
}

// One value for every operation of two operands that does not commute.
TEST(interpreter, keeps_the_order_of_operands) {
  struct row {
    op code;
    double result;
  };
  for (const row& r :
       {row{op::subtract, 4}, row{op::divide, 7.0 / 3}, row{op::fmod, 1}, row{op::floor_divide, 2},
        row{op::less, 0}, row{op::greater, 1}, row{op::pow, 343},
        row{op::atan2, std::atan2(7.0, 3.0)}, row{op::heaviside, 1}, row{op::copysign, 7}})
    for (const form how : interpreter::forms()) {
      interpreter::traced f;
      const value x[] = {f.operand(op::load, dtype::float64, 1),
                         f.operand(op::load, dtype::float64, 0)};
      const auto program = f.program({f.cast(dtype::float64, f.apply(r.code, x))});
      const double three = 3, seven = 7;
      const void* const in[] = {&three, &seven};
      double got = 0;
      void* const out[] = {&got};
      interpreter::executable(interpreter::view_of(program)).run(how, 1, in, out);
      EXPECT_NEAR(got, r.result, 1e-15 * std::abs(r.result))
          << dsl::info(r.code).name << ' ' << name(how);
    }
  for (const form how : interpreter::forms()) {
    interpreter::traced f;
    const value x[] = {f.operand(op::load, dtype::boolean, 0), f.operand(op::load, dtype::int32, 1),
                       f.operand(op::load, dtype::int32, 2)};
    const auto program = f.program({f.apply(op::where, x)});
    const bool condition[] = {true, false};
    const int yes[] = {1, 2}, no[] = {-1, -2};
    const void* const in[] = {condition, yes, no};
    int got[2] = {};
    void* const out[] = {got};
    interpreter::executable(interpreter::view_of(program)).run(how, 2, in, out);
    EXPECT_TRUE(got[0] == 1 && got[1] == -2) << name(how);
  }
}

TEST(interpreter, shares_and_folds_as_the_language_does) {
  interpreter::traced f;
  const value x = f.operand(op::load, dtype::float32, 0);
  const value two = f.literal(dtype::int32, {2}), three = f.literal(dtype::int32, {3});
  const value six[] = {two, three}, one_way[] = {x, f.apply(op::multiply, six)},
              other_way[] = {one_way[1], x};
  EXPECT_EQ(f.apply(op::add, one_way).node, f.apply(op::add, other_way).node);
  EXPECT_EQ(f.apply(op::positive, &x).node, x.node);
  const value minus = f.apply(op::negative, &x);
  EXPECT_EQ(f.apply(op::negative, &minus).node, x.node);
  EXPECT_FALSE(f.refused());
  const value byte = f.operand(op::load, dtype::uint8, 1),
              beyond[] = {byte, f.literal(dtype::int32, {300})};
  f.apply(op::add, beyond);
  EXPECT_TRUE(f.refused());
  f.apply(op::less, beyond);
  EXPECT_FALSE(f.refused());
}

}  // namespace
