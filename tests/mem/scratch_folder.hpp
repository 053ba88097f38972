// A folder of a test's own, that is removed with it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

struct scratch_folder {
  scratch_folder() { std::filesystem::create_directories(outer); }
  ~scratch_folder() { std::filesystem::remove_all(outer); }
  const std::filesystem::path outer = std::filesystem::temp_directory_path() / ("dsl_checkpoint_" + std::to_string(getpid())), folder = outer / "run" / "state";
};
