// Casts from floating point numbers and integers to every real dtype: the same on every device.
#include "../evaluated.hpp"
#include "../on_device.hpp"

#include <cmath>
#include <limits>

namespace {

struct casting : on_device {};
ON_EVERY_DEVICE(casting);

struct to_all {
  template <class S>
  constexpr auto operator()(S x) const {
    using dsl::cast;
    return std::tuple{cast<bool>(x),          cast<std::int8_t>(x),   cast<std::int16_t>(x),
                      cast<std::int32_t>(x),  cast<std::int64_t>(x),  cast<std::uint8_t>(x),
                      cast<std::uint16_t>(x), cast<std::uint32_t>(x), cast<std::uint64_t>(x),
                      cast<dsl::half>(x),     cast<dsl::bfloat16>(x), cast<float>(x),
                      cast<double>(x)};
  }
};

// The nearest 16-bit float, ties to even, found by a search among all of them.
template <class To>
To nearest(long double x) {
  constexpr bool is_half = std::is_same_v<To, dsl::half>;
  const auto value = [](unsigned bits) -> long double {  // for infinity the next power of two
    if (bits == (is_half ? 0x7c00u : 0x7f80u)) return is_half ? 0x1p16L : 0x1p128L;
    return static_cast<float>(__builtin_bit_cast(To, static_cast<std::uint16_t>(bits)));
  };
  To found;
  unsigned low = 0, high = is_half ? 0x7c00 : 0x7f80;
  const long double size = std::abs(x);
  if (std::isnan(x)) return To(std::nanf(""));
  while (high - low > 1) (value((low + high) / 2) <= size ? low : high) = (low + high) / 2;
  const long double down = size - value(low), up = value(high) - size;
  found.bits = static_cast<std::uint16_t>((down < up || (down == up && low % 2 == 0) ? low : high) |
                                          (std::signbit(x) ? 0x8000u : 0));
  return found;
}

// The page's definition, computed in the widest types.
template <class To, class From>
To expected(From from) {
  using limits = std::numeric_limits<To>;
  if constexpr (std::is_same_v<To, bool>) {
    return static_cast<double>(from) != 0;
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_integral_v<To>) {
    const long double value = std::trunc(static_cast<long double>(static_cast<double>(from)));
    if (std::isnan(value)) return 0;
    if (value <= static_cast<long double>(limits::min())) return limits::min();
    if (value >= static_cast<long double>(limits::max())) return limits::max();
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, double> || std::is_same_v<To, float>) {
    return static_cast<To>(from);
  } else {
    return nearest<To>(static_cast<long double>(from));
  }
}

template <class To, class From, class Got>
void compare(const std::vector<Got>& got, const std::vector<From>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const To want = expected<To>(given[i]), have = static_cast<To>(got[i]);
    const bool both_nan = !std::is_integral_v<To> && std::isnan(static_cast<double>(have)) &&
                          std::isnan(static_cast<double>(want));
    ASSERT_TRUE(both_nan || have == want)
        << name(dsl::dtype_v<From>) << " to " << name(dsl::dtype_v<To>) << ": "
        << static_cast<double>(given[i]) << " gives " << static_cast<double>(have);
  }
}

template <class... To> struct types {};
using all_types =
    types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
          std::uint32_t, std::uint64_t, dsl::half, dsl::bfloat16, float, double>;
template <class From, class... To, class... Got>
void compare_all(types<To...>, const std::vector<From>& given, const std::vector<Got>&... got) {
  (compare<To>(got, given), ...);
}

template <class From>
void from_all(const std::vector<From>& given) {
  evaluated(to_all{}, given).check([&](const auto&... got) {
    compare_all(all_types{}, given, got...);
  });
}

// The ends of every dtype's range and their neighbours, halves, numbers between them, and random
// bits.
template <class From, class Bits>
std::vector<From> floating() {
  std::vector<From> v;
  const auto add = [&v](double x) {
    v.push_back(From(static_cast<std::conditional_t<sizeof(From) == 8, double, float>>(x)));
  };
  for (const double special : {0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, std::nan(""), HUGE_VAL,
                               -HUGE_VAL, 1e30, -1e30, 1e300, 5e-324})
    add(special);
  for (int bits = 7; bits <= 64; ++bits)
    for (const double sign : {1.0, -1.0})
      for (const double beside : {-1.0, -0.5, 0.0, 0.5, 1.0})
        add(sign * (std::ldexp(1.0, bits) + beside));
  for (int bits : {31, 32, 63, 64})
    for (const double sign : {1.0, -1.0})
      for (const int ulp : {-1, 1})
        add(sign *
            std::ldexp(1.0 + ulp * (sizeof(From) == 8 ? 0x1p-53 : 0x1p-24) * (ulp > 0 ? 2 : 1),
                       bits));
  std::mt19937_64 random(11);
  for (int i = 0; i < 3000; ++i) {
    const Bits bits = static_cast<Bits>(random());
    v.push_back(__builtin_bit_cast(From, bits));
    add(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                   -static_cast<int>(random() % 70)));
  }
  if constexpr (sizeof(From) == 2)
    for (unsigned bits = 0; bits < 65536; ++bits)
      v.push_back(__builtin_bit_cast(From, static_cast<Bits>(bits)));
  if constexpr (sizeof(From) >= 4)  // halfway between 16-bit numbers, and one bit to either side
    for (unsigned bits = 0; bits < 65536; bits += 5) {
      const auto half = __builtin_bit_cast(dsl::half, static_cast<std::uint16_t>(bits)),
                 next = __builtin_bit_cast(dsl::half, static_cast<std::uint16_t>(bits + 1));
      const From between_halves = (static_cast<float>(half) + static_cast<float>(next)) / 2,
                 between_bfloat16 = __builtin_bit_cast(float, bits << 16 | 0x8000u);
      for (const From middle : {between_halves, between_bfloat16})
        for (const Bits beside : {Bits(-1), Bits(0), Bits(1)})
          v.push_back(__builtin_bit_cast(
              From, static_cast<Bits>(__builtin_bit_cast(Bits, middle) + beside)));
    }
  return v;
}
template <class From>
std::vector<From> integers() {
  std::vector<From> v;
  for (int bit = 0; bit < 64; ++bit)
    for (const int beside : {-1, 0, 1})
      v.push_back(
          static_cast<From>((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(beside)));
  for (int shift = 0; shift < 54; ++shift)  // halfway between numbers of 8 digits
    for (std::uint64_t digits = 257; digits < 512; digits += 2)
      for (const int beside : {-1, 0, 1})
        v.push_back(static_cast<From>((digits << shift) + static_cast<std::uint64_t>(beside)));
  std::mt19937_64 random(12);
  for (int i = 0; i < 1000; ++i) v.push_back(static_cast<From>(random() >> random() % 64));
  return v;
}

TEST_P(casting, of_floating_point_numbers) {
  from_all(floating<float, std::uint32_t>());
  from_all(floating<double, std::uint64_t>());
  from_all(floating<dsl::half, std::uint16_t>());
  from_all(floating<dsl::bfloat16, std::uint16_t>());
}

TEST_P(casting, of_integers) {
  from_all(integers<std::int64_t>());
  from_all(integers<std::uint64_t>());
}

}  // namespace
