// Formulas whose compiled kernels and host loops check.py inspects: some thirty, each with a name.
// Most pass their result through `named`, which generates no code.
#include "../rk4.hpp"

#include <dsl/fft.hpp>
#include <dsl/ode.hpp>
#include <dsl/scan.hpp>

template <class Name> constexpr auto named = dsl::vectorize<Name>([](auto x) { return x; });

using floats = dsl::array<float>;
using doubles = dsl::array<double>;
using halves = dsl::array<dsl::half>;
using bytes = dsl::array<std::int8_t>;
using matrix = dsl::array<float, 2>;
using field = dsl::array<c32, 2>;

// Elements of one dtype.
struct add;
struct exponential;
struct scaled_sum;
struct three_operands;
struct power;
struct sine_of_doubles;
struct selection;
struct divided_integers;
struct black_scholes;
void elements(floats& y, floats& z, const floats& a, const floats& b, const floats& c, doubles& d,
              dsl::array<int>& i) {
  y = named<add>(a + b);
  y = named<exponential>(exp(a));
  y = named<scaled_sum>(2 * a + b);
  y = named<three_operands>(a * exp(-b * b) + sqrt(abs(c)));
  y = named<power>(pow(a, b));
  d = named<sine_of_doubles>(sin(d));
  y = named<selection>(dsl::where(a < b, dsl::min(a, c), b));
  i = named<divided_integers>(i / 7);
  dsl::tie(y, z) = dsl::vectorize<black_scholes>([](auto stock, auto strike, auto years) {
    const auto normal = [](auto deviations) { return 0.5f * erfc(-0.70710678f * deviations); };
    auto deviation = 0.3f * sqrt(years);
    auto d1 = (log(stock / strike) + 0.065f * years) / deviation;
    auto d2 = d1 - deviation;
    auto discounted = strike * exp(-0.02f * years);
    return std::tuple{stock * normal(d1) - discounted * normal(d2),
                      discounted * normal(-d2) - stock * normal(-d1)};
  })(a, b, c);
}

// Elements of 8 and 16 bits, alone and with wider ones.
struct add_halves;
struct exponential_of_halves;
struct half_beside_float;
struct add_bytes;
struct byte_beside_double;
struct choice_by_mask;
void small_elements(halves& h, const halves& g, floats& a, bytes& k, const bytes& l, doubles& d,
                    const dsl::array<bool>& mask) {
  h = named<add_halves>(h + g);
  h = named<exponential_of_halves>(exp(h));
  a = named<half_beside_float>(h * 2 + a);
  k = named<add_bytes>(k + l);
  d = named<byte_beside_double>(k + d);
  a = named<choice_by_mask>(dsl::where(mask, a, 2 * a));
}

// Steps of integration: four stages written out and by ode::rk4 (by_hand.cu is the reference); one
// with a sum; one of thirteen stages, which is called and not inlined; a loop.
struct rk4;
struct rk4_by_ode;
struct rk4_with_sum;
struct thirteen_stages;
struct rk4_loop;
void steps(field& F, field& G, dsl::scalar<c32>& d, float h) {
  dsl::tie(F, G) = dsl::vectorize<rk4>(rk4_fields)(F, G, d, h);
  dsl::tie(F, G) = dsl::ode::rk4<rk4_by_ode>(coupled_fields)(F, G, d, h);
  const auto feedback = [](auto F, auto) { return dsl::sum(F); };
  dsl::tie(F, G, d) = dsl::ode::rk4<rk4_with_sum>(coupled_fields, feedback)(F, G, d, h);
  dsl::tie(F, G) = dsl::ode::fehlberg8<thirteen_stages>(coupled_fields)(F, G, d, h);
  dsl::iterate(100, dsl::ode::rk4<rk4_loop>(coupled_fields, feedback), dsl::state(F, G, d), h);
}

// Reductions of all elements, and a scan.
struct total;
struct total_of_bytes;
struct dot;
struct variance;
struct index_of_largest;
void reductions(dsl::scalar<float>& s, dsl::scalar<std::int64_t>& n, const floats& a,
                const floats& b, const bytes& k, doubles& d, dsl::scalar<double>& correlation) {
  s = dsl::sum(named<total>(a));
  n = dsl::sum(named<total_of_bytes>(k));
  s = named<dot>(dsl::dot(a, b));
  s = dsl::var(named<variance>(a));
  n = dsl::argmax(named<index_of_largest>(a));
  d = dsl::cumsum(d);
  using dsl::mean, dsl::var;
  correlation = (mean(d * d) - mean(d) * mean(d)) / sqrt(var(d) * var(d));
}

// Operands by row, by column, gathered, neighbours, pairs.
struct rows_and_columns;
struct transposed;
struct gathered;
struct sums_of_rows;
struct softmax;
struct heat_by_slices;
struct heat_by_shift;
struct patches;
struct sums_of_pairs;
void matrices(matrix& y, const matrix& m, const matrix& row, const matrix& column, floats& sums,
              const dsl::array<int>& i) {
  y = named<rows_and_columns>(m * row + column);
  y = named<transposed>(m + dsl::transpose(m));
  sums = named<gathered>(dsl::take(sums, i));
  sums = dsl::sum(named<sums_of_rows>(m), dsl::axis(1));
  const auto shifted = exp(m - dsl::max(m, dsl::axis(1), dsl::keep_dims));
  y = named<softmax>(shifted / dsl::sum(shifted, dsl::axis(1), dsl::keep_dims));
  y = (m - dsl::mean(m, dsl::axis(1), dsl::keep_dims)) /
      dsl::std(m, dsl::axis(1), dsl::keep_dims);  // standardised
  const dsl::slice inside(1, -1), before(0, -2), after(2, dsl::end);
  auto interior = y(inside, inside);
  interior = named<heat_by_slices>(
      m(inside, inside) + 0.1f * (m(before, inside) + m(after, inside) + m(inside, before) +
                                  m(inside, after) - 4 * m(inside, inside)));
  constexpr auto wall = dsl::boundary::clamp;
  y = named<heat_by_shift>(m +
                           0.1f * (dsl::shift(m, 1, wall, 0) + dsl::shift(m, -1, wall, 0) +
                                   dsl::shift(m, 1, wall, 1) + dsl::shift(m, -1, wall, 1) - 4 * m));
  y = dsl::vectorize<patches>([](auto x) {
    auto sum = -12 * x;
    for (int k = 1; k <= 3; ++k)
      for (int axis = 0; axis < 2; ++axis)
        sum = sum + dsl::shift(x, k, wall, axis) + dsl::shift(x, -k, wall, axis);
    return x + 0.1f * sum;
  })(m);
  const auto distance = column - row;
  sums = dsl::sum(named<sums_of_pairs>(1 / (1 + distance * distance)), dsl::axis(1));
}

// Formulas and transforms of rows.
struct split_step;
void transforms(field& psi, const field& phase) {
  psi = named<split_step>(dsl::ifft<4096>(phase * dsl::fft<4096>(psi)));
}
