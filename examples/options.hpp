// The command line of coupled_fields.
#pragma once

#include <cstdint>
#include <string>

struct options {
  std::int64_t size = 512;  // the fields are size x size
  std::int64_t steps = 0;
  double dt = 0;
  double phase = 0;       // of the feedback, in degrees
  bool ones = false;      // the acceptance case instead of the random input
  std::string device;     // empty: the library's default
  std::string plot, csv;  // empty: none
};

/// Prints the help and ends the program with 0, or prints what is wrong with the command line and
/// ends it with 2.
options read_options(int argc, char** argv);
