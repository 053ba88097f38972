// A new dtype, the storage of float8 (E5M2): rounding, promotion, formulas, reductions, scans,
// sorting, random numbers and printing.
#include "expect.hpp"

#include <dsl/by_key.hpp>
#include <dsl/random.hpp>
#include <dsl/scan.hpp>

#include <cmath>
#include <sstream>

namespace {

// The nearest of all numbers of the dtype; of two, the one with an even bit pattern.
dsl::float8 nearest(double x) {
  int best = 0;
  for (int bits = 1; bits <= 0x7b; ++bits) {
    const double a = std::abs(dsl::detail::float8_to_float(static_cast<std::uint8_t>(bits)) - x),
                 b = std::abs(dsl::detail::float8_to_float(static_cast<std::uint8_t>(best)) - x);
    if (a < b || (a == b && bits % 2 == 0)) best = bits;
  }
  dsl::float8 made;
  made.bits = static_cast<std::uint8_t>(best);
  return made;
}
std::vector<float> values(const dsl::array<dsl::float8>& x) {
  return dsl::eval(dsl::cast<float>(x)).copy_to_host();
}

}  // namespace

int main() {
  using dsl::float8;
  for (double x = 0x1p-18; x < 57344; x *= 1.03125) {
    EXPECT(float8(x).bits == nearest(x).bits);
    EXPECT(float8(static_cast<float>(x)).bits == nearest(static_cast<float>(x)).bits);
  }
  EXPECT(std::isinf(static_cast<float>(float8(61440.0f))));
  EXPECT(std::isnan(static_cast<float>(float8(NAN))));
  EXPECT(dsl::promote(dsl::dtype::float8, dsl::dtype::float16) == dsl::dtype::float16);
  for (const dsl::backend where : {dsl::backend::host, dsl::backend::sim}) {
    const dsl::device_guard on(where);
    const dsl::array<float8> x = dsl::cast<float8>(dsl::arange<float>(100) / 8);
    const dsl::array<float8> y = x * 3 + 1;
    for (std::size_t i = 0; i < 100; ++i)
      EXPECT(values(y)[i] == static_cast<float>(nearest(
                                 3 * static_cast<float>(nearest(static_cast<double>(i) / 8)) + 1)));
    EXPECT(static_cast<float>(dsl::eval(dsl::max(x)).value()) == 12);
    const dsl::array<float8> ones = dsl::cast<float8>(dsl::full<float>(1, 16));
    EXPECT(static_cast<float>(dsl::eval(dsl::sum(ones)).value()) == 16);
    EXPECT(values(dsl::eval(dsl::cumsum(ones(dsl::slice(0, 4))))) ==
           (std::vector<float>{1, 2, 3, 4}));
    const dsl::array<float8> mixed = dsl::cast<float8>(dsl::to_device({3.0f, -1.0f, 0.0f, -8.0f}));
    EXPECT(values(dsl::sort(mixed)) == (std::vector<float>{-8, -1, 0, 3}));
    const dsl::array<float8> drawn = dsl::random::uniform<float8>(dsl::random::key(7), 100);
    for (const float u : values(drawn)) EXPECT(u >= 0 && u < 1 && u * 8 == std::floor(u * 8));
    std::ostringstream text;
    text << ones(dsl::slice(0, 2));
    EXPECT(text.str() == "[1. 1.]");
  }
}
