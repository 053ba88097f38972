// Ranges recorded by the tool of injection.cpp, in the order in which they began.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

struct recorded_range {
  std::string domain, message;
  std::vector<std::pair<std::string, std::int64_t>> payload;  // names and values of its fields
  int depth = 0;  // number of enclosing ranges of its thread
  bool is_closed = false;
};

using recorded_ranges_function = const std::vector<recorded_range>* (*)();
