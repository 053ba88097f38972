// What stands in a printed text, and what is refused. Needs no device.
#include <gtest/gtest.h>

#include <functional>

#include "../../table_rows.hpp"
#include "opencl/print/prelude.hpp"
#include "opencl/print/row_text.hpp"
#include "run_time_pass.hpp"

namespace {

using namespace dsl::detail;
using dsl::dtype;
using dsl::op;

opencl::abilities everything() {
  opencl::abilities can{};
  can.has_double = can.rounds_divide_and_sqrt = true;
  can.largest_work_group = 256;
  can.local_memory = 32768;
  can.parameter_bytes = 1024;
  return can;
}

// Prints c = code(a, b) of arrays.
opencl::kernel_text printed(op code, dtype type, const opencl::abilities& can,
                            std::int64_t count = 100) {
  run_time::program p;
  const int a = p.add(op::load, type, 0), b = p.add(op::load, type, 1);
  p.outputs.push_back(
      p.place(p.add(code, type, p.place(a) | p.place(b) << dsl::detail::reference::bits)));
  const run_time::block memory = run_time::block_of(std::vector<unsigned char>(
      static_cast<std::size_t>(count) * static_cast<std::size_t>(dsl::size_of(type))));
  const operand operands[] = {run_time::operand_in(memory, type, count),
                              run_time::operand_in(memory, type, count),
                              run_time::operand_in(memory, type, count)};
  const std::uint64_t target = target_word::make(false, 0).word;
  program_code code_of_pass{};
  code_of_pass.inputs = 2;
  code_of_pass.pass.view.elements = p.view();
  code_of_pass.pass.view.targets = &target;
  code_of_pass.pass.view.target_count = 1;
  code_of_pass.pass.lanes = 16 / dsl::size_of(type);
  const bound_pass pass(code_of_pass, operands, {});
  return opencl::print_pass(pass, can);
}

TEST(opencl_text, has_the_formula_and_a_loop) {
  EXPECT_EQ(printed(op::add, dtype::float32, everything()).text,
            R"(// c = a + b
#pragma OPENCL FP_CONTRACT ON

float load_float32(const __global uchar* memory, long offset) {
  return *(const __global float*)(memory + offset);
}

void store_float32(__global uchar* memory, long offset, float value) {
  *(__global float*)(memory + offset) = value;
}

__kernel void dsl_pass(
    const int n0,
    __global uchar* m0, const long o0,
    __global uchar* m1, const long o1,
    __global uchar* m2, const long o2,
    const int elements) {
  for (int element = get_global_id(0); element < elements; element += get_global_size(0)) {
    const int x0 = element;
    const float a = load_float32(m0, o0 + x0 * 4L);
    const float b = load_float32(m1, o1 + x0 * 4L);
    const float v2 = a + b;
    store_float32(m2, o2 + x0 * 4L, v2);
  }
}
)");
}

// Two adjacent elements of a work-item.
TEST(opencl_text, has_vectors_of_a_gpu) {
  opencl::abilities can = everything();
  can.takes_lanes = true;
  const std::string text = printed(op::add, dtype::float64, can).text;
  EXPECT_EQ(text.substr(text.find("    const int elements")), R"(    const int elements) {
  const int apart = 1;
  for (int first = get_global_id(0) * 2; first < elements; first += get_global_size(0) * 2) {
    if (first + 1 * apart < elements) {
      const int x0 = first;
      const double2 p0_0 = *(const __global double2*)(m0 + o0 + x0 * 8L);
      const double2 p1_0 = *(const __global double2*)(m1 + o1 + x0 * 8L);
      double to2_0, to2_1;
      {
        const double a = p0_0.s0;
        const double b = p1_0.s0;
        const double v2 = a + b;
        to2_0 = v2;
      }
      {
        const double a = p0_0.s1;
        const double b = p1_0.s1;
        const double v2 = a + b;
        to2_1 = v2;
      }
      *(__global double2*)(m2 + o2 + x0 * 8L) = (double2)(to2_0, to2_1);
    } else {
      for (int element = first; element < elements; element += apart) {
        const int x0 = element;
        const double a = load_float64(m0, o0 + x0 * 8L);
        const double b = load_float64(m1, o1 + x0 * 8L);
        const double v2 = a + b;
        store_float64(m2, o2 + x0 * 8L, v2);
      }
    }
  }
}
)");
}

TEST(opencl_text, reads_values_from_memory_where_parameters_are_too_long) {
  opencl::abilities can = everything();
  can.parameter_bytes = 32;
  const std::string text = printed(op::add, dtype::float32, can).text;
  EXPECT_NE(text.find(R"(
// All values as parameters would be more than the 32 bytes that the device takes.
__kernel void dsl_pass(
    __global uchar* m0,
    __global uchar* m1,
    __global uchar* m2,
    const __global uchar* m_values) {
  const int n0 = *(const __global int*)(m_values + 0);
  const long o0 = *(const __global long*)(m_values + 16);
  const long o1 = *(const __global long*)(m_values + 32);
  const long o2 = *(const __global long*)(m_values + 48);
  const int elements = *(const __global int*)(m_values + 64);
  for (int element)"),
            std::string::npos)
      << text;
}

TEST(opencl_text, does_not_depend_on_sizes) {
  EXPECT_EQ(printed(op::pow, dtype::int8, everything(), 100).text,
            printed(op::pow, dtype::int8, everything(), 5000).text);
}

TEST(opencl_text, says_what_a_device_lacks) {
  opencl::abilities can = everything();
  can.has_double = false;
  EXPECT_EQ(printed(op::add, dtype::float32, can).text.find("double"), std::string::npos);
  try {
    printed(op::add, dtype::float64, can);
    ADD_FAILURE() << "no error";
  } catch (const dsl::device_error& e) {
    EXPECT_STREQ(e.what(),
                 "this OpenCL device has no double precision (cl_khr_fp64), which a kernel needs: "
                 "a + a");
  }
}

TEST(opencl_text, divides_floats_in_double_where_the_device_rounds_carelessly) {
  opencl::abilities can = everything();
  can.rounds_divide_and_sqrt = false;
  const opencl::kernel_text text = printed(op::divide, dtype::float32, can);
  EXPECT_NE(text.text.find("(float)((double)a / b)"), std::string::npos);
  EXPECT_EQ(text.options, "-cl-std=CL1.2");
}

// Every row of the table has code for every dtype of its domain.
TEST(opencl_text, has_every_row) {
  int rows = 0;
  for (const op code : all_rows)
    for (int t = 0; t < dsl::dtype_count; ++t) {
      const dsl::weak_dtype given{static_cast<dtype>(t)};
      const dsl::signature s = dsl::resolve(code, given, given, given);
      if (!s.valid) continue;
      opencl::value_text x[3];
      for (int k = 0; k < 3; ++k) x[k] = {std::string(1, static_cast<char>('a' + k)), s.operand[k]};
      EXPECT_FALSE(opencl::row_text(code, s.result.type, x, true).empty()) << dsl::info(code).name;
      ++rows;
    }
  EXPECT_GT(rows, 700);
}

}  // namespace
