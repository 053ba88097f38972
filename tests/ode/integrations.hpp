// What the tests of integration share.
#pragma once

#include "../on_device.hpp"

#include <dsl/ode.hpp>

struct integrate : on_device {};
