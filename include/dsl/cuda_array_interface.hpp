// The CUDA Array Interface. Not part of dsl.hpp.
#pragma once

#include <dsl/mem/cuda_array_interface.hpp>
