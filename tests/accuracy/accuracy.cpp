// Measures every floating point function's largest error on the current device, and fails where one is beyond its bound
// (bounds.hpp). Rounding, comparing and taking apart are exact, and tested bit for bit in tests/numpy.
//
//   accuracy [a function's name...]      DSL_DEVICE=host|sim|cuda chooses the device
#include "../written_rows.hpp"
#include "bounds.hpp"
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>

namespace {

using accuracy::worst;
using dsl::op;

template <class T> constexpr std::size_t argument_count = sizeof(T) == 4 ? 1 << 17 : 1 << 15;
constexpr std::size_t complex_argument_count = 1 << 14;

/// Arguments for every function: a third over all bit patterns, which are all exponents, NaN and infinities among them; a third evenly
/// in ranges around 0; a third beside whole and half numbers and multiples of pi / 4, where roots and poles are.
template <class T>
std::vector<T> arguments(unsigned seed) {
  std::mt19937_64 random(seed);
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<T> x(argument_count<T>);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 3 == 0) {
      const auto pattern = static_cast<bits>(random());
      std::memcpy(&x[i], &pattern, sizeof(T));
    } else if (i % 3 == 1) {
      constexpr double ranges[] = {1, 4, 12, 40, 100, 750};
      const double range = ranges[i / 3 % 6];
      x[i] = static_cast<T>(uniform(-range, range));
    } else {
      const int k = static_cast<int>(random() % 81) - 40;
      const T middle = static_cast<T>(random() % 2 == 0 ? k * 0.5 : k * 0.78539816339744830962);
      const double steps = uniform(-1, 1) * static_cast<double>(1 << random() % 12);
      x[i] = middle + static_cast<T>(steps) * std::max(std::abs(middle), T(1)) * std::numeric_limits<T>::epsilon();
    }
  }
  return x;
}

/// Second operands: as the first, or so near the first in size that neither is lost beside the other, or small.
template <class T>
std::vector<T> second_arguments(const std::vector<T>& x, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> y = arguments<T>(seed + 1);
  std::uniform_real_distribution<double> factor(-2, 2);
  std::shuffle(y.begin(), y.end(), random);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (random() % 2 == 0) y[i] = static_cast<T>(factor(random)) * x[i];
  return y;
}

template <class T>
std::vector<std::complex<T>> complex_arguments(unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<std::complex<T>> z;
  while (z.size() < complex_argument_count) {
    constexpr double ranges[] = {1, 4, 30};
    const double range = ranges[z.size() % 3];
    double re = uniform(-range, range), im = uniform(-range, range);
    switch (random() % 4) {
      case 0: re *= std::exp2(uniform(-30, 0)); break;
      case 1: im *= std::exp2(uniform(-30, 0)); break;
      case 2: {  // on the unit circle, where the logarithm's real part vanishes
        const double length = std::hypot(re, im);
        re /= length, im /= length;
        break;
      }
      default: break;
    }
    z.emplace_back(static_cast<T>(re), static_cast<T>(im));
  }
  return z;
}

template <op Code, class T>
std::vector<T> evaluate(const dsl::array<T>& x, const dsl::array<T>& y, const dsl::array<T>& z) {
  using row = written_row<Code>;
  dsl::array<T> result;
  if constexpr (dsl::info(Code).arity == 1) result = row::of(x);
  else if constexpr (dsl::info(Code).arity == 2) result = row::of(x, y);
  else result = row::of(x, y, z);
  return result.copy_to_host();
}

bool on_gpu() { return dsl::device::current().kind == dsl::backend::cuda; }

struct measured { worst found; double bound; bool within() const { return found.error <= bound; } };

template <class T>
struct real_operands {
  std::vector<T> x = arguments<T>(1), y = second_arguments(x, 2), z = second_arguments(x, 3);
  dsl::array<T> dx = dsl::to_device(x), dy = dsl::to_device(y), dz = dsl::to_device(z);

