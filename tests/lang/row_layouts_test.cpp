// Reductions along an axis together with the elements that use them: rows that stay on the chip, of
// random length, layout and number, against references in double.
#include "../on_device.hpp"
#include "../random_layout.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>

namespace {

struct row_layouts : on_device {};
ON_EVERY_DEVICE(row_layouts);

using dsl::axis;
using dsl::keep_dims;
using shape3 = dsl::extents<3>;

/// Elements of three dimensions as doubles.
struct cube {
  shape3 extents;
  std::vector<double> values;

  double& at(std::int64_t i, std::int64_t j, std::int64_t k) {
    const auto place = [](std::int64_t x, std::int64_t n) { return n == 1 ? 0 : x; };  // broadcast
    return values[static_cast<std::size_t>(
        (place(i, extents[0]) * extents[1] + place(j, extents[1])) * extents[2] +
        place(k, extents[2]))];
  }
  void for_each(const auto& each) const {
    for (std::int64_t i = 0; i < extents[0]; ++i)
      for (std::int64_t j = 0; j < extents[1]; ++j)
        for (std::int64_t k = 0; k < extents[2]; ++k) each(i, j, k);
  }
};

/// An array in a random layout, and its values.
template <class T>
struct drawn {
  random_layout<3> layout;
  dsl::array<T> memory;
  cube is;

  drawn(const shape3& shape, std::mt19937& engine, bool plain, bool may_stretch)
      : layout(shape, engine, may_stretch) {
    if (plain) {
      layout.extents = shape;
      layout.strides = {shape[1] * shape[2], shape[2], 1};
      layout.first = 0;
      layout.size = shape[0] * shape[1] * shape[2];
    }
    std::vector<T> all(static_cast<std::size_t>(layout.size));
    std::uniform_real_distribution<float> uniform(-2, 2);
    for (T& x : all) x = static_cast<T>(uniform(engine));
    memory = dsl::to_device(all);
    is = {layout.extents, {}};
    is.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
      is.values.push_back(static_cast<double>(all[place(i, j, k)]));
    });
  }
  std::size_t place(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<std::size_t>(layout.first + i * layout.strides[0] + j * layout.strides[1] +
                                    k * layout.strides[2]);
  }
  dsl::view<T, 3> view() { return layout.of(memory); }
  cube now() const {
    const std::vector<T> all = memory.copy_to_host();
    cube c{layout.extents, {}};
    c.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
      c.values.push_back(static_cast<double>(all[place(i, j, k)]));
    });
    return c;
  }
};

/// Calls of_row with the places of each row's elements along an axis.
using row = std::vector<std::array<std::int64_t, 3>>;
void for_each_row(const shape3& shape, int along, const std::function<void(const row&)>& of_row) {
  shape3 kept = shape;
  kept[static_cast<std::size_t>(along)] = 1;
  cube{kept, {}}.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    row r;
    for (std::int64_t n = 0; n < shape[static_cast<std::size_t>(along)]; ++n) {
      r.push_back({i, j, k});
      r.back()[static_cast<std::size_t>(along)] = n;
    }
    of_row(r);
  });
}

shape3 draw_shape(std::mt19937& engine, int along) {
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(engine() % n); };
  constexpr std::int64_t lengths[] = {1,   2,   3,   7,    8,    31,   32,   33,   64,
                                      100, 127, 260, 1000, 1025, 2048, 5000, 21000};
  shape3 shape;
  for (std::size_t d = 0; d < 3; ++d) shape[d] = 1 + below(below(3) == 0 ? 40 : 3);
  std::int64_t& length = shape[static_cast<std::size_t>(along)];
  length = lengths[below(std::size(lengths))];
  if (length <= 33 && below(2) == 0)  // many rows of few elements
    shape[static_cast<std::size_t>(along + 1 + below(2)) % 3] = 1 + below(1500);
  while (shape[0] * shape[1] * shape[2] > 60'000)
    for (std::size_t d = 0; d < 3; ++d)
      if (static_cast<int>(d) != along) shape[d] = (shape[d] + 1) / 2;
  return shape;
}

