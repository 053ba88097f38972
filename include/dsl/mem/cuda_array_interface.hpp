// The CUDA Array Interface: use arrays of CuPy, Numba and other libraries in place, and give arrays
// to them.
#pragma once

#include <dsl/mem/array.hpp>

namespace dsl {

/// The contents of the dictionary `__cuda_array_interface__`, version 3:
/// numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html. Its `mask` must be None.
struct cuda_array_interface {
  int rank = 0;
  std::int64_t shape[max_rank] = {};
  bool has_strides = false;             ///< false: None, row-major
  std::int64_t strides[max_rank] = {};  ///< in bytes
  char typestr[8] = {};                 ///< "<f4"
  void* data = nullptr;
  bool is_read_only = false;
  /// The stream on which the elements become complete. 0: None, they are complete; 1: CUDA's legacy
  /// default stream; 2: the per-thread default stream.
  std::uintptr_t stream = 0;
  int version = 3;
};

namespace detail {

template <class Explicit> inline constexpr bool
    is_included<header::cuda_array_interface, Explicit> = true;

struct interface_elements {
  buffer_ref owner;
  mapping elements;
};
interface_elements from_interface(const cuda_array_interface& from, dtype type, int rank,
                                  bool writes, keeper&& kept);
cuda_array_interface to_interface(const buffer_ref& owner, const void* data, dtype type,
                                  const mapping& elements, bool is_read_only);

}  // namespace detail

/// A view of such an array's elements, without a copy. T is the array's dtype (const T if the array
/// is read-only), Rank its rank. `owner`, an object of any type, is kept until the last copy of the
/// view is destroyed. The current stream of the elements' device waits for the stream that the
/// interface names. Throws value_error (another dtype or byte order, a read-only array),
/// shape_error (another rank, strides that are not whole elements), device_error and memory_error.
template <element T, int Rank = 1, class... Owner>
  requires(sizeof...(Owner) <= 1)
view<T, Rank> from_cuda_array_interface(const cuda_array_interface& from, Owner&&... owner) {
  const auto [memory, elements] = detail::from_interface(
      from, dtype_v<T>, Rank, !std::is_const_v<T>, detail::keeper(std::forward<Owner>(owner)...));
  return {memory, static_cast<T*>(from.data), detail::first_of<Rank>(elements.extents),
          detail::first_of<Rank>(elements.strides)};
}

/// A description with which other libraries can use a view's elements. The memory must outlive that
/// use. The interface names the stream that is current here, ordered after all work queued on the
/// elements. Throws memory_error if there is no memory, and value_error for bfloat16, which the
/// interface does not define.
template <element T, int Rank>
cuda_array_interface to_cuda_array_interface(const view<T, Rank>& x) {
  return detail::to_interface(x.owner(), x.data(), dtype_v<T>, x.mapping(), std::is_const_v<T>);
}
template <detail::viewable A>
cuda_array_interface to_cuda_array_interface(A& x) {
  return to_cuda_array_interface(x.view());
}

}  // namespace dsl
