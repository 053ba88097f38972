// Index spaces that are not one contiguous dimension: every element of random layouts, on every path of the strided kernel.
#include "../on_device.hpp"
#include "../random_layout.hpp"

#include <complex>
#include <memory>
#include <numeric>

namespace {

struct strided : on_device {};
ON_EVERY_DEVICE(strided);

/// An array of small random integers behind a view.
template <class T, int Rank>
struct operand {
  operand(const dsl::extents<Rank>& shape, std::mt19937& engine, bool may_stretch) {
    const random_layout<Rank> layout(shape, engine, may_stretch);
    host.resize(static_cast<std::size_t>(layout.size));
    for (T& x : host) x = static_cast<T>(engine() % 60);
    memory = dsl::to_device(host);
    std::construct_at(&view, layout.of(memory));  // assigning to a view would assign its elements
    origin = layout.first;
  }
  std::int64_t place(const dsl::extents<Rank>& at) const {
    std::int64_t p = origin;
    for (std::size_t d = 0; d < Rank; ++d) p += (view.extent(static_cast<int>(d)) == 1 ? 0 : at[d]) * view.strides()[d];
    return p;
  }
  std::vector<T> host;
  dsl::array<T> memory;
  dsl::view<T, Rank> view;
  std::int64_t origin;
};

template <int Rank, class Visit>
void for_each(const dsl::extents<Rank>& shape, const Visit& visit) {
  const std::int64_t n = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t i = 0; i < n; ++i) {
    dsl::extents<Rank> at{};
    std::int64_t rest = i;
    for (std::size_t d = Rank; d-- > 0;) at[d] = rest % shape[d], rest /= shape[d];
    visit(at);
  }
}

// Every layout drawn for a formula of two inputs: what it writes, what it leaves alone, and its sum.
template <class A, class B, class Out, int Rank>
void random_layouts(const std::vector<dsl::extents<Rank>>& shapes, int rounds) {
  std::mt19937 engine(Rank * 100 + sizeof(A) * 10 + sizeof(B));
  for (int round = 0; round < rounds; ++round)
    for (const auto& shape : shapes) {
      const operand<A, Rank> a(shape, engine, true);
      const operand<B, Rank> b(shape, engine, true);
      const operand<Out, Rank> out(shape, engine, false);
      out.view = 2 * a.view + b.view;
      dsl::extents<Rank> both{};
      for (std::size_t d = 0; d < Rank; ++d) both[d] = std::max(a.view.extents()[d], b.view.extents()[d]);
      std::vector<Out> want = out.host;
      std::int64_t sum = 0;
      const auto value = [&](const auto& at) {
        return 2 * static_cast<std::int64_t>(a.host[static_cast<std::size_t>(a.place(at))]) + static_cast<std::int64_t>(b.host[static_cast<std::size_t>(b.place(at))]);
      };
      for_each<Rank>(shape, [&](const auto& at) { want[static_cast<std::size_t>(out.place(at))] = static_cast<Out>(value(at)); });
      for_each<Rank>(both, [&](const auto& at) { sum += value(at); });
      const auto got = out.memory.copy_to_host();
      for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(got[i], want[i]) << "round " << round << ", element " << i;
      const dsl::scalar<double> total = dsl::sum(dsl::cast<double>(2 * dsl::cast<Out>(a.view) + b.view));
      ASSERT_EQ(total.value(), static_cast<double>(sum)) << round;
    }
}

