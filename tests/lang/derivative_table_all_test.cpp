// The derivative of every row of the op table at the points of tests/data/derivatives.txt, in both
// precisions and of complex numbers: backwards by dsl::grad, forwards by dsl::jvp.
#include "../accuracy/bounds.hpp"
#include "../evaluated.hpp"
#include "../table_rows.hpp"

#include <dsl/lang/derivative.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

namespace {

using dsl::op;
using real = long double;
using number = std::complex<real>;

struct derivatives_of_rows : on_device {};
ON_EVERY_DEVICE(derivatives_of_rows);

// ---- What is allowed

/// The largest error of a derivative: units in the last place of the exact one (of complex numbers
/// epsilons of its magnitude), `moves` times as far as it moves if each operand moves by epsilon,
/// and `absolute` epsilons, added. The smallest normal number is always allowed. On a GPU, whose
/// functions have larger errors, three times as much is. docs/accuracy.md states the same.
struct allowance { double ulps, moves = 0, absolute = 0; };
struct row_allowance {
  op code;
  allowance real, complex;
};
constexpr allowance usual{6};
constexpr real times_on_gpu = 3;
constexpr row_allowance allowances[] = {
    // An exponent is rounded: a difference, or a square.
    {op::pow, {6, 1}, {6, 1}},
    {op::logaddexp, {6, 1}, {}},
    {op::logaddexp2, {6, 1}, {}},
    {op::erf, {6, 1}, {}},
    {op::erfc, {6, 1}, {}},
    // e^(r^2) of the value r up to 3.6, which has an error of its own.
    {op::erfinv, {32}, {}},
    // The C library's cbrt has an error of 4 units.
    {op::cbrt, {12}, {}},
    // Near a root the derivative is a difference; sinc's cancels from 0.19 on.
    {op::sinc, {8, 1}, {}},
    {op::tgamma, {6, 1}, {}},
    {op::lgamma, {6, 1}, {}},
    // 1 - r^2 of the value r, which is nearly 1, and 1 + r^2 where r is nearly i.
    {op::tanh, {6, 0, 3}, {6, 0, 8}},
    {op::tan, usual, {6, 0, 8}},
};
constexpr allowance allowance_of(op code, bool is_complex) {
  for (const row_allowance& row : allowances)
    if (row.code == code) return is_complex ? row.complex : row.real;
  return usual;
}

// Rows that jump or are flat between jumps: their derivative is 0.
constexpr op flat_rows[] = {op::floor_divide, op::floor, op::ceil,      op::trunc,
                            op::rint,         op::round, op::modf_whole};
constexpr op rows_with_derivatives[] = {
#define DSL_DERIVATIVE(name, ...) op::name,
#include <dsl/ir/ops.inc>
};
// Its value depends on the dtype, so it is not in the data.
constexpr op neighbours = op::nextafter;

constexpr bool is_among(op code, const auto& rows) {
  return std::find(std::begin(rows), std::end(rows), code) != std::end(rows);
}

// ---- The data

struct partial {
  number first, of_conjugate;
  real moves;
};
struct point {
  number operand[3], value;
  partial by[3];
};
struct row_data {
  std::string name, kind;
  int arity = 0;
  std::vector<point> points;
};

number parsed(const std::string& text) {
  char* end = nullptr;
  const real re = std::strtold(text.c_str(), &end);
  return {re, *end == ',' ? std::strtold(end + 1, nullptr) : 0};
}
std::vector<row_data> read_rows() {
  std::ifstream file(DERIVATIVES);
  std::vector<row_data> rows;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    if (text.front() == '#') continue;
    if (std::isalpha(static_cast<unsigned char>(text.front())) != 0) {
      row_data& row = rows.emplace_back();
      line >> row.name >> row.kind >> row.arity;
      continue;
    }
    point& p = rows.back().points.emplace_back();
    std::string word;
    for (int k = 0; k < rows.back().arity; ++k) {
      line >> word;
      p.operand[k] = parsed(word);
    }
    line >> word;
    p.value = parsed(word);
    for (int k = 0; k < rows.back().arity; ++k) {
      line >> word >> p.by[k].moves;
      const std::size_t between = word.find(';');
      p.by[k].first = parsed(word);
      if (between != std::string::npos) p.by[k].of_conjugate = parsed(word.substr(between + 1));
    }
  }
  return rows;
}
const row_data& data_of(op code, const std::string& kind) {
  static const std::vector<row_data> rows = read_rows();
  static const row_data missing;
  for (const row_data& row : rows)
    if (row.name == dsl::info(code).name && row.kind == kind) return row;
  return missing;
}

