#include <dsl/mem/dlpack.hpp>

#include <algorithm>
#include <memory>

#include "mem/back_end.hpp"
#include "mem/mapping.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

enum device_types : std::int32_t {
  on_host = 1,
  on_cuda = 2,
  on_host_locked = 3,
  on_cuda_managed = 13
};
enum type_codes : std::uint8_t {
  signed_code,
  unsigned_code,
  float_code,
  bfloat_code = 4,
  complex_code,
  bool_code
};
constexpr std::uint64_t is_read_only_flag = 1;
constexpr dlpack::version spoken{1, 0};

constexpr std::uint8_t code_of(dtype type) {
  switch (kind_of(type)) {
    case kind::boolean: return bool_code;
    case kind::integer: return info(type).is_signed ? signed_code : unsigned_code;
    case kind::real: return type == dtype::bfloat16 ? bfloat_code : float_code;
    case kind::complex: return complex_code;
  }
  return bool_code;
}

dtype dtype_of_tensor(const dlpack::data_type& t) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto type = static_cast<dtype>(i);
    if (t.lanes == 1 && t.code == code_of(type) && t.bits == 8 * size_of(type)) return type;
  }
  raise<value_error>("a DLPack tensor of type code " + std::to_string(t.code) + ", " +
                     std::to_string(t.bits) + " bits and " + std::to_string(t.lanes) +
                     " lanes: no dtype of an array here");
}

// Host memory also belongs to the simulator if that is the current device.
device device_of_tensor(const dlpack::device& d) {
  switch (d.device_type) {
    case on_host:
    case on_host_locked: {
      const device now = device::current();
      return now.kind == backend::sim ? now : device(backend::host);
    }
    case on_cuda:
    case on_cuda_managed: return {backend::cuda, d.device_id};
    default:
      raise<device_error>("a DLPack tensor on a device of type " + std::to_string(d.device_type) +
                          ": neither host nor CUDA");
  }
}

template <class Managed>
struct tensor_keeper {
  Managed* tensor;
  explicit tensor_keeper(Managed* t) : tensor(t) {}
  tensor_keeper(tensor_keeper&& other) noexcept : tensor(std::exchange(other.tensor, nullptr)) {}
  ~tensor_keeper() {
    if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};

template <class Managed>
taken_dlpack take(Managed* t, dtype type, int rank, bool writes) {
  const dlpack_elements e = read_dlpack(t->dl_tensor);
  if (e.type != type)
    raise<value_error>(std::string("a DLPack tensor of ") + name(e.type) + " as a view of " +
                       name(type));
  if (e.elements.rank != rank)
    raise<shape_error>("a DLPack tensor of rank " + std::to_string(e.elements.rank) +
                       " as a view of rank " + std::to_string(rank));
  keeper kept{tensor_keeper<Managed>(t)};
  auto& mine = *static_cast<tensor_keeper<Managed>*>(kept.object());
  try {
    return {borrow(e.data, e.elements, static_cast<std::size_t>(size_of(type)), &e.where, writes,
                   std::move(kept), address_check::trusted),
            e.data, e.elements};
  } catch (...) {
    mine.tensor = nullptr;  // `borrow` takes ownership of the keeper once nothing can fail
    throw;
  }
}

// A tensor given to a consumer, with the memory that it keeps alive.
template <class Managed>
struct exported_tensor {
  Managed tensor;
  buffer_ref owner;
  std::int64_t shape[max_rank], strides[max_rank];

  exported_tensor(buffer_ref from, void* data, dtype type, const mapping& elements)
      : tensor{}, owner(std::move(from)) {
    std::copy_n(elements.extents, max_rank, shape);
    std::copy_n(elements.strides, max_rank, strides);
    dlpack::tensor& t = tensor.dl_tensor;
    t.data = element_count(elements) > 0 ? data : nullptr;
    t.device = dlpack_device(owner.where());
    t.ndim = elements.rank;
    t.dtype = dlpack_type(type);
    t.shape = shape;
    t.strides = strides;
    tensor.manager_ctx = this;
    tensor.deleter = [](Managed* self) { delete static_cast<exported_tensor*>(self->manager_ctx); };
  }
};

}  // namespace

dlpack::data_type dlpack_type(dtype type) {
  return {code_of(type), static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

dlpack::device dlpack_device(device where) {
  if (where.kind == backend::cuda && !back_end::is_mesh(where)) return {on_cuda, where.index};
  if (where.kind == backend::host || where.kind == backend::sim) return {on_host, 0};
  raise<device_error>("DLPack does not know the device " + std::string(where.name()));
}

dlpack_elements read_dlpack(const dlpack::tensor& t) {
  if (t.ndim < 0 || t.ndim > max_rank)
    raise<shape_error>("a DLPack tensor of rank " + std::to_string(t.ndim) + ": ranks are 0 to " +
                       std::to_string(max_rank));
  dlpack_elements e{static_cast<unsigned char*>(t.data) + t.byte_offset,
                    dtype_of_tensor(t.dtype),
                    {t.ndim, {}, {}, 0},
                    device_of_tensor(t.device)};
  std::copy_n(t.shape, t.ndim, e.elements.extents);
  if (t.strides != nullptr) std::copy_n(t.strides, t.ndim, e.elements.strides);
  else set_row_major(e.elements.strides, t.shape, t.ndim);
  return e;
}

taken_dlpack take_dlpack(dlpack::managed_tensor* t, dtype type, int rank, bool writes) {
  return take(t, type, rank, writes);
}
taken_dlpack take_dlpack(dlpack::managed_tensor_versioned* t, dtype type, int rank, bool writes) {
  if (t->version.major > spoken.major)
    raise<value_error>("a DLPack tensor of version " + std::to_string(t->version.major) +
                       ": 1 is the newest that is known here");
  if (writes && (t->flags & is_read_only_flag) != 0)
    raise<value_error>("a DLPack tensor that may only be read: make it a view of const elements");
  return take(t, type, rank, writes);
}

void make_dlpack(dlpack::managed_tensor*& made, const buffer_ref& owner, void* data, dtype type,
                 const mapping& elements, bool is_read_only) {
  if (is_read_only)
    raise<value_error>(
        "const elements as a DLManagedTensor, which cannot say so: make it a "
        "DLManagedTensorVersioned");
  made = &(new exported_tensor<dlpack::managed_tensor>(owner, data, type, elements))->tensor;
}
void make_dlpack(dlpack::managed_tensor_versioned*& made, const buffer_ref& owner, void* data,
                 dtype type, const mapping& elements, bool is_read_only) {
  made =
      &(new exported_tensor<dlpack::managed_tensor_versioned>(owner, data, type, elements))->tensor;
  made->version = spoken;
  made->flags = is_read_only ? is_read_only_flag : 0;
}

}  // namespace dsl::detail
