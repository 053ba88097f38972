// Every row of the op table, for every dtype of its domain, as OpenCL C against the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "../../interpreter/interpreter.hpp"
#include "../../interpreter/signature.hpp"
#include "run_time_pass.hpp"
#include "ulp.hpp"

namespace {

using namespace dsl::detail;
using dsl::dtype;
using dsl::op;
using interpreter::signature;

constexpr int edges = 56, element_count = edges * edges;

// Limits, zeros of both signs, infinities, NaN, halves, numbers around 1 and beyond the integers.
double edge_number(int i) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr double all[] = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   -0.5,
                                   1.5,
                                   -1.5,
                                   2,
                                   -2,
                                   2.5,
                                   -2.5,
                                   3,
                                   -3,
                                   0.1,
                                   -0.1,
                                   7,
                                   -7,
                                   10,
                                   -10,
                                   0.75,
                                   -0.75,
                                   inf,
                                   -inf,
                                   std::numeric_limits<double>::quiet_NaN(),
                                   1e-3,
                                   -1e-3,
                                   1e-30,
                                   -1e-30,
                                   1e-40,
                                   1e-310,
                                   88.5,
                                   -103,
                                   127.5,
                                   128,
                                   255.5,
                                   256,
                                   -128.7,
                                   -129,
                                   32767.5,
                                   65504,
                                   65520,
                                   -65536,
                                   4e9,
                                   -4e9,
                                   2147483648.0,
                                   -2147483649.0,
                                   1e19,
                                   -1e19,
                                   9.3e18,
                                   3.4e38,
                                   1e39,
                                   -3.4e38,
                                   700,
                                   -745,
                                   1.7e308};
  return all[i % 56];
}
std::int64_t edge_integer(int i) {
  static constexpr std::int64_t all[] = {0,
                                         1,
                                         -1,
                                         2,
                                         -2,
                                         3,
                                         -3,
                                         5,
                                         7,
                                         -7,
                                         8,
                                         10,
                                         15,
                                         16,
                                         31,
                                         32,
                                         33,
                                         63,
                                         64,
                                         65,
                                         100,
                                         -100,
                                         126,
                                         127,
                                         128,
                                         -127,
                                         -128,
                                         -129,
                                         254,
                                         255,
                                         256,
                                         257,
                                         1000,
                                         -1000,
                                         32766,
                                         32767,
                                         32768,
                                         -32768,
                                         -32769,
                                         65534,
                                         65535,
                                         65536,
                                         2147483646,
                                         2147483647,
                                         2147483648,
                                         -2147483647,
                                         -2147483648,
                                         -2147483649,
                                         4294967295,
                                         4294967296,
                                         std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::max() - 1,
                                         std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::min() + 1,
                                         123456789,
                                         -987654321012345};
  return all[i % 56];
}

template <class T> void put(std::vector<unsigned char>& to, std::size_t i, T value) {
  std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
}
// Element i is edge number at(i).
template <class At> std::vector<unsigned char> operand_bytes(dtype type, const At& at) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(element_count) *
                                   static_cast<std::size_t>(dsl::size_of(type)));
  for (int i = 0; i < element_count; ++i) {
    const auto e = static_cast<std::size_t>(i);
    const int k = at(i);
    const std::int64_t n = edge_integer(k);
    const double x = edge_number(k), y = edge_number(k * 5 + i / 97 + 3);
    switch (type) {
      case dtype::boolean: put(bytes, e, static_cast<unsigned char>(k & 1)); break;
      case dtype::int8: put(bytes, e, static_cast<std::int8_t>(n)); break;
      case dtype::int16: put(bytes, e, static_cast<std::int16_t>(n)); break;
      case dtype::int32: put(bytes, e, static_cast<std::int32_t>(n)); break;
      case dtype::int64: put(bytes, e, n); break;
      case dtype::uint8: put(bytes, e, static_cast<std::uint8_t>(n)); break;
      case dtype::uint16: put(bytes, e, static_cast<std::uint16_t>(n)); break;
      case dtype::uint32: put(bytes, e, static_cast<std::uint32_t>(n)); break;
      case dtype::uint64: put(bytes, e, static_cast<std::uint64_t>(n)); break;
      case dtype::float16: put(bytes, e, dsl::half(x)); break;
      case dtype::bfloat16: put(bytes, e, dsl::bfloat16(x)); break;
      case dtype::float32: put(bytes, e, static_cast<float>(x)); break;
      case dtype::float64: put(bytes, e, x); break;
      case dtype::complex64:
        put(bytes, e, complex_value<float>{static_cast<float>(x), static_cast<float>(y)});
        break;
      case dtype::complex128: put(bytes, e, complex_value<double>{x, y}); break;
    }
  }
  return bytes;
}

