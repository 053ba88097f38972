// Functions shared by this test's files, each of which is compiled for another back end.
#pragma once

#include <dsl/mem/array.hpp>
#include <dsl/mem/scalar.hpp>

#include <vector>

struct results {
  std::vector<float> map;
  float sum;
  std::vector<float> scan;
  float loop;
};

results of_host_file();
results of_sim_file();
/// A formula that only the host's file contains.
float of_host_file_alone();

/// A statement of two passes; the simulator's file contains the first.
void sum_and_product(dsl::scalar<float>& sum, dsl::scalar<float>& product,
                     const dsl::array<float>& x, const dsl::array<float>& y);
void sum_by_sim_file(dsl::scalar<float>& sum, const dsl::array<float>& x);
