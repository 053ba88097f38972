// The names of reductions: mean, std, or the one that a user gives to a reduction of their own.
#pragma once

#include <cstdint>

namespace dsl::detail {

/// A name as words, which can be part of a type. It is cut after 32 characters.
struct packed_name {
  static constexpr int most_words = 4;
  std::uint64_t word[most_words]{};

  constexpr packed_name() = default;
  constexpr packed_name(const char* text, int length) {
    for (int i = 0; i < length && i < 8 * most_words; ++i)
      word[i / 8] |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << i % 8 * 8;
  }
  constexpr packed_name(const char* text) : packed_name(text, length_of(text)) {}
  /// The number of words before the first zero.
  constexpr int words() const {
    int count = 0;
    while (count < most_words && word[count] != 0) ++count;
    return count;
  }

 private:
  static constexpr int length_of(const char* text) {
    int length = 0;
    while (text[length] != '\0') ++length;
    return length;
  }
};

/// The name of a reduction's result, for explanations and errors, as in std(x, ddof(1)). The
/// numbers are nodes of the graph: the result, the elements that are reduced, and the value of
/// ddof, or -1 without one.
struct result_name {
  int result, of, ddof;
  packed_name text;
};

}  // namespace dsl::detail
