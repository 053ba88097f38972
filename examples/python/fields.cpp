// A module of Python: a Runge-Kutta step of two coupled complex fields and the mean of one, as one
// kernel and as a time loop. See coupled_fields.py beside it.
#include <complex>

#include <dsl/python.hpp>

using namespace std::complex_literals;
using c32 = std::complex<float>;
using field = dsl::array<c32, 2>;

constexpr auto dF = [](auto F, auto G, auto d) { return -2i * F - 1i * d * (2 * G - 1); };
constexpr auto dG = [](auto F, auto d) { return -1i * (conj(d) * F - d * conj(F)); };

const auto step = dsl::vectorize([](auto F, auto G, auto d, auto h) {
  auto F1 = dF(F, G, d), G1 = dG(F, d);
  auto F2 = dF(F + h / 2 * F1, G + h / 2 * G1, d), G2 = dG(F + h / 2 * F1, d);
  auto F3 = dF(F + h / 2 * F2, G + h / 2 * G2, d), G3 = dG(F + h / 2 * F2, d);
  auto F4 = dF(F + h * F3, G + h * G3, d), G4 = dG(F + h * F3, d);
  auto next = F + h / 6 * (F1 + 2 * F2 + 2 * F3 + F4);
  return std::tuple{next, G + h / 6 * (G1 + 2 * G2 + 2 * G3 + G4), dsl::mean(next)};
});

DSL_PYTHON_MODULE(fields, m) {
  m.kernel<field, field, dsl::scalar<c32>, float>(
      "rk4", step, "One step of h: F and G after it, and the mean of F.");
  m.loop<field, field, dsl::scalar<c32>, float>("integrate", step,
                                                "Many steps, with the mean fed back.");
}