// Rows whose results are those of a library's function, within some units; the others are exact.
bool is_function(op code) {
  switch (code) {
    case op::exp:
    case op::exp2:
    case op::exp10:
    case op::expm1:
    case op::log:
    case op::log2:
    case op::log10:
    case op::log1p:
    case op::logaddexp:
    case op::logaddexp2:
    case op::rsqrt:
    case op::cbrt:
    case op::hypot:
    case op::sin:
    case op::cos:
    case op::tan:
    case op::asin:
    case op::acos:
    case op::atan:
    case op::atan2:
    case op::sinh:
    case op::cosh:
    case op::tanh:
    case op::asinh:
    case op::acosh:
    case op::atanh:
    case op::sinpi:
    case op::cospi:
    case op::sinc:
    case op::erf:
    case op::erfc:
    case op::erfinv:
    case op::tgamma:
    case op::lgamma:
    case op::digamma:
    case op::i0:
    case op::i1:
    case op::pow:
    case op::arg:
    case op::polar:
    case op::degrees:
    case op::radians: return true;
    default: return false;
  }
}

bool is_finite(dtype part, int parts, const unsigned char* at) {
  for (int p = 0; p < parts; ++p)
    if (!std::isfinite(ulp::number(part, at + p * dsl::size_of(part)))) return false;
  return true;
}

// The larger part of a number.
double part_size(dtype type, const unsigned char* at) {
  const dtype part = dsl::real_of(type);
  const double re = std::abs(ulp::number(part, at));
  return part == type ? re : std::max(re, std::abs(ulp::number(part, at + dsl::size_of(part))));
}

struct rows : testing::TestWithParam<int> {};

