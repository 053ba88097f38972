// What the files of this test, each compiled for another back end, have for it.
#pragma once

#include <vector>

struct results {
  std::vector<float> map;
  float sum;
  std::vector<float> scan;
  float loop;
};

results of_host_file();
results of_sim_file();
/// A formula that no other file has.
float of_host_file_alone();
