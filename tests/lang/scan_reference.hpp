// Reference of the tests of scans: a sequential loop in higher precision.
#pragma once

#include "../on_device.hpp"

#include <dsl/scan.hpp>

#include <cmath>
#include <complex>

struct scans : on_device {};

// The last has more than 32 tiles of 8-byte elements on every device; the simulator is slow for it.
inline std::vector<std::int64_t> scan_sizes() {
  const std::int64_t largest =
      dsl::device::current().kind == dsl::backend::sim ? 150'007 : 1048576 + 7;
  return {0,    1,    2,    15,   16,   17,   127,  128,  129,   1023,
          1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 34567, largest};
}

template <class T> std::vector<T> values_of(std::int64_t n, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::vector<T> v;
  for (std::int64_t i = 0; i < n; ++i) {
    const int x = static_cast<int>(engine() % 7) - 3;
    if constexpr (std::is_same_v<T, bool>) v.push_back(x > 0);
    else if constexpr (std::is_integral_v<T> || std::is_same_v<T, dsl::half> ||
                       std::is_same_v<T, dsl::bfloat16>)
      v.push_back(static_cast<T>(x));
    else if constexpr (requires(T t) { t.real(); })
      v.push_back(T(static_cast<typename T::value_type>(x) / 8,
                    static_cast<typename T::value_type>(engine() % 5) / 4));
    else v.push_back(static_cast<T>(x) / 8 + static_cast<T>(engine() % 1000) / 4096);
  }
  return v;
}

// The rows of a row-major array along an axis.
struct rows {
  std::int64_t outer, extent, inner;
  template <class Visit> void each(
      const Visit& visit) const {  // first place and distance of each row's elements
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i) visit(o * extent * inner + i, inner);
  }
};
inline rows along(const std::vector<std::int64_t>& shape, int axis) {
  rows r{1, shape[static_cast<std::size_t>(axis)], 1};
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    if (d < axis) r.outer *= shape[static_cast<std::size_t>(d)];
    if (d > axis) r.inner *= shape[static_cast<std::size_t>(d)];
  }
  return r;
}

// The sequential scan of a row-major host array, in type W.
template <class W, class T, class Op>
std::vector<W> reference(const std::vector<T>& x, const rows& r, const Op& op, bool exclusive,
                         bool has_init, W init) {
  std::vector<W> y(x.size());
  r.each([&](std::int64_t first, std::int64_t step) {
    W before = init;
    for (std::int64_t k = 0; k < r.extent; ++k) {
      const auto at = static_cast<std::size_t>(first + k * step);
      const W each = static_cast<W>(x[at]);
      const W through = k == 0 && !has_init ? each : op(before, each);
      y[at] = exclusive ? before : through;
      before = through;
    }
  });
  return y;
}
template <class W, class T> auto sums(const std::vector<T>& x, const rows& r,
                                      bool exclusive = false) {
  return reference<W>(x, r, [](W a, W b) { return static_cast<W>(a + b); }, exclusive, false, W(0));
}
inline rows flat(std::size_t n) { return {1, static_cast<std::int64_t>(n), 1}; }

// |got - want| relative to the rounding error of n terms of size about 1.
template <class T, class W>
void expect_near(const std::vector<T>& got, const std::vector<W>& want, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(W(got[i]) - want[i]), tolerance * (1 + std::abs(want[i])))
        << what << ", element " << i;
}

template <class T, class Sum, class W, bool Exclusive = true>
void sums_of_dtype(double tolerance) {
  for (const std::int64_t n : scan_sizes()) {
    const auto host = values_of<T>(n);
    dsl::array<T> a(n);
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<std::uint8_t> bytes(host.begin(), host.end());
      a = dsl::to_device(bytes) != 0;
    } else {
      a = dsl::to_device(host);
    }
    const auto got = dsl::eval(dsl::cumsum(a));
    static_assert(std::is_same_v<decltype(got), const dsl::array<Sum, 1>>);
    const std::string what = dsl::name(dsl::dtype_v<T>) + (" of " + std::to_string(n));
    const auto expect = [&](const auto& sums_got, bool exclusive) {
      const auto want = sums<W>(host, flat(host.size()), exclusive);
      if constexpr (std::is_integral_v<Sum>) {
        ASSERT_EQ(sums_got.copy_to_host(), want) << what;
      } else {
        expect_near(sums_got.copy_to_host(), want, tolerance, what);
      }
    };
    expect(got, false);
    if constexpr (Exclusive) expect(dsl::eval(dsl::cumsum(a, dsl::exclusive)), true);
  }
}

// 16-bit numbers are summed in float: the small integers are exact there, and each is rounded once.
template <class T>
void sums_of_sixteen_bits() {
  const auto host = values_of<T>(34567);
  const auto a = dsl::to_device(host);
  dsl::array<T> narrow = dsl::cumsum(a);
  dsl::array<float> wide = dsl::cumsum(a);
  const auto want = sums<float>(host, flat(host.size()));
  const auto got = narrow.copy_to_host();
  EXPECT_EQ(wide.copy_to_host(), want);
  for (std::size_t i = 0; i < host.size(); ++i)
    ASSERT_EQ(static_cast<float>(got[i]), static_cast<float>(T(want[i]))) << i;
}
