// DLPack: arrays of other libraries used in place, and arrays given to them. The structures are
// those of DLPack 1.0 and of what came before it, with its names, so that their addresses may be
// passed as DLPack's own.
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
  std::uint8_t
      code;  ///< 0: signed; 1: unsigned; 2: floating point; 4: bfloat16; 5: complex; 6: bool
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
/// DLManagedTensor, of before version 1.0.
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
  std::uint64_t flags;  ///< bit 0: only to read; bit 1: a copy
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

/// What a tensor of DLPack is here: its dtype, its elements and the device they are on. Throws
/// value_error (a dtype that arrays here don't have), shape_error (a rank above 8) and device_error
/// (another kind of device).
struct dlpack_elements {
  void* data = nullptr;
  dtype type{};
  mapping elements{};
  device where{backend::host};
};
dlpack_elements read_dlpack(const dlpack::tensor& t);
dlpack::data_type dlpack_type(dtype type);
dlpack::device dlpack_device(device where);

/// The same, and takes the tensor over, which is deleted with the last claim. Throws as
/// `dsl::from_dlpack`, and then leaves the tensor to the caller.
struct taken_dlpack {
  buffer_ref owner;
  void* data;
  mapping elements;
};
taken_dlpack take_dlpack(dlpack::managed_tensor* t, dtype type, int rank, bool writes);
taken_dlpack take_dlpack(dlpack::managed_tensor_versioned* t, dtype type, int rank, bool writes);

/// A tensor that keeps the memory.
void make_dlpack(dlpack::managed_tensor*& made, const buffer_ref& owner, void* data, dtype type,
                 const mapping& elements, bool is_read_only);
void make_dlpack(dlpack::managed_tensor_versioned*& made, const buffer_ref& owner, void* data,
                 dtype type, const mapping& elements, bool is_read_only);

template <class Managed>
using own_dlpack = std::conditional_t<is_versioned_dlpack<Managed>,
                                      dlpack::managed_tensor_versioned, dlpack::managed_tensor>;

}  // namespace detail

/// A view of a DLPack tensor's elements, without a copy: T is its dtype, Rank its rank; of const T
/// where it may only be read. Managed is DLManagedTensor or DLManagedTensorVersioned, of DLPack's
/// header or of `dsl::dlpack`. The view takes the tensor over: its deleter is called when the last
/// copy of the view dies. The elements are used on the stream that is current here, which the
/// producer has ordered behind its own work. Throws value_error (another dtype, a tensor that may
/// only be read, a newer major version), shape_error (another rank), device_error (a kind of device
/// that the library has not) and memory_error (an address that is no multiple of an element's
/// size); the tensor is then still the caller's.
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

/// A DLPack tensor of a view's elements, without a copy; its consumer calls its deleter, until
/// which it keeps the memory. Managed is the structure that is wanted. Its consumer's stream is the
/// consumer's to order behind the one that is current here: the tensor's elements are complete for
/// what follows in that one. A view of const T is marked to be read only, which DLManagedTensor
/// cannot say. Throws memory_error where there is no memory, and value_error where a
/// DLManagedTensor would let const elements be written.
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
