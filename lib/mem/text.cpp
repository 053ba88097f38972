#include "mem/text.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace dsl {

// The characters follow a reference count.
namespace {
struct shared_text {
  std::atomic<int> owners;
  char chars[1];
};
shared_text* owner_of(char* chars) {
  return reinterpret_cast<shared_text*>(chars - offsetof(shared_text, chars));
}
}  // namespace

text::text(const char* chars) {
  if (chars == nullptr) return;
  const std::size_t length = std::strlen(chars);
  void* memory = std::malloc(sizeof(shared_text) + length);
  if (memory == nullptr) throw std::bad_alloc();
  new (memory) shared_text{{1}, {}};
  chars_ = static_cast<char*>(memory) + offsetof(shared_text, chars);
  std::memcpy(chars_, chars, length + 1);
}
text::text(const text& other) noexcept : chars_(other.chars_) {
  if (chars_ != nullptr) owner_of(chars_)->owners.fetch_add(1, std::memory_order_relaxed);
}
text::~text() {
  if (chars_ != nullptr && owner_of(chars_)->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
    std::free(owner_of(chars_));
}

bool text::is(const char* chars, std::size_t length) const noexcept {
  return std::strlen(c_str()) == length && std::memcmp(c_str(), chars, length) == 0;
}
bool operator==(const text& a, const text& b) noexcept {
  return std::strcmp(a.c_str(), b.c_str()) == 0;
}
bool operator==(const text& a, const char* b) noexcept {
  return b != nullptr && std::strcmp(a.c_str(), b) == 0;
}

namespace detail {

std::string spell_shape(const std::int64_t* sizes, int rank) {
  std::string s = "(";
  for (int d = 0; d < rank; ++d) s += (d > 0 ? ", " : "") + std::to_string(sizes[d]);
  return s + ")";
}

std::string spell_position(std::int64_t at) {
  return std::to_string(at) + (at == std::numeric_limits<std::int64_t>::max() ? " or more" : "");
}

std::string spell_number(double number) {
  char line[32];
  std::snprintf(line, sizeof line, "%g", number);
  return line;
}

std::string spell_amount(double amount, const char* unit) {
  const char* const prefixes[] = {"", "k", "M", "G", "T"};
  int prefix = 0;
  for (; amount >= 1000 && prefix < 4; ++prefix) amount /= 1000;
  char line[32];
  std::snprintf(line, sizeof line, prefix == 0 ? "%.0f %s%s" : "%.3g %s%s", amount,
                prefixes[prefix], unit);
  return line;
}
std::string spell_bytes(double bytes) { return spell_amount(bytes, "B"); }

}  // namespace detail
}  // namespace dsl