// ---- The formulas

template <op Code> struct formula;
#define DSL_FUNCTION(name, ...)                                                   \
  template <> struct formula<op::name> {                                          \
    constexpr auto operator()(const auto&... x) const { return dsl::name(x...); } \
  };
#define DSL_OPERATOR(name, token, numpy, arity, ...)                                       \
  template <> struct formula<op::name> {                                                   \
    constexpr auto operator()(PARAMETERS_##arity) const { return APPLIED_##arity(token); } \
  };
#define PARAMETERS_1 const auto& a
#define PARAMETERS_2 const auto &a, const auto &b
#define APPLIED_1(token) token a
#define APPLIED_2(token) a token b
#include <dsl/ir/ops.inc>
#undef PARAMETERS_1
#undef PARAMETERS_2
#undef APPLIED_1
#undef APPLIED_2
// Operands of the data are floating point numbers.
struct where_formula {
  constexpr auto operator()(const auto& condition, const auto& a, const auto& b) const {
    return dsl::where(condition != 0, a, b);
  }
};
struct ldexp_formula {
  constexpr auto operator()(const auto& a, const auto& b) const {
    return dsl::ldexp(a, dsl::cast<std::int32_t>(b));
  }
};
template <op Code>
using formula_of =
    std::conditional_t<Code == op::where, where_formula,
                       std::conditional_t<Code == op::ldexp, ldexp_formula, formula<Code>>>;

/// Rows of one arity as one formula of all their operands: the first row's, then the next one's.
template <std::size_t Arity, op... Code> struct together {
  template <std::size_t First, op Row, class... X>
  static constexpr auto row_of(const std::tuple<X...>& x, const auto& function) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return function(std::get<First + I>(x)...);
    }(std::make_index_sequence<Arity>{});
  }
  template <class... X> constexpr auto operator()(const X&... x) const {
    const std::tuple<X...> all(x...);
    return [&]<std::size_t... J>(std::index_sequence<J...>) {
      return std::tuple{row_of<J * Arity, Code>(all, formula_of<Code>{})...};
    }(std::make_index_sequence<sizeof...(Code)>{});
  }
};

/// The outputs of the test: values and changes of all rows, then each row's derivatives with
/// respect to each of its operands. The operands: the rows', then the directions, one for each
/// operand of a row.
template <std::size_t Arity, op... Code> struct tested {
  template <class... X> constexpr auto operator()(const X&... x) const {
    constexpr std::size_t rows = sizeof...(Code);
    const std::tuple<X...> all(x...);
    return [&]<std::size_t... K, std::size_t... J>(std::index_sequence<K...>,
                                                   std::index_sequence<J...>) {
      return std::tuple_cat(
          as_std_tuple(dsl::jvp(together<Arity, Code...>{})(
              std::get<K>(all)..., std::get<rows * Arity + K % Arity>(all)...)),
          derivatives<J * Arity, Code>(all, std::make_index_sequence<Arity>{})...);
    }(std::make_index_sequence<rows * Arity>{}, std::make_index_sequence<rows>{});
  }

 private:
  template <class Tuple> static constexpr auto as_std_tuple(const Tuple& t) {
    return dsl::detail::unpack([](const auto&... s) { return std::tuple{s...}; }, t);
  }
  template <std::size_t First, op Row, class... X, std::size_t... I>
  static constexpr auto derivatives(const std::tuple<X...>& all, std::index_sequence<I...>) {
    const auto one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      return dsl::grad<J>(formula_of<Row>{})(std::get<First + I>(all)...);
    };
    return std::tuple{one(std::integral_constant<std::size_t, I>{})...};
  }
};

