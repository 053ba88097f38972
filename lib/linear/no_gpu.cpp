// In place of gpu.cpp where there is no CUDA toolkit: there is no GPU to call these for.
#include <dsl/ir/complex_number.hpp>

#include "linear/decompositions.hpp"
#include "linear/matrices.hpp"
#include "linear/small_systems.hpp"
#include "linear/systems.hpp"

namespace dsl::detail {

void multiply_on_gpu(const products&, const stream&) {}
void decompose_on_gpu(const cholesky_call&, const stream&) {}
void decompose_on_gpu(const eigh_call&, const stream&) {}
void decompose_on_gpu(const svd_call&, const stream&) {}
void solve_on_gpu(const large_systems&, const stream&) {}
template <class T>
void solve_small_on_gpu(const small_systems<T>&, std::int64_t, const stream&) {}
template void solve_small_on_gpu(const small_systems<float>&, std::int64_t, const stream&);
template void solve_small_on_gpu(const small_systems<double>&, std::int64_t, const stream&);
template void solve_small_on_gpu(const small_systems<dsl::complex<float>>&, std::int64_t,
                                 const stream&);
template void solve_small_on_gpu(const small_systems<dsl::complex<double>>&, std::int64_t,
                                 const stream&);

}  // namespace dsl::detail
