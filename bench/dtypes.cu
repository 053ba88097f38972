// Measures one formula and one function in every dtype, each with 2^29 bytes an operand.
#include "by_hand.cuh"

namespace bench {
namespace {

struct sum_of_two {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
  __device__ bool operator()(bool a, bool b) const { return a || b; }
};

template <class T> constexpr std::int64_t count =
    (std::int64_t{1} << 29) / static_cast<std::int64_t>(sizeof(T));

template <class T> void sums() {
  for (const std::int64_t n : {count<T>, count<T> + 1})
    add<T>(n).by("hand", by_sixteen_bytes<sum_of_two, 2>{}).by("CUB", by_cub<sum_of_two, 2>{});
}

template <class T, class F> void exponentials() {
  for (const std::int64_t n : {count<T>, count<T> + 1})
    exponential<T>(n).by("hand", by_sixteen_bytes<F, 1>{}).by("CUB", by_cub<F, 1>{});
}
template <class T> struct exponential_of {
  __device__ T operator()(T a) const {
    return static_cast<T>(::exp(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(a)));
  }
};

const rows all([] {
  sums<bool>();
  sums<std::int8_t>();
  sums<std::int16_t>();
  sums<std::int32_t>();
  sums<std::int64_t>();
  sums<std::uint8_t>();
  sums<std::uint16_t>();
  sums<std::uint32_t>();
  sums<std::uint64_t>();
  sums<dsl::half>();
  sums<dsl::bfloat16>();
  sums<double>();
  sums<c32>();
  sums<std::complex<double>>();
  add<std::int32_t>(20'000'000)
      .by("hand", by_sixteen_bytes<sum_of_two, 2>{})
      .by("CUB", by_cub<sum_of_two, 2>{});
  exponentials<dsl::half, exponential_of<__half>>();
  exponentials<dsl::bfloat16, exponential_of<__nv_bfloat16>>();
  exponentials<double, exponential_of<double>>();
  exponential<c32>(count<c32>);
  exponential<std::complex<double>>(count<std::complex<double>>);
});

}  // namespace
}  // namespace bench
