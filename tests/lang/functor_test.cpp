// Functors that check their arguments: they are called only with elements and with their own
// results.
#include "../on_device.hpp"

#include <dsl/scan.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>

// Elements carry a mark. Zeros, stale memory and other non-elements do not.
using marked = std::uint16_t;
constexpr marked mark = 0xa500;

std::atomic<int> unmarked_on_host{0};
#if defined(__CUDACC__)
__device__ int unmarked_on_device;
#endif

DSL_FN inline void expect_mark(marked x) {
  if ((x & 0xff00) == mark) return;
#if defined(__CUDA_ARCH__)
  atomicAdd(&unmarked_on_device, 1);
#else
  ++unmarked_on_host;
#endif
}
struct seen {
  DSL_FN marked operator()(marked x) const {
    expect_mark(x);
    return x;
  }
};
struct joined {  // adds modulo 256
  DSL_FN marked operator()(marked a, marked b) const {
    expect_mark(a);
    expect_mark(b);
    return static_cast<marked>(mark | ((a + b) & 0xff));
  }
};

namespace {

struct functors : on_device {};
ON_EVERY_DEVICE(functors);

int unmarked() {
  int count = unmarked_on_host.exchange(0);
#if defined(__CUDACC__)
  if (dsl::device::current().kind == dsl::backend::cuda) {
    int on_device = 0;
    const int none = 0;
    cudaMemcpyFromSymbol(&on_device, unmarked_on_device, sizeof on_device);
    cudaMemcpyToSymbol(unmarked_on_device, &none, sizeof none);
    count += on_device;
  }
#endif
  return count;
}

std::vector<marked> elements(std::int64_t n) {
  std::vector<marked> x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<marked>(mark | (i * 37 % 251)));
  return x;
}
template <class Range>
marked total(const Range& x, marked init = mark) {
  return std::accumulate(x.begin(), x.end(), init, joined{});
}

TEST_P(functors, one_dimension) {
  for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 65, 255, 256, 257, 1009, 2049,
                               16384 + 1, 34567, 140001}) {
    SCOPED_TRACE(n);
    const std::vector<marked> h = elements(n);
    const auto x = dsl::to_device(h);
    dsl::array<marked> same = dsl::vectorize(seen{})(x);
    ASSERT_EQ(same.copy_to_host(), h);
    ASSERT_EQ(unmarked(), 0) << "vectorize";
    dsl::iterate(3, dsl::vectorize(seen{}), dsl::state(same));
    ASSERT_EQ(same.copy_to_host(), h);
    ASSERT_EQ(unmarked(), 0) << "iterate";
    const auto reducer = dsl::reduce(joined{}, mark);
    ASSERT_EQ(reducer(x).value(), total(h));
    ASSERT_EQ(unmarked(), 0) << "reduce";
    ASSERT_EQ(reducer(dsl::vectorize(seen{})(x)).value(), total(h));
    ASSERT_EQ(unmarked(), 0) << "reduce of a functor's";
    if (n > 0) {
      ASSERT_EQ(dsl::reduce(joined{})(x).value(), total(h));
      ASSERT_EQ(unmarked(), 0) << "reduce without a first value";
    }
    const auto every_third = from_element(x, n > 0, n / 3, 3);
    ASSERT_EQ(reducer(every_third).value(), total(every_third.copy_to_host()));
    ASSERT_EQ(unmarked(), 0) << "reduce with a step";

    std::vector<marked> sums(h.size());
    std::partial_sum(h.begin(), h.end(), sums.begin(), joined{});
    dsl::array<marked> scanned = dsl::scan(joined{})(dsl::vectorize(seen{})(x));
    ASSERT_EQ(scanned.copy_to_host(), sums);
    ASSERT_EQ(unmarked(), 0) << "scan";
    scanned = dsl::scan(joined{}, mark)(x, dsl::exclusive);
    ASSERT_EQ(unmarked(), 0) << "scan from a first value";
    sums.insert(sums.begin(), mark);
    sums.pop_back();
    ASSERT_EQ(scanned.copy_to_host(), sums);
  }
}

// Rows, columns, transposed and with steps.
TEST_P(functors, two_dimensions_at_random) {
  std::mt19937 engine(12);
  const std::int64_t extents[] = {1,  2,  3,   5,   16,  31,  32,  33, 63,
                                  64, 65, 127, 255, 256, 257, 300, 521};
  for (int round = 0; round < (simulated() ? 25 : 60); ++round) {
    const std::int64_t rows =
        round == 0 ? 521
                   : extents[engine() % 17];  // the first: strips of columns in several chunks
    const std::int64_t columns = round == 0        ? 300
                                 : round % 20 == 3 ? 70001 / rows
                                                   : extents[engine() % 17];
    const unsigned layout = engine() % 3;
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", layout " << layout);
    const std::int64_t step = layout == 2 ? 2 : 1, wide = columns * step;
    const dsl::array<marked, 2> memory =
        layout == 1
            ? dsl::array<marked, 2>(dsl::reshape(dsl::to_device(elements(rows * wide)), wide, rows))
            : dsl::array<marked, 2>(
                  dsl::reshape(dsl::to_device(elements(rows * wide)), rows, wide));
    const auto m = layout == 1 ? dsl::transpose(memory)
                               : memory(dsl::slice(0, dsl::end), dsl::slice(0, dsl::end, step));
    const dsl::array<marked, 2> in_order = m;
    const std::vector<marked> h = in_order.copy_to_host();
    const auto at = [&](std::int64_t r, std::int64_t c) {
      return h[static_cast<std::size_t>(r * columns + c)];
    };
    std::vector<marked> of_rows, of_columns;
    for (std::int64_t r = 0; r < rows; ++r) {
      marked sum = mark;
      for (std::int64_t c = 0; c < columns; ++c) sum = joined{}(sum, at(r, c));
      of_rows.push_back(sum);
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      marked sum = mark;
      for (std::int64_t r = 0; r < rows; ++r) sum = joined{}(sum, at(r, c));
      of_columns.push_back(sum);
    }
    const auto reducer = dsl::reduce(joined{});
    ASSERT_EQ(reducer(m).value(), total(h));
    ASSERT_EQ(unmarked(), 0) << "all";
    const dsl::array<marked> along = reducer(m, dsl::axis(1));
    ASSERT_EQ(along.copy_to_host(), of_rows);
    ASSERT_EQ(unmarked(), 0) << "rows";
    const dsl::array<marked> down = reducer(m, dsl::axis(0));
    ASSERT_EQ(down.copy_to_host(), of_columns);
    ASSERT_EQ(unmarked(), 0) << "columns";
    dsl::array<marked> each = reducer(dsl::vectorize(joined{})(m, down), dsl::axis(1));
    ASSERT_EQ(each.copy_to_host().front() & 0xff, (of_rows.front() + total(of_columns)) & 0xff);
    ASSERT_EQ(unmarked(), 0) << "beside a row that is broadcast";
    for (const int axis : {0, 1}) {
      dsl::array<marked, 2> scanned = dsl::scan(joined{})(m, dsl::axis(axis));
      const dsl::array<marked> last =
          axis == 0 ? dsl::array<marked>(scanned(-1))
                    : dsl::array<marked>(scanned(dsl::slice(0, dsl::end), -1));
      ASSERT_EQ(last.copy_to_host(), axis == 0 ? of_columns : of_rows);
      ASSERT_EQ(unmarked(), 0) << "scan along " << axis;
    }
  }
}

}  // namespace
