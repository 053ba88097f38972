#include "mem/npy_header.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace dsl::detail {

namespace {

// NumPy's letter for a dtype's kind; 0 for bfloat16, which NumPy lacks.
char letter_of(dtype type) {
  if (type == dtype::bfloat16) return 0;
  switch (kind_of(type)) {
    case kind::boolean: return 'b';
    case kind::integer: return info(type).is_signed ? 'i' : 'u';
    case kind::real: return 'f';
    default: return 'c';
  }
}

}  // namespace

std::string description_of(dtype type) {
  if (letter_of(type) == 0) return {};
  return std::string(size_of(type) == 1 ? "|" : "<") + letter_of(type) +
         std::to_string(size_of(type));
}
std::optional<dtype> dtype_of_description(std::string_view description) {
  if (description.empty() || std::string_view("<=|").find(description[0]) == std::string_view::npos)
    return {};
  for (int k = 0; k < dtype_count; ++k) {
    const auto type = static_cast<dtype>(k);
    if (letter_of(type) != 0 &&
        description.substr(1) == letter_of(type) + std::to_string(size_of(type)))
      return type;
  }
  return {};
}

std::string header_of(dtype type, const mapping& shape) {
  std::string tuple;
  for (int d = 0; d < shape.rank; ++d)
    tuple += (d > 0 ? ", " : "") + std::to_string(shape.extents[d]);
  std::string text = "{'descr': '" + description_of(type) +
                     "', 'fortran_order': False, 'shape': (" + tuple +
                     (shape.rank == 1 ? "," : "") + "), }";
  if (shape.rank > 0) text.append(21 - std::to_string(shape.extents[0]).size(), ' ');
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text += '\n';
  const auto size = static_cast<unsigned>(text.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 0xff) +
         static_cast<char>(size >> 8) + text;
}

namespace {

// Parses the literal of a Python dictionary, as far as headers use it.
class literal_reader {
 public:
  explicit literal_reader(const std::string& text)
      : at_(text.data()), end_(text.data() + text.size()) {}

  bool failed() const { return failed_; }
  bool accept(char c) {
    if (is_at_end() || *at_ != c) return false;
    ++at_;
    return true;
  }
  /// Whether only white space is left.
  bool is_at_end() {
    while (at_ < end_ && std::string_view(" \t\r\n").find(*at_) != std::string_view::npos) ++at_;
    return at_ == end_;
  }
  void expect(char c) { failed_ = !accept(c) || failed_; }
  std::string string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const char* const begin = at_;
    while (at_ < end_ && *at_ != quote) ++at_;
    const std::string found(begin, at_);
    expect(quote);
    return found;
  }
  std::string word() {
    failed_ = is_at_end() || failed_;
    const char* const begin = at_;
    while (at_ < end_ && std::isalnum(static_cast<unsigned char>(*at_)) != 0) ++at_;
    failed_ = failed_ || at_ == begin;
    return {begin, at_};
  }
  std::int64_t integer() {
    const std::string digits = word();
    std::int64_t value = 0;
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const std::string_view rest =
        std::string_view(digits).substr(static_cast<std::size_t>(end - digits.data()));
    // 03 is not a number in Python.
    const bool is_padded = digits.size() - rest.size() > 1 && digits[0] == '0';
    failed_ = failed_ || wrong != std::errc() || is_padded ||
              !(rest.empty() || rest == "L");  // Python 2 wrote 3L
    return value;
  }

 private:
  const char *at_, *end_;
  bool failed_ = false;
};

}  // namespace

bool parse(const std::string& text, npy_header& to) {
  constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};
  std::array<bool, keys.size()> found{};
  literal_reader in(text);
  in.expect('{');
  while (!in.failed() && !in.accept('}')) {
    const std::string key = in.string();
    in.expect(':');
    const auto number =
        static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    if (number == keys.size() || std::exchange(found[number], true)) return false;
    if (key == "descr") {
      to.description = in.string();
    } else if (key == "fortran_order") {
      const std::string word = in.word();
      to.is_fortran = word == "True";
      if (!to.is_fortran && word != "False") return false;
    } else {
      in.expect('(');
      while (!in.failed() && !in.accept(')')) {
        to.shape.push_back(in.integer());
        if (in.accept(',')) continue;
        in.expect(')');
        if (to.shape.size() == 1) return false;  // (3) is a number
        break;
      }
    }
    if (!in.accept(',')) {
      in.expect('}');
      break;
    }
  }
  return !in.failed() && in.is_at_end() &&
         std::find(found.begin(), found.end(), false) == found.end();
}

}  // namespace dsl::detail
