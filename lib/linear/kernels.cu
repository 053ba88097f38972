// The kernels of this component: small systems, and what the libraries need beside.
#include <type_traits>

#include "cuda/calls.hpp"
#include "linear/gpu.hpp"
#include "linear/small_systems.hpp"
#include "linear/systems.hpp"

namespace dsl::detail {

namespace {

// A block copies the matrices of its systems to shared memory, because a thread's own lie apart
// from its neighbours', and the solutions back through it.
template <class T, int N> inline constexpr int threads_of_systems = [] {
  constexpr int fit = (36 << 10) / static_cast<int>(sizeof(T) * (N * N + N + 2)) / 32 * 32;
  return fit < 32 ? 32 : fit > 128 ? 128 : fit;
}();

// Copies `count` pieces of `Size` elements to rows of `Step`, or back. For a whole block's number
// of pieces, which is the common case, several accesses of a thread are on their way at once.
template <int Threads, int Size, int Step, class Copy>
__device__ void copy_pieces(int count, const Copy& copy) {
  const int mine = static_cast<int>(threadIdx.x);
  constexpr int at_once = Size < 12 ? Size : 8;
  const auto one = [&](int i) { copy(i / Size, i / Size * Step + i % Size, i % Size); };
  if (count == Threads) {
#pragma unroll at_once
    for (int k = 0; k < Size; ++k) one(mine + k * Threads);
  } else {
    for (int i = mine; i < count * Size; i += Threads) one(i);
  }
}

template <class T, int N>
__global__ void __launch_bounds__(threads_of_systems<T, N>) solve_small(small_systems<T> all) {
  constexpr int threads = threads_of_systems<T, N>, size = N * N, step = size | 1,
                vector_step = N | 1;
  __shared__ __align__(16) unsigned char shared[sizeof(T) * threads * (step + vector_step)];
  T* const tile = reinterpret_cast<T*>(shared);
  T* const vectors = tile + threads * step;
  const std::int64_t first = std::int64_t{blockIdx.x} * threads;
  const int count = static_cast<int>(all.count - first < threads ? all.count - first : threads),
            mine = static_cast<int>(threadIdx.x);
  const bool are_vectors = all.right_sides == 1;
  copy_pieces<threads, size, step>(count, [&](int system, int at, int element) {
    tile[at] = all.a[(first + system) * all.next_a + element];
  });
  if (are_vectors)
    copy_pieces<threads, N, vector_step>(count, [&](int system, int at, int element) {
      vectors[at] = all.b[(first + system) * all.next_b + element];
    });
  __syncthreads();
  if (mine < count) {
    small_factors<T, N> factors;
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
      for (int j = 0; j < N; ++j) factors.lu[i][j] = tile[mine * step + i * N + j];
    factors.factorize();
    if (are_vectors) {
      T x[N];
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] = vectors[mine * vector_step + i];
      factors.solve(x);
#pragma unroll
      for (int i = 0; i < N; ++i) vectors[mine * vector_step + i] = x[i];
    } else {
      factors.solve_all(all.b + (first + mine) * all.next_b,
                        all.x + (first + mine) * N * all.right_sides, all.right_sides);
    }
  }
  if (!are_vectors) return;
  __syncthreads();
  copy_pieces<threads, N, vector_step>(count, [&](int system, int at, int element) {
    all.x[(first + system) * N + element] = vectors[at];
  });
}

__global__ void list_matrices(char* first, std::int64_t bytes, void** list, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) list[i] = first + i * bytes;
}

// Elements are counted in real numbers: `parts` of them are one.
template <class Real>
__global__ void finish_cholesky(Real* a, std::int64_t size, int parts, std::int64_t all,
                                const int* status) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= all) return;
  const std::int64_t element = i / parts, matrix = element / (size * size),
                     row = element / size % size, column = element % size;
  if (status[matrix] != 0) a[i] = Real(NAN);
  else if (column > row) a[i] = 0;
}

// A block looks at one matrix. `lower`: at its lower triangle alone.
template <class Real>
__global__ void find_nan(const Real* a, std::int64_t columns, int parts, std::int64_t size,
                         bool lower, int* found) {
  bool is_nan = false;
  for (std::int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    const std::int64_t row = i / parts / columns, column = i / parts % columns;
    const Real x = a[blockIdx.x * size + i];
    is_nan |= x != x && (!lower || column <= row);
  }
  const int any = __syncthreads_or(is_nan);
  if (threadIdx.x == 0) found[blockIdx.x] = any;
}

template <class Real>
__global__ void refuse(Real* results, std::int64_t size, std::int64_t all, const int* status,
                       const int* has_nan) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < all && (status[i / size] != 0 || has_nan[i / size] != 0)) results[i] = Real(NAN);
}