TEST_P(strided, rank_1) { random_layouts<float, float, float, 1>({{1}, {7}, {64}, {1027}}, 8); }
TEST_P(strided, rank_2) {
  random_layouts<float, float, float, 2>({{1, 9}, {3, 5}, {33, 65}, {16, 16}, {17, 130}, {150, 70}, {2, 513}, {600, 3}}, 6);
}
TEST_P(strided, rank_2_of_bytes_and_doubles) { random_layouts<std::int8_t, double, double, 2>({{3, 5}, {129, 131}, {64, 40}}, 8); }
TEST_P(strided, rank_3_of_mixed_sizes) { random_layouts<std::int16_t, std::int64_t, std::int64_t, 3>({{2, 3, 4}, {5, 33, 34}, {40, 3, 37}, {300, 2, 3}}, 6); }
TEST_P(strided, long_rows) { random_layouts<float, float, float, 2>({{3, 1030}, {70, 600}, {600, 70}, {20, 513}, {300, 256}}, 4); }
TEST_P(strided, rank_8) { random_layouts<float, float, float, 8>({{2, 3, 1, 2, 3, 2, 3, 2}, {2, 1, 5, 2, 2, 3, 1, 7}}, 6); }
TEST_P(strided, rank_5) { random_layouts<float, float, float, 5>({{2, 3, 4, 5, 6}, {17, 2, 3, 16, 5}}, 4); }

// The target among its operand's elements: in place, between them, or over them, and then by way of a temporary.
TEST_P(strided, target_and_operand_in_one_memory) {
  std::mt19937 engine(7);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(engine() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 400; ++round) {
    const dsl::extents<2> shape{1 + below(round % 4 == 0 ? 20 : 5), 1 + below(round % 3 == 0 ? 40 : 4)};
    struct place { std::int64_t first; dsl::extents<2> strides; };
    const std::int64_t gap = 1 + below(3);
    const auto draw = [&](bool may_repeat) {
      const std::int64_t inner = below(4) == 0 ? 1 + below(3) : gap;
      dsl::extents<2> strides{(shape[1] * inner + below(3)) * (below(2) == 0 ? gap : 1), inner};
      if (may_repeat && below(3) == 0) strides[0] = below(6);
      else if (shape[0] == shape[1] && below(2) == 0) std::swap(strides[0], strides[1]);
      std::int64_t first = 300 + below(round % 2 == 0 ? 4 : 60);
      for (std::size_t d = 0; d < 2; ++d)
        if (below(6) == 0) first += (shape[d] - 1) * strides[d], strides[d] = -strides[d];
      return place{first, strides};
    };
    const place from = draw(true), to = draw(false);
    std::vector<std::int32_t> want(9000);
    for (auto& x : want) x = static_cast<std::int32_t>(engine() % 1000);
    auto memory = dsl::to_device(want);
    const auto before = want;
    for_each<2>(shape, [&](const dsl::extents<2>& at) {
      const auto place_in = [&](const place& p) { return static_cast<std::size_t>(p.first + at[0] * p.strides[0] + at[1] * p.strides[1]); };
      want[place_in(to)] = before[place_in(from)] * 3 + 1;
    });
    const auto view_of = [&](const place& p) { return dsl::view<std::int32_t, 2>(memory.view().owner(), memory.data() + p.first, shape, p.strides); };
    view_of(to) = view_of(from) * 3 + 1;
    ASSERT_EQ(memory.copy_to_host(), want) << round << ": " << shape[0] << " x " << shape[1] << ", " << from.strides[0] << ' ' << from.strides[1] << " to " << to.strides[0] << ' ' << to.strides[1];
  }
}

// Where the element at place i of n is found beyond the ends, or -1 for a zero; by NumPy's pad modes.
std::int64_t place_beyond(dsl::boundary beyond, std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) return i;
  switch (beyond) {
    case dsl::boundary::zero: return -1;
    case dsl::boundary::wrap: return (i % n + n) % n;
    case dsl::boundary::clamp: return i < 0 ? 0 : n - 1;
    default: break;
  }
  if (n == 1) return 0;
  const std::int64_t period = 2 * (n - 1), at = (i % period + period) % period;
  return at < n ? at : period - at;
}

