// A temporary folder of one test, removed with the object; its name is unique because other
// processes may run the same test.
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

/// Is the process's current folder during the object's lifetime.
struct current_scratch_folder : scratch_folder {
  current_scratch_folder() { std::filesystem::current_path(outer); }
  ~current_scratch_folder() { std::filesystem::current_path(before); }
  const std::filesystem::path before = std::filesystem::current_path();
};
