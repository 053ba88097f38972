#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <span>

namespace reduction {

using namespace stored;

namespace {

/// Holds every value of every dtype.
using number = std::complex<long double>;
using group_of_numbers = std::span<const number>;

struct bounded { number value; long double allowed; };

number number_at(const bytes& from, std::size_t i, dsl::dtype type) {
  switch (dsl::kind_of(type)) {
    case dsl::kind::complex: return {real_value(from, 2 * i, dsl::real_of(type)), real_value(from, 2 * i + 1, dsl::real_of(type))};
    case dsl::kind::real: return real_value(from, i, type);
    default: {
      const std::int64_t value = whole_value(from, i, type);
      return dsl::info(type).is_signed ? static_cast<long double>(value) : static_cast<long double>(static_cast<std::uint64_t>(value));
    }
  }
}

void append_number(bytes& to, const number& z, dsl::dtype type) {
  const auto append = [&to](const auto& value) {
    const auto* const first = reinterpret_cast<const unsigned char*>(&value);
    to.insert(to.end(), first, first + sizeof value);
  };
  switch (type) {
    case dsl::dtype::float16: return append(dsl::half(static_cast<float>(z.real())));
    case dsl::dtype::bfloat16: return append(dsl::bfloat16(static_cast<float>(z.real())));
    case dsl::dtype::float32: return append(static_cast<float>(z.real()));
    case dsl::dtype::float64: return append(static_cast<double>(z.real()));
    case dsl::dtype::complex64: return append(std::complex<float>(z));
    case dsl::dtype::complex128: return append(std::complex<double>(z));
    default: {
      const auto value = static_cast<std::int64_t>(z.real());  // little endian: the first bytes are the lowest
      const auto* const first = reinterpret_cast<const unsigned char*>(&value);
      to.insert(to.end(), first, first + dsl::size_of(type));
    }
  }
}

constexpr int infinite = 0;  // the order of a norm
constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();

bool is_nan(const number& z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
bool is_finite(const number& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
/// NumPy's order of complex numbers: by the real part, then by the imaginary one.
bool is_less(const number& a, const number& b) { return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag()); }
bool is_integer(dsl::dtype type) { return dsl::kind_of(type) == dsl::kind::integer || type == dsl::dtype::boolean; }
bool is_half(dsl::dtype type) { return type == dsl::dtype::float16 || type == dsl::dtype::bfloat16; }

/// Half a unit in the last place of 1.
long double unit(dsl::dtype type) {
  switch (dsl::real_of(type)) {
    case dsl::dtype::float16: return 0x1p-11L;
    case dsl::dtype::bfloat16: return 0x1p-8L;
    case dsl::dtype::float32: return 0x1p-24L;
    default: return 0x1p-53L;
  }
}
long double accumulators_unit(dsl::dtype type) { return is_half(type) ? 0x1p-24L : unit(type); }

// Of n elements no more are added one after another, by any device: a host's chunk has 64 for each of its lanes, and then come as many
// levels as a tree has.
long double roundings(std::size_t n) {
  const auto count = static_cast<long double>(n);
  return std::min(count, 64 + std::log2(count + 1));
}

long double magnitude(const number& z) { return z.imag() == 0 ? std::abs(z.real()) : std::abs(z); }  // hypot is slow
long double sum_of_sizes(group_of_numbers x) {
  long double sum = 0;
  for (const number& z : x) sum += magnitude(z);
  return sum;
}
long double sum_of_squares(group_of_numbers x) {
  long double sum = 0;
  for (const number& z : x) sum += std::norm(z);
  return sum;
}

// Whole numbers are added exactly as long as the accumulator holds them.
bool is_exact(group_of_numbers x, long double u) {
  const auto whole = [](const number& z) { return z.real() == std::rint(z.real()) && z.imag() == std::rint(z.imag()); };
  return sum_of_sizes(x) <= 1 / u && std::all_of(x.begin(), x.end(), whole);
}

bounded total(group_of_numbers x, long double u) {
  const number sum = std::accumulate(x.begin(), x.end(), number{});
  return {sum, is_exact(x, u) ? 0 : roundings(x.size()) * u * sum_of_sizes(x)};
}
// The plain formula, and no imaginary part of real numbers whatever they are.
number times(const number& a, const number& b) {
  if (a.imag() == 0 && b.imag() == 0) return a.real() * b.real();
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
bounded product(group_of_numbers x, long double u) {
  number value = 1;
  for (const number& z : x) value = times(value, z);
  // Every factor rounds, one after another or not.
  return {value, x.size() > 1 ? 3 * static_cast<long double>(x.size()) * u * std::abs(value) : 0};
}
bounded mean(group_of_numbers x, long double u) {
  if (x.empty()) return {nan, 0};
  const auto n = static_cast<long double>(x.size());
  const bounded sum = total(x, u);
  return {sum.value / n, sum.allowed / n + u * std::abs(sum.value / n)};
}
bounded variance(group_of_numbers x, long double u, int ddof, bool root) {
  const long double n = static_cast<long double>(x.size()), left = n - ddof;
  if (left <= 0) return {nan, 0};
  const number middle = total(x, u).value / n;
  long double squares = 0;
  for (const number& z : x) squares += std::norm(z - middle);
  const long double s = std::sqrt(squares), error = (roundings(x.size()) + 4) * u * std::sqrt(sum_of_squares(x));
  return root ? bounded{s / std::sqrt(left), error / std::sqrt(left)} : bounded{squares / left, ((s + error) * (s + error) - squares) / left};
}
bounded norm(group_of_numbers x, long double u, int order) {
  long double value = order == 1 ? sum_of_sizes(x) : std::sqrt(sum_of_squares(x));
  if (order == infinite) {
    value = 0;
    for (const number& z : x) value = std::isnan(value) || is_nan(z) ? nan : std::max(value, magnitude(z));
  }
  const bool is_real = std::all_of(x.begin(), x.end(), [](const number& z) { return z.imag() == 0; });
  const bool exact = is_real && (order == infinite || (order == 1 && is_exact(x, u)));
  return {value, exact ? 0 : (roundings(x.size()) + 4) * u * value};
}
bounded dot(group_of_numbers x, long double u, bool conjugated) {
  std::vector<number> terms;
  for (std::size_t i = 0; i < x.size(); ++i) terms.push_back(times(conjugated ? std::conj(x[i]) : x[i], x[x.size() - 1 - i]));
  const bounded sum = total(terms, u);
  return {sum.value, 2 * sum.allowed};
}

/// Where the first of the extreme elements is; a NaN is the most extreme of all.
std::int64_t position(group_of_numbers x, bool largest) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (is_nan(x[i])) return static_cast<std::int64_t>(i);
    if (largest ? is_less(x[best], x[i]) : is_less(x[i], x[best])) best = i;
  }
  return static_cast<std::int64_t>(best);
}
number extreme(group_of_numbers x, bool largest) { return x[static_cast<std::size_t>(position(x, largest))]; }
number extreme_number(const std::vector<number>& numbers, bool largest) { return numbers.empty() ? number(nan) : extreme(numbers, largest); }

std::int64_t position_among_numbers(group_of_numbers x, bool largest) {
  std::int64_t best = -1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (is_nan(x[i])) continue;
    const bool better = best < 0 || (largest ? is_less(x[static_cast<std::size_t>(best)], x[i]) : is_less(x[i], x[static_cast<std::size_t>(best)]));
    if (better) best = static_cast<std::int64_t>(i);
  }
  return best;
}

std::uint64_t bits_of(const number& z) {
  return z.real() < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(z.real())) : static_cast<std::uint64_t>(z.real());
}
/// What an integer of that dtype holds of a sum or product modulo 2^64.
number wrapped(std::uint64_t value, dsl::dtype type) {
  bytes memory(sizeof value);
  std::memcpy(memory.data(), &value, sizeof value);
  return type == dsl::dtype::boolean ? number(value != 0) : number_at(memory, 0, type);
}
template <class Combine> number in_integers(group_of_numbers x, std::uint64_t first, dsl::dtype type, const Combine& combine) {
  for (const number& z : x) first = combine(first, bits_of(z));
  return wrapped(first, type);
}