// Neighbours and gathered elements of views of any layout, any distance away.
template <class T, int Rank>
void random_neighbours(const std::vector<dsl::extents<Rank>>& shapes, int rounds) {
  std::mt19937 engine(Rank * 1000 + sizeof(T));
  const auto pick = [&](std::int64_t low, std::int64_t high) { return low + static_cast<std::int64_t>(engine() % static_cast<unsigned>(high - low + 1)); };
  for (int round = 0; round < rounds; ++round)
    for (const auto& shape : shapes) {
      const operand<T, Rank> a(shape, engine, true), b(shape, engine, true), out(shape, engine, false);
      const int axis = static_cast<int>(pick(0, Rank - 1));
      const auto beyond = static_cast<dsl::boundary>(pick(0, 3));
      const std::int64_t n = a.view.extent(axis), far = pick(0, 2) == 0 ? 2 * n + 3 : 3, distance = pick(-far, far);
      out.view = dsl::shift(a.view, distance, beyond, axis) + b.view;
      std::vector<T> want = out.host;
      for_each<Rank>(shape, [&](auto at) {
        T& place = want[static_cast<std::size_t>(out.place(at))];
        place = b.host[static_cast<std::size_t>(b.place(at))];
        auto& along = at[static_cast<std::size_t>(axis)];
        along = place_beyond(beyond, (n == 1 ? 0 : along) - distance, n);
        if (along >= 0) place = static_cast<T>(place + a.host[static_cast<std::size_t>(a.place(at))]);
      });
      const auto got = out.memory.copy_to_host();
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(got[i], want[i]) << "round " << round << ", element " << i << ", axis " << axis << ", distance " << distance << ", boundary " << static_cast<int>(beyond);

      std::vector<std::int64_t> index(static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]));
      for (auto& i : index) i = pick(0, n - 1);
      const auto taken = dsl::eval(dsl::take(a.view, dsl::to_device(index), axis));
      const auto values = taken.copy_to_host();
      std::size_t next = 0;
      for_each<Rank>(taken.extents(), [&](auto at) {
        auto& along = at[static_cast<std::size_t>(axis)];
        along = index[static_cast<std::size_t>(along)];
        ASSERT_EQ(values[next++], a.host[static_cast<std::size_t>(a.place(at))]) << "round " << round << ", axis " << axis;
      });
    }
}

TEST_P(strided, neighbours_of_floats) { random_neighbours<float, 2>({{1, 9}, {5, 3}, {33, 65}, {4, 700}, {300, 6}, {40, 300}}, simulated() ? 5 : 30); }
TEST_P(strided, neighbours_of_bytes) { random_neighbours<std::int8_t, 3>({{2, 3, 4}, {3, 2, 300}, {40, 5, 7}, {1, 1, 1000}}, simulated() ? 5 : 30); }
TEST_P(strided, neighbours_of_complex_doubles) { random_neighbours<std::complex<double>, 1>({{1}, {2}, {64}, {257}, {3000}}, simulated() ? 5 : 30); }

TEST_P(strided, blocks_of_any_size) {
  for (const int block : {32, 64, 96, 160, 256, 512, 1024}) {
    const auto hm = random_floats(90 * 70);
    const auto transposed = dsl::transpose(dsl::reshape(dsl::to_device(hm), 90, 70));
    dsl::array<float, 2> out(70, 90);
    dsl::assign(out, transposed + 1, {.block = block});
    const auto got = out.copy_to_host();
    for (std::size_t i = 0; i < 70; ++i)
      for (std::size_t j = 0; j < 90; ++j) ASSERT_EQ(got[i * 90 + j], hm[j * 70 + i] + 1) << block;
  }
}

TEST_P(strided, paths) {
  if (dsl::device::current().kind == dsl::backend::host) GTEST_SKIP() << "the host has no grid";
  const auto rows = dsl::ones<float>(64, 64);
  const auto columns = dsl::transpose(rows);
  dsl::array<float, 2> out(64, 64);
  EXPECT_STREQ(dsl::plan_of(out, rows + 1).path, "linear");
  EXPECT_STREQ(dsl::plan_of(out, rows + columns).path, "transposing");
  EXPECT_STREQ(dsl::plan_of(out, rows + rows(dsl::slice(), dsl::slice(0, 1))).path, "strided");
  const auto transposed = dsl::transpose(out);
  EXPECT_STREQ(dsl::plan_of(transposed, columns + 1).path, "linear");  // dimensions are taken in the output's order
}

}  // namespace
