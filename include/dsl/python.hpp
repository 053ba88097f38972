// Python modules made of formulas: DSL_PYTHON_MODULE.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/python/module.hpp>
