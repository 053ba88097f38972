// Random numbers, beside everything else: not in dsl.hpp.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/lang/random.hpp>