// ---- The comparison

struct precision {
  real epsilon, largest, smallest;
  const char* name;
};
template <class T> constexpr precision precision_of{
    std::numeric_limits<T>::epsilon(), std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
    sizeof(T) == 4 ? "float" : "double"};

real size_of(const number& z) { return std::hypot(z.real(), z.imag()); }
/// A unit in the last place. Of a complex number, epsilon times its magnitude.
real last_place(const number& exact, const precision& p, bool is_complex) {
  const real size = std::clamp(size_of(exact), p.smallest, p.largest);
  return is_complex ? size * p.epsilon : std::ldexp(p.epsilon, std::ilogb(size));
}
/// Infinity counts as the number after the largest one.
number within(const number& z, const precision& p) {
  const real beyond = p.largest * (1 + p.epsilon / 2);
  const auto part = [&](real x) { return std::clamp(x, -beyond, beyond); };
  return {part(z.real()), part(z.imag())};
}

template <class T> std::vector<number> widened(const std::vector<T>& x) {
  std::vector<number> all;
  for (const T& v : x) all.emplace_back(v);
  return all;
}
template <class T> std::vector<number> widened(const std::vector<std::complex<T>>& x) {
  std::vector<number> all;
  for (const std::complex<T>& v : x) all.emplace_back(v.real(), v.imag());
  return all;
}

bool on_gpu() { return dsl::device::current().kind == dsl::backend::cuda; }

number direction(std::size_t i, std::size_t k, bool is_complex) {
  constexpr real parts[] = {1, -2, 0.5, -1, 4};
  return {parts[(i + 2 * k) % 5], is_complex ? parts[(i + k + 1) % 5] : 0};
}

class comparison {
 public:
  comparison(op code, const row_data& data, const precision& p)
      : code_(code),
        allowed_(allowance_of(code, data.kind == "complex")),
        data_(data),
        p_(p),
        is_complex_(data.kind == "complex"),
        has_complex_value_(data.kind != "real") {}

  void values(const std::vector<number>& got) const {
    const accuracy::bound b = accuracy::bound_of(code_, on_gpu());
    const bool is_float = p_.smallest > std::numeric_limits<double>::min();
    const real ulps = has_complex_value_ ? std::max(4.0, accuracy::complex_bound_of(code_))
                                         : b.ulps(is_float) + 0.5;
    for (std::size_t i = 0; i < data_.points.size(); ++i) {
      const number& exact = data_.points[i].value;
      expect(got[i], exact, ulps * last_place(exact, p_, is_complex_) + b.absolute(is_float),
             "value", i);
    }
  }
  void changes(const std::vector<number>& got) const {
    for (std::size_t i = 0; i < data_.points.size(); ++i) {
      number sum = 0;
      real allowed = 0;
      for (int k = 0; k < data_.arity; ++k) {
        const partial& d = data_.points[i].by[k];
        const number v = direction(i, static_cast<std::size_t>(k), is_complex_);
        const number change = d.first * v + d.of_conjugate * std::conj(v);
        sum += change;
        allowed += (allowed_of(d) + p_.epsilon * size_of(d.first)) * 2 * size_of(v);
      }
      expect(got[i], sum, allowed, "change", i);
    }
  }
  void derivatives(const std::vector<number>& got, int k) const {
    for (std::size_t i = 0; i < data_.points.size(); ++i) {
      const partial& d = data_.points[i].by[k];
      number exact = d.first + std::conj(d.of_conjugate);
      if (!is_complex_) exact = exact.real();
      expect(got[i], exact, allowed_of(d), k == 0 ? "d/da" : k == 1 ? "d/db" : "d/dc", i);
    }
  }

