// The module that the tests of Python modules import.
#include <complex>

#include <dsl/ode.hpp>
#include <dsl/python.hpp>
#include <dsl/python/ensemble.hpp>
#include <dsl/scan.hpp>

using namespace std::complex_literals;
using c32 = std::complex<float>;
using c64 = std::complex<double>;
template <class T> using vector = dsl::array<T>;
template <class T> using matrix = dsl::array<T, 2>;

const auto twice = dsl::vectorize([](auto x) { return x + x; });
#include <docs/python/from-a-numba-function.inc>
#include <docs/python/results.inc>
const auto standardise =
    dsl::vectorize([](auto x) { return (x - dsl::mean(x)) / sqrt(dsl::var(x)); });
const auto sum_of_both =
    dsl::vectorize([](auto x, auto y) { return std::tuple{x + y, dsl::sum(x + y)}; });
const auto decay = dsl::vectorize([](auto x, auto rate) { return x * (1 - rate); });
const auto rotate = dsl::vectorize([](auto F, auto d, auto h) {
  auto next = F + h * 1i * d * F;
  return std::tuple{next, dsl::sum(next) / 2};
});
const auto diffuse = dsl::vectorize([](auto u, auto rate) {
  const auto ring = dsl::boundary::wrap;
  return u + rate * (dsl::shift(u, 1, ring, 0) + dsl::shift(u, -1, ring, 1) - 2 * u);
});
const auto packed = dsl::vectorize(
    [](auto x, auto low, auto high) { return dsl::cast<std::int64_t>(x) * 0 + low + high; });
const auto mixed = dsl::vectorize(
    [](auto z, auto keep, auto a, auto b) { return dsl::where(keep, z, 0 * z) * a + b; });
const auto bell = dsl::value_and_grad<0>([](auto x, auto k) { return exp(-k * x * x); });
const auto busy = dsl::vectorize([](auto x) { return sin(cos(sin(cos(sin(cos(sin(cos(x)))))))); });
#include <docs/python/ensembles.inc>
const auto decline = [](auto y, auto rate) { return -rate * y; };
const auto fall = [](auto height, auto velocity, auto gravity) {
  return std::tuple{velocity, 0 * height - gravity};
};
const auto ground = dsl::ode::event([](auto height, auto, auto) { return height; }, dsl::ode::ends,
                                    dsl::ode::falling, dsl::ode::keep_times(2));

DSL_PYTHON_MODULE(formulas, m) {
  m.kernel<vector<bool>>("twice", twice, "x + x, of any dtype.")
      .kernel<vector<std::int8_t>>("twice", twice)
      .kernel<vector<std::int16_t>>("twice", twice)
      .kernel<vector<std::int32_t>>("twice", twice)
      .kernel<vector<std::int64_t>>("twice", twice)
      .kernel<vector<std::uint8_t>>("twice", twice)
      .kernel<vector<std::uint16_t>>("twice", twice)
      .kernel<vector<std::uint32_t>>("twice", twice)
      .kernel<vector<std::uint64_t>>("twice", twice)
      .kernel<vector<dsl::half>>("twice", twice)
      .kernel<vector<dsl::bfloat16>>("twice", twice)
      .kernel<dsl::python::any_rank<float>>("twice", twice)
      .kernel<vector<double>>("twice", twice)
      .kernel<vector<c32>>("twice", twice)
      .kernel<vector<c64>>("twice", twice);
  m.kernel<matrix<float>, vector<float>>("outer_sum", [](auto a, auto b) { return a + b; });
  m.kernel<vector<float>>("sum_and_max", sum_and_max);
  m.kernel<vector<float>>("standardise", standardise);
#include <docs/python/from-a-numba-function-2.inc>
#include <docs/python/results-2.inc>
  m.kernel<vector<float>>("largest", [](auto x) {
     return dsl::max(x);
   }).kernel<matrix<float>>("largest", [](auto x) { return dsl::max(x, dsl::axis(0)); });
  m.kernel<dsl::python::any_rank<float>, dsl::python::any_rank<float>>("sum_of_both", sum_of_both);
  m.kernel<vector<float>>("copy", [](auto x) { return x; });
  m.kernel<vector<float>, dsl::scalar<float>>("shifted", [](auto x, auto by) { return x + by; });
  m.kernel<vector<std::int32_t>, std::uint8_t, std::int64_t>("packed", packed);
  m.kernel<vector<c32>, bool, float, c32>("mixed", mixed);
  m.kernel<vector<double>>("busy", busy);
  m.kernel<vector<double>, double>("bell", bell);
  m.loop<dsl::python::any_rank<float>, float>("decay", decay, "x * (1 - rate), again and again.");
  m.loop<vector<c32>, dsl::scalar<c32>, float>("rotate", rotate);
  m.loop<matrix<float>, float>("diffuse", diffuse);
#include <docs/python/ensembles-2.inc>
#include <docs/python/ensembles-3.inc>
  m.ensemble<dsl::python::any_rank<float>, dsl::python::any_rank<float>>("decline", decline,
                                                                         "y' = -rate y.")
      .ensemble<vector<c64>, dsl::scalar<c64>>("decline", decline, "",
                                               dsl::python::times<vector<double>, double>,
                                               dsl::ode::method::rk4, dsl::ode::fixed_steps(200));
  m.ensemble<vector<double>, vector<double>, double>("fall", fall, "", ground);
}
