// The 16-bit formats, over all their values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <dsl/ir/half.hpp>

namespace {

double value_of_half(unsigned bits) {  // by the definition of binary16
  const int sign = bits >> 15 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31)
    return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

TEST(half, reads_every_value) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double want = value_of_half(bits);
    const float got = dsl::detail::half_to_float(static_cast<std::uint16_t>(bits));
    EXPECT_EQ(std::signbit(got), bits >> 15 != 0);
    EXPECT_EQ(std::isnan(got), std::isnan(want));
    if (std::isnan(want)) continue;
    EXPECT_EQ(got, want) << bits;
    EXPECT_EQ(dsl::half(got).bits, bits);
  }
}

TEST(half, rounds_to_nearest_even) {
  for (unsigned bits = 0; bits < 0x7bff;
       ++bits) {  // between neighbouring finite values: below, at and above the middle
    const double low = value_of_half(bits), high = value_of_half(bits + 1),
                 middle = (low + high) / 2;
    const auto even = static_cast<std::uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(dsl::half(static_cast<float>(middle)).bits, even) << bits;
    EXPECT_EQ(dsl::half(std::nextafter(static_cast<float>(middle), 0.0f)).bits, bits);
    EXPECT_EQ(dsl::half(std::nextafter(static_cast<float>(middle), 1e6f)).bits, bits + 1);
  }
  EXPECT_EQ(dsl::half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(dsl::half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(dsl::half(1e30f).bits, 0x7c00);
  EXPECT_EQ(dsl::half(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
}

TEST(bfloat16, rounds_to_nearest_even) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float f = dsl::detail::bfloat16_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(dsl::bfloat16(f))));
      continue;
    }
    EXPECT_EQ(dsl::bfloat16(f).bits, bits);
    const std::uint32_t middle = bits << 16 | 0x8000u;
    float m;
    std::memcpy(&m, &middle, 4);
    if ((bits & 0x7fff) >= 0x7f7f) continue;
    EXPECT_EQ(dsl::bfloat16(m).bits, bits % 2 == 0 ? bits : bits + 1);
  }
}

// Also a NaN whose payload is only in the bits that are cut off.
TEST(half_and_bfloat16, nan_stays_nan) {
  for (const std::uint32_t bits :
       {0x7f800001u, 0x7f80ffffu, 0x7f9fffffu, 0x7fc00000u, 0xff800001u, 0xffffffffu}) {
    float nan;
    std::memcpy(&nan, &bits, 4);
    const std::uint16_t half = dsl::half(nan).bits, bfloat16 = dsl::bfloat16(nan).bits;
    EXPECT_GT(half & 0x7fff, 0x7c00) << std::hex << bits;
    EXPECT_GT(bfloat16 & 0x7fff, 0x7f80) << std::hex << bits;
    EXPECT_EQ(half >> 15, bits >> 31);
    EXPECT_EQ(bfloat16 >> 15, bits >> 31);
  }
}

// Rounding to the nearest of two neighbouring 16-bit floats, tested around their middle, as close
// to it as the number's type allows.
template <class Short, class Number>
void expect_rounded_once(Number below_middle, Number middle, Number above_middle,
                         std::uint16_t bits) {
  const auto even = static_cast<std::uint16_t>(bits % 2 == 0 ? bits : bits + 1);
  EXPECT_EQ(Short(below_middle).bits, bits) << bits;
  EXPECT_EQ(Short(middle).bits, even) << bits;
  EXPECT_EQ(Short(above_middle).bits, bits + 1) << bits;
  EXPECT_EQ(Short(-below_middle).bits, bits | 0x8000);
  EXPECT_EQ(Short(-middle).bits, even | 0x8000);
  EXPECT_EQ(Short(-above_middle).bits, (bits + 1) | 0x8000);
}
// If rounded to float first, the first and the last would be the middle itself.
TEST(half_and_bfloat16, doubles_are_rounded_once) {
  const auto around = [](double middle, auto expect) {
    expect(std::nextafter(middle, 0.0), middle, std::nextafter(middle, 1e300));
  };
  for (unsigned bits = 0; bits < 0x7bff; ++bits)
    around((value_of_half(bits) + value_of_half(bits + 1)) / 2,
           [&](double below, double middle, double above) {
             expect_rounded_once<dsl::half>(below, middle, above, static_cast<std::uint16_t>(bits));
           });
  for (unsigned bits = 0; bits < 0x7f7f; ++bits) {
    const auto value = [](unsigned b) {
      return static_cast<double>(dsl::detail::bfloat16_to_float(static_cast<std::uint16_t>(b)));
    };
    around((value(bits) + value(bits + 1)) / 2, [&](double below, double middle, double above) {
      expect_rounded_once<dsl::bfloat16>(below, middle, above, static_cast<std::uint16_t>(bits));
    });
  }
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(dsl::half(std::nextafter(65520.0, 0.0)).bits, 0x7bff);
  for (const double large : {65520.0, 1e30, 1e300, inf}) EXPECT_EQ(dsl::half(-large).bits, 0xfc00);
  for (const double large : {3.4e38, 1e300, inf}) EXPECT_EQ(dsl::bfloat16(large).bits, 0x7f80);
  for (const double small : {1e-300, std::numeric_limits<double>::denorm_min()}) {
    EXPECT_EQ(dsl::half(-small).bits, 0x8000);
    EXPECT_EQ(dsl::bfloat16(small).bits, 0);
  }
  EXPECT_TRUE(std::isnan(dsl::half(std::nan(""))));
  EXPECT_TRUE(std::isnan(dsl::bfloat16(-std::nan(""))));
}
TEST(half_and_bfloat16, integers_are_rounded_once) {
  EXPECT_EQ(dsl::half(2049).bits, dsl::half(2048.0f).bits);
  EXPECT_EQ(dsl::half(std::numeric_limits<std::int64_t>::min()).bits, 0xfc00);
  for (int exponent = 9; exponent < 62; ++exponent)
    for (std::int64_t digits = 128; digits < 256;
         ++digits) {  // eight bits, the last one worth 2^(exponent - 7)
      const std::int64_t middle = (2 * digits + 1) << (exponent - 8);
      const auto bits = dsl::bfloat16(static_cast<float>(digits << (exponent - 7))).bits;
      expect_rounded_once<dsl::bfloat16>(middle - 1, middle, middle + 1, bits);
      if (exponent < 30)
        expect_rounded_once<dsl::bfloat16>(static_cast<int>(middle - 1), static_cast<int>(middle),
                                           static_cast<int>(middle + 1), bits);
    }
}

}  // namespace
