// What the tool of injection.cpp has been told, in the order in which ranges began.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

struct recorded_range {
  std::string domain, message;
  std::vector<std::pair<std::string, std::int64_t>> payload;  // names and values of its fields
  int depth = 0;  // of ranges of its thread that it lies in
  bool is_closed = false;
};

using recorded_ranges_function = const std::vector<recorded_range>* (*)();
