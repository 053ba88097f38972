// The output that a page shows for its programs: its ```text blocks.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

inline std::string printed_on(const char* page) {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "../../docs" / page);
  const std::string text{std::istreambuf_iterator<char>(in), {}}, fence = "\n```text\n";
  std::string all;
  for (std::size_t at = text.find(fence); at != text.npos; at = text.find(fence, at)) {
    at += fence.size();
    all += text.substr(at, text.find("\n```", at) + 1 - at);
  }
  return all;
}
