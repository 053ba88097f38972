// The CUDA Array Interface, beside everything else: not in dsl.hpp.
#pragma once

#include <dsl/mem/cuda_array_interface.hpp>
