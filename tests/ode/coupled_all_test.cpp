// The eighth order of a method whose twelve stages have a mean each.
#include "coupled.hpp"

namespace {

ON_EVERY_DEVICE(coupled);

TEST_P(coupled, fehlberg8_is_of_order_8) { expect_order(8, 8, dsl::ode::fehlberg8(mean_field)); }

}  // namespace
