// Scans (cumsum, cumprod, scan) beside everything else: not in dsl.hpp, for they bring four kernels
// of their own.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/lang/scan.hpp>
