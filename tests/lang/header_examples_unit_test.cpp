// Every example in a header's comment also occurs, up to white space, in a test or on a page of
// docs/, and so is compiled and run.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The words of some lines, each without its prefix.
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
    if (file.path().filename().string().ends_with("_test.cpp"))
      compiled += words_of(contents(file.path()));
  for (const auto& file : fs::directory_iterator(tests / "../docs"))
    if (file.path().extension() == ".md") compiled += words_of(contents(file.path()));
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
