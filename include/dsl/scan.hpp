// Scans: cumsum, cumprod, scan. Not part of dsl.hpp, because they bring four kernels of their own.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/lang/scan.hpp>
