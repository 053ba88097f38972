// Windows of adjacent elements, and convolutions. Not part of dsl.hpp, because few programs use
// them.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/lang/convolve.hpp>
#include <dsl/lang/sliding_window.hpp>
