// Random numbers. Not part of dsl.hpp.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/lang/random.hpp>
#include <dsl/lang/random_generator.hpp>
