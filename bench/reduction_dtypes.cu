// Measures sums in every dtype, each over 2^29 bytes.
#include <cub/device/device_reduce.cuh>

#include "works.hpp"
#include "workspace.cuh"

namespace bench {
namespace {

template <class T> constexpr std::int64_t count =
    (std::int64_t{1} << 29) / static_cast<std::int64_t>(sizeof(T));

template <class T, class R = T> void sum_of() {
  for (const std::int64_t n : {count<T>, count<T> + 1}) sum<T, R>(n);
}
template <class T, class R = T> void sum_beside_cub() {
  for (const std::int64_t n : {count<T>, count<T> + 1})
    sum<T, R>(n).by("CUB", [](const reduced<T, R>& x) {
      return with_workspace([=](void* memory, std::size_t& size) {
        return cub::DeviceReduce::Sum(memory, size, x.a.data(), x.out.data(), x.n, stream());
      });
    });
}

const rows dtypes([] {
  sum_of<bool, std::int64_t>();
  sum_beside_cub<std::int8_t, std::int64_t>();
  sum_of<std::int16_t, std::int64_t>();
  sum_beside_cub<std::int32_t, std::int64_t>();
  sum_beside_cub<std::int64_t>();
  sum_of<std::uint8_t, std::uint64_t>();
  sum_of<std::uint16_t, std::uint64_t>();
  sum_of<std::uint32_t, std::uint64_t>();
  sum_of<std::uint64_t>();
  sum_of<dsl::half>();
  sum_of<dsl::bfloat16>();
  sum_beside_cub<double>();
  sum_of<c32>();
  sum_of<std::complex<double>>();
});

}  // namespace
}  // namespace bench
