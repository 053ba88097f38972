// DLPack: use arrays of other libraries in place, and give arrays to them. The structures have the
// layout and the names of DLPack 1.0 and of its predecessor, so their addresses may be passed as
// DLPack's own.
#pragma once

#include <dsl/mem/array.hpp>

namespace dsl {
namespace dlpack {

/// DLDevice.
struct device {
  std::int32_t device_type;  ///< 1: host; 2: CUDA; 3: host, page-locked; 13: CUDA, managed
  std::int32_t device_id;
};
/// DLDataType.
struct data_type {
  /// 0: signed; 1: unsigned; 2: floating point; 4: bfloat16; 5: complex; 6: bool
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
/// DLTensor.
struct tensor {
  void* data;
  dlpack::device device;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: row-major
  std::uint64_t byte_offset;
};
/// DLManagedTensor, from before version 1.0.
struct managed_tensor {
  tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(managed_tensor*);
};
/// DLPackVersion.
struct version { std::uint32_t major, minor; };
/// DLManagedTensorVersioned.
struct managed_tensor_versioned {
  dlpack::version version;
  void* manager_ctx;
  void (*deleter)(managed_tensor_versioned*);
  std::uint64_t flags;  ///< bit 0: read-only; bit 1: a copy
  tensor dl_tensor;
};

}  // namespace dlpack

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::dlpack, Explicit> = true;

/// A DLPack structure under any name.
template <class Managed>
concept managed_dlpack = requires(Managed* m) {
  m->dl_tensor.byte_offset;
  m->deleter(m);
};
template <class Managed> inline constexpr bool is_versioned_dlpack =
    requires(Managed* m) { m->flags; };

/// A DLPack tensor in the library's terms: dtype, elements and device. Throws value_error (a dtype
/// that arrays do not have), shape_error (a rank above 8) and device_error (another kind of
/// device).
struct dlpack_elements {
  void* data = nullptr;
  dtype type{};
  mapping elements{};
  device where{backend::host};
};
dlpack_elements read_dlpack(const dlpack::tensor& t);
dlpack::data_type dlpack_type(dtype type);
dlpack::device dlpack_device(device where);

/// The same; takes ownership of the tensor, which is deleted with the last reference. Throws as
/// `dsl::from_dlpack`; the caller then keeps the tensor.
struct taken_dlpack {
  buffer_ref owner;
  void* data;
  mapping elements;
};
taken_dlpack take_dlpack(dlpack::managed_tensor* t, dtype type, int rank, bool writes);
taken_dlpack take_dlpack(dlpack::managed_tensor_versioned* t, dtype type, int rank, bool writes);

/// Makes a tensor that keeps the memory alive.
void make_dlpack(dlpack::managed_tensor*& made, const buffer_ref& owner, void* data, dtype type,
                 const mapping& elements, bool is_read_only);
void make_dlpack(dlpack::managed_tensor_versioned*& made, const buffer_ref& owner, void* data,
                 dtype type, const mapping& elements, bool is_read_only);

template <class Managed>
using own_dlpack = std::conditional_t<is_versioned_dlpack<Managed>,
                                      dlpack::managed_tensor_versioned, dlpack::managed_tensor>;

}  // namespace detail

/// A view of a DLPack tensor's elements, without a copy. T is the tensor's dtype (const T if the
/// tensor is read-only), Rank its rank. Managed is DLManagedTensor or DLManagedTensorVersioned,
/// from DLPack's header or from `dsl::dlpack`. The view owns the tensor: the tensor's deleter is
/// called when the last copy of the view is destroyed. The elements are used on the stream that is
/// current here; the producer must have ordered that stream after its own work. Throws value_error
/// (another dtype, a read-only tensor, a newer major version), shape_error (another rank),
/// device_error (a kind of device that the library does not support) and memory_error (an address
/// that is not a multiple of the element size); the caller then keeps the tensor.
/// ```cpp
/// const dsl::view<float, 2> m = dsl::from_dlpack<float, 2>(tensor);
/// ```
template <element T, int Rank, detail::managed_dlpack Managed>
view<T, Rank> from_dlpack(Managed* tensor) {
  auto taken = detail::take_dlpack(reinterpret_cast<detail::own_dlpack<Managed>*>(tensor),
                                   dtype_v<T>, Rank, !std::is_const_v<T>);
  return {std::move(taken.owner), static_cast<T*>(taken.data),
          detail::first_of<Rank>(taken.elements.extents),
          detail::first_of<Rank>(taken.elements.strides)};
}

/// A DLPack tensor of a view's elements, without a copy. Managed is the type of the result. The
/// tensor keeps the memory until its consumer calls the deleter. The elements are complete for work
/// queued later on the stream that is current here; the consumer must order its own stream after
/// that one. A tensor of a view of const T is marked read-only, which DLManagedTensor cannot
/// express. Throws memory_error if there is no memory, and value_error if a DLManagedTensor would
/// allow writes to const elements.
/// ```cpp
/// auto* const given = dsl::to_dlpack(m);
/// ```
template <detail::managed_dlpack Managed = dlpack::managed_tensor_versioned, element T, int Rank>
Managed* to_dlpack(const view<T, Rank>& x) {
  detail::require_memory(x.owner(), "to_dlpack");
  detail::use(x.owner().get(), stream::current(x.where()), !std::is_const_v<T>);
  detail::own_dlpack<Managed>* made = nullptr;
  detail::make_dlpack(made, x.owner(), const_cast<std::remove_const_t<T>*>(x.data()), dtype_v<T>,
                      x.mapping(), std::is_const_v<T>);
  return reinterpret_cast<Managed*>(made);
}
template <detail::managed_dlpack Managed = dlpack::managed_tensor_versioned, detail::viewable A>
Managed* to_dlpack(A& x) {
  return to_dlpack<Managed>(x.view());
}

}  // namespace dsl
