// The examples in the headers' comments stand, but for white space, in a test that is compiled and run.
#include "../doc_examples.hpp"

#include <sstream>

namespace {

namespace fs = std::filesystem;

/// The words of some lines, each without what it begins with.
std::string words_of(const std::string& text, const std::string& begins_with = "") {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.starts_with(begins_with)) line.erase(0, begins_with.size());
    std::istringstream words(line);
    for (std::string word; words >> word;) all += word + ' ';
  }
  return all;
}

TEST(headers, every_example_is_compiled) {
  const fs::path tests = fs::path(__FILE__).parent_path().parent_path();
  std::string compiled;
  for (const auto& file : fs::recursive_directory_iterator(tests))
    if (file.path().filename().string().ends_with("_test.cpp")) compiled += words_of(contents(file.path()));
  const std::string begin = "/// ```cpp\n", end = "/// ```\n";
  int examples = 0;
  for (const auto& file : fs::recursive_directory_iterator(tests / "../include/dsl")) {
    const std::string header = file.is_regular_file() ? contents(file.path()) : "";
    for (std::size_t at = header.find(begin); at != header.npos; at = header.find(begin, at)) {
      at += begin.size();
      const std::string example = words_of(header.substr(at, header.find(end, at) - at), "///");
      EXPECT_NE(compiled.find(example), compiled.npos) << file.path() << ": " << example;
      ++examples;
    }
  }
  EXPECT_GE(examples, 9);
}

}  // namespace
