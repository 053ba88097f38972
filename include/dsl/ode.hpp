// Ordinary differential equations. Not included by dsl.hpp. Included bottom-up, as in dsl.hpp.
#pragma once

#include <dsl/ode/integrate.hpp>
#include <dsl/ode/integrate_gradient.hpp>
#include <dsl/ode/sde.hpp>
#include <dsl/ode/sensitivity.hpp>
#include <dsl/ode/stepper.hpp>

#include <dsl/ode/ensemble.hpp>

#include <dsl/ode/ensemble_gradient.hpp>