bool has_value_of_nothing(row r) {
  switch (r) {
    case row::min: case row::max: case row::nanmin: case row::nanmax: case row::ptp: case row::norm_inf:
    case row::argmin: case row::argmax: case row::nanargmin: case row::nanargmax: return false;
    default: return true;
  }
}

/// One group of elements as one. `type` is the result's.
bounded reduced(row r, group_of_numbers x, dsl::dtype type) {
  const long double u = accumulators_unit(type);
  std::vector<number> numbers;
  if (ignores_nan(r)) std::copy_if(x.begin(), x.end(), std::back_inserter(numbers), [](const number& z) { return !is_nan(z); });
  const auto add = [](std::uint64_t a, std::uint64_t b) { return a + b; };
  const auto multiply = [](std::uint64_t a, std::uint64_t b) { return a * b; };
  switch (r) {
    case row::nansum: case row::sum: case row::sum_as_double:
      return is_integer(type) ? bounded{in_integers(x, 0, type, add), 0} : total(r == row::nansum ? numbers : x, u);
    case row::nanprod: case row::prod:
      return is_integer(type) ? bounded{in_integers(x, 1, type, multiply), 0} : product(r == row::nanprod ? numbers : x, u);
    case row::mean: return mean(x, u);
    case row::nanmean: return mean(numbers, u);
    case row::var: return variance(x, u, 0, false);
    case row::var_ddof_1: return variance(x, u, 1, false);
    case row::std: return variance(x, u, 0, true);
    case row::std_ddof_1: return variance(x, u, 1, true);
    case row::nanvar: return variance(numbers, u, 0, false);
    case row::nanvar_ddof_1: return variance(numbers, u, 1, false);
    case row::nanstd: return variance(numbers, u, 0, true);
    case row::nanstd_ddof_1: return variance(numbers, u, 1, true);
    case row::norm_1: return norm(x, u, 1);
    case row::norm_2: return norm(x, u, 2);
    case row::norm_inf: return norm(x, u, infinite);
    case row::any: return {std::any_of(x.begin(), x.end(), [](const number& z) { return z != number{}; }), 0};
    case row::all: return {std::all_of(x.begin(), x.end(), [](const number& z) { return z != number{}; }), 0};
    case row::count_nonzero: return {static_cast<long double>(std::count_if(x.begin(), x.end(), [](const number& z) { return z != number{}; })), 0};
    case row::min: return {extreme(x, false), 0};
    case row::max: return {extreme(x, true), 0};
    case row::nanmin: return {extreme_number(numbers, false), 0};
    case row::nanmax: return {extreme_number(numbers, true), 0};
    case row::ptp: {
      const number difference = extreme(x, true) - extreme(x, false);
      return is_integer(type) ? bounded{wrapped(bits_of(difference), type), 0} : bounded{difference, unit(type) * std::abs(difference)};
    }
    case row::argmin: return {static_cast<long double>(position(x, false)), 0};
    case row::argmax: return {static_cast<long double>(position(x, true)), 0};
    case row::nanargmin: return {static_cast<long double>(position_among_numbers(x, false)), 0};
    case row::nanargmax: return {static_cast<long double>(position_among_numbers(x, true)), 0};
    case row::dot: case row::vdot: {
      if (!is_integer(type)) return dot(x, u, r == row::vdot);
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += bits_of(x[i]) * bits_of(x[x.size() - 1 - i]);
      return {wrapped(sum, type), 0};
    }
  }
  return {nan, 0};
}

