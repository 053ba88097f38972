// Kernels of GPUs, whose work-items compute several elements at once, on whatever device there is.
#include <dsl/random.hpp>

#include <complex>

#include "open_cl.hpp"
#include "printed_statements.hpp"

namespace {

struct opencl_lanes : opencl_statements {
  void SetUp() override {
    opencl_statements::SetUp();
    if (auto* const on = open_cl::device::first(); on != nullptr) on->take_lanes(true);
  }
  void TearDown() override {
    if (auto* const on = open_cl::device::first(); on != nullptr) on->take_lanes(false);
  }
};

template <class T> auto line(std::int64_t n) {
  return dsl::eval(dsl::cast<T>(dsl::arange<int>(n) % 100 - 30));
}
auto grid(std::int64_t r, std::int64_t c) {
  return dsl::array<float, 2>(dsl::reshape(dsl::eval(dsl::arange<float>(r * c) * 0.5f - 3), r, c));
}

}  // namespace

// The printed device has 512 work-items.
TEST_F(opencl_lanes, of_every_width) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 63, 257, 5000, 40007}) {
    SAME(line<float>(n) * 2.5f + 1);
    SAME(line<double>(n) * line<float>(n));
    SAME(!(line<std::int8_t>(n) > std::int8_t{3}));
    SAME(line<dsl::half>(n) * dsl::half(0.5f));
    SAME(line<double>(n) + std::complex<double>(0.5, 2));
    SAME(conj(line<std::complex<float>>(n)));
#ifdef DSL_TEST_ALL
    SAME(line<std::int8_t>(n) * line<std::int8_t>(n));
    SAME(line<std::int16_t>(n) < line<float>(n));
    SAME(line<dsl::bfloat16>(n) / 3);
    SAME(line<float>(n) * std::complex<float>(0.5f, 2));
#endif
  }
}

TEST_F(opencl_lanes, where_operands_are_not_aligned) {
  for (const std::int64_t n : {9, 1000, 1001}) {
    SAME(line<float>(n)(dsl::slice(1, dsl::end)) + 1);
    SAME(line<float>(n)(dsl::slice(1, -3)) + line<float>(n)(dsl::slice(4, dsl::end)));
    SAME(dsl::flip(line<float>(n)) + line<float>(n));
    SAME(line<float>(n)(dsl::slice(0, dsl::end, 3)) + dsl::arange<float>((n + 2) / 3));
  }
}

TEST_F(opencl_lanes, of_rows) {
  for (const auto& [r, c] : {std::pair<std::int64_t, std::int64_t>{1, 4},
                             {3, 8},
                             {5, 9},
                             {64, 64},
                             {129, 1000},
                             {1000, 129}}) {
    const auto m = [r = r, c = c] { return grid(r, c); };
    const auto column = [&] { return dsl::array<float, 2>(dsl::reshape(line<float>(r), r, 1)); };
    SAME(m() + line<float>(c));
    SAME(m() * column());
    SAME(column() + line<float>(c));
    SAME(dsl::transpose(m()) + dsl::transpose(column()));
    SAME(m()(dsl::slice(0, dsl::end), dsl::slice(1, dsl::end)) + 1);
    SAME(dsl::shift(m(), 1, dsl::boundary::wrap, 0) + dsl::shift(m(), -2, dsl::boundary::clamp, 1) +
         dsl::shift(m(), 3, dsl::boundary::zero, 1) +
         dsl::shift(m(), 1, dsl::boundary::reflect, 0));
  }
}

TEST_F(opencl_lanes, of_gathers_and_random_numbers) {
  const dsl::random::key key(7);
  for (const std::int64_t n : {5, 1000, 1003}) {
    SAME(dsl::take(line<float>(100), dsl::arange<int>(n) * 7 % 100) + 1);
    SAME(dsl::random::uniform<float>(key, n));
    SAME(dsl::random::bits(key, n));
  }
}

// In place, with several outputs, one of which is not aligned.
TEST_F(opencl_lanes, store_after_they_have_read) {
  for (const std::int64_t n : {6, 1000, 1001}) {
    std::vector<float> of[2];
    for (int d = 0; d < 2; ++d) {
      const dsl::device_guard guard{dsl::device(d == 0 ? "host" : "host-opencl")};
      dsl::array<float> x = line<float>(n), y = line<float>(n + 1);
      auto beside = y(dsl::slice(1, dsl::end));
      dsl::tie(x, beside) =
          dsl::vectorize([](auto a, auto b) { return std::tuple{a + 2 * b, a - b}; })(x, beside);
      x += x;
      for (const float each : x.copy_to_host()) of[d].push_back(each);
      for (const float each : y.copy_to_host()) of[d].push_back(each);
    }
    EXPECT_EQ(of[0], of[1]) << n;
  }
}

// Steps beyond 29 bits.
TEST_F(opencl_lanes, of_far_positions) {
  SAME(dsl::shift(line<float>(9) * 2, 3'000'000'000, dsl::boundary::wrap));
  SAME(dsl::shift(line<float>(9), -3'000'000'001, dsl::boundary::reflect));
  SAME(dsl::shift(line<float>(9), 3'000'000'000, dsl::boundary::zero));
}
