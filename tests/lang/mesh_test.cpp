// Meshes of simulated GPUs give the host's results, for arrays of random shapes; integers, so all
// is exact.
#include <gtest/gtest.h>

#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace {

using whole = std::int64_t;

struct shapes {
  whole rows, columns;
  whole first_row, last_row, row_step, first_column, distance;
};

shapes drawn(std::mt19937& engine) {
  const auto below = [&engine](whole n) {
    return static_cast<whole>(engine() % static_cast<unsigned>(n));
  };
  shapes s{};
  const whole most = below(4) == 0 ? 20000 : 500;
  s.rows = 1 + below(most > 500 ? 5 : below(2) == 0 ? 300 : 40);
  s.columns = 1 + below(20000 / s.rows < most ? 20000 / s.rows : most);
  s.first_row = below(s.rows);
  s.last_row = s.first_row + 1 + below(s.rows - s.first_row);
  s.row_step = below(3) == 0 ? -1 : 1 + below(3);
  s.first_column = below(s.columns);
  s.distance = below(2 * s.columns) - s.columns;
  return s;
}

std::vector<std::vector<whole>> computed(const dsl::device& where, const shapes& s) {
  const dsl::device_guard guard(where);
  std::vector<std::vector<whole>> all;
  const auto keep = [&all](const auto& a) {
    const auto values = a.copy_to_host();
    all.emplace_back(values.begin(), values.end());
  };
  dsl::array<whole, 2> m =
      dsl::reshape(dsl::arange<whole>(s.rows * s.columns) * 7919 % 1000 - 500, s.rows, s.columns);
  // Consecutive maps of whole arrays, of several dtypes, and of parts of arrays.
  dsl::array<float, 2> floats = dsl::cast<float>(m);
  floats = floats * 2;
  m = m + dsl::cast<whole>(floats);
  m = m - 5;
  floats = floats - dsl::cast<float>(m);
  dsl::array<std::int8_t, 2> bytes = dsl::cast<std::int8_t>(m % 100);
  floats = floats + dsl::cast<float>(bytes) * 2;
  keep(m);
  keep(floats);
  const auto lower = m(dsl::slice(0, s.last_row), dsl::slice(0, dsl::end));
  m = m + 1;
  lower = lower * 2;
  m = m + 1;
  keep(m);
  // Elements from other places: transposed, sliced, shifted, gathered.
  dsl::array<whole, 2> t = dsl::transpose(m) - 1;
  m = m + 2 * dsl::transpose(t);
  keep(t);
  const auto rows = s.row_step < 0 ? dsl::slice(dsl::end, dsl::end, -1)
                                   : dsl::slice(s.first_row, s.last_row, s.row_step);
  const auto columns = dsl::slice(s.first_column, dsl::end);
  dsl::array<whole, 2> part = m(rows, columns) * 3;
  m(rows, columns) = part + m(rows, columns);
  keep(part);
  m = m + dsl::shift(m, 2, dsl::boundary::clamp, 0) -
      dsl::shift(m, s.distance, dsl::boundary::wrap, 1);
  keep(m);
  const dsl::array<whole> flat = dsl::reshape(m, s.rows * s.columns);
  keep(dsl::eval(dsl::take(flat, dsl::arange<whole>(700) * 7919 % flat.size())));
  // Reductions, which members combine.
  keep(dsl::eval(dsl::sum(m, dsl::axis(0))));
  keep(dsl::eval(dsl::sum(m, dsl::axis(1))));
  keep(dsl::eval(dsl::cumsum(flat)));
  keep(dsl::eval(dsl::cumsum(m, dsl::axis(0))));
  keep(dsl::eval(dsl::cumsum(m, dsl::axis(1))));
  keep(dsl::eval(dsl::cumsum(m(rows, columns), dsl::axis(1))));
  keep(dsl::eval(dsl::cumsum(m(rows, columns), dsl::exclusive)));
  keep(dsl::eval(dsl::apply_along_axis([](auto row) { return row - dsl::max(row) + dsl::sum(row); },
                                       dsl::axis(1), m)));
  const dsl::scalar<whole> least = dsl::min(m), place = dsl::argmax(flat);
  dsl::scalar<whole> total = dsl::sum(m * 2);
  all.push_back({least.value(), place.value(), total.value()});
  const auto step = dsl::vectorize([](auto x, auto mean) {
    auto next = (3 * x + mean) % 1009;
    return std::tuple{next, dsl::sum(next) % 17};
  });
  dsl::array<whole> x = flat % 1000;
  total = total % 17;
  keep(dsl::iterate(5, step, dsl::state(x, total)));
  keep(x);
  return all;
}

TEST(mesh, computes_what_the_host_does) {
  std::mt19937 engine(7);
  for (int i = 0; i < 12; ++i) {
    const shapes s = drawn(engine);
    const std::string name = "sim:0-" + std::to_string(1 + i % 6);
    const auto want = computed("host", s), got = computed(name.c_str(), s);
    for (std::size_t k = 0; k < want.size(); ++k)
      ASSERT_EQ(got[k], want[k]) << "value " << k << " of " << s.rows << " x " << s.columns
                                 << " on " << name;
  }
}

}  // namespace
