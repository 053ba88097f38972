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

// How often a word stands in the text of the pass that ran last.
int count_in_text(const std::string& word) {
  const std::string& text = open_cl::device::first()->last_text();
  int count = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}
const std::string reads_vector = "= *(const __global float4*)";

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

// Neighbours in the vector itself, beside it, and farther away; axes shorter than the distance.
template <class T> auto near_ones(const T& x, std::int64_t d) {
  return x + dsl::shift(x, d, dsl::boundary::wrap) - dsl::shift(x, -d, dsl::boundary::clamp) * 3 +
         dsl::shift(x, d, dsl::boundary::zero) * 5 - dsl::shift(x, -d, dsl::boundary::reflect) * 7;
}
TEST_F(opencl_lanes, of_near_neighbours) {
  for (const std::int64_t n : {1, 3, 4, 8, 31, 1000})
    for (const std::int64_t d : {0, 1, -3, 4}) SAME(near_ones(line<float>(n), d));
#ifdef DSL_TEST_ALL
  for (const std::int64_t n : {2, 16, 34}) SAME(near_ones(line<double>(n), 1));
  for (const std::int64_t n : {16, 64}) SAME(near_ones(line<std::int8_t>(n), -15));
#endif
  for (const auto& [r, c] : {std::pair<std::int64_t, std::int64_t>{1, 4}, {3, 8}, {37, 64}, {5, 9}})
    for (const int axis : {0, 1}) {
      const auto m = [r = r, c = c] { return grid(r, c); };
      const auto wrap = dsl::boundary::wrap, zero = dsl::boundary::zero;
      SAME(dsl::shift(dsl::shift(m(), 1, wrap, 1 - axis), -2, zero, axis) +
           dsl::shift(m(), -1, dsl::boundary::reflect, axis));
      SAME(dsl::shift(m()(dsl::slice(0, 1), dsl::slice(0, dsl::end)), 2, wrap, axis) + m());
      SAME(dsl::shift(dsl::transpose(m()), 2, dsl::boundary::clamp, axis));
    }
}

// A vector for each array, and an element for each lane whose neighbour is beyond it.
TEST_F(opencl_lanes, read_vectors_of_neighbours) {
  const auto wrap = dsl::boundary::wrap;
  SAME(grid(8, 64) + dsl::shift(grid(8, 64), 1, wrap, 0) + dsl::shift(grid(8, 64), -1, wrap, 0) +
       dsl::shift(grid(8, 64), 1, wrap, 1) + dsl::shift(grid(8, 64), -1, wrap, 1));
  EXPECT_EQ(count_in_text(reads_vector), 5);
  EXPECT_EQ(count_in_text("= load_float32("), 2);
  EXPECT_EQ(count_in_text("above1 ="), 1);
  SAME(dsl::shift(grid(8, 64), -3, wrap, 1));
  EXPECT_EQ(count_in_text("= load_float32("), 3);
  SAME(dsl::shift(grid(8, 64), 4, wrap, 1) + grid(8, 64));
  EXPECT_EQ(count_in_text(reads_vector), 0);
}

// Distances in the text, which depend on sizes where an axis is shorter.
TEST_F(opencl_lanes, of_neighbours_at_constant_distances) {
  constexpr auto f = dsl::vectorize([](auto x) {
    return x + dsl::shift(x, 5, dsl::boundary::wrap) + dsl::shift(x, -5, dsl::boundary::reflect) +
           dsl::shift(x, 2, dsl::boundary::zero);
  });
  for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 11, 1000}) SAME(f(line<float>(n)));
}

// Sums of integers are the same in any order.
TEST_F(opencl_lanes, are_reduced) {
  for (const std::int64_t n : {1, 3, 4, 5, 255, 1024, 4097, 100'003}) {
    SAME(dsl::sum(line<float>(n)));
    SAME(dsl::max(line<double>(n)));
  }
  EXPECT_EQ(count_in_text(reads_vector), 0);
  SAME(dsl::sum(line<float>(5000)));
  EXPECT_EQ(count_in_text(reads_vector), 1);
  SAME(dsl::sum(line<float>(5000)(dsl::slice(1, dsl::end))));
  EXPECT_EQ(count_in_text(reads_vector), 0);
  SAME(dsl::sum(line<float>(5000)(dsl::slice(0, dsl::end, 2))));
  SAME(dsl::argmax(line<std::int16_t>(3000)));
  SAME(dsl::sum(dsl::cast<std::complex<float>>(line<float>(3001))));
  SAME(dsl::any(line<std::int8_t>(70) > std::int8_t{38}));
  SAME(dsl::sum(dsl::shift(line<float>(4096), 1, dsl::boundary::wrap) * line<float>(4096)));
  for (const auto& [r, c] : {std::pair<std::int64_t, std::int64_t>{1, 4},
                             {3, 8},
                             {300, 4},
                             {5, 9},
                             {64, 1024},
                             {2, 40'000},
                             {129, 1000},
                             {1000, 129},
                             {20'000, 3}}) {
    const auto m = [r = r, c = c] { return dsl::reshape(line<float>(r * c), r, c); };
    SAME(dsl::sum(m(), dsl::axis(1)));
    SAME(dsl::sum(m(), dsl::axis(0)));
    SAME(dsl::sum(m() * dsl::reshape(line<float>(r), r, 1), dsl::axis(1)));
    SAME(dsl::sum(dsl::transpose(m())));
  }
  const auto cube = [] { return dsl::reshape(line<float>(12 * 10 * 64), 12, 10, 64); };
  SAME(dsl::sum(cube(), dsl::axis(0)));
  SAME(dsl::sum(cube()(dsl::slice(0, 12, 2), dsl::slice(1, 9), dsl::slice(0, 64))));
}

// Elements that are stored beside their sum.
TEST_F(opencl_lanes, are_stored_and_reduced) {
  for (const std::int64_t n : {1, 7, 1000, 4099}) {
    std::vector<float> of[2];
    for (int d = 0; d < 2; ++d) {
      const dsl::device_guard guard{dsl::device(d == 0 ? "host" : "host-opencl")};
      dsl::array<float> x = line<float>(n);
      dsl::scalar<float> total;
      dsl::tie(x, total) = dsl::vectorize([](auto a) {
        const auto twice = 2 * a + 1;
        return std::tuple{twice, dsl::sum(twice)};
      })(x);
      of[d] = x.copy_to_host();
      of[d].push_back(total.value());
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