 private:
  real allowed_of(const partial& d) const {
    const number all = size_of(d.first) + size_of(d.of_conjugate);
    const real allowed = allowed_.ulps * last_place(all, p_, has_complex_value_) +
                         p_.epsilon * (allowed_.moves * d.moves + allowed_.absolute);
    return allowed * (on_gpu() ? times_on_gpu : 1) + p_.smallest;
  }
  void expect(const number& got, const number& exact, real allowed, const char* what,
              std::size_t i) const {
    const real error = size_of(within(got, p_) - within(exact, p_));
    if (error <= allowed) return;
    std::ostringstream text;
    text.precision(17);
    text << dsl::info(code_).name << " (" << data_.kind << ", " << p_.name << ") at";
    for (int k = 0; k < data_.arity; ++k) text << ' ' << data_.points[i].operand[k];
    text << ": " << what << " = " << got << ", exactly " << exact << "; error "
         << error / last_place(exact, p_, has_complex_value_) << " ULP, allowed "
         << allowed / last_place(exact, p_, has_complex_value_) << " ULP";
    ADD_FAILURE() << text.str();
  }

  op code_;
  allowance allowed_;
  const row_data& data_;
  const precision& p_;
  bool is_complex_, has_complex_value_;
};

template <class E> E element_of(const number& z) {
  if constexpr (std::is_floating_point_v<E>) return static_cast<E>(z.real());
  else
    return {static_cast<typename E::value_type>(z.real()),
            static_cast<typename E::value_type>(z.imag())};
}

/// E: the operands' type, T its real type.
template <class E, class T, std::size_t Arity, op... Code> void test_together(const char* kind) {
  constexpr std::size_t rows = sizeof...(Code), operands = rows * Arity;
  constexpr op codes[] = {Code...};
  constexpr bool is_complex = !std::is_floating_point_v<E>;
  const row_data* data[rows];
  std::size_t count = 0;
  for (std::size_t j = 0; j < rows; ++j) {
    data[j] = &data_of(codes[j], kind);
    count = std::max(count, data[j]->points.size());
  }
  std::array<std::vector<E>, operands + Arity> x;
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t k = 0; k < Arity; ++k)
      for (std::size_t i = 0; i < count; ++i)
        x[j * Arity + k].push_back(
            element_of<E>(data[j]->points[std::min(i, data[j]->points.size() - 1)].operand[k]));
  for (std::size_t k = 0; k < Arity; ++k)
    for (std::size_t i = 0; i < count; ++i)
      x[operands + k].push_back(element_of<E>(direction(i, k, is_complex)));
  const auto compare = [&](const auto&... output) {
    const std::vector<number> got[] = {widened(output)...};
    for (std::size_t j = 0; j < rows; ++j) {
      const comparison row(codes[j], *data[j], precision_of<T>);
      row.values(got[j]);
      row.changes(got[rows + j]);
      for (std::size_t k = 0; k < Arity; ++k)
        row.derivatives(got[2 * rows + j * Arity + k], static_cast<int>(k));
    }
  };
  std::apply([&](const auto&... v) { evaluated(tested<Arity, Code...>{}, v...).check(compare); },
             x);
}

// ---- The rows

/// The dtype that a row gives for operands of a dtype, or boolean if it takes none.
constexpr dsl::dtype result_of(op code, dsl::dtype operand) {
  const dsl::weak_dtype x{operand}, condition{dsl::dtype::boolean}, exponent{dsl::dtype::int32};
  const dsl::signature found =
      dsl::resolve(code, code == op::where ? condition : x, code == op::ldexp ? exponent : x, x);
  return found.valid ? found.result.type : dsl::dtype::boolean;
}
/// The section of the data that a row has for real or complex operands; null if it has none.
constexpr const char* kind_of_row(op code, bool is_complex) {
  const dsl::kind result =
      dsl::kind_of(result_of(code, is_complex ? dsl::dtype::complex128 : dsl::dtype::float64));
  if (result < dsl::kind::real || code == neighbours) return nullptr;
  return is_complex ? "complex" : result == dsl::kind::complex ? "result" : "real";
}