/// The elements that become one, for each element of the result; and its extents.
std::vector<std::vector<number>> groups_of(const operand& x, const axes& a, shape& extents) {
  const std::size_t rank = x.extents.size();
  std::vector<bool> gone(rank, a.along.empty());
  for (const int axis : a.along) gone[static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(rank) : axis)] = true;
  std::int64_t count = 1;
  std::vector<std::int64_t> steps(rank);  // of the result, where it has the axis
  for (std::size_t d = rank; d-- > 0;)
    if (!gone[d]) steps[d] = count, count *= x.extents[d];
  for (std::size_t d = 0; d < rank; ++d)
    if (!gone[d]) extents.push_back(x.extents[d]);
    else if (a.keep_dims) extents.push_back(1);
  std::vector<std::vector<number>> groups(static_cast<std::size_t>(count));
  const std::size_t n = x.elements.size() / static_cast<std::size_t>(dsl::size_of(x.type));
  for (std::vector<number>& g : groups) g.reserve(n / groups.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), to = 0;
    for (std::size_t d = count == 1 ? 0 : rank; d-- > 0;) to += rest % x.extents[d] * steps[d], rest /= x.extents[d];
    groups[static_cast<std::size_t>(to)].push_back(number_at(x.elements, i, x.type));
  }
  return groups;
}

