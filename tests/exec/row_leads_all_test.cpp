// Rows that begin anywhere in memory: matrices with any distance between rows, from any element on.
// Every element is compared, and those around the targets must stay as they were.
#include "../on_device.hpp"
#include "layouts.hpp"

#include <complex>
#include <sstream>
#include <string>

namespace {

using namespace std::complex_literals;

struct row_leads : on_device {};
ON_EVERY_DEVICE(row_leads);

// A view of small random integers in memory of its own: the distances between rows, planes, ... and
// the first element may be any.
template <class T, int Rank>
struct placed {
  placed(const dsl::extents<Rank>& shape, std::int64_t first, std::int64_t gap, std::int64_t gap2,
         std::mt19937& engine)
      : origin(first), extents(shape) {
    std::int64_t step = 1;
    for (std::size_t d = Rank; d-- > 0;) {
      strides[d] = shape[d] == 1 ? 0 : step;
      step *= shape[d];
      if (d + 1 == Rank) step += gap;
      else step += gap2;
    }
    before.resize(static_cast<std::size_t>(first + step + 3));
    for (T& x : before) x = static_cast<T>(static_cast<int>(engine() % 11) - 3);
    memory = dsl::to_device(before);
  }
  dsl::view<T, Rank> view() {
    return {memory.view().owner(), memory.data() + origin, extents, strides};
  }
  std::size_t place(const dsl::extents<Rank>& at) const {
    std::int64_t p = origin;
    for (std::size_t d = 0; d < Rank; ++d) p += (extents[d] == 1 ? 0 : at[d]) * strides[d];
    return static_cast<std::size_t>(p);
  }
  double at(const dsl::extents<Rank>& i) const { return static_cast<double>(before[place(i)]); }

  std::int64_t origin;
  dsl::extents<Rank> extents, strides{};
  std::vector<T> before;
  dsl::array<T> memory;
};

// Draws where matrices begin: half of the time all alike, otherwise each on its own.
struct places {
  std::mt19937& engine;
  bool alike;
  std::int64_t first, gap, gap2;