// vh: the first `rows` columns of each of all_u, which follow each other. u: the conjugates of v,
// rows for columns.
template <class Real>
__global__ void finish_svd(const Real* all_u, const Real* v, Real* u, Real* vh, std::int64_t rows,
                           std::int64_t columns, int parts, std::int64_t of_vh, std::int64_t all) {
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= all) return;
  if (i < of_vh) {
    const std::int64_t size = rows * columns * parts;
    vh[i] = all_u[i / size * columns * columns * parts + i % size];
    return;
  }
  i -= of_vh;
  const std::int64_t element = i / parts, matrix = element / (rows * rows),
                     row = element / rows % rows, column = element % rows;
  const int part = static_cast<int>(i % parts);
  const Real from = v[((matrix * rows + column) * rows + row) * parts + part];
  u[i] = part == 1 ? -from : from;
}

unsigned blocks_for(std::int64_t elements) { return static_cast<unsigned>((elements + 255) / 256); }

// Calls use(x) with a null pointer to the real numbers of a dtype, of which `parts` are an element.
template <class Use>
void with_reals(dtype type, const Use& use) {
  const int parts = kind_of(type) == kind::complex ? 2 : 1;
  if (real_of(type) == dtype::float32) use(static_cast<float*>(nullptr), parts);
  else use(static_cast<double*>(nullptr), parts);
}

}  // namespace

template <class T>
void solve_small_on_gpu(const small_systems<T>& all, std::int64_t unknowns, const stream& on) {
  const cuda::current_device current(on.where().index);
  with_unknowns(unknowns, [&](auto n) {
    constexpr int N = n, threads = threads_of_systems<T, N>;
    solve_small<T, N><<<static_cast<unsigned>((all.count + threads - 1) / threads), threads, 0,
                        cuda::native(on.native())>>>(all);
  });
  cuda::check(cudaGetLastError(), "launching the kernel of small systems");
}
template void solve_small_on_gpu(const small_systems<float>&, std::int64_t, const stream&);
template void solve_small_on_gpu(const small_systems<double>&, std::int64_t, const stream&);
template void solve_small_on_gpu(const small_systems<dsl::complex<float>>&, std::int64_t,
                                 const stream&);
template void solve_small_on_gpu(const small_systems<dsl::complex<double>>&, std::int64_t,
                                 const stream&);

void list_on_gpu(void* first, std::int64_t bytes, void** list, std::int64_t count,
                 cudaStream_t stream) {
  list_matrices<<<static_cast<unsigned>((count + 127) / 128), 128, 0, stream>>>(
      static_cast<char*>(first), bytes, list, count);
  cuda::check(cudaGetLastError(), "launching a kernel that lists matrices");
}

void finish_cholesky_on_gpu(dtype type, void* a, std::int64_t size, std::int64_t count,
                            const int* status, cudaStream_t stream) {
  with_reals(type, [&](auto* reals, int parts) {
    const std::int64_t all = size * size * count * parts;
    finish_cholesky<<<blocks_for(all), 256, 0, stream>>>(static_cast<decltype(reals)>(a), size,
                                                         parts, all, status);
  });
  cuda::check(cudaGetLastError(), "launching a kernel that ends Cholesky's factors");
}

void find_nan_on_gpu(dtype type, const void* a, std::int64_t rows, std::int64_t columns, bool lower,
                     std::int64_t count, int* found, cudaStream_t stream) {
  with_reals(type, [&](auto* reals, int parts) {
    find_nan<<<static_cast<unsigned>(count), 128, 0, stream>>>(
        static_cast<const std::remove_pointer_t<decltype(reals)>*>(a), columns, parts,
        rows * columns * parts, lower, found);
  });
  cuda::check(cudaGetLastError(), "launching a kernel that looks for NaN");
}

void refuse_on_gpu(dtype type, void* results, std::int64_t size, std::int64_t count,
                   const int* status, const int* has_nan, cudaStream_t stream) {
  with_reals(type, [&](auto* reals, int parts) {
    const std::int64_t all = size * count * parts;
    refuse<<<blocks_for(all), 256, 0, stream>>>(static_cast<decltype(reals)>(results), size * parts,
                                                all, status, has_nan);
  });
  cuda::check(cudaGetLastError(), "launching a kernel that ends decompositions");
}

void finish_svd_on_gpu(dtype type, const void* all_u, const void* v, void* u, void* vh,
                       std::int64_t rows, std::int64_t columns, std::int64_t count,
                       cudaStream_t stream) {
  with_reals(type, [&](auto* reals, int parts) {
    using pointer = decltype(reals);
    using read = const std::remove_pointer_t<pointer>*;
    const std::int64_t of_vh = rows * columns * count * parts,
                       all = of_vh + rows * rows * count * parts;
    finish_svd<<<blocks_for(all), 256, 0, stream>>>(
        static_cast<read>(all_u), static_cast<read>(v), static_cast<pointer>(u),
        static_cast<pointer>(vh), rows, columns, parts, of_vh, all);
  });
  cuda::check(cudaGetLastError(), "launching a kernel that ends singular values");
}

}  // namespace dsl::detail