void expect_close(cube got, cube want, double bound) {
  ASSERT_EQ(got.values.size(), want.values.size());
  for (std::size_t i = 0; i < want.values.size(); ++i)
    if (!std::isnan(want.values[i]) || !std::isnan(got.values[i])) {
      ASSERT_NEAR(got.values[i], want.values[i], bound * std::max(1., std::abs(want.values[i])))
          << i;
    }
}

TEST_P(row_layouts, softmax_along_any_axis_of_any_layout) {
  std::mt19937 engine(1);
  for (int round = 0; round < (simulated() ? 60 : 150); ++round) {
    const int along = round % 3;
    shape3 shape = draw_shape(engine, along);
    if (!simulated() && round % 25 < 3)
      shape = {300 + along, 3, 700};  // more than a core's cache holds
    drawn<float> x(shape, engine, round % 4 == 0, false), out(shape, engine, round % 8 < 2, false);
    if (round % 10 == 9)
      dsl::assign(x.view()(dsl::slice(0, 1), dsl::slice(0, 1), dsl::slice(0, 1)), std::nanf(""));
    cube in = x.now(), want = in;
    for_each_row(shape, along, [&](const row& r) {
      double most = -INFINITY, sum = 0;
      for (const auto [i, j, k] : r)
        most =
            std::isnan(in.at(i, j, k)) || std::isnan(most) ? NAN : std::max(most, in.at(i, j, k));
      for (const auto [i, j, k] : r) sum += std::exp(in.at(i, j, k) - most);
      for (const auto [i, j, k] : r) want.at(i, j, k) = std::exp(in.at(i, j, k) - most) / sum;
    });
    const auto e = exp(x.view() - dsl::max(x.view(), axis(along), keep_dims));
    const bool in_place = round % 7 == 3;
    drawn<float>& to = in_place ? x : out;
    dsl::assign(to.view(), e / dsl::sum(e, axis(along), keep_dims));
    SCOPED_TRACE(testing::Message() << round << ": " << shape[0] << " x " << shape[1] << " x "
                                    << shape[2] << " along " << along);
    expect_close(to.now(), want, 2e-6);
    if (HasFatalFailure()) return;
  }
}

// Several operands of two dtypes, some broadcast along rows or columns; a value for each row in
// addition to the elements.
TEST_P(row_layouts, standardised_scaled_and_shifted) {
  std::mt19937 engine(2);
  for (int round = 0; round < (simulated() ? 40 : 100); ++round) {
    const int along = round % 3;
    const shape3 shape = draw_shape(engine, along);
    drawn<dsl::half> x(shape, engine, round % 4 == 0, false),
        out(shape, engine, round % 8 == 0, false);
    drawn<float> scale(shape, engine, round % 8 == 0, true), shift(shape, engine, false, true);
    cube in = x.now(), want = in, of_scale = scale.is, of_shift = shift.is;
    for_each_row(shape, along, [&](const row& r) {
      double sum = 0, squares = 0;
      for (const auto [i, j, k] : r) sum += in.at(i, j, k);
      const double mean = sum / static_cast<double>(r.size());
      for (const auto [i, j, k] : r) squares += (in.at(i, j, k) - mean) * (in.at(i, j, k) - mean);
      const double deviation = std::sqrt(squares / static_cast<double>(r.size()) + 0.01);
      for (const auto [i, j, k] : r)
        want.at(i, j, k) =
            (in.at(i, j, k) - mean) / deviation * of_scale.at(i, j, k) + of_shift.at(i, j, k);
    });
    const auto v = dsl::cast<float>(x.view());
    dsl::assign(
        out.view(),
        dsl::cast<dsl::half>((v - dsl::mean(v, axis(along), keep_dims)) /
                                 sqrt(dsl::var(v, axis(along), keep_dims) + 0.01f) * scale.view() +
                             shift.view()));
    SCOPED_TRACE(testing::Message() << round << ": " << shape[0] << " x " << shape[1] << " x "
                                    << shape[2] << " along " << along);
    expect_close(out.now(), want, 1e-3);
    if (HasFatalFailure()) return;
  }
}

