// The statements of docs/opencl.md on opencl:0 and, if there is a GPU, on cuda:0. Rows for
// opencl.py, which runs this program: statement, elements, device, milliseconds of a call (the
// median of several measurements), sum of the results.
//
// usage: bench_opencl [LOG2]     the largest arrays have 2^LOG2 elements, and one more
#include <dsl/dsl.hpp>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "timed.hpp"

using namespace std::complex_literals;

namespace {

using std::int64_t;
using complex = std::complex<float>;

/// Element i of operand k: from 0.5 to 1.5, as in opencl.py.
template <class T> T element(int64_t i, int64_t k) {
  return static_cast<T>(0.5 + static_cast<double>((i * 7919 + k * 131) % 1021) / 1021);
}
template <class T> dsl::array<T> operand(int64_t n, int64_t k) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& v = values[static_cast<std::size_t>(i)];
    if constexpr (std::is_same_v<T, complex>) v = {element<float>(i, k), element<float>(i, k + 1)};
    else v = element<T>(i, k);
  }
  return dsl::to_device(values);
}

double sum_of(const std::vector<complex>& values) {
  double sum = 0;
  for (const complex& v : values)
    sum += static_cast<double>(v.real()) + static_cast<double>(v.imag());
  return sum;
}
template <class T> double sum_of(const std::vector<T>& values) {
  double sum = 0;
  for (const T v : values) sum += static_cast<double>(v);
  return sum;
}
template <class T, int Rank> double sum_of(const dsl::array<T, Rank>& a) {
  return sum_of(a.copy_to_host());
}
template <class T> double sum_of(const dsl::scalar<T>& s) { return static_cast<double>(s.value()); }

/// Measures call(), whose result is `out`.
template <class Out, class Call>
void row(const char* statement, int64_t elements, const Out& out, const Call& call) {
  const double ms = milliseconds(call);
  std::printf("%s|%lld|dsl %s|%.6g|%.9g\n", statement, static_cast<long long>(elements),
              dsl::device::current().name().c_str(), ms, sum_of(out));
  std::fflush(stdout);
}

void elementwise(int64_t n) {
  const auto a = operand<float>(n, 0), b = operand<float>(n, 1);
  dsl::array<float> c(n);
  dsl::scalar<float> s;
  row("c = a + 2 * b", n, c, [&] { c = a + 2 * b; });
  row("c = exp(a) + b", n, c, [&] { c = exp(a) + b; });
  row("sum(a)", n, s, [&] { s = dsl::sum(a); });
}

void of_doubles(int64_t n) {
  const auto x = operand<double>(n, 0);
  dsl::array<double> y(n);
  row("y = 2 * x + 1 of doubles", n, y, [&] { y = 2 * x + 1; });
}

constexpr auto dF = [](auto F, auto G, auto d) { return -2if * F - 1if * d * (2 * G - 1); };
constexpr auto dG = [](auto F, auto d) { return -1if * (conj(d) * F - d * conj(F)); };
// F' = -2i F - i d (2 G - 1), G' = -i (conj(d) F - d conj(F)), a step of Runge-Kutta.
void runge_kutta(int64_t n) {
  const auto step = dsl::vectorize([](auto F, auto G, auto d, auto h) {
    auto F1 = dF(F, G, d), G1 = dG(F, d);
    auto F2 = dF(F + h / 2 * F1, G + h / 2 * G1, d), G2 = dG(F + h / 2 * F1, d);
    auto F3 = dF(F + h / 2 * F2, G + h / 2 * G2, d), G3 = dG(F + h / 2 * F2, d);
    auto F4 = dF(F + h * F3, G + h * G3, d), G4 = dG(F + h * F3, d);
    return std::tuple{F + h / 6 * (F1 + 2 * F2 + 2 * F3 + F4),
                      G + h / 6 * (G1 + 2 * G2 + 2 * G3 + G4)};
  });
  const auto F = operand<complex>(n, 0), G = operand<complex>(n, 2);
  dsl::array<complex> next_F(n), next_G(n);
  const complex d(0.25f, 0.5f);
  row("a Runge-Kutta step", n, next_F, [&] { dsl::tie(next_F, next_G) = step(F, G, d, 0.01f); });
}

void of_matrices(int64_t rows, int64_t columns) {
  const int64_t n = rows * columns;
  const auto all = operand<float>(n, 0), v = operand<float>(columns, 1);
  const auto m = dsl::reshape(all, rows, columns);
  dsl::array<float> across(rows), down(columns);
  dsl::array<float, 2> r(rows, columns);
  row("sum(m, axis(1))", n, across, [&] { across = dsl::sum(m, dsl::axis(1)); });
  row("sum(m, axis(0))", n, down, [&] { down = dsl::sum(m, dsl::axis(0)); });
  row("r = m + v", n, r, [&] { r = m + v; });
  row("r = exp(m - max(m, axis(1), keep_dims))", n, r,
      [&] { r = exp(m - dsl::max(m, dsl::axis(1), dsl::keep_dims)); });
  const auto wrap = dsl::boundary::wrap;
  row("a sum of five neighbours", n, r, [&] {
    r = m + dsl::shift(m, 1, wrap, 0) + dsl::shift(m, -1, wrap, 0) + dsl::shift(m, 1, wrap, 1) +
        dsl::shift(m, -1, wrap, 1);
  });
}

void measure(const char* device, int log2) {
  const dsl::device_guard on{dsl::device(device)};
  std::fprintf(stderr, "%s: %s\n", device, dsl::properties(dsl::device(device)).name);
  elementwise(1000);
  for (const int64_t more : {0, 1}) {
    const int64_t n = int64_t{1} << log2;
    elementwise(n + more);
    elementwise(n / 8 + more);
    of_doubles(n / 8 + more);
    runge_kutta(n / 8 + more);
    const int64_t rows = int64_t{1} << (log2 - 2) / 2;
    of_matrices(rows + more, n / 4 / rows + more);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int log2 = argc > 1 ? std::atoi(argv[1]) : 27;
  try {
    measure("opencl:0", log2);
    if (dsl::devices().front().kind == dsl::backend::cuda) measure("cuda:0", log2);
  } catch (const dsl::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
