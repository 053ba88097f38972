// Measures the largest error of every floating point function on the current device, and fails if
// one exceeds its bound (bounds.hpp). Rounding, comparisons and decompositions are exact;
// tests/numpy compares them bit for bit. interpreted_test.cpp measures fewer arguments of the same
// functions.
//
//   accuracy [a function's name...]      DSL_DEVICE=host|sim|cuda chooses the device
#include "../written_rows.hpp"
#include "arguments.hpp"
#include "bounds.hpp"
#include "reference.hpp"

#include <algorithm>
#include <complex>
#include <cstdio>
#include <limits>
#include <string_view>

namespace {

using accuracy::worst;
using dsl::op;

template <class T> constexpr std::size_t argument_count = sizeof(T) == 4 ? 1 << 17 : 1 << 15;
constexpr std::size_t complex_argument_count = 1 << 14;

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

struct measured {
  worst found;
  double bound;
  bool within() const { return found.error <= bound; }
};

template <class T>
struct real_operands {
  std::vector<T> x = accuracy::arguments<T>(argument_count<T>, 1),
                 y = accuracy::second_arguments(x, 2), z = accuracy::second_arguments(x, 3);
  dsl::array<T> dx = dsl::to_device(x), dy = dsl::to_device(y), dz = dsl::to_device(z);

  template <op Code> measured measure() const {
    const accuracy::bound row = accuracy::bound_of(Code, on_gpu());
    const std::vector<T> got = evaluate<Code>(dx, dy, dz);
    const worst found = accuracy::measure(Code, x.size(), x.data(), y.data(), z.data(), got.data(),
                                          row.absolute(sizeof(T) == 4));
    return {found, row.ulps(sizeof(T) == 4) + 0.5};
  }
  void print(int arity, std::size_t i) const {
    const T* const all[] = {x.data(), y.data(), z.data()};
    constexpr int digits = std::numeric_limits<T>::max_digits10;
    for (int k = 0; k < arity; ++k)
      std::printf("%s%.*g", k == 0 ? "" : ",", digits, static_cast<double>(all[k][i]));
  }
};

template <class T>
struct complex_operands {
  // Arguments of moderate size; for functions of one operand, arguments with all exponents follow.
  std::vector<std::complex<T>> x = accuracy::complex_arguments<T>(complex_argument_count, 1),
                               y = accuracy::complex_arguments<T>(complex_argument_count, 2);
  dsl::array<std::complex<T>> dy = dsl::to_device(y), dx;
  complex_operands() {
    const auto others = accuracy::complex_arguments_of_all_exponents<T>(complex_argument_count, 3);
    x.insert(x.end(), others.begin(), others.end());
    dx = dsl::to_device(x);
  }

  template <op Code> measured measure() const {
    const std::int64_t count = dsl::info(Code).arity == 1 ? dx.size() : dy.size();
    const dsl::array<std::complex<T>> given = dx(dsl::slice(0, count));
    const auto got = evaluate<Code>(given, dy, dy);
    return {accuracy::measure(Code, got.size(), x.data(), y.data(), got.data()),
            accuracy::complex_bound_of(Code)};
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

/// One row of the table. Columns are separated by two or more spaces, for table.sh.
template <op Code, class Narrow, class Wide>
bool report(const char* kind, const Narrow& narrow, const Wide& wide) {
  const measured a = narrow.template measure<Code>(), b = wide.template measure<Code>();
  const int arity = dsl::info(Code).arity;
  std::printf("%-8s %-12s", kind, dsl::info(Code).name);
  for (const measured& m : {a, b})
    std::printf(m.found.error < 1e5 ? " %9.2f %7.1f " : " %9.1e %7.1f ", m.found.error, m.bound);
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
    return count == 0 || std::any_of(names, names + count, [&](std::string_view name) {
             return name == dsl::info(code).name;
           });
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
  std::printf("# %s, %s\n", dsl::device::current().name().c_str(),
              dsl::properties(dsl::device::current()).name);
  std::printf("# kind   function      float32   bound    float64   bound  worst at\n");
  bool all = real_functions(chosen, std::make_index_sequence<std::size(accuracy::bounds_table)>{});
  all &= complex_functions(chosen,
                           std::make_index_sequence<std::size(accuracy::complex_bounds_table)>{});
  return all ? 0 : 1;
}