// Only values of rows, in double; complex elements and a value.
TEST_P(row_layouts, values_of_rows) {
  std::mt19937 engine(3);
  for (int round = 0; round < (simulated() ? 30 : 60); ++round) {
    const int along = round % 3;
    const shape3 shape = draw_shape(engine, along);
    drawn<double> x(shape, engine, round % 4 == 0, false);
    const auto top = dsl::max(x.view(), axis(along));
    const auto stretched = dsl::max(x.view(), axis(along), keep_dims);
    const dsl::array<double, 2> got = top + log(dsl::sum(exp(x.view() - stretched), axis(along)));
    const std::vector<double> all = got.copy_to_host();
    cube in = x.now();
    std::size_t at = 0;
    for_each_row(shape, along, [&](const row& r) {
      double sum = 0;
      for (const auto [i, j, k] : r) sum += std::exp(in.at(i, j, k));
      ASSERT_NEAR(all[at++], std::log(sum), 1e-12) << round;
    });
    if (HasFatalFailure()) return;
  }
}

/// A policy with little memory a block: a column needs more blocks than a cluster has.
struct in_small_blocks {
  struct policy : dsl::default_policy {
    static constexpr dsl::row_policy rows(const dsl::formula_traits& f, int compute_capability) {
      dsl::row_policy p = default_policy::rows(f, compute_capability);
      p.block = 64;
      p.row_memory = 4 << 10;
      return p;
    }
  };
};

/// A policy by which a thread keeps one vector: rows of few vectors are in shared memory, where a
/// thread has many of them.
struct in_single_vectors {
  struct policy : dsl::default_policy {
    static constexpr dsl::row_policy rows(const dsl::formula_traits& f, int compute_capability) {
      dsl::row_policy p = default_policy::rows(f, compute_capability);
      p.block = 32;
      p.vectors_held = 1;
      return p;
    }
  };
};

