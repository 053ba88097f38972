// Products, systems and decompositions of the dtypes that linear_test.cpp leaves out.
#include <dsl/linear.hpp>

#include "../on_device.hpp"
#include "matrices.hpp"

namespace {

using namespace matrices;

struct linear_all : on_device {};
ON_EVERY_DEVICE(linear_all);

TEST_P(linear_all, products_of_every_dtype) {
  products_of_sizes<float>({0, 1, 31, 33});
  products_of_sizes<c32>({1, 31});
  products_of_sizes<dsl::half>({1, 32});
  products_of_sizes<dsl::bfloat16>({1, 31});
}

TEST_P(linear_all, systems_of_every_dtype) {
  for (const int64_t n : {3, 8, 20}) expect_solutions<c32>(n, 33);
  for (const int64_t n : {1, 4, 17}) expect_solutions<float>(n, 257);
  for (const int64_t n : {6, 30}) expect_solutions<c64>(n, 5);
}

TEST_P(linear_all, decompositions_of_every_dtype) {
  for (const int64_t n : {1, 7, 40}) expect_decompositions<c32>(n, 2);
  for (const int64_t n : {2, 12}) expect_decompositions<float>(n, 9);
  expect_decompositions<c64>(9, 5);
}

}  // namespace
