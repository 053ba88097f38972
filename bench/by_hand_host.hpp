// Plain loops over n elements, which the compiler vectorises, by one thread; and the same with the
// standard library's parallel algorithms.
#pragma once

#include <complex>
#include <cstdint>

namespace bench::by_hand {

void add(float* out, const float* a, const float* b, std::int64_t n);
void exp(float* out, const float* a, std::int64_t n);
void exp(double* out, const double* a, std::int64_t n);
void sin(float* out, const float* a, std::int64_t n);
void sin(double* out, const double* a, std::int64_t n);
void pow(float* out, const float* a, const float* b, std::int64_t n);
void pow(double* out, const double* a, const double* b, std::int64_t n);
void square_and_add(float* out, const float* a, std::int64_t n);
void square_and_add(double* out, const double* a, std::int64_t n);
void three_operands(float* out, const float* a, const float* b, const float* c, std::int64_t n);
void black_scholes(float* call, float* put, const float* stock, const float* strike,
                   const float* years, float rate, float volatility, std::int64_t n);
float sum(const float* a, std::int64_t n);
float dot(const float* a, const float* b, std::int64_t n);
float min(const float* a, std::int64_t n);
void sum_of_rows(float* out, const float* m, std::int64_t rows, std::int64_t columns);
void sum_of_columns(float* out, const float* m, std::int64_t rows, std::int64_t columns);
void cumsum(float* out, const float* a, std::int64_t n);
void weighted(double* out, const double* a, std::int64_t n);
void fill(float* out, float value, std::int64_t n);
void add_by_key(float* sums, const std::int32_t* keys, const float* values, std::int64_t n);
/// Standard deviations, from sums and sums of squares.
void deviations_by_key(float* out, const std::int32_t* keys, const float* values, std::int64_t n,
                       std::int64_t groups);
void take(float* out, const float* from, const std::int32_t* at, std::int64_t n);
void heat(float* out, const float* m, std::int64_t side);
void heat(double* out, const double* m, std::int64_t side);
/// Steps of the coupled fields (works.hpp), with the mean of F fed back.
void rk4_steps(std::complex<float>* F, std::complex<float>* G, std::complex<float>* delta, float h,
               std::int64_t n, std::int64_t steps);

}  // namespace bench::by_hand

namespace bench::par_unseq {

void add(float* out, const float* a, const float* b, std::int64_t n);
void exp(float* out, const float* a, std::int64_t n);
void three_operands(float* out, const float* a, const float* b, const float* c, std::int64_t n);
float sum(const float* a, std::int64_t n);
float dot(const float* a, const float* b, std::int64_t n);

}  // namespace bench::par_unseq
