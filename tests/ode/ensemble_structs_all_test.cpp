// Ensembles of structs of arrays, and of arrays of structs.
#include "one_device.hpp"

#include <dsl/hana.hpp>
#include <dsl/ode.hpp>

namespace {

#include <docs/ensembles/structs.inc>
template <class K, class M, class T>
struct spring {
  BOOST_HANA_DEFINE_STRUCT(spring, (K, stiffness), (M, mass), (T, damping));
};
template <class O, class H>
struct heated {
  BOOST_HANA_DEFINE_STRUCT(heated, (O, body), (H, heat));
};

struct ensemble_structs : on_one_device {};
ON_EVERY_DEVICE(ensemble_structs);

using arrays = oscillator<dsl::array<double>, dsl::array<double>>;
constexpr dsl::ode::tolerance fine{.relative = 1e-9, .absolute = 1e-12};
constexpr auto swings = [](auto o, auto s) {
  auto slope = o;
  slope.position = o.velocity;
  slope.velocity = -(s.stiffness * o.position + s.damping * o.velocity) / s.mass;
  return slope;
};
constexpr auto swings_flat = [](auto x, auto v, auto k, auto m, auto d) {
  return std::tuple{v, -(k * x + d * v) / m};
};

// The same bits as the ensemble of the members.
TEST_P(ensemble_structs, are_their_members) {
  arrays o{dsl::linspace(1.0, 2.0, 70), dsl::zeros<double>(70)};
  dsl::array<double> x = o.position, v = o.velocity;
  const spring<dsl::array<double>, dsl::scalar<double>, double> s{dsl::linspace(1.0, 9.0, 70), 2.0,
                                                                  0.25};
  const std::vector<double> times{0.5, 1};
  const auto got =
      dsl::ode::ensemble(swings, dsl::state(o), 0.0, 1.0, fine, s, dsl::ode::save_at(times));
  const auto flat = dsl::ode::ensemble(swings_flat, dsl::state(x, v), 0.0, 1.0, fine, s.stiffness,
                                       s.mass, 0.25, dsl::ode::save_at(times));
  EXPECT_TRUE(dsl::all(o.position == x && o.velocity == v && got.steps == flat.steps).value());
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(got.saved<0>())>,
                               oscillator<dsl::array<double, 2>, dsl::array<double, 2>>>);
  EXPECT_TRUE(dsl::all(got.saved<0>().position == flat.saved<0>()).value());
  EXPECT_TRUE(dsl::all(got.saved<0>().velocity == flat.saved<1>()).value());
}
// Structs in structs beside a field, with the time and an event, and views of an array of structs.
TEST_P(ensemble_structs, nest_and_have_events) {
  std::vector<oscillator<double, double>> host(5, {1.0, 0.0});
  auto all = dsl::to_device(host);
  heated<oscillator<dsl::view<double>, dsl::view<double>>, dsl::array<double>> state{
      dsl::members(all), dsl::zeros<double>(5)};
  dsl::array<double> clock = dsl::zeros<double>(5);
  const auto rhs = dsl::ode::with_time([](auto t, auto h, auto, auto k) {
    auto slope = h;
    slope.body.position = h.body.velocity;
    slope.body.velocity = -k * h.body.position;
    slope.heat = h.body.velocity * h.body.velocity;
    return std::tuple{slope, 2 * t};
  });
  // At each turn the body stops being where it is and begins again.
  const auto turns = dsl::ode::event([](auto h, auto, auto) { return h.body.position; },
                                     [](auto h, auto c, auto) {
                                       auto reset = h;
                                       reset.body.position = 1 + 0 * h.body.position;
                                       reset.body.velocity = 0 * h.body.velocity;
                                       return std::tuple{reset, c};
                                     },
                                     dsl::ode::keep_times(2));
  const auto stops = dsl::ode::event(
      dsl::ode::with_time([](auto t, auto, auto, auto) { return t - 4; }), dsl::ode::ends);
  const auto got = dsl::ode::ensemble(rhs, dsl::state(state, clock), 0.0, 9.0, fine, 1.0, turns,
                                      stops, dsl::ode::save_every(1, 200));
  const double quarter = 1.5707963267948966;
  const auto now = all.copy_to_host();
  EXPECT_NEAR(now[4].position, std::cos(4 - 2 * quarter), 1e-8);
  EXPECT_NEAR(now[4].velocity, -std::sin(4 - 2 * quarter), 1e-8);
  EXPECT_NEAR(clock(3).value(), 16, 1e-8);
  EXPECT_NEAR(got.event_times<0>()(0, 0).value(), quarter, 1e-9);
  EXPECT_NEAR(got.event_times<0>()(1, 2).value(), 2 * quarter, 1e-9);
  // The clock is the square of the time in every row.
  const auto& times = got.saved_times();
  EXPECT_LT(dsl::nanmax(abs(got.saved<1>() - times * times)).value(), 1e-8);
  EXPECT_EQ(dsl::sum(dsl::isfinite(got.saved<0>().body.position)).value(),
            dsl::sum(got.steps - got.rejected).value());
  EXPECT_EQ(got.saved<0>().heat.rank, 2);
}
// The Jacobian is derived through structs too.
TEST_P(ensemble_structs, have_stiff_methods) {
  arrays o{dsl::ones<double>(9), dsl::zeros<double>(9)};
  const spring<double, double, double> s{1000.0, 1.0, 1001.0};
  const auto got =
      dsl::ode::ensemble(swings, dsl::state(o), 0.0, 2.0, fine, s, dsl::ode::method::rodas5p);
  const double expected = (1000 * std::exp(-2.0) - std::exp(-2000.0)) / 999;
  EXPECT_NEAR(o.position(8).value(), expected, 1e-8);
  EXPECT_LT(dsl::max(got.steps).value(), 200);
}

TEST_P(ensemble_structs, of_the_page) {
#include <docs/ensembles/structs-2.inc>
  const dsl::array<double> turned = sqrt(dsl::linspace(1.0, 9.0, 100));
  EXPECT_LT(dsl::max(abs(o.position - cos(turned))).value(), 1e-2);
  EXPECT_EQ(dsl::max(abs(positions(0) - 1)).value(), 0);
  EXPECT_LT(dsl::max(abs(positions(10) - o.position)).value(), 1e-12);
}

}  // namespace
