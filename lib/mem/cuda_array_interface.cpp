#include <dsl/mem/cuda_array_interface.hpp>

#include <algorithm>
#include <cstring>

#include "mem/mapping.hpp"
#include "mem/npy_header.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

constexpr const char* what = "a CUDA array interface ";

mapping mapping_of(const cuda_array_interface& from, std::int64_t size) {
  mapping m{from.rank, {}, {}, 0};
  std::copy_n(from.shape, from.rank, m.extents);
  if (!from.has_strides) return row_major(m);
  for (int d = 0; d < from.rank; ++d) {
    m.strides[d] = from.strides[d] / size;
    if (from.strides[d] % size != 0)
      raise<shape_error>(std::string(what) + "whose stride " + std::to_string(from.strides[d]) +
                         " is no multiple of " + std::to_string(size) +
                         ", the bytes of an element");
  }
  return m;
}

}  // namespace

interface_elements from_interface(const cuda_array_interface& from, dtype type, int rank,
                                  bool writes, keeper&& kept) {
  const std::string_view typestr(from.typestr, strnlen(from.typestr, sizeof from.typestr));
  if (from.version < 2 || from.version > 3)
    raise<value_error>(std::string(what) + "of version " + std::to_string(from.version) +
                       "; 2 and 3 are known");
  if (const auto given = dtype_of_description(typestr); given != type)
    raise<value_error>(std::string(what) + "of '" + std::string(typestr) + "' as a view of " +
                       name(type));
  if (from.rank != rank)
    raise<shape_error>(std::string(what) + "of rank " + std::to_string(from.rank) +
                       " as a view of rank " + std::to_string(rank));
  if (from.is_read_only && writes)
    raise<value_error>(std::string(what) +
                       "that may only be read, as a view to write; make it one of const elements");
  const mapping elements = mapping_of(from, size_of(type));
  const device where = device_of(from.data);
  if (from.stream != 0) {
    const stream theirs(reinterpret_cast<void*>(from.stream), where);
    stream_state::of(stream::current(where)).wait_for(stream_state::of(theirs));
  }
  return {borrow(from.data, elements, static_cast<std::size_t>(size_of(type)), &where, writes,
                 std::move(kept), address_check::trusted),
          elements};
}

cuda_array_interface to_interface(const buffer_ref& owner, const void* data, dtype type,
                                  const mapping& elements, bool is_read_only) {
  require_memory(owner, "to_cuda_array_interface");
  const std::string typestr = description_of(type);
  if (typestr.empty()) raise<value_error>(std::string(what) + "knows no " + name(type));
  const stream current = stream::current(owner.where());
  use(owner.get(), current, !is_read_only);
  cuda_array_interface made;
  made.rank = elements.rank;
  made.has_strides = !is_contiguous(elements);
  std::copy_n(elements.extents, elements.rank, made.shape);
  for (int d = 0; d < elements.rank && made.has_strides; ++d)
    made.strides[d] = elements.strides[d] * size_of(type);
  typestr.copy(made.typestr, sizeof made.typestr - 1);
  made.data = element_count(elements) > 0 ? const_cast<void*>(data) : nullptr;
  made.is_read_only = is_read_only;
  if (const back_end& on = back_end::of(owner.where()); on.traits.is_asynchronous) {
    if (back_end::is_mesh(owner.where()))
      raise<device_error>(std::string(what) + "cannot describe memory of " +
                          std::string(owner.where().name()) + ": copy it to one device");
    void* const native = current.native();
    // Null is CUDA's legacy default stream.
    made.stream = native != nullptr ? reinterpret_cast<std::uintptr_t>(native) : 1;
  }
  return made;
}

}  // namespace dsl::detail
