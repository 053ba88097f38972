#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace reduction {

using namespace stored;

namespace {

/// Holds every value of every dtype.
using number = std::complex<long double>;
/// Equal elements: their number, and the place of the first.
struct term {
  number value;
  std::int64_t count, first;
};
using terms = std::vector<term>;

struct bounded {
  number value;
  long double allowed;
  bool signs_zeros = false;  // whether a zero's sign is known
};

number number_at(const bytes& from, std::size_t i, dsl::dtype type) {
  switch (dsl::kind_of(type)) {
    case dsl::kind::complex:
      return {real_value(from, 2 * i, dsl::real_of(type)),
              real_value(from, 2 * i + 1, dsl::real_of(type))};
    case dsl::kind::real: return real_value(from, i, type);
    default: {
      const std::int64_t value = whole_value(from, i, type);
      return dsl::info(type).is_signed
                 ? static_cast<long double>(value)
                 : static_cast<long double>(static_cast<std::uint64_t>(value));
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
      const auto value =
          static_cast<std::int64_t>(z.real());  // little endian: the first bytes are the lowest
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
bool is_less(const number& a, const number& b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
bool is_integer(dsl::dtype type) {
  return dsl::kind_of(type) == dsl::kind::integer || type == dsl::dtype::boolean;
}
bool is_half(dsl::dtype type) {
  return type == dsl::dtype::float16 || type == dsl::dtype::bfloat16;
}

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

std::int64_t size_of(const terms& x) {
  return std::accumulate(x.begin(), x.end(), std::int64_t{0},
                         [](std::int64_t n, const term& t) { return n + t.count; });
}

// Upper bound of the number of consecutive additions for n elements, on any device: a host's chunk
// has 64 for each of its lanes, a GPU has 2^15 threads or more, and a tree's levels follow.
long double roundings(const terms& x) {
  const auto count = static_cast<long double>(size_of(x));
  return std::min(count, 64 + count / (1 << 15) + std::log2(count + 1));
}

long double magnitude(const number& z) {
  return z.imag() == 0 ? std::abs(z.real()) : std::abs(z);
}  // hypot is slow
/// The sum of of(element) over all elements.
template <class Of> auto sum_over(const terms& x, const Of& of) {
  decltype(of(number{})) sum = 0;
  for (const term& t : x) sum += static_cast<long double>(t.count) * of(t.value);
  return sum;
}
long double sum_of_sizes(const terms& x) { return sum_over(x, magnitude); }
long double sum_of_squares(const terms& x) {
  return sum_over(x, [](const number& z) { return std::norm(z); });
}

bool is_whole(const number& z) {
  return z.real() == std::rint(z.real()) && z.imag() == std::rint(z.imag());
}
// Sums of integers are exact as long as the accumulator holds them.
bool is_exact(const terms& x, long double u) {
  return sum_of_sizes(x) <= 1 / u &&
         std::all_of(x.begin(), x.end(), [](const term& t) { return is_whole(t.value); });
}

bounded total(const terms& x, long double u) {
  return {sum_over(x, [](const number& z) { return z; }),
          is_exact(x, u) ? 0 : roundings(x) * u * sum_of_sizes(x)};
}
// The plain formula; products of real numbers have no imaginary part, even for infinities and NaN.
number times(const number& a, const number& b) {
  if (a.imag() == 0 && b.imag() == 0) return a.real() * b.real();
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class V, class Times> V power(V base, std::int64_t exponent, V one,
                                        const Times& product_of) {
  for (; exponent > 0; exponent /= 2, base = product_of(base, base))
    if (exponent % 2 != 0) one = product_of(one, base);
  return one;
}
bounded product(const terms& x, long double u) {
  number value = 1;
  std::int64_t rounding = 0;  // factors that round; 1, -1, i and -i do not
  for (const term& t : x) {
    value = times(value, power(t.value, t.count, number(1), times));
    if (!is_whole(t.value) || magnitude(t.value) != 1) rounding += t.count;
  }
  return {value, rounding > 1 ? 3 * static_cast<long double>(rounding) * u * std::abs(value) : 0};
}
bounded mean(const terms& x, long double u) {
  if (x.empty()) return {nan, 0};
  const auto n = static_cast<long double>(size_of(x));
  const bounded sum = total(x, u);
  return {sum.value / n, sum.allowed / n + u * std::abs(sum.value / n)};
}
bounded variance(const terms& x, long double u, int ddof, bool root) {
  const long double n = static_cast<long double>(size_of(x)), left = n - ddof;
  if (left <= 0) return {nan, 0};
  const number middle = total(x, u).value / n;
  const long double squares = sum_over(x, [&](const number& z) { return std::norm(z - middle); });
  const long double s = std::sqrt(squares),
                    error = (roundings(x) + 4) * u * std::sqrt(sum_of_squares(x));
  return root ? bounded{s / std::sqrt(left), error / std::sqrt(left)}
              : bounded{squares / left, ((s + error) * (s + error) - squares) / left};
}
bounded norm(const terms& x, long double u, int order) {
  long double value = order == 1 ? sum_of_sizes(x) : std::sqrt(sum_of_squares(x));
  if (order == infinite) {
    value = 0;
    for (const term& t : x)
      value = std::isnan(value) || is_nan(t.value) ? nan : std::max(value, magnitude(t.value));
  }
  const bool is_real =
      std::all_of(x.begin(), x.end(), [](const term& t) { return t.value.imag() == 0; });
  const bool exact = is_real && (order == infinite || (order == 1 && is_exact(x, u)));
  return {value, exact ? 0 : (roundings(x) + 4) * u * value};
}

/// The first of the extreme elements; NaN counts as the most extreme. Null if there are no
/// elements.
const term* extreme(const terms& x, bool largest) {
  const term* best = nullptr;
  const auto is_better = [&](const term& t) {
    if (is_nan(t.value) != is_nan(best->value)) return is_nan(t.value);
    const bool before = largest ? is_less(best->value, t.value) : is_less(t.value, best->value);
    const bool after = largest ? is_less(t.value, best->value) : is_less(best->value, t.value);
    return before || (!after && t.first < best->first);
  };
  for (const term& t : x)
    if (best == nullptr || is_better(t)) best = &t;
  return best;
}
number extreme_number(const terms& x, bool largest) {
  return x.empty() ? number(nan) : extreme(x, largest)->value;
}
number position(const terms& x, bool largest) {
  return x.empty() ? -1.0L : static_cast<long double>(extreme(x, largest)->first);
}

std::uint64_t bits_of(const number& z) {
  return z.real() < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(z.real()))
                      : static_cast<std::uint64_t>(z.real());
}
/// A sum or product modulo 2^64, as an integer of that dtype holds it.
number wrapped(std::uint64_t value, dsl::dtype type) {
  bytes memory(sizeof value);
  std::memcpy(memory.data(), &value, sizeof value);
  return type == dsl::dtype::boolean ? number(value != 0) : number_at(memory, 0, type);
}
number sum_in_integers(const terms& x, dsl::dtype type) {
  std::uint64_t sum = 0;
  for (const term& t : x) sum += static_cast<std::uint64_t>(t.count) * bits_of(t.value);
  return wrapped(sum, type);
}
number product_in_integers(const terms& x, dsl::dtype type) {
  std::uint64_t product = 1;
  for (const term& t : x) product = power(bits_of(t.value), t.count, product, std::multiplies<>());
  return wrapped(product, type);
}

/// The reduction of one group of elements; for dot and vdot, of products. `type`: the result's
/// dtype.
bounded reduced(row r, const terms& x, dsl::dtype type) {
  const long double u = accumulators_unit(type);
  terms numbers;
  if (ignores_nan(r))
    std::copy_if(x.begin(), x.end(), std::back_inserter(numbers),
                 [](const term& t) { return !is_nan(t.value); });
  const auto is_nonzero = [](const term& t) { return t.value != number{}; };
  switch (r) {
    case row::nansum:
    case row::sum:
    case row::sum_as_double:
      return is_integer(type) ? bounded{sum_in_integers(x, type), 0}
                              : total(r == row::nansum ? numbers : x, u);
    case row::nanprod:
    case row::prod:
      return is_integer(type) ? bounded{product_in_integers(x, type), 0}
                              : product(r == row::nanprod ? numbers : x, u);
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
    case row::any: return {std::any_of(x.begin(), x.end(), is_nonzero), 0};
    case row::all: return {std::all_of(x.begin(), x.end(), is_nonzero), 0};
    case row::count_nonzero:
      return {sum_over(x, [](const number& z) { return z != number{} ? 1.0L : 0.0L; }), 0};
    case row::min: return {extreme_number(x, false), 0};
    case row::max: return {extreme_number(x, true), 0};
    case row::nanmin: return {extreme_number(numbers, false), 0};
    case row::nanmax: return {extreme_number(numbers, true), 0};
    case row::ptp: {
      const number difference = extreme_number(x, true) - extreme_number(x, false);
      return is_integer(type) ? bounded{wrapped(bits_of(difference), type), 0}
                              : bounded{difference, unit(type) * std::abs(difference)};
    }
    case row::argmin: return {position(x, false), 0};
    case row::argmax: return {position(x, true), 0};
    case row::nanargmin: return {position(numbers, false), 0};
    case row::nanargmax: return {position(numbers, true), 0};
    case row::dot:
    case row::vdot: {
      if (is_integer(type)) return {sum_in_integers(x, type), 0};
      const bounded sum = total(x, u);
      return {sum.value, 2 * sum.allowed};
    }
  }
  return {nan, 0};
}
/// Whether the sign of a zero result is the same in any order. In sums zeros of one sign take
/// precedence over the other, and elements that are all -0 give 0 here; in products of real numbers
/// signs multiply.
bool signs_zeros(row r, dsl::dtype type) {
  switch (r) {
    case row::sum:
    case row::sum_as_double:
    case row::nansum:
    case row::mean:
    case row::nanmean: return true;
    case row::prod:
    case row::nanprod: return dsl::kind_of(type) == dsl::kind::real;
    default: return false;
  }
}
/// Includes the result's own rounding, if its dtype is not the accumulator's.
bounded result(row r, const terms& x, dsl::dtype type) {
  bounded b = reduced(r, x, type);
  b.signs_zeros = signs_zeros(r, type);
  if (is_half(type) || b.allowed > 0)
    b.allowed +=
        std::max(unit(type) * std::abs(b.value), type == dsl::dtype::float16 ? 0x1p-25L : 0);
  if (type == dsl::dtype::float16 && std::abs(b.value) >= 65520)
    b.value = std::copysign(std::numeric_limits<long double>::infinity(), b.value.real());
  return b;
}

std::vector<terms> terms_of(const operand& x, const axes& a, shape& extents) {
  std::vector<terms> all;
  for (const std::vector<std::size_t>& places : groups_of(x.extents, a, extents)) {
    terms& group = all.emplace_back();
    group.reserve(places.size());
    for (const std::size_t at : places)
      group.push_back(
          {number_at(x.elements, at, x.type), 1, static_cast<std::int64_t>(group.size())});
  }
  return all;
}

bool differs_in_sign(long double got, long double want) {
  return got == 0 && want == 0 && std::signbit(got) != std::signbit(want);
}

// A complex number with a NaN part counts as NaN: NumPy's division by a count spreads it over both
// parts.
bool agrees(const number& got, const bounded& wanted) {
  const auto& [want, allowed, signs] = wanted;
  if (is_nan(want)) return is_nan(got);
  if (signs && allowed == 0 &&
      (differs_in_sign(got.real(), want.real()) || differs_in_sign(got.imag(), want.imag())))
    return false;
  return got == want || (is_finite(got) && is_finite(want) && std::abs(got - want) <= allowed);
}

/// Compares values; shared by stored and computed expectations, which check dtype and shape
/// separately.
void expect_values(const std::string& call, const outcome& got, const std::vector<bounded>& want) {
  const std::size_t size = static_cast<std::size_t>(dsl::size_of(got.type));
  ASSERT_EQ(got.values.size() / size, want.size()) << call;
  int wrong = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!agrees(number_at(got.values, i, got.type), want[i]) && ++wrong <= 4)
      ADD_FAILURE() << call << ": element " << i << " is " << printed(got.values, i, got.type)
                    << ", not " << want[i].value << " (within " << want[i].allowed << ')';
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

std::vector<std::vector<std::size_t>> groups_of(const shape& of, const axes& a, shape& extents) {
  const std::size_t rank = of.size();
  std::vector<bool> gone(rank, a.along.empty());
  for (const int axis : a.along)
    gone[static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(rank) : axis)] = true;
  std::int64_t count = 1, n = 1;
  std::vector<std::int64_t> steps(rank);  // of the result, if it has the axis
  for (std::size_t d = rank; d-- > 0;) {
    n *= of[d];
    if (!gone[d]) {
      steps[d] = count;
      count *= of[d];
    }
  }
  for (std::size_t d = 0; d < rank; ++d)
    if (!gone[d]) extents.push_back(of[d]);
    else if (a.keep_dims) extents.push_back(1);
  std::vector<std::vector<std::size_t>> groups(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i, to = 0;
    for (std::size_t d = count == 1 ? 0 : rank; d-- > 0;) {
      to += rest % of[d] * steps[d];
      rest /= of[d];
    }
    groups[static_cast<std::size_t>(to)].push_back(static_cast<std::size_t>(i));
  }
  return groups;
}

std::vector<std::vector<int>> axis_sets(int rank) {
  std::vector<std::vector<int>> all(std::size_t{1} << rank);
  for (std::size_t set = 0; set < all.size(); ++set)
    for (int d = 0; d < rank; ++d)
      if (set >> d & 1) all[set].push_back(d);
  return all;
}

namespace {

using random_bits = std::mt19937_64;
random_bits engine_for(dsl::dtype type, std::int64_t n) {
  return random_bits(static_cast<std::uint64_t>(n) * 16 + static_cast<std::uint64_t>(type));
}
std::int64_t pick(random_bits& engine, std::int64_t count) {
  return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(count));
}
std::int64_t middle_of(dsl::dtype type) { return dsl::info(type).is_signed ? 0 : 10; }

/// The values that most elements of an operand take, by kind.
std::vector<number> ordinary(operand_kind kind, dsl::dtype type, std::int64_t n,
                             random_bits& engine) {
  const bool is_complex = dsl::kind_of(type) == dsl::kind::complex,
             is_bool = type == dsl::dtype::boolean;
  const auto small = [&] { return static_cast<long double>(pick(engine, 7) - 3); };
  std::vector<number> x(static_cast<std::size_t>(n));
  for (number& z : x) switch (kind) {
      case operand_kind::with_nan:
        if (!is_integer(type) && pick(engine, 8) == 0) {
          z = is_complex && pick(engine, 2) == 0 ? number(1, nan) : number(nan);
          break;
        }
        [[fallthrough]];
      case operand_kind::whole:
        z = is_bool ? number(static_cast<long double>(pick(engine, 2)))
                    : number(static_cast<long double>(middle_of(type)) + small(),
                             is_complex ? small() : 0);
        break;
      case operand_kind::near_one: {
        const auto power = static_cast<int>(pick(engine, 4));
        z = is_complex ? number(power == 0   ? 1
                                : power == 1 ? -1
                                             : 0,
                                power == 2   ? 1
                                : power == 3 ? -1
                                             : 0)
                       : number(dsl::info(type).is_signed && power == 0 ? -1 : 1);
        if (is_integer(type) && !is_bool) z *= static_cast<long double>(1 + 2 * pick(engine, 3));
        break;
      }
      case operand_kind::few:
        if (!is_integer(type))
          z = number(pick(engine, 2) == 0 ? 0.0L : -0.0L,
                     is_complex && pick(engine, 2) == 0 ? -0.0L : 0.0L);
        break;
      case operand_kind::most: z = 1; break;
    }
  return x;
}
/// The values of the few exceptional elements.
std::vector<number> rare(operand_kind kind, dsl::dtype type, random_bits& engine) {
  const auto middle = static_cast<long double>(middle_of(type));
  std::vector<number> x;
  switch (kind) {
    case operand_kind::whole:
    case operand_kind::with_nan:
      if (type != dsl::dtype::boolean) x = {middle - 9, middle + 9, middle - 9, middle + 9};
      break;
    case operand_kind::near_one:
      for (int k = 0; k < 8 && !is_integer(type); ++k)
        x.push_back(1 + static_cast<long double>(pick(engine, 2049) - 1024) * 0x1p-20L);
      break;
    case operand_kind::few: x = {1}; break;
    case operand_kind::most: x = {0}; break;
  }
  return x;
}
bytes in_memory(const std::vector<number>& x, dsl::dtype type) {
  bytes memory;
  for (const number& z : x) append_number(memory, z, type);
  return memory;
}

std::int64_t period_of(const pattern& p) {
  return static_cast<std::int64_t>(p.period.size()) / dsl::size_of(p.type);
}
number element(const pattern& p, std::int64_t i) {
  const auto other = p.others.find(i);
  return other != p.others.end()
             ? number_at(other->second, 0, p.type)
             : number_at(p.period, static_cast<std::size_t>(i % period_of(p)), p.type);
}
/// of(place) for every place. It has the pattern's period except at the places `apart`.
template <class Of> terms terms_of(const pattern& p, const std::set<std::int64_t>& apart,
                                   const Of& of) {
  terms all;
  for (const std::int64_t i : apart) all.push_back({of(i), 1, i});
  const std::int64_t period = period_of(p);
  for (std::int64_t r = 0; r < period; ++r) {
    std::int64_t count = (p.n - r + period - 1) / period, first = r;
    for (const std::int64_t i : apart) count -= i % period == r;
    while (apart.contains(first)) first += period;
    if (count > 0) all.push_back({of(first), count, first});
  }
  return all;
}

}  // namespace

bytes draw(operand_kind kind, dsl::dtype type, std::int64_t n) {
  random_bits engine = engine_for(type, n);
  std::vector<number> x = ordinary(kind, type, n, engine);
  for (const number& z : rare(kind, type, engine))
    if (n > 0) x[static_cast<std::size_t>(pick(engine, n))] = z;
  return in_memory(x, type);
}

pattern draw_pattern(operand_kind kind, dsl::dtype type, std::int64_t n) {
  random_bits engine = engine_for(type, n);
  pattern p{
      type, n, in_memory(ordinary(kind, type, std::min<std::int64_t>(n, 251), engine), type), {}};
  std::int64_t at = n - 1;
  for (const number& z : rare(kind, type, engine))
    if (n > 0) {
      p.others[at] = in_memory({z}, type);
      at = pick(engine, n);
    }
  return p;
}

pattern backwards(const pattern& p) {
  pattern to{p.type, p.n, {}, {}};
  for (std::int64_t r = 0; r < period_of(p); ++r) {
    const auto from = p.period.begin() + (p.n - 1 - r) % period_of(p) * dsl::size_of(p.type);
    to.period.insert(to.period.end(), from, from + dsl::size_of(p.type));
  }
  for (const auto& [at, value] : p.others) to.others[p.n - 1 - at] = value;
  return to;
}

bytes elements_of(const pattern& p) {
  const auto size = static_cast<std::size_t>(dsl::size_of(p.type));
  bytes all;
  while (all.size() < static_cast<std::size_t>(p.n) * size)
    all.insert(all.end(), p.period.begin(), p.period.end());
  all.resize(static_cast<std::size_t>(p.n) * size);
  for (const auto& [at, value] : p.others)
    std::copy(value.begin(), value.end(), all.begin() + at * static_cast<std::int64_t>(size));
  return all;
}

void expect_reduced(row r, const operand& x, const axes& a, const outcome& got) {
  shape extents;
  const std::vector<terms> groups = terms_of(x, a, extents);
  const std::string call = spelled(r, x.type, x.extents, a);
  const bool throws = needs_elements(r) && !groups.empty() && groups.front().empty();
  ASSERT_EQ(got.shape_error, throws) << call;
  if (throws) return;
  ASSERT_EQ(got.extents, extents) << call;
  std::vector<bounded> want;
  for (const terms& g : groups) want.push_back(result(r, g, got.type));
  expect_values(call, got, want);
}

void expect_reduced(row r, const pattern& x, const outcome& got) {
  const std::string call = spelled(r, x.type, {x.n}, {});
  const bool throws = needs_elements(r) && x.n == 0;
  ASSERT_EQ(got.shape_error, throws) << call;
  if (throws) return;
  const bool is_dot = r == row::dot || r == row::vdot;
  std::set<std::int64_t> apart;
  for (const auto& other : x.others) {
    apart.insert(other.first);
    if (is_dot) apart.insert(x.n - 1 - other.first);
  }
  const auto value = [&](std::int64_t i) {
    const number z = element(x, i);
    return is_dot ? times(r == row::vdot ? std::conj(z) : z, element(x, x.n - 1 - i)) : z;
  };
  expect_values(call, got, {result(r, terms_of(x, apart, value), got.type)});
}

std::vector<section> sections_of(dsl::dtype type) {
  static const std::vector<section> all = read_file();
  std::vector<section> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [type](const section& s) { return s.type == type; });
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
  groups_of(given, a, extents);
  EXPECT_EQ(got.extents, extents) << call;
  std::vector<bounded> values;
  for (std::size_t i = 0; i < want->allowed.size(); ++i)
    values.push_back({number_at(want->values.values, i, got.type), want->allowed[i],
                      signs_zeros(r, got.type) && r != row::prod && r != row::nanprod});
  expect_values(call, got, values);
}

void expect_complete(const std::vector<section>& all, const std::vector<row>& compared) {
  const char* const type = dsl::name(all.front().type);
  std::map<std::string, int> missed, found;
  for (const section& s : all)
    for (const stored_result& r : s.results) ++(r.compared ? found : missed)[r.name];
  for (const row r : compared) {
    EXPECT_GT(found[name_of(r)], 0) << name_of(r) << " of " << type << " is not in reductions.txt";
    EXPECT_EQ(missed[name_of(r)], 0) << name_of(r) << " of " << type
                                     << " is not compared along all axes that reductions.txt has";
  }
  for (const row r : all_rows) missed.erase(name_of(r));
  EXPECT_TRUE(missed.empty()) << missed.begin()->first
                              << " is in reductions.txt, but not in the language";
}

}  // namespace reduction
