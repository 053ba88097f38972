// NumPy's values for some compiled programs: every row of the op table once, every dtype. The other
// files compile all dtypes of every row, for `./dev test --all`; interpreted_test.cpp interprets
// them.
#include "../written_rows.hpp"
#include "reference.hpp"

#include <algorithm>
#include <complex>

ON_EVERY_DEVICE(numpy);  // the cases depend on the compiler, so this is not in reference.cpp

namespace numpy_values {

using dsl::dtype;
using dsl::op;

/// A row and the dtypes of its operands.
struct chosen_row {
  op code{};
  std::size_t arity = 0;
  dtype types[3]{};
  constexpr bool same_operands(const chosen_row& other) const {
    bool same = arity == other.arity;
    for (std::size_t i = 0; same && i < arity; ++i) same = types[i] == other.types[i];
    return same;
  }
};

// Cycles through the dtypes, so that every row and every dtype occurs.
constexpr chosen_row choose(op code) {
  constexpr dtype one[] = {dtype::boolean,  dtype::int8,    dtype::uint16,  dtype::float16,
                           dtype::bfloat16, dtype::float32, dtype::float64, dtype::complex64},
                  more[] = {dtype::int16,  dtype::int32,  dtype::int64,   dtype::uint8,
                            dtype::uint32, dtype::uint64, dtype::float64, dtype::complex128};
  const auto arity = static_cast<std::size_t>(dsl::info(code).arity);
  for (std::size_t i = static_cast<std::size_t>(code) + 2;; ++i) {
    const dtype type = (arity == 1 ? one : more)[i % 8];
    chosen_row row{code, arity, {type, type, type}};
    if (dsl::info(code).operands == dsl::op_operands::selection) row.types[0] = dtype::boolean;
    if (dsl::info(code).operands == dsl::op_operands::scaled) row.types[1] = dtype::int32;
    if (takes(code, row.types, arity)) return row;
  }
}

// In the order of their operands, which the rows of a program share.
constexpr auto rows = [] {
  std::array<chosen_row, std::size(all_rows)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = choose(all_rows[i]);
  std::sort(all.begin(), all.end(), [](const chosen_row& a, const chosen_row& b) {
    return a.arity != b.arity         ? a.arity < b.arity
           : a.types[0] != b.types[0] ? a.types[0] < b.types[0]
           : a.types[1] != b.types[1] ? a.types[1] < b.types[1]
                                      : a.code < b.code;
  });
  return all;
}();

constexpr bool has_every_dtype = [] {
  std::uint32_t found = 0;
  for (const chosen_row& row : rows) found |= 1u << static_cast<int>(row.types[row.arity - 1]);
  return found == (1u << dsl::dtype_count) - 1;
}();
static_assert(has_every_dtype, "a dtype has no place among the rows: begin its turns elsewhere");

/// The rows from First on in one kernel, which takes 32 operands and outputs.
template <std::size_t First, std::size_t Count> struct program {
  // Index of each row's first operand among all of them.
  static constexpr auto places = [] {
    std::array<std::size_t, Count + 1> at{};
    std::size_t next = 0;
    for (std::size_t i = 0; i < Count; ++i) {
      const bool repeats = i > 0 && rows[First + i].same_operands(rows[First + i - 1]);
      at[i] = repeats ? at[i - 1] : next;
      if (!repeats) next += rows[First + i].arity;
    }
    at[Count] = next;
    return at;
  }();
  static_assert(places[Count] + Count <= 32);
  using operand_numbers = std::make_index_sequence<places[Count]>;
  using row_numbers = std::make_index_sequence<Count>;

  struct operand { std::size_t row, number; };
  static constexpr auto operands = [] {
    std::array<operand, places[Count]> all{};
    for (std::size_t i = 0; i < Count; ++i)
      for (std::size_t k = 0; k < rows[First + i].arity; ++k) all[places[i] + k] = {First + i, k};
    return all;
  }();
  template <std::size_t J> static constexpr dtype operand_type =
      rows[operands[J].row].types[operands[J].number];

  struct formula {
    template <class... S> constexpr auto operator()(S... x) const {
      return all(std::tuple{x...}, row_numbers{});
    }
    template <class T, std::size_t... I> static constexpr auto all(const T& x,
                                                                   std::index_sequence<I...>) {
      return std::make_tuple(row<I>(x, std::make_index_sequence<rows[First + I].arity>{})...);
    }
    template <std::size_t I, class T, std::size_t... K> static constexpr auto row(
        const T& x, std::index_sequence<K...>) {
      return written_row<rows[First + I].code>::of(std::get<places[I] + K>(x)...);
    }
  };

  static section section_of_row(std::size_t i) {
    return section_of({rows[i].types, rows[i].types + rows[i].arity});
  }

  // Sections have different lengths; the shorter ones are repeated.
  template <std::size_t J> static auto array_of(std::size_t bytes_an_element, std::size_t count) {
    const bytes all = section_of_row(operands[J].row).operands[operands[J].number];
    bytes filled(count * bytes_an_element);
    for (std::size_t i = 0; i < filled.size(); ++i) filled[i] = all[i % all.size()];
    return stored::to_array<dsl::element_t<operand_type<J>>>(filled);
  }

  template <std::size_t I, class T> static void compare(const dsl::array<T>& result) {
    const section s = section_of_row(First + I);
    bytes got = stored::bytes_of(result.copy_to_host());
    got.resize(s.operands[0].size() / static_cast<std::size_t>(dsl::size_of(s.types[0])) *
               static_cast<std::size_t>(dsl::size_of(dsl::dtype_v<T>)));
    expect_equal(s, rows[First + I].code, dsl::dtype_v<T>, got,
                 dsl::device::current().kind == dsl::backend::cuda);
  }

  template <std::size_t... I, std::size_t... J> static void run(std::index_sequence<I...>,
                                                                std::index_sequence<J...>) {
    std::size_t count = 0;
    for (const operand& o : operands) {
      const auto size = static_cast<std::size_t>(dsl::size_of(rows[o.row].types[o.number]));
      count = std::max(count, section_of_row(o.row).operands[o.number].size() / size);
    }
    std::tuple<dsl::array<dsl::element_t<
        std::tuple_element_t<I, decltype(formula{}(dsl::symbol<operand_type<J>>{}...))>::type
            .type>>...>
        results;
    std::apply(
        [&](auto&... r) {
          dsl::tie(r...) = dsl::vectorize(formula{})(
              array_of<J>(sizeof(dsl::element_t<operand_type<J>>), count)...);
        },
        results);
    (compare<I>(std::get<I>(results)), ...);
  }
};

template <std::size_t First> void run_from() {
  if constexpr (First < rows.size()) {
    constexpr std::size_t left = rows.size() - First, count = left < 15 ? left : 15;
    program<First, count>::run(std::make_index_sequence<count>{},
                               typename program<First, count>::operand_numbers{});
    run_from<First + count>();
  }
}

}  // namespace numpy_values

TEST_P(numpy, every_row_once_and_every_dtype) { numpy_values::run_from<0>(); }
