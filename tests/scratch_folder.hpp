// A folder of a test's own, that is removed with it: other processes may run the same test at the
// same time.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

struct scratch_folder {
  scratch_folder() { std::filesystem::create_directories(outer); }
  ~scratch_folder() { std::filesystem::remove_all(outer); }
  const std::filesystem::path outer =
      std::filesystem::temp_directory_path() / ("dsl_test_" + std::to_string(getpid()));
  const std::filesystem::path folder = outer / "run" / "state";
};

/// The process's current folder while it lives.
struct current_scratch_folder : scratch_folder {
  current_scratch_folder() { std::filesystem::current_path(outer); }
  ~current_scratch_folder() { std::filesystem::current_path(before); }
  const std::filesystem::path before = std::filesystem::current_path();
};