  explicit places(std::mt19937& e) : engine(e), alike(e() % 2 == 0) { draw(); }
  void draw() {
    first = static_cast<std::int64_t>(engine() % 19);
    gap = engine() % 3 == 0 ? 0 : static_cast<std::int64_t>(engine() % 7);
    gap2 = engine() % 2 == 0 ? 0 : static_cast<std::int64_t>(engine() % 40);
  }
  template <class T, int Rank>
  placed<T, Rank> next(const dsl::extents<Rank>& shape) {
    if (!alike) draw();
    return {shape, first, gap, gap2, engine};
  }
};

template <class T, int Rank>
void compare(const placed<T, Rank>& target, const std::vector<T>& want, const std::string& what) {
  const auto got = target.memory.copy_to_host();
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_EQ(static_cast<double>(got[i]), static_cast<double>(want[i]))
        << what << ", element " << i << " of " << want.size();
}

template <int Rank>
std::string spell(const dsl::extents<Rank>& shape, const places& at) {
  std::string s;
  for (const auto n : shape) s += std::to_string(n) + " ";
  return s + (at.alike ? "alike, " : "each, ") + std::to_string(at.first) + " " +
         std::to_string(at.gap) + " " + std::to_string(at.gap2);
}

// Elements of two arrays, of a row and a column, and in place.
template <class A, class B, class Out, int Rank>
void maps(const std::vector<dsl::extents<Rank>>& shapes, int rounds) {
  std::mt19937 engine(Rank * 100 + sizeof(A) * 10 + sizeof(Out));
  for (int round = 0; round < rounds; ++round)
    for (const auto& shape : shapes) {
      places at(engine);
      auto a = at.template next<A, Rank>(shape);
      auto b = at.template next<B, Rank>(shape);
      auto out = at.template next<Out, Rank>(shape);
      dsl::extents<Rank> one_row = shape, one_column = shape;
      one_row[0] = 1;
      one_column[Rank - 1] = 1;
      auto row = at.template next<A, Rank>(one_row), column = at.template next<A, Rank>(one_column);
      const std::string what = spell<Rank>(shape, at);
      std::vector<Out> want = out.before;
      for_each<Rank>(shape, [&](const auto& i) {
        want[out.place(i)] = static_cast<Out>(2 * a.at(i) + b.at(i));
      });
      out.view() = 2 * a.view() + b.view();
      compare(out, want, "2 a + b " + what);
      for_each<Rank>(shape, [&](const auto& i) {
        want[out.place(i)] = static_cast<Out>(a.at(i) * row.at(i) + column.at(i));
      });
      out.view() = a.view() * row.view() + column.view();
      compare(out, want, "a row + column " + what);
      std::vector<A> in_place = a.before;
      for_each<Rank>(shape, [&](const auto& i) {
        in_place[a.place(i)] = static_cast<A>(a.at(i) * 2 + row.at(i) + 1);
      });
      a.view() = a.view() * 2 + row.view() + 1;
      compare(a, in_place, "in place " + what);
    }
}

// Transposed arrays, alone and with one that is not.
template <class A, class Out>
void transposed(const std::vector<dsl::extents<2>>& shapes, int rounds) {
  std::mt19937 engine(sizeof(A) * 10 + sizeof(Out));
  for (int round = 0; round < rounds; ++round)
    for (const auto& shape : shapes) {
      places at(engine);
      auto a = at.template next<A, 2>({shape[1], shape[0]});
      auto b = at.template next<A, 2>(shape);
      auto out = at.template next<Out, 2>(shape);
      const std::string what = spell<2>(shape, at);
      std::vector<Out> want = out.before;
      for_each<2>(shape, [&](const auto& i) {
        want[out.place(i)] = static_cast<Out>(a.at({i[1], i[0]}) * 2);
      });
      out.view() = dsl::transpose(a.view()) * 2;
      compare(out, want, "transposed " + what);
      for_each<2>(shape, [&](const auto& i) {
        want[out.place(i)] = static_cast<Out>(a.at({i[1], i[0]}) + b.at(i));
      });
      out.view() = dsl::transpose(a.view()) + b.view();
      compare(out, want, "transposed and not " + what);
    }
}

// Axes in another order.
template <class A>
void permuted(const std::vector<dsl::extents<3>>& shapes, int rounds) {
  std::mt19937 engine(sizeof(A));
  for (int round = 0; round < rounds; ++round)
    for (const auto& shape : shapes) {
      places at(engine);
      auto a = at.template next<A, 3>({shape[1], shape[2], shape[0]});
      auto b = at.template next<A, 3>({shape[2], shape[1], shape[0]});
      auto out = at.template next<A, 3>(shape);
      std::vector<A> want = out.before;
      for_each<3>(shape, [&](const auto& i) {
        want[out.place(i)] = static_cast<A>(a.at({i[1], i[2], i[0]}) - b.at({i[2], i[1], i[0]}));
      });
      out.view() = dsl::permute(a.view(), 2, 0, 1) - dsl::permute(b.view(), 2, 1, 0);
      compare(out, want, spell<3>(shape, at));
    }
}

// Sums, greatest elements and their positions along each axis and of all elements.
template <class A, class B, int Rank>
void reductions(const std::vector<dsl::extents<Rank>>& shapes, int rounds, dsl::launch fixed = {}) {
  std::mt19937 engine(Rank * 100 + sizeof(A) * 10 + sizeof(B) + 1);
  for (int round = 0; round < rounds; ++round)
    for (const auto& shape : shapes) {
      places at(engine);
      auto a = at.template next<A, Rank>(shape);
      auto b = at.template next<B, Rank>(shape);
      dsl::extents<Rank> one_column = shape;
      one_column[Rank - 1] = 1;
      auto column = at.template next<B, Rank>(one_column);
      const std::string what = spell<Rank>(shape, at);
      for (int axis = 0; axis < Rank; ++axis) {
        dsl::extents<Rank> kept = shape;
        kept[static_cast<std::size_t>(axis)] = 1;
        auto sums = at.template next<double, Rank>(kept);
        std::vector<double> want = sums.before;
        for_each<Rank>(kept, [&](const auto& i) { want[sums.place(i)] = 0; });
        for_each<Rank>(shape, [&](const auto& i) { want[sums.place(i)] += a.at(i) * b.at(i); });
        dsl::assign(sums.view(),
                    dsl::sum(dsl::cast<double>(a.view()) * dsl::cast<double>(b.view()),
                             dsl::axis(axis), dsl::keep_dims),
                    fixed);
        compare(sums, want, "sums along " + std::to_string(axis) + " of " + what);
        for_each<Rank>(kept, [&](const auto& i) { want[sums.place(i)] = 0; });
        for_each<Rank>(shape,
                       [&](const auto& i) { want[sums.place(i)] += a.at(i) * column.at(i); });
        dsl::assign(sums.view(),
                    dsl::sum(dsl::cast<double>(a.view()) * dsl::cast<double>(column.view()),
                             dsl::axis(axis), dsl::keep_dims),
                    fixed);
        compare(sums, want, "with a column, along " + std::to_string(axis) + " of " + what);
      }
      double total = 0;
      for_each<Rank>(shape, [&](const auto& i) { total += a.at(i) * b.at(i); });
      const dsl::scalar<double> sum =
          dsl::sum(dsl::cast<double>(a.view()) * dsl::cast<double>(b.view()));
      ASSERT_EQ(sum.value(), total) << what;
    }
}

// The accesses that are taken: vectors where rows begin alike and are long enough.
TEST_P(row_leads, accesses) {
  if (!has_grid()) GTEST_SKIP() << "this device has no lanes";
  const dsl::array<float, 2> m(20, 301), row(1, 301), wide(20, 305);
  dsl::array<float, 2> out(20, 301);
  dsl::array<float> sums(301);
  const auto accesses = [](const auto& explanation) {
    std::ostringstream text;
    text << explanation;
    std::string all;
    std::istringstream lines(text.str());
    for (std::string line; std::getline(lines, line);)
      if (line.find("float32 (") != std::string::npos && line.find("leaves") == std::string::npos)
        all += line.find("vectors of 16 bytes, but") != std::string::npos      ? 'v'
               : line.find("vectors of 16 bytes of rows") != std::string::npos ? 'c'
               : line.find("element by element") != std::string::npos          ? 'e'
                                                                               : '?';
    return all;
  };
  EXPECT_EQ(accesses(dsl::explain(out, m * row)), "vev");
  EXPECT_EQ(accesses(dsl::explain(sums, dsl::sum(m, dsl::axis(0)))), "e");  // few rows
  const dsl::array<float, 2> tall(100, 301);
  EXPECT_EQ(accesses(dsl::explain(sums, dsl::sum(tall, dsl::axis(0)))), "c");
  EXPECT_EQ(accesses(dsl::explain(sums, dsl::sum(tall * row, dsl::axis(0)))), "e?");
  // Rows as far apart modulo a vector begin alike, others do not.
  const dsl::slice most(0, 301), later(1, 302), few(0, 40);
  EXPECT_EQ(accesses(dsl::explain(out, m + wide(dsl::slice(), most))), "vvv");
  EXPECT_EQ(accesses(dsl::explain(out, m + wide(dsl::slice(), later))), "vev");
  dsl::array<float, 2> narrow(20, 40);
  EXPECT_EQ(accesses(dsl::explain(narrow, m(dsl::slice(), few) + 1)), "e?");
}

TEST_P(row_leads, maps_of_floats) {
  maps<float, float, float, 2>({{5, 64}, {7, 67}, {13, 129}, {3, 1021}, {40, 255}, {1, 300}},
                               simulated() ? 4 : 12);
}
TEST_P(row_leads, maps_of_floats_in_three_dimensions) {
  maps<float, float, float, 3>({{3, 5, 70}, {2, 1, 131}, {4, 3, 65}}, simulated() ? 4 : 12);
}
TEST_P(row_leads, maps_of_bytes) {
  maps<std::int8_t, std::int8_t, std::int8_t, 2>({{5, 256}, {9, 263}, {3, 1025}, {20, 300}},
                                                 simulated() ? 4 : 12);
}
TEST_P(row_leads, maps_of_halves_beside_floats) {
  maps<dsl::half, float, float, 2>({{5, 64}, {9, 131}, {3, 1025}}, simulated() ? 4 : 12);
}
TEST_P(row_leads, maps_of_halves) {
  maps<dsl::half, dsl::half, dsl::half, 2>({{5, 128}, {9, 131}, {6, 517}}, simulated() ? 4 : 12);
}
TEST_P(row_leads, maps_of_doubles_and_bytes) {
  maps<double, std::int8_t, double, 2>({{5, 33}, {9, 47}, {3, 1025}}, simulated() ? 4 : 12);
}

TEST_P(row_leads, transposed_floats) {
  transposed<float, float>({{65, 67}, {130, 129}, {17, 300}, {300, 70}}, simulated() ? 4 : 12);
}
TEST_P(row_leads, transposed_bytes) {
  transposed<std::int8_t, std::int8_t>({{65, 260}, {130, 259}, {17, 300}}, simulated() ? 4 : 12);
}
TEST_P(row_leads, transposed_halves) {
  transposed<dsl::half, float>({{65, 67}, {130, 129}}, simulated() ? 4 : 12);
}
TEST_P(row_leads, transposed_doubles) {
  transposed<double, double>({{65, 67}, {33, 129}}, simulated() ? 4 : 12);
}
TEST_P(row_leads, permuted) {
  permuted<float>({{17, 5, 65}, {33, 3, 67}, {2, 40, 130}}, simulated() ? 4 : 12);
}

TEST_P(row_leads, reductions_of_floats) {
  reductions<float, float, 2>({{5, 64},
                               {7, 67},
                               {130, 129},
                               {3, 2051},
                               {40, 255},
                               {1, 300},
                               {500, 65},
                               {257, 131},
                               {200, 17},
                               {90, 50},
                               {64, 1001}},
                              simulated() ? 4 : 12);
}
TEST_P(row_leads, reductions_in_three_dimensions) {
  reductions<float, float, 3>(
      {{3, 5, 70}, {9, 1, 131}, {4, 30, 65}, {30, 4, 67}, {3, 70, 33}, {2, 128, 18}},
      simulated() ? 4 : 12);
}
TEST_P(row_leads, reductions_of_bytes) {
  reductions<std::int8_t, std::int8_t, 2>({{5, 256}, {90, 263}, {3, 1025}, {300, 300}},
                                          simulated() ? 3 : 12);
}
TEST_P(row_leads, reductions_of_halves_beside_floats) {
  reductions<dsl::half, float, 2>({{5, 64}, {90, 131}, {3, 1025}, {300, 71}}, simulated() ? 4 : 12);
}
// Positions of the first of the greatest elements; elements that are stored beside sums of all of
// them, of rows and of columns.
TEST_P(row_leads, positions_and_stores) {
  std::mt19937 engine(3);
  for (int round = 0; round < (simulated() ? 8 : 30); ++round)
    for (const dsl::extents<2>& shape : {dsl::extents<2>{5, 71}, {37, 130}, {150, 67}, {3, 1029}}) {
      places at(engine);
      auto a = at.next<float, 2>(shape);
      auto out = at.next<float, 2>(shape);
      const std::string what = spell<2>(shape, at);
      std::vector<std::int64_t> of_row(static_cast<std::size_t>(shape[0])),
          of_column(static_cast<std::size_t>(shape[1]));
      std::vector<double> rows(of_row.size()), columns(of_column.size());
      std::vector<float> want = out.before;
      double total = 0;
      for_each<2>(shape, [&](const dsl::extents<2>& i) {
        const auto r = static_cast<std::size_t>(i[0]), c = static_cast<std::size_t>(i[1]);
        const double x = a.at(i);
        if (x > a.at({i[0], of_row[r]})) of_row[r] = i[1];
        if (x > a.at({of_column[c], i[1]})) of_column[c] = i[0];
        rows[r] += x;
        columns[c] += x;
        total += x;
        want[out.place(i)] = static_cast<float>(2 * x);
      });
      const dsl::array<std::int64_t> found_rows = dsl::argmax(a.view(), dsl::axis(1)),
                                     found_columns = dsl::argmax(a.view(), dsl::axis(0));
      ASSERT_EQ(found_rows.copy_to_host(), of_row) << what;
      ASSERT_EQ(found_columns.copy_to_host(), of_column) << what;
      const auto x = a.view();
      const auto beside = [&](auto& sums, const auto& sum) {
        out.memory = dsl::to_device(out.before);
        auto to = out.view();
        dsl::tie(to, sums) = std::tuple{2 * x, sum};
        compare(out, want, "beside sums of " + what);
      };
      dsl::scalar<double> all;
      beside(all, dsl::sum(dsl::cast<double>(x)));
      ASSERT_EQ(all.value(), total) << what;
      dsl::array<double> row_sums(shape[0]), column_sums(shape[1]);
      beside(row_sums, dsl::sum(dsl::cast<double>(x), dsl::axis(1)));
      ASSERT_EQ(row_sums.copy_to_host(), rows) << what;
      beside(column_sums, dsl::sum(dsl::cast<double>(x), dsl::axis(0)));
      ASSERT_EQ(column_sums.copy_to_host(), columns) << what;
    }
}

// Accumulators of one byte, of two numbers and of four along columns; and passes that do not work
// on the same rows.
TEST_P(row_leads, other_accumulators_and_chains) {
  std::mt19937 engine(4);
  for (int round = 0; round < (simulated() ? 4 : 20); ++round)
    for (const dsl::extents<2>& shape : {dsl::extents<2>{37, 263}, {9, 300}, {70, 261}}) {
      places at(engine);
      auto a = at.next<float, 2>(shape);
      auto k = at.next<std::int8_t, 2>(shape);
      auto out = at.next<float, 2>(shape);
      const std::string what = spell<2>(shape, at);
      const auto x = a.view();
      const dsl::array<bool> any = dsl::any(k.view() > 6, dsl::axis(0));
      const dsl::array<std::complex<float>, 2> z = x + 2if * x;
      const dsl::array<std::complex<float>> sums = dsl::sum(z, dsl::axis(0));
      const dsl::array<float> variances = dsl::var(x, dsl::axis(0));
      auto to = out.view();
      to = (x - dsl::max(x, dsl::axis(0), dsl::keep_dims)) *
           dsl::sum(x, dsl::axis(1), dsl::keep_dims);

      const auto got_any = any.copy_to_host();
      const auto got_sums = sums.copy_to_host();
      const auto got_variances = variances.copy_to_host();
      std::vector<double> rows(static_cast<std::size_t>(shape[0]));
      for_each<2>(shape, [&](const auto& i) { rows[static_cast<std::size_t>(i[0])] += a.at(i); });
      std::vector<float> want = out.before;
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        const auto column = static_cast<std::size_t>(j);
        const auto n = static_cast<double>(shape[0]);
        double sum = 0, squares = 0, most = -10;
        bool is_any = false;
        for (std::int64_t i = 0; i < shape[0]; ++i) {
          sum += a.at({i, j});
          squares += a.at({i, j}) * a.at({i, j});
          most = std::max(most, a.at({i, j}));
          is_any = is_any || k.at({i, j}) > 6;
        }
        for (std::int64_t i = 0; i < shape[0]; ++i)
          want[out.place({i, j})] =
              static_cast<float>((a.at({i, j}) - most) * rows[static_cast<std::size_t>(i)]);
        ASSERT_EQ(got_any[column], is_any) << what << ", column " << j;
        ASSERT_EQ(got_sums[column],
                  std::complex<float>(static_cast<float>(sum), static_cast<float>(2 * sum)))
            << what << ", column " << j;
        ASSERT_NEAR(got_variances[column], (squares - sum * sum / n) / n, 1e-4)
            << what << ", column " << j;
      }
      compare(out, want, "a chain, " + what);
    }
}

TEST_P(row_leads, reductions_by_blocks_of_any_size) {
  const bool on_gpu = dsl::device::current().kind == dsl::backend::cuda;
  for (const int block : {32, 64, 128, 512, 1024})
    if (block <= 256 || !on_gpu)  // kernels are compiled for blocks of 256 threads at most
      reductions<std::int8_t, std::int8_t, 2>({{70, 263}, {9, 500}}, 2, {.block = block});
}

}  // namespace