// Columns of floats in memory order, with and without vector access, with operands that are
// constant in a row or a column and a transposed one. A column is in one block, in a cluster's
// blocks, or in more.
TEST_P(row_layouts, columns_side_by_side) {
  struct layout { std::int64_t planes, length, width, pitch, first; };
  constexpr layout layouts[] = {
      {1, 1, 4, 4, 0},     {1, 7, 1, 1, 0},       {1, 100, 1, 4, 0},    {2, 33, 4, 8, 4},
      {1, 100, 36, 36, 0}, {1, 100, 37, 40, 0},   {1, 100, 36, 37, 0},  {1, 100, 36, 40, 1},
      {3, 9, 132, 132, 8}, {1, 129, 260, 260, 0}, {2, 700, 12, 12, 0},  {2, 180, 8, 8, 0},
      {1, 180, 7, 7, 0},   {1, 1025, 8, 8, 0},    {1, 2000, 20, 24, 4}, {1, 4099, 8, 8, 0}};
  const auto in_small = dsl::vectorize<in_small_blocks>([](auto x) { return x; });
  for (const auto [planes, length, width, pitch, first] : layouts) {
    SCOPED_TRACE(testing::Message() << planes << " x " << length << " x " << width << ", " << pitch
                                    << " apart, from " << first);
    const std::vector<float> all = random_floats(first + planes * length * pitch),
                             of_rows = random_floats(length), of_columns = random_floats(width),
                             crossed = random_floats(planes * length * width);
    dsl::array<float> memory = dsl::to_device(all), out(first + planes * length * pitch),
                      column = dsl::to_device(of_rows), across = dsl::to_device(crossed);
    const dsl::array<float> shift = dsl::to_device(of_columns);
    const auto of = [&](dsl::array<float>& a) {
      return dsl::view<float, 3>(a.view().owner(), a.data() + first, {planes, length, width},
                                 {length * pitch, pitch, 1});
    };
    const dsl::view<float, 3> x = of(memory);
    const dsl::view<float, 3> transposed(across.view().owner(), across.data(),
                                         {planes, length, width}, {length * width, 1, length});
    const dsl::view<float, 2> scale(column.view().owner(), column.data(), {length, 1}, {1, 1});
    const auto mean = dsl::mean(x, axis(1), keep_dims);
    const auto standard = (x - mean) / sqrt(dsl::var(x, axis(1), keep_dims) + 0.01f);
    std::vector<float> want, want_crossed, means;
    const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return static_cast<double>(
          all[static_cast<std::size_t>(first + (i * length + j) * pitch + k)]);
    };
    for (std::int64_t i = 0; i < planes; ++i) {
      std::vector<double> sum(static_cast<std::size_t>(width)), squares = sum;
      for (std::int64_t j = 0; j < length; ++j)
        for (std::int64_t k = 0; k < width; ++k)
          sum[static_cast<std::size_t>(k)] += at(i, j, k) / static_cast<double>(length);
      for (std::int64_t j = 0; j < length; ++j)
        for (std::int64_t k = 0; k < width; ++k)
          squares[static_cast<std::size_t>(k)] +=
              std::pow(at(i, j, k) - sum[static_cast<std::size_t>(k)], 2) /
              static_cast<double>(length);
      for (const double m : sum) means.push_back(static_cast<float>(m));
      for (std::int64_t j = 0; j < length; ++j)
        for (std::int64_t k = 0; k < width; ++k) {
          const auto c = static_cast<std::size_t>(k);
          const double s = (at(i, j, k) - sum[c]) / std::sqrt(squares[c] + 0.01);
          want.push_back(
              static_cast<float>(s * of_rows[static_cast<std::size_t>(j)] + of_columns[c]));
          want_crossed.push_back(static_cast<float>(
              s + crossed[static_cast<std::size_t>((i * width + k) * length + j)]));
        }
    }
    const auto expect = [&](const std::vector<float>& got, const std::vector<float>& wanted,
                            const char* what) {
      ASSERT_EQ(got.size(), wanted.size()) << what;
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], 2e-5 * std::max(1.f, std::abs(wanted[i]))) << what << i;
    };
    const auto stored = [&](dsl::array<float>& a) {
      return dsl::array<float, 3>(of(a)).copy_to_host();
    };
    dsl::array<float, 3> left(planes, 1, width);
    dsl::view<float, 3> to = of(out);
    dsl::tie(to, left) = std::tuple{standard * scale + shift, mean};
    expect(stored(out), want, "scaled, element ");
    expect(left.copy_to_host(), means, "mean of column ");
    dsl::assign(to, in_small(standard * scale + shift));
    expect(stored(out), want, "in small blocks, element ");
    dsl::assign(to, standard + transposed);
    expect(stored(out), want_crossed, "beside a transposed operand, element ");
    dsl::assign(x, standard * scale + shift);
    expect(stored(memory), want, "in place, element ");
    if (HasFatalFailure()) return;
  }
}