// The rows of a dtype, up to 24 in one pass.
TEST_P(rows, agree_with_the_interpreter) {
  open_cl::device* const device = open_cl::device::first();
  if (device == nullptr) GTEST_SKIP() << "there is no OpenCL device";
  const auto family = static_cast<dtype>(GetParam());
  const interpreter::signature_list list = interpreter::signatures_of(family);
  int failures = 0;
  std::map<std::string, double> largest;
  for (std::size_t first = 0; first < list.count; first += 24) {
    const std::size_t count = std::min<std::size_t>(24, list.count - first);
    run_time::program made;
    std::vector<std::vector<unsigned char>> operands;
    std::map<std::pair<int, int>, int> loads;
    for (std::size_t s = 0; s < count; ++s) {
      const signature& of = list.of[first + s];
      std::uint64_t payload = 0;
      for (int k = 0; k < of.arity; ++k) {
        const auto key = std::pair(static_cast<int>(of.operand[k]), k);
        if (loads.count(key) == 0) {
          const auto number = static_cast<std::uint64_t>(operands.size());
          loads[key] = made.add(op::load, of.operand[k], number);
          operands.push_back(operand_bytes(of.operand[k], [k](int i) {
            return k == 0 ? i % edges : k == 1 ? i / edges : i * 7 + i / 11;
          }));
        }
        payload |= made.place(loads[key]) << dsl::detail::reference::bits * k;
      }
      made.outputs.push_back(made.place(made.add(of.code, of.result, payload)));
    }
    const program_view view = made.view();
    std::vector<std::vector<unsigned char>> expected;
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const auto& o : operands) in.push_back(o.data());
    for (std::size_t s = 0; s < count; ++s)
      expected.emplace_back(static_cast<std::size_t>(element_count) *
                            static_cast<std::size_t>(dsl::size_of(list.of[first + s].result)));
    for (auto& e : expected) out.push_back(e.data());
    interpreter::executable(view).run(interpreter::form::scalar, element_count, in.data(),
                                      out.data());
    std::vector<std::vector<unsigned char>> results(expected.size());
    for (std::size_t s = 0; s < count; ++s) results[s].assign(expected[s].size(), 0xa5);
    run_time::run(*device, view, element_count, operands, results);

    for (std::size_t s = 0; s < count; ++s) {
      const signature& of = list.of[first + s];
      const dtype part = dsl::real_of(of.result);
      const int size = dsl::size_of(part), parts = dsl::size_of(of.result) / size;
      const bool is_complex = dsl::kind_of(of.operand[0]) == dsl::kind::complex ||
                              dsl::kind_of(of.operand[of.arity > 1 ? 1 : 0]) == dsl::kind::complex;
      const bool has_bound = is_function(of.code) || is_complex;
      for (int i = 0; i < element_count; ++i) {
        double worst = 0;
        for (int p = 0; p < parts; ++p) {
          const std::size_t at = static_cast<std::size_t>((i * parts + p) * size);
          worst =
              std::max(worst, ulp::distance(part, results[s].data() + at, expected[s].data() + at));
        }
        if (is_complex && parts == 2 && worst > 0)
          worst = std::min(worst, ulp::complex_distance(part, results[s].data() + 2 * i * size,
                                                        expected[s].data() + 2 * i * size));
        // Products of numbers next to the largest are NaN or infinite, by whether a product and a
        // sum are one operation.
        if (is_complex && worst > 0 &&
            !is_finite(part, parts, results[s].data() + i * parts * size) &&
            !is_finite(part, parts, expected[s].data() + i * parts * size))
          continue;
        // The angle of such a power has no correct digit.
        if (is_complex && of.code == op::pow && worst > 0) {
          const auto& exponent = operands[static_cast<std::size_t>(
              made.operand_of(loads[std::pair(static_cast<int>(of.operand[1]), 1)]))];
          if (part_size(of.operand[1], exponent.data() + i * dsl::size_of(of.operand[1])) > 1000)
            continue;
        }
        double& most =
            largest[std::string(dsl::info(of.code).name) + " of " + dsl::name(of.operand[0])];
        if (worst < 1e6) most = std::max(most, worst);
        const double allowed = !has_bound ? 0 : of.code == op::pow && is_complex ? 4096 : 16;
        if (worst <= allowed || ++failures > 25) continue;
        std::string text = std::string(dsl::info(of.code).name) + "(";
        for (int k = 0; k < of.arity; ++k)
          text += (k > 0 ? ", " : "") + std::string(dsl::name(of.operand[k])) + " " +
                  ulp::spell(of.operand[k],
                             operands[static_cast<std::size_t>(made.operand_of(
                                          loads[std::pair(static_cast<int>(of.operand[k]), k)]))]
                                     .data() +
                                 static_cast<std::size_t>(i * dsl::size_of(of.operand[k])));
        ADD_FAILURE() << text << ") as " << dsl::name(of.result) << " gave "
                      << ulp::spell(of.result, results[s].data() + i * dsl::size_of(of.result))
                      << ", expected "
                      << ulp::spell(of.result, expected[s].data() + i * dsl::size_of(of.result));
      }
    }
  }
  EXPECT_EQ(failures, 0);
  for (const auto& [row, units] : largest)
    if (units > 1) std::printf("    %-28s %6.1f units\n", row.c_str(), units);
}
INSTANTIATE_TEST_SUITE_P(opencl, rows, testing::Range(0, dsl::dtype_count),
                         [](const testing::TestParamInfo<int>& i) {
                           return dsl::name(static_cast<dtype>(i.param));
                         });

}  // namespace
