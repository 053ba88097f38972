// The largest error of every floating point function in every form that the interpreter runs, over
// a part of accuracy.cpp's arguments.
#include "../interpreter/language.hpp"
#include "arguments.hpp"
#include "bounds.hpp"
#include "reference.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using accuracy::worst;
using dsl::op;
using interpreter::form;

constexpr std::size_t count = 1 << 12, complex_count = 1 << 10;

template <class T>
std::vector<T> evaluate(op code, form how, const std::vector<T>& x, const std::vector<T>& y,
                        const std::vector<T>& z) {
  interpreter::traced formula;
  interpreter::value operands[3];
  for (int k = 0; k < 3; ++k) operands[k] = formula.operand(op::load, dsl::dtype_v<T>, k);
  const auto program = formula.program({formula.apply(code, operands)});
  std::vector<T> result(x.size());
  const void* const in[] = {x.data(), y.data(), z.data()};
  void* const out[] = {result.data()};
  interpreter::executable(interpreter::view_of(program))
      .run(how, static_cast<int>(x.size()), in, out);
  return result;
}

std::string text(op code, form how, bool is_float) {
  return std::string(dsl::info(code).name) + (is_float ? " of floats, " : " of doubles, ") +
         name(how);
}

template <class T> void measure_real() {
  const std::vector<T> x = accuracy::arguments<T>(count, 1), y = accuracy::second_arguments(x, 2),
                       z = accuracy::second_arguments(x, 3);
  constexpr bool is_float = sizeof(T) == 4;
  for (const accuracy::function_bounds& row : accuracy::bounds_table)
    for (const form how : interpreter::forms()) {
      const std::vector<T> got = evaluate(row.code, how, x, y, z);
      const worst found = accuracy::measure(row.code, count, x.data(), y.data(), z.data(),
                                            got.data(), row.host.absolute(is_float));
      EXPECT_LE(found.error, row.host.ulps(is_float) + 0.5)
          << text(row.code, how, is_float) << ": " << x[found.at] << ' ' << y[found.at] << ' '
          << z[found.at];
    }
}

template <class T> void measure_complex() {
  const auto moderate = accuracy::complex_arguments<T>(complex_count, 1),
             y = accuracy::complex_arguments<T>(complex_count, 2);
  auto all = accuracy::complex_arguments_of_all_exponents<T>(complex_count, 3);
  all.insert(all.end(), moderate.begin(), moderate.end());
  for (const accuracy::complex_bound& row : accuracy::complex_bounds_table)
    for (const form how : interpreter::forms()) {
      const auto& x = dsl::info(row.code).arity == 1 ? all : moderate;
      const auto got = evaluate(row.code, how, x, y, y);
      const worst found = accuracy::measure(row.code, x.size(), x.data(), y.data(), got.data());
      EXPECT_LE(found.error, row.epsilons)
          << text(row.code, how, sizeof(T) == 4) << ": " << x[found.at];
    }
}

TEST(interpreted_accuracy, of_floats) { measure_real<float>(); }
TEST(interpreted_accuracy, of_doubles) { measure_real<double>(); }
TEST(interpreted_accuracy, of_complex_numbers) {
  measure_complex<float>();
  measure_complex<double>();
}

}  // namespace
