// Helpers of the tests of integration.
#pragma once

#include "../on_device.hpp"

#include <dsl/ode.hpp>

struct integrate : on_device {};
