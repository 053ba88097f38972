// Interoperation with other GPU code: pointers from cudaMalloc, thrust::device_vector, foreign
// streams, managed memory.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#endif

#include <dsl/dsl.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace {

void check(cudaError_t status) { ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status); }

struct foreign_cuda : testing::Test {
  void SetUp() override {
    if (dsl::devices().front().kind != dsl::backend::cuda) GTEST_SKIP() << "no GPU";
    guard.emplace(dsl::device("cuda:0"));
  }
  std::optional<dsl::device_guard> guard;
};

__global__ void write_slowly(float* to, int n, float value, long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {}
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    to[i] = value;
}
constexpr long long slowly = 20'000'000;  // some 10 ms

bool all_are(const std::vector<float>& values, float wanted) {
  return std::all_of(values.begin(), values.end(), [wanted](float v) { return v == wanted; });
}

TEST_F(foreign_cuda, finds_the_device_of_an_address) {
  void *device = nullptr, *managed = nullptr, *locked = nullptr, *of_pool = nullptr;
  std::vector<float> host(1000, 1);
  check(cudaMalloc(&device, 4096));
  check(cudaMallocManaged(&managed, 4096));
  check(cudaMallocHost(&locked, 4096));
  check(cudaMallocAsync(&of_pool, 4096, nullptr));
  EXPECT_EQ(dsl::device_of(device), dsl::device("cuda:0"));
  EXPECT_EQ(dsl::device_of(managed), dsl::device("cuda:0"));
  EXPECT_EQ(dsl::device_of(of_pool), dsl::device("cuda:0"));
  EXPECT_EQ(dsl::device_of(locked), dsl::backend::host);
  EXPECT_EQ(dsl::device_of(host.data()), dsl::backend::host);
  EXPECT_THROW((void)dsl::view(static_cast<float*>(device), 1000, dsl::backend::host),
               dsl::device_error);
  EXPECT_THROW((void)dsl::view(static_cast<float*>(device), 1000, dsl::backend::sim),
               dsl::device_error);
  int pageable = 0;
  check(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0));
  if (pageable == 0) {
    EXPECT_THROW((void)dsl::view(host.data(), 1000, dsl::device("cuda:0")), dsl::device_error);
  }
  dsl::view(static_cast<float*>(managed), 1000, dsl::backend::host) = 3.f;
  const dsl::view read(static_cast<float*>(managed), 1000);
  const dsl::view locked_here(static_cast<float*>(locked), 1000, dsl::device("cuda:0"));
  locked_here = 2 * read + read;
  dsl::device("cuda:0").synchronize();
  EXPECT_EQ(static_cast<float*>(locked)[999], 9);
  check(cudaFree(device));
  check(cudaFree(managed));
  check(cudaFreeHost(locked));
  check(cudaFreeAsync(of_pool, nullptr));
}

