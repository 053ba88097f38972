// Elementwise kernels for any formula, as a CUDA programmer writes them, and the same with CUB and
// Thrust.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/zip_function.h>
#include <cub/device/device_transform.cuh>

#include <cuda/std/tuple>

#include "check.cuh"
#include "works.hpp"

namespace bench {

/// A complex number with its arithmetic written out.
template <class T> struct alignas(2 * sizeof(T)) pair {
  T re, im;
  __device__ friend pair operator+(pair a, pair b) { return {a.re + b.re, a.im + b.im}; }
  __device__ friend pair operator*(pair a, pair b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// CUDA's own type of a dtype's elements.
template <class T> struct native { using type = T; };
template <> struct native<dsl::half> { using type = __half; };
template <> struct native<dsl::bfloat16> { using type = __nv_bfloat16; };
template <class T> struct native<std::complex<T>> { using type = pair<T>; };
template <class T> struct native<const T> { using type = const typename native<T>::type; };

template <class T, int R> auto* pointer(const dsl::view<T, R>& v) {
  return reinterpret_cast<typename native<T>::type*>(v.data());
}

template <class T> struct alignas(16) sixteen_bytes { T lane[16 / sizeof(T)]; };

template <class F, class T, class... In> __global__ void sixteen_bytes_a_thread(F f, std::int64_t n,
                                                                                T* out,
                                                                                const In*... in) {
  constexpr int lanes = 16 / sizeof(T);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                     first = i * lanes;
  if (first + lanes <= n) {
    const auto all = [&](const auto&... vector) {
      sixteen_bytes<T> result;
#pragma unroll
      for (int k = 0; k < lanes; ++k) result.lane[k] = f(vector.lane[k]...);
      return result;
    };
    reinterpret_cast<sixteen_bytes<T>*>(out)[i] =
        all(sixteen_bytes<In>(reinterpret_cast<const sixteen_bytes<In>*>(in)[i])...);
  } else {
    for (std::int64_t k = first; k < n; ++k) out[k] = f(in[k]...);
  }
}

template <class F, class T, class... In> __global__ void one_element_a_thread(F f, std::int64_t n,
                                                                              T* out,
                                                                              const In*... in) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(in[i]...);
}

inline constexpr int block_by_hand = 256;
inline unsigned grid_by_hand(std::int64_t threads) {
  return static_cast<unsigned>((threads + block_by_hand - 1) / block_by_hand);
}

/// Calls `call` with the first N operands, in the order of the formula's parameters.
template <int N, class Arrays, class Call> void with_operands(const Arrays& x, Call call) {
  if constexpr (N == 1) call(pointer(x.out), pointer(x.a));
  else if constexpr (N == 2) call(pointer(x.out), pointer(x.a), pointer(x.b));
  else call(pointer(x.out), pointer(x.a), pointer(x.b), pointer(x.c));
}

/// A peer that computes all elements of a formula; F computes one element from N parameters.
template <class F, int N> struct by_sixteen_bytes {
  template <class Arrays> void operator()(const Arrays& x) const {
    with_operands<N>(x, [&](auto* out, auto*... in) {
      const std::int64_t lanes = 16 / sizeof(*out);
      sixteen_bytes_a_thread<<<grid_by_hand((x.n + lanes - 1) / lanes), block_by_hand, 0,
                               stream()>>>(F{}, x.n, out, in...);
    });
  }
};
template <class F, int N> struct by_element {
  template <class Arrays> void operator()(const Arrays& x) const {
    with_operands<N>(x, [&](auto* out, auto*... in) {
      one_element_a_thread<<<grid_by_hand(x.n), block_by_hand, 0, stream()>>>(F{}, x.n, out, in...);
    });
  }
};
template <class F, int N> struct by_cub {
  template <class Arrays> void operator()(const Arrays& x) const {
    with_operands<N>(x, [&](auto* out, auto*... in) {
      check(cub::DeviceTransform::Transform(cuda::std::make_tuple(in...), out, x.n, F{}, stream()));
    });
  }
};
template <class F, int N> struct by_thrust {
  template <class Arrays> void operator()(const Arrays& x) const {
    with_operands<N>(x, [&](auto* out, auto*... in) {
      const auto all = thrust::make_zip_iterator(in...);
      thrust::transform(thrust::cuda::par_nosync.on(stream()), all, all + x.n, out,
                        thrust::make_zip_function(F{}));
    });
  }
};

}  // namespace bench
