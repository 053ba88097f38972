// A statement on arrays, and the same source text on tables of numbers that do not use the library.
#pragma once

#include "../on_device.hpp"
#include "exec/statement/again.hpp"
#include "sim/back_end.hpp"
#include "table.hpp"

#include <tuple>

struct drawn_statements : on_device {};

/// The operands of a statement: R x C, R x 1, 1 x C, C and R elements, one value.
struct operands {
  dsl::view<const float, 2> m, n, t;  // t is column-major
  dsl::view<const double, 2> d;
  dsl::view<const std::int32_t, 2> i;
  dsl::view<const float, 2> column, row;
  dsl::view<const float, 1> line, side;
  dsl::scalar<float> s;
  float k;

  template <class F, class E> static auto formula(const F& f, const E& e) {
    return dsl::vectorize(f)(e);
  }
  template <class F, class E> static auto along(const F& f, const dsl::axes<1>& axis, const E& e) {
    return dsl::apply_along_axis(f, axis, e);
  }
};
struct tables {
  table m, n, t, d, i, column, row, line, side, s;
  double k;

  template <class F> static table formula(const F& f, const table& e) { return stretched(f(e), e); }
  template <class F> static table along(const F& f, const dsl::axes<1>& axis, const table& e) {
    return each_row(f, axis, e);
  }
};

/// Draws small integers, and arrays of them: contiguous, or a part of a wider array.
inline table draw_table(std::mt19937& engine, int rank, std::int64_t rows, std::int64_t columns) {
  table t{rank, rows, columns, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i)
    t.values.push_back(static_cast<double>(engine() % 7) - 3);
  return t;
}
template <class T>
dsl::array<T, 2> array_of(const table& t, std::int64_t room = 0, bool transposed = false) {
  const std::int64_t rows = transposed ? t.columns : t.rows,
                     columns = transposed ? t.rows : t.columns;
  std::vector<T> all(static_cast<std::size_t>(rows * (columns + room)), T(9));
  for (std::int64_t i = 0; i < t.rows; ++i)
    for (std::int64_t j = 0; j < t.columns; ++j)
      all[static_cast<std::size_t>(transposed ? j * (columns + room) + i
                                              : i * (columns + room) + j)] =
          static_cast<T>(t.at(i, j));
  dsl::array<T, 2> made(rows, columns + room);
  made.copy_from_host(all);
  return made;
}

/// Changes the simulated GPU, and so the plans; restores it at the end.
struct other_chip {
  explicit other_chip(int number) {
    if (number == 0) return;
    dsl::device_properties& chip = dsl::detail::simulator.chip();
    chip.shared_per_block = 512 << number;
    chip.multiprocessors = 1 + 5 * (number % 3);
    chip.threads_per_multiprocessor = 512 << number % 3;
    dsl::detail::simulator.largest_cluster = number == 1 ? 8 : 1;
    dsl::detail::lately_run::forget();
  }
  ~other_chip() {
    dsl::detail::simulator.chip() = known;
    dsl::detail::simulator.largest_cluster = cluster;
    dsl::detail::lately_run::forget();
  }
  other_chip(const other_chip&) = delete;
  const dsl::device_properties known = dsl::detail::simulator.chip();
  const int cluster = dsl::detail::simulator.largest_cluster;
};

template <class Target>
void expect_table(const Target& got, const table& want, const std::string& where) {
  ASSERT_EQ(static_cast<int>(Target::rank), want.rank) << where;
  std::vector<double> values;
  if constexpr (Target::rank == 0) values.push_back(static_cast<double>(got.value()));
  else
    for (const auto v : got.copy_to_host()) values.push_back(static_cast<double>(v));
  ASSERT_EQ(values.size(), want.values.size()) << where;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], want.values[i], want.error) << where << ", element " << i;
}

/// An output's array or scalar, without memory.
template <class E> using element_of =
    dsl::element_t<std::tuple_element_t<0, dsl::detail::outputs_of<E>>::type.type>;
template <class E, int Rank = dsl::detail::result_rank<E>>
using target_of = std::conditional_t<Rank == 0, dsl::scalar<element_of<E>>,
                                     dsl::array<element_of<E>, Rank == 0 ? 1 : Rank>>;
template <class... E, class... Want>
void check_outputs(const std::tuple<E...>& statement, const std::tuple<Want...>& want,
                   const std::string& where) {
  std::tuple<target_of<E>...> targets;
  std::apply([&](auto&... t) { dsl::tie(t...) = statement; }, targets);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (expect_table(std::get<I>(targets), std::get<I>(want), where + ", output " + std::to_string(I)),
     ...);
  }(std::index_sequence_for<E...>{});
}

struct statement_size { std::int64_t rows, columns; };
inline constexpr statement_size statement_sizes[] = {{1, 1},   {3, 4},  {5, 33}, {64, 300},
                                                     {1, 257}, {31, 8}, {64, 1}, {2, 3001}};

/// Runs a statement on operands of several sizes and layouts; in the simulator also on other chips
/// and in other orders of blocks.
template <class F>
void check_statement(const F& f) {
  std::mt19937 engine(1);
  for (const statement_size size : statement_sizes) {
    const auto [rows, columns] = size;
    tables t{draw_table(engine, 2, rows, columns),
             draw_table(engine, 2, rows, columns),
             draw_table(engine, 2, rows, columns),
             draw_table(engine, 2, rows, columns),
             draw_table(engine, 2, rows, columns),
             draw_table(engine, 2, rows, 1),
             draw_table(engine, 2, 1, columns),
             draw_table(engine, 1, 1, columns),
             draw_table(engine, 1, 1, rows),
             draw_table(engine, 0, 1, 1),
             2};
    const bool same = engine() % 2 == 0;  // two operands are one array
    if (same) t.n = t.m;
    const std::int64_t room = engine() % 3 == 0 ? 3 : 0;
    const auto m = array_of<float>(t.m, room), n = array_of<float>(t.n),
               transposed = array_of<float>(t.t, 0, true), column = array_of<float>(t.column),
               row = array_of<float>(t.row), line = array_of<float>(t.line),
               side = array_of<float>(t.side);
    const auto d = array_of<double>(t.d, room);
    const auto i = array_of<std::int32_t>(t.i);
    const auto part = m(dsl::slice(), dsl::slice(0, columns));
    const operands x{part,
                     same ? part : n.view(),
                     dsl::transpose(transposed),
                     d(dsl::slice(), dsl::slice(0, columns)),
                     i,
                     column,
                     row,
                     line(0),
                     side(0),
                     dsl::scalar<float>(static_cast<float>(t.s.values[0])),
                     2};
    const auto want = f(t);
    for (int round = 0; round < (on_device::simulated() ? 10 : 1); ++round) {
      const other_chip guard((round + 2) / 3);
      const simulated_order order(std::to_string(round).c_str());
      check_outputs(f(x), want,
                    std::to_string(rows) + " x " + std::to_string(columns) + ", round " +
                        std::to_string(round));
      if (testing::Test::HasFailure()) return;
    }
  }
}

#define DRAWN_STATEMENT(name, ...) \
  TEST_P(drawn_statements, name) { check_statement(__VA_ARGS__); }