  template <op Code> measured measure() const {
    const accuracy::bound row = accuracy::bound_of(Code, on_gpu());
    const std::vector<T> got = evaluate<Code>(dx, dy, dz);
    const worst found = accuracy::measure(Code, x.size(), x.data(), y.data(), z.data(), got.data(), row.absolute(sizeof(T) == 4));
    return {found, row.ulps(sizeof(T) == 4) + 0.5};
  }
  void print(int arity, std::size_t i) const {
    const T* const all[] = {x.data(), y.data(), z.data()};
    constexpr int digits = std::numeric_limits<T>::max_digits10;
    for (int k = 0; k < arity; ++k) std::printf("%s%.*g", k == 0 ? "" : ",", digits, static_cast<double>(all[k][i]));
  }
};

template <class T>
struct complex_operands {
  std::vector<std::complex<T>> x = complex_arguments<T>(1), y = complex_arguments<T>(2);
  dsl::array<std::complex<T>> dx = dsl::to_device(x), dy = dsl::to_device(y);

  template <op Code> measured measure() const {
    const auto got = evaluate<Code>(dx, dy, dy);
    return {accuracy::measure(Code, x.size(), x.data(), y.data(), got.data()), accuracy::complex_bound_of(Code)};
  }
  void print(int arity, std::size_t i) const {
    const std::complex<T>* const all[] = {x.data(), y.data()};
    constexpr int digits = std::numeric_limits<T>::max_digits10;
    for (int k = 0; k < arity; ++k) {
      const std::complex<double> z = all[k][i];
      std::printf("%s(%.*g,%.*g)", k == 0 ? "" : ",", digits, z.real(), digits, z.imag());
    }
  }
};

/// One row of the table. What stands in it without a space in between is one column, so that table.sh can read it.
template <op Code, class Narrow, class Wide>
bool report(const char* kind, const Narrow& narrow, const Wide& wide) {
  const measured a = narrow.template measure<Code>(), b = wide.template measure<Code>();
  const int arity = dsl::info(Code).arity;
  std::printf("%-8s %-12s", kind, dsl::info(Code).name);
  for (const measured& m : {a, b}) std::printf(m.found.error < 1e5 ? " %9.2f %7.1f " : " %9.1e %7.1f ", m.found.error, m.bound);
  std::printf(" ");
  narrow.print(arity, a.found.at);
  std::printf("  ");
  wide.print(arity, b.found.at);
  std::printf("%s\n", a.within() && b.within() ? "" : "  TOO LARGE");
  std::fflush(stdout);
  return a.within() && b.within();
}

struct selection {
  int count;
  char** names;
  bool has(op code) const {
    return count == 0 || std::any_of(names, names + count, [&](std::string_view name) { return name == dsl::info(code).name; });
  }
};

template <std::size_t... I>
bool real_functions(const selection& chosen, std::index_sequence<I...>) {
  const real_operands<float> narrow;
  const real_operands<double> wide;
  constexpr auto& table = accuracy::bounds_table;
  bool all = true;
  ((all &= !chosen.has(table[I].code) || report<table[I].code>("real", narrow, wide)), ...);
  return all;
}
template <std::size_t... I>
bool complex_functions(const selection& chosen, std::index_sequence<I...>) {
  const complex_operands<float> narrow;
  const complex_operands<double> wide;
  constexpr auto& table = accuracy::complex_bounds_table;
  bool all = true;
  ((all &= !chosen.has(table[I].code) || report<table[I].code>("complex", narrow, wide)), ...);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const selection chosen{argc - 1, argv + 1};
  std::printf("# %s, %s\n", dsl::device::current().name().c_str(), dsl::properties(dsl::device::current()).name);
  std::printf("# kind   function      float32   bound    float64   bound  worst at\n");
  bool all = real_functions(chosen, std::make_index_sequence<std::size(accuracy::bounds_table)>{});
  all &= complex_functions(chosen, std::make_index_sequence<std::size(accuracy::complex_bounds_table)>{});
  return all ? 0 : 1;
}
