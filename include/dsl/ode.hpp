// Ordinary differential equations. Not part of dsl.hpp.
#pragma once

#include <dsl/ode/integrate.hpp>
#include <dsl/ode/sde.hpp>
#include <dsl/ode/stepper.hpp>
