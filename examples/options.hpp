// The command line of coupled_fields.
#pragma once

#include <cstdint>
#include <string>

struct options {
  std::int64_t size = 512;  // The fields are size x size.
  std::int64_t steps = 0;
  double dt = 0;
  double phase = 0;       // Phase of the feedback, in degrees.
  bool ones = false;      // Whether to run the acceptance case instead of the random input.
  std::string device;     // Empty: the library's default.
  std::string plot, csv;  // Files to write; empty: none.
};

/// Reads the command line. For --help, prints the help and exits with 0; for a wrong command line,
/// prints the error and exits with 2.
options read_options(int argc, char** argv);
