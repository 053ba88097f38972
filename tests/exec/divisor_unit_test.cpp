// Division by multiplication, with which a block computes its tile's index.
#include <gtest/gtest.h>

#include <dsl/exec/team/arguments.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using dsl::detail::divisor;

constexpr std::uint32_t most = 0x7fffffff;  // dividends are below 2^31

bool is_exact(const divisor& by, std::uint32_t n, std::uint32_t d) {
  const std::uint32_t got = by.divide(n);
  if (got == n / d) return true;
  ADD_FAILURE() << n << " / " << d << " gave " << got;
  return false;
}

// Tests the multiples of d with their neighbours, the first and last ones, powers of two, and
// random numbers. A multiplier that is too large fails first at the largest numbers before a
// multiple, one that is too small at multiples.
bool is_exact_for(std::uint32_t d, std::mt19937& engine) {
  const divisor by = divisor::of(d);
  EXPECT_EQ(by.by, d);
  const std::uint32_t last = most / d;
  std::vector<std::uint32_t> quotients;
  for (std::uint32_t i = 0; i < 8; ++i) {
    quotients.push_back(std::min(i, last));
    quotients.push_back(last - std::min(i, last));
    quotients.push_back(static_cast<std::uint32_t>(engine()) % (last + 1));
  }
  for (const std::uint32_t q : quotients) {
    const std::uint32_t n = q * d;
    if (!is_exact(by, n, d) || !is_exact(by, n > 0 ? n - 1 : 0, d) ||
        !is_exact(by, std::min(most, n + 1), d))
      return false;
  }
  for (int bit = 0; bit < 31; ++bit)
    if (!is_exact(by, (1u << bit) - 1, d) || !is_exact(by, 1u << bit, d)) return false;
  for (int i = 0; i < 8; ++i)
    if (!is_exact(by, static_cast<std::uint32_t>(engine()) & most, d)) return false;
  return is_exact(by, most, d) && is_exact(by, most - 1, d);
}

TEST(divisor, divides_all_small_numbers_exactly) {
  for (std::uint32_t d = 1; d <= 300; ++d) {
    const divisor by = divisor::of(d);
    for (std::uint32_t n = 0; n < 1u << 14; ++n)
      if (!is_exact(by, n, d)) return;
  }
}

TEST(divisor, takes_small_divisors) {
  std::mt19937 engine(1);
  for (std::uint32_t d = 1; d <= 20'000; ++d)
    if (!is_exact_for(d, engine)) return;
}

TEST(divisor, takes_divisors_next_to_powers_of_two) {
  std::mt19937 engine(2);
  for (int bit = 1; bit <= 31; ++bit)
    for (std::int64_t next = -64; next <= 64; ++next) {
      const std::int64_t d = (std::int64_t{1} << bit) + next;
      if (d >= 1 && d <= most && !is_exact_for(static_cast<std::uint32_t>(d), engine)) return;
    }
}

TEST(divisor, takes_any_divisor) {
  std::mt19937 engine(3);
  for (int i = 0; i < 20'000; ++i)
    if (!is_exact_for(std::max(1u, static_cast<std::uint32_t>(engine()) & (most >> engine() % 31)),
                      engine))
      return;
}

}  // namespace