/// The rows of a section with so many operands.
template <bool IsComplex, bool IsComplexResult, int Arity> constexpr auto rows_of_section() {
  constexpr auto is_here = [](op code) {
    const char* const kind = kind_of_row(code, IsComplex);
    return kind != nullptr && (kind[0] == 'r' && kind[2] == 's') == IsComplexResult &&
           dsl::info(code).arity == Arity;
  };
  constexpr auto count = std::count_if(std::begin(all_rows), std::end(all_rows), is_here);
  std::array<op, static_cast<std::size_t>(count)> rows{};
  std::copy_if(std::begin(all_rows), std::end(all_rows), rows.begin(), is_here);
  return rows;
}

// The largest number of outputs of a formula here; a statement has fewer than 32 targets.
constexpr std::size_t outputs_together = 30;

template <class E, class T, bool IsComplexResult, std::size_t Arity> void test_section() {
  constexpr bool is_complex = !std::is_floating_point_v<E>;
  static constexpr auto rows = rows_of_section<is_complex, IsComplexResult, Arity>();
  constexpr std::size_t chunk = outputs_together / (2 + Arity);
  const char* const kind = is_complex ? "complex" : IsComplexResult ? "result" : "real";
  [&]<std::size_t... C>(std::index_sequence<C...>) {
    (
        [&]<std::size_t First, std::size_t... J>(std::integral_constant<std::size_t, First>,
                                                 std::index_sequence<J...>) {
          test_together<E, T, Arity, rows[First + J]...>(kind);
        }(std::integral_constant<std::size_t, C * chunk>{},
          std::make_index_sequence<std::min(chunk, rows.size() - C * chunk)>{}),
        ...);
  }(std::make_index_sequence<(rows.size() + chunk - 1) / chunk>{});
}

template <class T> void test_real() {
  test_section<T, T, false, 1>();
  test_section<T, T, false, 2>();
  test_section<T, T, false, 3>();
  test_section<T, T, true, 2>();
}
template <class T> void test_complex() {
  test_section<std::complex<T>, T, false, 1>();
  test_section<std::complex<T>, T, false, 2>();
  test_section<std::complex<T>, T, false, 3>();
}

TEST(derivative_table, each_row_has_a_derivative_or_is_flat) {
  for (const op code : all_rows) {
    if (kind_of_row(code, false) == nullptr) continue;
    EXPECT_NE(is_among(code, rows_with_derivatives), is_among(code, flat_rows))
        << dsl::info(code).name;
  }
}
TEST(derivative_table, data_is_complete) {
  for (const op code : all_rows)
    for (const bool is_complex : {false, true}) {
      const char* const kind = kind_of_row(code, is_complex);
      if (kind == nullptr) continue;
      EXPECT_GE(data_of(code, kind).points.size(), 2)
          << "derivatives.txt has no " << dsl::info(code).name << ' ' << kind;
    }
}

TEST_P(derivatives_of_rows, of_floats) { test_real<float>(); }
TEST_P(derivatives_of_rows, of_complex_floats) { test_complex<float>(); }
TEST_P(derivatives_of_rows, beside_the_data) {
  const std::vector<double> x{-2.5, -1.5, 1.5};
  const auto check = [&](const auto& of_power, const auto& of_next, const auto& of_other) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(of_power[i], 3 * x[i] * x[i]);
      EXPECT_EQ(of_next[i], 1);
      EXPECT_EQ(of_other[i], 0);
    }
  };
  evaluated(
      [](auto a) {
        const auto next = [](auto b, auto c) { return dsl::nextafter(b, c); };
        return std::tuple{dsl::grad<0>([](auto b, auto c) { return pow(b, c); })(a, a * 0 + 3),
                          dsl::grad<0>(next)(a, a + 1), dsl::grad<1>(next)(a, a + 1)};
      },
      x)
      .check(check);
}
// The same graphs in double. nvcc takes another minute for their kernels.
#if !defined(__CUDACC__)
TEST_P(derivatives_of_rows, of_doubles) { test_real<double>(); }
TEST_P(derivatives_of_rows, of_complex_doubles) { test_complex<double>(); }
#endif

}  // namespace