// Zeros of either sign are one. A complex number with a NaN is a NaN: NumPy's division by a count spreads it over both parts.
bool agrees(const number& got, const number& want, long double allowed) {
  if (is_nan(want)) return is_nan(got);
  return got == want || (is_finite(got) && is_finite(want) && std::abs(got - want) <= allowed);
}

/// The same for stored and for computed values: dtype and shape apart.
void expect_values(const std::string& call, const outcome& got, const std::vector<bounded>& want) {
  const std::size_t size = static_cast<std::size_t>(dsl::size_of(got.type));
  ASSERT_EQ(got.values.size() / size, want.size()) << call;
  int wrong = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!agrees(number_at(got.values, i, got.type), want[i].value, want[i].allowed) && ++wrong <= 4)
      ADD_FAILURE() << call << ": element " << i << " is " << printed(got.values, i, got.type) << ", not " << want[i].value << " (within "
                    << want[i].allowed << ')';
}

std::string spelled(row r, dsl::dtype type, const shape& extents, const axes& a) {
  std::ostringstream to;
  to << name_of(r) << " of " << dsl::name(type) << " (";
  for (const std::int64_t n : extents) to << ' ' << n;
  to << " ) along " << a.text();
  return to.str();
}

std::vector<section> read_file() {
  std::ifstream file(NUMPY_VALUES);
  if (!file) throw std::runtime_error("cannot read " NUMPY_VALUES);
  std::vector<section> all;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text.front() == '#') continue;
    std::istringstream line(text);
    std::string name, word;
    line >> name >> word;
    if (name == "operand") {
      section& s = all.emplace_back();
      s.type = dtype_named(word);
      for (std::int64_t& n : s.extents) line >> n;
      std::getline(file, text);
      std::istringstream values(text);
      s.values = read_values(values, s.type);
      continue;
    }
    stored_result r{name, {}, {}, {}};
    if (word != "all") {
      std::istringstream axes(word);
      for (std::string axis; std::getline(axes, axis, ',');) r.axes.push_back(std::stoi(axis));
    }
    line >> word;
    if (word == "shape_error") {
      r.values.shape_error = true;
    } else {
      r.values.type = dtype_named(word);
      while (line >> word) {
        const std::size_t tilde = word.find('~');
        append_value(r.values.values, word.substr(0, tilde), r.values.type);
        r.allowed.push_back(tilde == std::string::npos ? 0 : std::stold(word.substr(tilde + 1)));
      }
    }
    all.back().results.push_back(r);
  }
  return all;
}

}  // namespace

std::string axes::text() const {
  if (along.empty()) return keep_dims ? "all, kept" : "all";
  std::string to;
  for (const int axis : along) to += std::to_string(axis) + ' ';
  return keep_dims ? to + "kept" : to;
}

std::vector<std::vector<int>> axis_sets(int rank) {
  std::vector<std::vector<int>> all(std::size_t{1} << rank);
  for (std::size_t set = 0; set < all.size(); ++set)
    for (int d = 0; d < rank; ++d)
      if (set >> d & 1) all[set].push_back(d);
  return all;
}

bytes draw(operand_kind kind, dsl::dtype type, std::int64_t n) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(n) * 16 + static_cast<std::uint64_t>(type));
  const auto pick = [&](std::int64_t count) { return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(count)); };
  const bool is_signed = dsl::info(type).is_signed, is_complex = dsl::kind_of(type) == dsl::kind::complex, is_bool = type == dsl::dtype::boolean;
  const std::int64_t middle = is_signed ? 0 : 10;
  std::vector<number> x(static_cast<std::size_t>(n));
  const auto anywhere = [&]() -> number& { return x[static_cast<std::size_t>(pick(n))]; };
  for (number& z : x) switch (kind) {
      case operand_kind::whole: case operand_kind::with_nan:
        z = is_bool ? number(static_cast<long double>(pick(2))) : number(static_cast<long double>(middle + pick(7) - 3), is_complex ? static_cast<long double>(pick(7) - 3) : 0);
        break;
      case operand_kind::near_one: {
        const auto power = static_cast<int>(pick(4));
        const number turn = is_complex ? number(power == 0 ? 1 : power == 1 ? -1 : 0, power == 2 ? 1 : power == 3 ? -1 : 0) : number(is_signed && power == 0 ? -1 : 1);
        if (is_integer(type)) z = turn * static_cast<long double>(is_bool ? 1 : 1 + 2 * pick(3));
        else z = turn * (1 + static_cast<long double>(pick(2049) - 1024) * 0x1p-20L);
        break;
      }
      case operand_kind::few: break;
      case operand_kind::most: z = static_cast<long double>(is_bool ? 1 : 1 + pick(5)); break;
    }
  if (n > 0 && kind == operand_kind::few) anywhere() = 1;
  if (n > 0 && kind == operand_kind::most) anywhere() = 0;
  if (n > 0 && (kind == operand_kind::whole || kind == operand_kind::with_nan) && !is_bool)
    for (int k = 0; k < 2; ++k) anywhere() = number(static_cast<long double>(middle - 9)), anywhere() = number(static_cast<long double>(middle + 9));
  if (kind == operand_kind::with_nan && !is_integer(type))
    for (number& z : x)
      if (pick(8) == 0) z = is_complex && pick(2) == 0 ? number(1, nan) : number(nan);
  bytes memory;
  for (const number& z : x) append_number(memory, z, type);
  return memory;
}