TEST_F(foreign_cuda, uses_device_vectors_in_place) {
  thrust::device_vector<float> x(100'003), y(100'003, 1.f);
  thrust::sequence(x.begin(), x.end());
  const dsl::view in(std::as_const(x));
  dsl::view out(y);
  static_assert(std::is_same_v<decltype(in), const dsl::view<const float, 1>> &&
                std::is_same_v<decltype(out), dsl::view<float, 1>>);
  out = 2 * in + out;
  EXPECT_EQ(float(y[100'002]), 200'005);
  EXPECT_EQ(float(y[0]), 1);
  // One float past a vector's start, where no 16-byte access is possible.
  dsl::view(thrust::raw_pointer_cast(y.data()) + 1, 100'002) =
      2 * in(dsl::slice(1, dsl::end)) + in(dsl::slice(1, dsl::end));
  EXPECT_EQ(float(y[100'002]), 300'006);
  EXPECT_EQ(float(y[0]), 1);
  thrust::device_vector<float> moved = y;
  dsl::array<float> z;
  {
    const dsl::view taken(std::move(moved));
    z = 2 * taken + taken;
  }
  EXPECT_EQ(z(1).value(), 9);
}

TEST_F(foreign_cuda, shows_mdspans) {
#if __has_include(<cuda/std/mdspan>)
  thrust::device_vector<float> x(6);
  thrust::sequence(x.begin(), x.end());
  float* const data = thrust::raw_pointer_cast(x.data());
  const cuda::std::mdspan<float, cuda::std::dextents<int, 2>, cuda::std::layout_left> left(data, 2,
                                                                                           3);
  const cuda::std::mdspan<const float, cuda::std::extents<int, 3, 2>> right(data);
  EXPECT_EQ(dsl::view(left).copy_to_host(), (std::vector<float>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(dsl::view(right).copy_to_host(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
#else
  GTEST_SKIP() << "no cuda::std::mdspan";
#endif
}

// Foreign kernels run before and after the library's, on a stream that does not synchronise with
// the default one.
TEST_F(foreign_cuda, is_in_order_with_a_stream_made_elsewhere) {
  constexpr int n = 1 << 20;
  cudaStream_t theirs{};
  check(cudaStreamCreateWithFlags(&theirs, cudaStreamNonBlocking));
  float* memory = nullptr;
  check(cudaMalloc(&memory, n * sizeof(float)));
  check(cudaMemset(memory, 0, n * sizeof(float)));
  check(cudaDeviceSynchronize());
  const dsl::array<float> zeros = dsl::zeros<float>(n);
  dsl::array<float> y(n);
  for (int round = 1; round <= 3; ++round) {
    const auto value = static_cast<float>(round);
    {
      const dsl::stream s(theirs);
      EXPECT_EQ(s.where(), dsl::device("cuda:0"));
      const dsl::stream_guard on(s);
      write_slowly<<<64, 256, 0, theirs>>>(memory, n, value, slowly);
      const dsl::view x(memory, n);
      y = 2 * x + zeros;
      {  // on a stream of the library's, after the slow kernel and before the next one
        const dsl::stream other;
        const dsl::stream_guard elsewhere(other);
        x = 2 * x + zeros;
      }
    }
    write_slowly<<<64, 256, 0, theirs>>>(memory + n / 2, n / 2, -1, slowly);
    check(cudaStreamSynchronize(theirs));
    std::vector<float> now(n);
    check(cudaMemcpy(now.data(), memory, n * sizeof(float), cudaMemcpyDefault));
    EXPECT_EQ(now[0], 2 * value);
    EXPECT_EQ(now[n - 1], -1);
    // y was written on their stream, which may no longer exist at its next use.
    if (round == 3) check(cudaStreamDestroy(theirs));
    y = 2 * y + zeros;
    EXPECT_TRUE(all_are(y.copy_to_host(), 4 * value)) << round;
  }
  check(cudaFree(memory));
}

// A stream may end while work is queued on it: other streams see its writes, and its memory is
// freed after it.
TEST_F(foreign_cuda, outlives_a_stream_made_elsewhere) {
  constexpr int n = 1 << 20;
  cudaStream_t theirs{};
  check(cudaStreamCreateWithFlags(&theirs, cudaStreamNonBlocking));
  std::optional<dsl::array<float>> x, y;
  {
    const dsl::stream s(theirs);
    const dsl::stream_guard on(s);
    x.emplace(dsl::zeros<float>(n));
    write_slowly<<<64, 256, 0, theirs>>>(x->data(), n, 3, slowly);
  }
  check(cudaStreamDestroy(theirs));  // returns at once, and the kernel runs on
  y.emplace(2 * *x + *x);
  x.reset();
  const dsl::array<float> again = dsl::full<float>(7, n);  // may reuse x's memory
  EXPECT_TRUE(all_are(y->copy_to_host(), 9));
  EXPECT_TRUE(all_are(again.copy_to_host(), 7));
}

// Views of the same memory on several streams.
TEST_F(foreign_cuda, orders_views_of_the_same_memory) {
  constexpr int n = 1 << 20;
  float* memory = nullptr;
  check(cudaMalloc(&memory, n * sizeof(float)));
  check(cudaMemset(memory, 0, n * sizeof(float)));
  const dsl::view all(memory, n), half(memory + n / 2, n / 2);
  const dsl::stream a, b;
  const dsl::array<float> zeros = dsl::zeros<float>(n / 2);
  dsl::array<float> y(n / 2);
  for (int i = 0; i < 20; ++i) {
    {
      const dsl::stream_guard on(a);
      write_slowly<<<64, 256, 0, static_cast<cudaStream_t>(a.native())>>>(
          memory, n, static_cast<float>(i), slowly / 20);
      all = 2 * all + all;
    }
    const dsl::stream_guard on(b);
    y = 2 * half + zeros;
    half = 2 * zeros + zeros;
    EXPECT_TRUE(all_are(y.copy_to_host(), 6 * static_cast<float>(i))) << i;
  }
  dsl::device("cuda:0").synchronize();
  check(cudaFree(memory));
}

// The program continues while a copy waits for its turn. After the wait the copy is complete.
TEST_F(foreign_cuda, copies_beside_the_program) {
  constexpr int n = 1 << 20;
  dsl::pinned_array<float> in(n), out(n);
  std::fill(in.begin(), in.end(), 4.f);
  std::fill(out.begin(), out.end(), 0.f);
  dsl::array<float> x(n);
  dsl::device("cuda:0").synchronize();
  write_slowly<<<64, 256>>>(x.data(), n, 1, 5 * slowly);
  x.copy_from_host_async(in);
  x.copy_to_host_async(out);
  EXPECT_EQ(out[n - 1], 0);  // the kernel takes some 50 ms
  out.wait();
  EXPECT_EQ(out[n - 1], 4);
}

}  // namespace
