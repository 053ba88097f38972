// Discrete Fourier transforms, by NumPy's names and conventions. A component of its own, dsl::fft,
// which links cuFFT, and KissFFT or FFTW.
#pragma once

#include <dsl/dsl.hpp>
#include <dsl/fft/frequencies.hpp>
#include <dsl/fft/real_transforms.hpp>
#include <dsl/fft/row_transforms.hpp>
#include <dsl/fft/transforms.hpp>
