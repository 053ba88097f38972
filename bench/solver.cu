// Measures solvers, loops whose steps use their own sums: conjugate gradients, a flow that is
// normalised in each step, Runge-Kutta steps whose stages have a sum each or read neighbours, and
// oscillators on a graph. Peers are kernels by hand, and cuSPARSE with cuBLAS.
#include <cooperative_groups.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>

#include <dsl/ode.hpp>

#include "check.cuh"
#if defined(DSL_BENCH_CUSPARSE)
#include "cusparse.cuh"
#endif
#include "works.hpp"
#include "workspace.cuh"

namespace bench {
namespace {

using dsl::boundary;
using dsl::shift;
using dsl::strategy;
namespace cg = cooperative_groups;

constexpr int block = 256;
unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

template <class State, class Run> std::function<job()> of_state(std::int64_t size, Run run) {
  return [=] {
    const auto x = std::make_shared<State>(size);
    return job{[=] { run(*x); }, x->result(), [=] { x->start(); }};
  };
}

// ---- conjugate gradients, five points, zeros around the square

struct conjugate_gradients;
constexpr auto cg_step =
    dsl::vectorize<conjugate_gradients>([](auto x, auto r, auto p, auto squares) {
      const auto edge = boundary::zero;
      auto q = 4 * p - shift(p, 1, edge, 0) - shift(p, -1, edge, 0) - shift(p, 1, edge, 1) -
               shift(p, -1, edge, 1);
      auto alpha = squares / dsl::sum(p * q);
      auto next = r - alpha * q;
      auto next_squares = dsl::sum(next * next);
      return std::tuple{x + alpha * p, next, next + next_squares / squares * p, next_squares};
    });

struct cg_state {
  explicit cg_state(std::int64_t side)
      : side(static_cast<int>(side)),
        b(dsl::reshape(operand<float>(slot::a, side * side), side, side)),
        x(side, side),
        r(side, side),
        p(side, side),
        q(side, side) {}
  void start() {
    x = 0.0f;
    r = b;
    p = b;
    squares = dsl::sum(r * r);
  }
  dsl::view<float, 2> result() { return x.view(); }
  int side;
  dsl::view<const float, 2> b;
  dsl::array<float, 2> x, r, p, q;
  dsl::scalar<float> squares, product, next_squares;
};

__device__ float five_points(const float* p, int i, int j, int side) {
  const int at = i * side + j;
  float q = 4 * p[at];
  if (i > 0) q -= p[at - side];
  if (i + 1 < side) q -= p[at + side];
  if (j > 0) q -= p[at - 1];
  if (j + 1 < side) q -= p[at + 1];
  return q;
}

using block_sum = cub::BlockReduce<float, block>;

// Three kernels a step; sums are added atomically. Each kernel clears the sum that the next but one
// adds to.
__global__ void cg_product(const float* p, float* q, float* product, float* next_squares,
                           int side) {
  __shared__ typename block_sum::TempStorage memory;
  const int at = blockIdx.x * block + threadIdx.x, n = side * side;
  float mine = 0;
  if (at < n) {
    q[at] = five_points(p, at / side, at % side, side);
    mine = p[at] * q[at];
  }
  const float sum = block_sum(memory).Sum(mine);
  if (threadIdx.x == 0) atomicAdd(product, sum);
  if (at == 0) *next_squares = 0;
}
__global__ void cg_residual(float* x, float* r, const float* p, const float* q,
                            const float* squares, const float* product, float* next_squares,
                            int n) {
  __shared__ typename block_sum::TempStorage memory;
  const int at = blockIdx.x * block + threadIdx.x;
  const float alpha = *squares / *product;
  float mine = 0;
  if (at < n) {
    x[at] += alpha * p[at];
    r[at] -= alpha * q[at];
    mine = r[at] * r[at];
  }
  const float sum = block_sum(memory).Sum(mine);
  if (threadIdx.x == 0) atomicAdd(next_squares, sum);
}
__global__ void cg_direction(const float* r, float* p, const float* squares, float* product,
                             const float* next_squares, int n) {
  const int at = blockIdx.x * block + threadIdx.x;
  if (at < n) p[at] = r[at] + *next_squares / *squares * p[at];
  if (at == 0) *product = 0;
}

void cg_by_hand(cg_state& s, int steps) {
  const int n = s.side * s.side;
  const unsigned grid = blocks_for(n);
  float *squares = s.squares.data(), *next = s.next_squares.data();
  s.product = 0.0f;
  for (int k = 0; k < steps; ++k) {
    cg_product<<<grid, block, 0, stream()>>>(s.p.data(), s.q.data(), s.product.data(), next,
                                             s.side);
    cg_residual<<<grid, block, 0, stream()>>>(s.x.data(), s.r.data(), s.p.data(), s.q.data(),
                                              squares, s.product.data(), next, n);
    cg_direction<<<grid, block, 0, stream()>>>(s.r.data(), s.p.data(), squares, s.product.data(),
                                               next, n);
    std::swap(squares, next);
  }
  check(cudaGetLastError());
}

// One cooperative kernel: a thread keeps E elements of x, r and q in registers; p, whose neighbours
// are read, goes through memory. The sum of a phase is in one of two sets of places.
constexpr int cg_block = 512;
template <int E> __global__ void __launch_bounds__(cg_block, 2)
    cg_loop(float* x, float* r, float* p, const float* squares, float* places, int side,
            int steps) {
  using reduction = cub::BlockReduce<float, cg_block>;
  __shared__ typename reduction::TempStorage memory;
  __shared__ float shared;
  const cg::grid_group grid = cg::this_grid();
  const int n = side * side, first = blockIdx.x * cg_block + threadIdx.x,
            stride = gridDim.x * cg_block;
  const auto sum_of = [&](float mine, int phase) {
    mine = reduction(memory).Sum(mine);
    float* const all = places + phase * gridDim.x;
    if (threadIdx.x == 0) all[blockIdx.x] = mine;
    grid.sync();
    // A grid has fewer blocks than a block has threads.
    mine = reduction(memory).Sum(threadIdx.x < gridDim.x ? __ldcg(all + threadIdx.x) : 0.0f);
    if (threadIdx.x == 0) shared = mine;
    __syncthreads();
    return shared;
  };
  float mine_x[E], mine_r[E], mine_p[E], q[E], rr = *squares;
#pragma unroll
  for (int e = 0; e < E; ++e) {
    const int at = first + e * stride;
    mine_x[e] = at < n ? x[at] : 0;
    mine_r[e] = at < n ? r[at] : 0;
    mine_p[e] = at < n ? p[at] : 0;
  }
  for (int k = 0; k < steps; ++k) {
    float product = 0, next_rr = 0;
#pragma unroll
    for (int e = 0; e < E; ++e) {
      const int at = first + e * stride, i = at / side, j = at % side;
      q[e] = 4 * mine_p[e];
      if (at >= n) continue;
      if (i > 0) q[e] -= __ldcg(p + at - side);
      if (i + 1 < side) q[e] -= __ldcg(p + at + side);
      if (j > 0) q[e] -= __ldcg(p + at - 1);
      if (j + 1 < side) q[e] -= __ldcg(p + at + 1);
      product += mine_p[e] * q[e];
    }
    const float alpha = rr / sum_of(product, 0);
#pragma unroll
    for (int e = 0; e < E; ++e) {
      mine_x[e] += alpha * mine_p[e];
      mine_r[e] -= alpha * q[e];
      next_rr += mine_r[e] * mine_r[e];
    }
    next_rr = sum_of(next_rr, 1);
#pragma unroll
    for (int e = 0; e < E; ++e) {
      mine_p[e] = mine_r[e] + next_rr / rr * mine_p[e];
      if (first + e * stride < n) p[first + e * stride] = mine_p[e];
    }
    rr = next_rr;
    grid.sync();
  }
#pragma unroll
  for (int e = 0; e < E; ++e)
    if (first + e * stride < n) {
      x[first + e * stride] = mine_x[e];
      r[first + e * stride] = mine_r[e];
    }
}

// Whether the square fits in the registers of all multiprocessors at once.
constexpr int cg_blocks = 2 * 132, cg_most = 8;
constexpr bool fits_in_registers(std::int64_t side) {
  return side * side <= std::int64_t{cg_most} * cg_blocks * cg_block;
}
void cg_in_one_kernel(cg_state& s, float* places, int steps) {
  const int n = s.side * s.side, blocks = std::min((n + cg_block - 1) / cg_block, cg_blocks),
            each = (n + blocks * cg_block - 1) / (blocks * cg_block);
  float *x = s.x.data(), *r = s.r.data(), *p = s.p.data(), *squares = s.squares.data();
  int side = s.side;
  void* arguments[] = {&x, &r, &p, &squares, &places, &side, &steps};
  const auto kernel = each <= 1   ? cg_loop<1>
                      : each <= 2 ? cg_loop<2>
                      : each <= 4 ? cg_loop<4>
                                  : cg_loop<8>;
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                    dim3(static_cast<unsigned>(blocks)), dim3(cg_block), arguments,
                                    0, stream()));
}

