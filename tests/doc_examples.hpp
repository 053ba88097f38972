// The examples on a page of docs/ stand word for word in a test, which compiles and runs them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// `test` is the test's own file, `page` a file in docs/, and `count` how many examples it has.
inline void expect_examples_in(const std::filesystem::path& test, const char* page, int count) {
  const std::string tests = contents(test), doc = contents(test.parent_path() / "../../docs" / page), fence = "```cpp\n";
  int examples = 0;
  for (std::size_t at = doc.find(fence); at != doc.npos; at = doc.find(fence, at)) {
    at += fence.size();
    const std::string example = doc.substr(at, doc.find("```", at) - at);
    EXPECT_NE(tests.find(example), tests.npos) << example;
    ++examples;
  }
  EXPECT_EQ(examples, count);
}
