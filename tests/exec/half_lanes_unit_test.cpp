// Conversions between 16-bit floats and floats in the host's loops equal the scalar conversions bit
// for bit. CMake runs this with each vector instruction set of the machine.
#include <gtest/gtest.h>

#include <dsl/exec/host/half_lanes.hpp>

#include <vector>

namespace {

using namespace dsl::detail;
using dsl::bfloat16;
using dsl::half;

std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
float of_bits(std::uint64_t x) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(x)); }

template <class T>
void all_are_widened() {
  std::vector<T> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  for (const int count : {16, 32, 48, 512}) {  // row lengths that leave a remainder
    const std::int64_t stride = count + 5;
    const int rows = static_cast<int>(all.size()) / static_cast<int>(stride);
    std::vector<float> to(static_cast<std::size_t>(rows * count));
    EXPECT_EQ(widen(all.data(), stride, rows, count, to.data()), to.data());
    for (int r = 0; r < rows; ++r)
      for (int l = 0; l < count; ++l)
        ASSERT_EQ(bits_of(to[static_cast<std::size_t>(r * count + l)]),
                  bits_of(all[static_cast<std::size_t>(r * stride + l)]));
  }
}
TEST(half_lanes, all_halves_become_floats) { all_are_widened<half>(); }
TEST(half_lanes, all_bfloat16_become_floats) { all_are_widened<bfloat16>(); }

// Tests the upper 18 bits of a float, which include two bits below a half's last digit, with
// patterns in the lower bits that decide the rounding.
template <class T>
void floats_are_narrowed(const std::vector<std::uint32_t>& lower) {
  std::vector<float> from;
  for (std::uint64_t upper = 0; upper < std::uint64_t{1} << 32; upper += std::uint64_t{1} << 14)
    for (const std::uint32_t rest : lower) from.push_back(of_bits(upper | rest));
  std::vector<T> to(from.size());
  for (std::size_t k = 0; k < from.size(); k += 48)
    narrow(from.data() + k, static_cast<int>(std::min<std::size_t>(48, from.size() - k)),
           to.data() + k);
  for (std::size_t k = 0; k < from.size(); ++k)
    ASSERT_EQ(to[k].bits, T(from[k]).bits) << std::hex << bits_of(from[k]);
}
TEST(half_lanes, floats_become_halves) {
  floats_are_narrowed<half>({0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3fff});
}
TEST(half_lanes, floats_become_bfloat16) { floats_are_narrowed<bfloat16>({0, 1, 0x2000, 0x3fff}); }

}  // namespace