#if defined(DSL_BENCH_CUSPARSE)
// alpha = squares / product, and its negative; beta = next_squares / squares, then squares =
// next_squares.
__global__ void find_alpha(const float* squares, const float* product, float* alpha) {
  alpha[0] = *squares / *product;
  alpha[1] = -alpha[0];
}
__global__ void find_beta(float* squares, const float* next_squares, float* beta) {
  *beta = *next_squares / *squares;
  *squares = *next_squares;
}

/// The matrix in compressed rows, multiplied by cuSPARSE; the rest by cuBLAS. All numbers stay on
/// the device.
class cg_by_libraries {
 public:
  explicit cg_by_libraries(cg_state& s) : s_(&s) {
    const int side = s.side, n = side * side;
    std::vector<int> begin{0}, columns;
    std::vector<float> values;
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        const auto add = [&](bool is_inside, int at, float value) {
          if (!is_inside) return;
          columns.push_back(at);
          values.push_back(value);
        };
        const int at = i * side + j;
        add(i > 0, at - side, -1);
        add(j > 0, at - 1, -1);
        add(true, at, 4);
        add(j + 1 < side, at + 1, -1);
        add(i + 1 < side, at + side, -1);
        begin.push_back(static_cast<int>(columns.size()));
      }
    begin_ = dsl::to_device(begin);
    columns_ = dsl::to_device(columns);
    values_ = dsl::to_device(values);
    factors_ = dsl::zeros<float>(3);
    check(cusparseCreate(&sparse_));
    check(cusparseSetStream(sparse_, stream()));
    check(cublasCreate(&blas_));
    check(cublasSetStream(blas_, stream()));
    check(cublasSetPointerMode(blas_, CUBLAS_POINTER_MODE_DEVICE));
    check(cusparseCreateCsr(&matrix_, n, n, static_cast<std::int64_t>(columns.size()),
                            begin_.data(), columns_.data(), values_.data(), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    check(cusparseCreateDnVec(&p_, n, s.p.data(), CUDA_R_32F));
    check(cusparseCreateDnVec(&q_, n, s.q.data(), CUDA_R_32F));
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, p_,
                                  &zero_, q_, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    memory_ = dsl::array<unsigned char>(static_cast<std::int64_t>(bytes) + 1);
  }
  ~cg_by_libraries() {
    cusparseDestroyDnVec(p_);
    cusparseDestroyDnVec(q_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(sparse_);
    cublasDestroy(blas_);
  }
  cg_by_libraries(const cg_by_libraries&) = delete;
  cg_by_libraries& operator=(const cg_by_libraries&) = delete;

  void run(int steps) {
    cg_state& s = *s_;
    const int n = s.side * s.side;
    float *alpha = factors_.data(), *beta = alpha + 2, *one = units_.data();
    for (int k = 0; k < steps; ++k) {
      check(cusparseSpMV(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, p_, &zero_, q_,
                         CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, memory_.data()));
      check(cublasSdot(blas_, n, s.p.data(), 1, s.q.data(), 1, s.product.data()));
      find_alpha<<<1, 1, 0, stream()>>>(s.squares.data(), s.product.data(), alpha);
      check(cublasSaxpy(blas_, n, alpha, s.p.data(), 1, s.x.data(), 1));
      check(cublasSaxpy(blas_, n, alpha + 1, s.q.data(), 1, s.r.data(), 1));
      check(cublasSdot(blas_, n, s.r.data(), 1, s.r.data(), 1, s.next_squares.data()));
      find_beta<<<1, 1, 0, stream()>>>(s.squares.data(), s.next_squares.data(), beta);
      check(cublasSscal(blas_, n, beta, s.p.data(), 1));
      check(cublasSaxpy(blas_, n, one, s.r.data(), 1, s.p.data(), 1));
    }
  }

 private:
  cg_state* s_;
  dsl::array<int> begin_, columns_;
  dsl::array<float> values_, factors_, units_ = dsl::ones<float>(1);
  dsl::array<unsigned char> memory_;
  const float one_ = 1, zero_ = 0;
  cusparseHandle_t sparse_{};
  cublasHandle_t blas_{};
  cusparseSpMatDescr_t matrix_{};
  cusparseDnVecDescr_t p_{}, q_{};
};
#endif

const rows gradients([] {
  constexpr int steps = 200;
  for (const std::int64_t side : {256, 512, 513, 1024, 2048, 4096}) {
    const auto by_dsl = [=](strategy how) {
      return of_state<cg_state>(side, [=](cg_state& s) {
        dsl::iterate(steps, cg_step, dsl::state(s.x, s.r, s.p, s.squares), how);
      });
    };
    // Reads and writes of x, r and p, which have to be moved only where they do not fit on the
    // chip.
    work w("solver", dsl::dtype::float32, shape_of(side, side), "200 steps of conjugate gradients",
           24.0 * static_cast<double>(steps * side * side), timing::call);
    w.within(1e-3)
        .by("dsl", by_dsl(strategy::automatic))
        .by("dsl launches", by_dsl(strategy::launches))
        .by("hand", of_state<cg_state>(side, [](cg_state& s) { cg_by_hand(s, steps); }));
    if (fits_in_registers(side))
      w.by("hand, cooperative", [=] {
        const auto s = std::make_shared<cg_state>(side);
        const auto places = std::make_shared<dsl::array<float>>(2 * cg_blocks);
        return job{[=] { cg_in_one_kernel(*s, places->data(), steps); }, s->result(),
                   [=] { s->start(); }};
      });
#if defined(DSL_BENCH_CUSPARSE)
    w.by("cuSPARSE", [=] {
      const auto s = std::make_shared<cg_state>(side);
      const auto libraries = std::make_shared<cg_by_libraries>(*s);
      return job{[=] { libraries->run(steps); }, s->result(), [=] { s->start(); }};
    });
#endif
  }
});

// ---- y = sin(x) + 0.3 x; x = y / norm(y)

struct normalised_flow;
constexpr auto flow_step = dsl::vectorize<normalised_flow>([](auto x) {
  auto y = sin(x) + 0.3f * x;
  return y / dsl::norm(y);
});

struct flow_state {
  explicit flow_state(std::int64_t n) : first(operand<float>(slot::a, n)), x(n), sums(2) {}
  void start() { x = first; }
  dsl::view<float> result() { return x.view(); }
  dsl::view<const float> first;
  dsl::array<float> x, sums;
};

__global__ void flow_sum(float* x, float* sums, int k, std::int64_t n) {
  __shared__ typename block_sum::TempStorage memory;
  float mine = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x; i < n;
       i += static_cast<std::int64_t>(gridDim.x) * block) {
    const float y = sinf(x[i]) + 0.3f * x[i];
    x[i] = y;
    mine += y * y;
  }
  mine = block_sum(memory).Sum(mine);
  if (threadIdx.x == 0) atomicAdd(sums + k % 2, mine);
}
__global__ void flow_divide(float* x, float* sums, int k, std::int64_t n) {
  const float factor = 1 / sqrtf(sums[k % 2]);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x;
  if (i < n) x[i] *= factor;
  if (i == 0) sums[(k + 1) % 2] = 0;
}

const rows flows([] {
  constexpr int steps = 200;
  for (const std::int64_t n : {1 << 16, 1 << 20, (1 << 20) + 1, 1 << 24}) {
    const auto by_dsl = [=](strategy how) {
      return of_state<flow_state>(
          n, [=](flow_state& s) { dsl::iterate(steps, flow_step, dsl::state(s.x), how); });
    };
    work("solver", dsl::dtype::float32, std::to_string(n),
         "200 steps of y = sin(x) + 0.3 x, x = y / norm(y)", 8.0 * static_cast<double>(steps * n),
         timing::call)
        .within(1e-3)
        .by("dsl", by_dsl(strategy::automatic))
        .by("dsl launches", by_dsl(strategy::launches))
        .by("hand", of_state<flow_state>(n, [](flow_state& s) {
              const std::int64_t n = s.x.size();
              s.sums = 0.0f;
              for (int k = 0; k < steps; ++k) {
                flow_sum<<<std::min(blocks_for(n), 132u * 8), block, 0, stream()>>>(
                    s.x.data(), s.sums.data(), k, n);
                flow_divide<<<blocks_for(n), block, 0, stream()>>>(s.x.data(), s.sums.data(), k, n);
              }
              check(cudaGetLastError());
            }));
  }
});

// ---- Runge-Kutta steps with a sum in each stage

struct summed_stages;
constexpr auto coupled_stages = dsl::ode::rk4<summed_stages>([](auto F, auto G, auto scale) {
  auto d = dsl::sum(scale * F);
  return std::tuple{c32(0, -2) * F - c32(0, 1) * d * (2 * G - 1),
                    c32(0, -1) * (conj(d) * F - d * conj(F))};
});

/// A stage in two kernels: the sum of the stage's F by CUB, then the derivatives and the next
/// stage's fields.
struct stage_fields {
  explicit stage_fields(std::int64_t side)
      : F(side, side),
        G(side, side),
        f(side, side),
        g(side, side),
        of_F(side, side),
        of_G(side, side) {}
  void start() {
    F = c32(0.01f, 0.02f);
    G = c32(0.9f);
  }
  dsl::view<c32, 2> result() { return F.view(); }
  dsl::array<c32, 2> F, G, f, g, of_F, of_G;  // Fields, those of the stage, sums of derivatives.
  dsl::scalar<c32> d;
};

struct complex_number { float re, im; };
__device__ complex_number operator+(complex_number a, complex_number b) {
  return {a.re + b.re, a.im + b.im};
}
__device__ complex_number operator*(float a, complex_number b) { return {a * b.re, a * b.im}; }
__device__ complex_number operator*(complex_number a, complex_number b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
struct scaled {
  float by;
  __device__ complex_number operator()(complex_number x) const { return by * x; }
};
struct plus {
  __device__ complex_number operator()(complex_number a, complex_number b) const { return a + b; }
};

// The stage's derivatives are added to the sums with a weight. The next stage's fields are `ahead`
// times the derivatives beyond those of the step's beginning; after the last one, the new fields.
__global__ void stage_by_hand(complex_number* F, complex_number* G, complex_number* f,
                              complex_number* g, complex_number* of_F, complex_number* of_G,
                              const complex_number* sum, int stage, float h, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x;
  if (i >= n) return;
  const complex_number d = *sum, now_f = f[i], now_g = g[i],
                       drive = d * complex_number{2 * now_g.re - 1, 2 * now_g.im},
                       a = complex_number{d.re, -d.im} * now_f,
                       b = d * complex_number{now_f.re, -now_f.im},
                       slope_f{2 * now_f.im + drive.im, -2 * now_f.re - drive.re},
                       slope_g{a.im - b.im, b.re - a.re};
  const float weight = stage == 1 || stage == 2 ? 2 : 1, ahead = stage < 2 ? h / 2 : h;
  const complex_number sum_f = (stage == 0 ? complex_number{} : of_F[i]) + weight * slope_f,
                       sum_g = (stage == 0 ? complex_number{} : of_G[i]) + weight * slope_g;
  of_F[i] = sum_f;
  of_G[i] = sum_g;
  if (stage < 3) {
    f[i] = F[i] + ahead * slope_f;
    g[i] = G[i] + ahead * slope_g;
  } else {
    f[i] = F[i] = F[i] + h / 6 * sum_f;
    g[i] = G[i] = G[i] + h / 6 * sum_g;
  }
}

const rows stages([] {
  constexpr int steps = 100;
  for (const std::int64_t side : {512, 513}) {
    const c32 scale(1.0f / static_cast<float>(side * side));
    const auto by_dsl = [=](strategy how) {
      return of_state<stage_fields>(side, [=](stage_fields& x) {
        dsl::iterate(steps, coupled_stages, dsl::state(x.F, x.G), scale, step_size, how);
      });
    };
    work("solver", dsl::dtype::complex64, shape_of(side, side),
         "100 RK4 steps, sum(F) in every stage", 32.0 * static_cast<double>(steps * side * side),
         timing::call)
        .within(1e-3)
        .by("dsl", by_dsl(strategy::automatic))
        .by("dsl launches", by_dsl(strategy::launches))
        .by("hand", [=] {
          const auto x = std::make_shared<stage_fields>(side);
          const std::int64_t n = side * side;
          const auto number = [](auto& of) { return reinterpret_cast<complex_number*>(of.data()); };
          auto sum = with_workspace([=](void* memory, std::size_t& size) {
            return cub::DeviceReduce::TransformReduce(memory, size, number(x->f), number(x->d), n,
                                                      plus{}, scaled{1.0f / static_cast<float>(n)},
                                                      complex_number{0, 0}, stream());
          });
          return job{[=]() mutable {
                       x->f = x->F;
                       x->g = x->G;
                       for (int k = 0; k < 4 * steps; ++k) {
                         sum();
                         stage_by_hand<<<blocks_for(n), block, 0, stream()>>>(
                             number(x->F), number(x->G), number(x->f), number(x->g),
                             number(x->of_F), number(x->of_G), number(x->d), k % 4, step_size, n);
                       }
                       check(cudaGetLastError());
                     },
                     x->result(), [=] { x->start(); }};
        });
  }
});

// ---- Runge-Kutta steps of the heat equation

constexpr float heat_h = 0.1f;
struct heat_stages;
constexpr auto heat_steps = dsl::ode::rk4<heat_stages>([](auto u) {
  const auto ring = boundary::wrap;
  return shift(u, 1, ring, 0) + shift(u, -1, ring, 0) + shift(u, 1, ring, 1) +
         shift(u, -1, ring, 1) - 4 * u;
});

struct heat_state {
  explicit heat_state(std::int64_t side)
      : first(dsl::reshape(operand<float>(slot::a, side * side), side, side)),
        u(side, side),
        stage(side, side),
        next(side, side),
        sum(side, side) {}
  void start() { u = first; }
  dsl::view<float, 2> result() { return u.view(); }
  dsl::view<const float, 2> first;
  dsl::array<float, 2> u, stage, next, sum;
};

// Reads the fields of this stage, and writes those of the next one, or after the last stage the
// new fields.
__global__ void heat_by_hand(float* u, const float* now, float* next, float* sum, int stage,
                             float h, int side) {
  const int at = blockIdx.x * block + threadIdx.x, i = at / side, j = at % side;
  if (at >= side * side) return;
  const float slope = now[(i + 1 < side ? i + 1 : 0) * side + j] +
                      now[(i > 0 ? i - 1 : side - 1) * side + j] +
                      now[i * side + (j + 1 < side ? j + 1 : 0)] +
                      now[i * side + (j > 0 ? j - 1 : side - 1)] - 4 * now[at];
  const float weight = stage == 1 || stage == 2 ? 2 : 1,
              total = (stage == 0 ? 0 : sum[at]) + weight * slope;
  if (stage < 3) {
    sum[at] = total;
    next[at] = u[at] + (stage < 2 ? h / 2 : h) * slope;
  } else {
    u[at] += h / 6 * total;
  }
}

const rows heat([] {
  constexpr int steps = 100;
  for (const std::int64_t side : {1024, 1025}) {
    work("solver", dsl::dtype::float32, shape_of(side, side), "100 RK4 steps of heat",
         8.0 * static_cast<double>(steps * side * side), timing::call)
        .within(1e-3)
        .by("dsl", of_state<heat_state>(side,
                                        [](heat_state& s) {
                                          dsl::iterate(steps, heat_steps, dsl::state(s.u), heat_h);
                                        }))
        .by("hand", of_state<heat_state>(side, [](heat_state& s) {
              const int side = static_cast<int>(s.u.extent(0));
              const unsigned grid = blocks_for(s.u.size());
              float *u = s.u.data(), *a = s.stage.data(), *b = s.next.data();
              for (int k = 0; k < steps; ++k) {
                const float* const read[] = {u, a, b, a};
                float* const written[] = {a, b, a, b};
                for (int stage = 0; stage < 4; ++stage)
                  heat_by_hand<<<grid, block, 0, stream()>>>(u, read[stage], written[stage],
                                                             s.sum.data(), stage, heat_h, side);
              }
              check(cudaGetLastError());
            }));
  }
});

// ---- oscillators on a graph

constexpr float graph_h = 0.01f;
struct graph_step;
constexpr auto oscillate =
    dsl::vectorize<graph_step>([](auto u, auto i, auto j, auto k, auto l, auto rate, auto h) {
      auto pull = sin(dsl::take(u, i) - u) + sin(dsl::take(u, j) - u) + sin(dsl::take(u, k) - u) +
                  sin(dsl::take(u, l) - u);
      return u + h * (rate + 0.25f * pull);
    });

struct graph_state {
  static constexpr int degree = 4;
  explicit graph_state(std::int64_t n)
      : first(operand<float>(slot::a, n)), rate(operand<float>(slot::b, n)), u(n), other(n) {
    std::mt19937 engine(1);
    std::vector<int> of_node(static_cast<std::size_t>(n));
    for (auto& list : neighbours) {
      for (int& each : of_node) each = static_cast<int>(engine() % static_cast<unsigned>(n));
      list = dsl::to_device(of_node);
    }
  }
  void start() { u = first; }
  dsl::view<float> result() { return u.view(); }
  dsl::view<const float> first, rate;
  dsl::array<float> u, other;
  dsl::array<int> neighbours[degree];
};

__global__ void oscillate_by_hand(float* next, const float* u, const int* i, const int* j,
                                  const int* k, const int* l, const float* rate, float h,
                                  std::int64_t n) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x;
  if (at >= n) return;
  const float mine = u[at], pull = sinf(u[i[at]] - mine) + sinf(u[j[at]] - mine) +
                                   sinf(u[k[at]] - mine) + sinf(u[l[at]] - mine);
  next[at] = mine + h * (rate[at] + 0.25f * pull);
}

const rows oscillators([] {
  constexpr int steps = 100;  // An even number: the last step writes u.
  for (const std::int64_t n : {1'000'000, 999'983})
    work("solver", dsl::dtype::float32, std::to_string(n),
         "100 steps of oscillators on a graph of degree 4", 28.0 * static_cast<double>(steps * n),
         timing::call)
        .within(1e-3)
        .by("dsl", of_state<graph_state>(n,
                                         [](graph_state& s) {
                                           dsl::iterate(steps, oscillate, dsl::state(s.u),
                                                        s.neighbours[0], s.neighbours[1],
                                                        s.neighbours[2], s.neighbours[3], s.rate,
                                                        graph_h);
                                         }))
        .by("hand", of_state<graph_state>(n, [](graph_state& s) {
              float *from = s.u.data(), *to = s.other.data();
              for (int k = 0; k < steps; ++k) {
                oscillate_by_hand<<<blocks_for(s.u.size()), block, 0, stream()>>>(
                    to, from, s.neighbours[0].data(), s.neighbours[1].data(),
                    s.neighbours[2].data(), s.neighbours[3].data(), s.rate.data(), graph_h,
                    s.u.size());
                std::swap(from, to);
              }
              check(cudaGetLastError());
            }));
});

}  // namespace
}  // namespace bench