void expect_reduced(row r, const operand& x, const axes& a, const outcome& got) {
  shape extents;
  const std::vector<std::vector<number>> groups = groups_of(x, a, extents);
  const std::string call = spelled(r, x.type, x.extents, a);
  const bool throws = !has_value_of_nothing(r) && !groups.empty() && groups.front().empty();
  ASSERT_EQ(got.shape_error, throws) << call;
  if (throws) return;
  ASSERT_EQ(got.extents, extents) << call;
  std::vector<bounded> want;
  for (const std::vector<number>& g : groups) {
    bounded b = reduced(r, g, got.type);
    // The result's own rounding, where it is not the accumulator's.
    if (is_half(got.type)) b.allowed += unit(got.type) * std::abs(b.value);
    else if (b.allowed > 0) b.allowed += unit(got.type) * std::abs(b.value);
    want.push_back(b);
  }
  expect_values(call, got, want);
}

std::vector<section> sections_of(dsl::dtype type) {
  static const std::vector<section> all = read_file();
  std::vector<section> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [type](const section& s) { return s.type == type; });
  if (found.empty()) throw std::runtime_error("reductions.txt has no operand of this dtype");
  return found;
}

namespace {

const stored_result* find(const section& s, row r, const std::vector<int>& along) {
  for (const stored_result& result : s.results)
    if (result.name == name_of(r) && result.axes == along) return &result;
  return nullptr;
}

}  // namespace

std::vector<std::vector<int>> stored_axes(const section& s, row r) {
  std::vector<std::vector<int>> all;
  for (const stored_result& result : s.results)
    if (result.name == name_of(r)) all.push_back(result.axes);
  return all;
}

void expect_stored(const section& s, row r, const axes& a, const outcome& got) {
  const stored_result* const want = find(s, r, a.along);
  ASSERT_NE(want, nullptr) << name_of(r);
  want->compared = true;
  const shape given(s.extents.begin(), s.extents.end());
  const std::string call = spelled(r, s.type, given, a);
  ASSERT_EQ(got.shape_error, want->values.shape_error) << call;
  if (got.shape_error) return;
  ASSERT_STREQ(dsl::name(got.type), dsl::name(want->values.type)) << call;
  shape extents;
  groups_of({s.type, given, {}}, a, extents);
  EXPECT_EQ(got.extents, extents) << call;
  std::vector<bounded> values;
  for (std::size_t i = 0; i < want->allowed.size(); ++i) values.push_back({number_at(want->values.values, i, got.type), want->allowed[i]});
  expect_values(call, got, values);
}

void expect_complete(const std::vector<section>& all) {
  const dsl::dtype type = all.front().type;
  std::map<std::string, int> missed, found;
  for (const section& s : all)
    for (const stored_result& r : s.results) ++(r.compared ? found : missed)[r.name];
  for (const row r : all_rows) {
    if (is_compared(r, type)) {
      EXPECT_GT(found[name_of(r)], 0) << name_of(r) << " of " << dsl::name(type) << " is not in reductions.txt";
      EXPECT_EQ(missed[name_of(r)], 0) << name_of(r) << " of " << dsl::name(type) << " is not compared along all axes that reductions.txt has";
    }
    missed.erase(name_of(r));
  }
  EXPECT_TRUE(missed.empty()) << missed.begin()->first << " is in reductions.txt, but not in the language";
}

}  // namespace reduction

ON_EVERY_DEVICE(reductions);