// Contiguous rows that begin and end anywhere, so that aligned vectors lie across their ends: rows
// in one block's registers, in several blocks, and in shared memory. What lies between rows stays.
template <class T, class Compute, class Function>
void see_rows_anywhere(unsigned seed, int rounds, double bound, const Function& function) {
  std::mt19937 engine(seed);
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(engine() % n); };
  for (int round = 0; round < rounds; ++round) {
    constexpr std::int64_t lengths[] = {33, 37, 65, 127, 130, 257, 300, 411, 511, 1023, 2049, 2600};
    const std::int64_t length = round % 3 == 2 ? 33 + below(2000) : lengths[below(12)],
                       count = 1 + below(round % 4 == 0 ? 40 : 5), pitch = length + below(6),
                       first = below(20), size = first + count * pitch + 16;
    SCOPED_TRACE(testing::Message() << round << ": " << count << " x " << length << ", " << pitch
                                    << " apart, from " << first);
    std::uniform_real_distribution<float> uniform(-2, 2);
    std::vector<T> all(static_cast<std::size_t>(size)), before(all.size()),
        weights(static_cast<std::size_t>(length));
    for (std::vector<T>* each : {&all, &before, &weights})
      for (T& x : *each) x = static_cast<T>(uniform(engine));
    // The target lies as the source does, or at another distance from an aligned address.
    const std::int64_t moved = round % 5 == 4 ? 1 + below(3) : 0;
    const bool in_place = round % 4 == 1 && moved == 0;
    dsl::array<T> source = dsl::to_device(all), target = dsl::to_device(before);
    const dsl::array<T> of_columns = dsl::to_device(weights);
    const auto rows_of = [&](dsl::array<T>& a, std::int64_t from) {
      return dsl::view<T, 2>(a.view().owner(), a.data() + from, {count, length}, {pitch, 1});
    };
    const auto x = dsl::cast<Compute>(rows_of(source, first));
    const auto weight = dsl::cast<Compute>(of_columns);
    const auto e = exp(x - dsl::max(x, axis(1), keep_dims));
    const auto scaled = e / dsl::sum(e, axis(1), keep_dims);
    dsl::assign(rows_of(in_place ? source : target, first + moved),
                function(dsl::cast<T>(scaled * static_cast<Compute>(length) * weight)));
    std::vector<T> got = (in_place ? source : target).copy_to_host();
    std::vector<T> want = in_place ? all : before;
    for (std::int64_t y = 0; y < count; ++y) {
      const auto at = [&](std::int64_t k) {
        return static_cast<double>(all[static_cast<std::size_t>(first + y * pitch + k)]);
      };
      double most = -INFINITY, sum = 0;
      for (std::int64_t k = 0; k < length; ++k) most = std::max(most, at(k));
      for (std::int64_t k = 0; k < length; ++k) sum += std::exp(at(k) - most);
      for (std::int64_t k = 0; k < length; ++k) {
        const auto place = static_cast<std::size_t>(first + moved + y * pitch + k);
        const double value = std::exp(at(k) - most) / sum * static_cast<double>(length) *
                             static_cast<double>(weights[static_cast<std::size_t>(k)]);
        ASSERT_NEAR(static_cast<double>(got[place]), value, bound * std::max(1., std::abs(value)))
            << y << ", " << k;
        got[place] = want[place];
      }
    }
    ASSERT_EQ(0, std::memcmp(got.data(), want.data(), got.size() * sizeof(T)));
  }
}

TEST_P(row_layouts, rows_that_begin_anywhere) {
  const int rounds = simulated() ? 24 : 100;
  const auto in_small = dsl::vectorize<in_small_blocks>([](auto x) { return x; });
  const auto same = [](const auto& x) { return x; };
  see_rows_anywhere<float, float>(5, rounds, 1e-5, same);
  see_rows_anywhere<float, float>(6, rounds, 1e-5, in_small);
  see_rows_anywhere<dsl::half, float>(7, rounds, 2e-3, same);
  see_rows_anywhere<dsl::half, float>(8, rounds, 2e-3, in_small);
  see_rows_anywhere<dsl::half, float>(10, rounds, 2e-3,
                                      dsl::vectorize<in_single_vectors>([](auto x) { return x; }));
  see_rows_anywhere<double, double>(9, rounds, 1e-13, same);
}

}  // namespace
