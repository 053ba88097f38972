#include "mem/processes.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "mem/text.hpp"

namespace dsl::detail {

process_mesh::process_mesh(std::unique_ptr<process_group> joined, device own_device,
                           kernel_services& kernels)
    : back_end({back_end::of(own_device.kind).traits.name, false,
                back_end::of(own_device).traits.is_asynchronous},
               &kernels, own_device.kind),
      own(own_device),
      group_(std::move(joined)),
      gpus_(traits.is_asynchronous ? group_->with_gpus(own) : nullptr),
      runs_(back_end::of(own)) {}

std::string process_mesh::spell(int) const {
  return std::to_string(size()) + " processes of " + std::string(own.name());
}

const device_properties& process_mesh::properties(int) { return dsl::properties(own); }

void process_mesh::all_gather(const buffer_ref& memory, void* at,
                              const std::vector<std::size_t>& bytes) const {
  use(memory.get(), stream::current(own), true);
  all_gather(at, bytes);
}
void process_mesh::all_gather(void* at, const std::vector<std::size_t>& bytes) const {
  if (gpus_ == nullptr) return group_->all_gather(at, bytes.data());
  gpus_->all_gather(at, bytes.data(), stream_state::of(stream::current(own)).native);
}

void process_mesh::exchange(const std::vector<process_message>& sent,
                            const std::vector<process_message>& received) const {
  if (gpus_ == nullptr) return group_->exchange(sent, received);
  gpus_->exchange(sent, received, stream_state::of(stream::current(own)).native);
}

void process_mesh::synchronize_quietly(int, void*) noexcept {
  stream_state::of(stream::current(own)).synchronize_quietly();
}
void* process_mesh::record_event(int, void*) {
  return runs_.record_event(own.index, stream_state::of(stream::current(own)).native);
}
void process_mesh::wait_for_event_on(int, void*, void* event) {
  runs_.wait_for_event_on(own.index, stream_state::of(stream::current(own)).native, event);
}

buffer_ref process_mesh::allocate_parts(std::vector<std::int64_t> ends, device where) const {
  const auto bytes = static_cast<std::size_t>(ends.back());
  return make_shared_buffer(where, bytes,
                            std::make_unique<process_part>(*this, std::move(ends), bytes));
}
buffer_ref process_mesh::allocate_copies(std::size_t bytes, device where) const {
  return make_shared_buffer(
      where, bytes, std::make_unique<process_part>(*this, std::vector<std::int64_t>(), bytes));
}

buffer_ref process_mesh::allocate_rows(const std::int64_t* extents, int rank, std::size_t size,
                                       device where) const {
  const std::int64_t all = element_count(extents, rank, static_cast<std::int64_t>(size));
  if (rank == 0) return allocate_copies(size, where);
  const std::int64_t rows = extents[0], row = rows > 0 ? all / rows : 0;
  std::vector<std::int64_t> ends;
  for (int p = 1; p <= this->size(); ++p) {
    const std::int64_t whole = rows / this->size() * p,
                       rest = rows % this->size() * p / this->size();
    ends.push_back((whole + rest) * row * static_cast<std::int64_t>(size));
  }
  return allocate_parts(std::move(ends), where);
}

namespace {

// Addresses that were not used before: consecutive ranges.
void* new_addresses(std::size_t bytes) {
  constexpr std::size_t alignment = 4096;
  static std::atomic<std::uintptr_t> next{first_false_address};
  return reinterpret_cast<void*>(
      next.fetch_add((bytes / alignment + 1) * alignment, std::memory_order_relaxed));
}

}  // namespace

process_part::process_part(const process_mesh& mesh, std::vector<std::int64_t> ends,
                           std::size_t bytes)
    : mesh_(mesh),
      ends_(std::move(ends)),
      own_(buffer_ref::allocate(
          is_divided() ? static_cast<std::size_t>(bytes_of(mesh.rank()).count()) : bytes,
          mesh.own)),
      shown_at_(is_divided() ? new_addresses(bytes) : own_.data()) {}

index_range process_part::bytes_of(int process) const {
  if (!is_divided()) return {0, 0};
  return {process == 0 ? 0 : ends_[static_cast<std::size_t>(process - 1)],
          ends_[static_cast<std::size_t>(process)]};
}

index_range process_part::rows_of(int process, std::int64_t first, std::int64_t stride,
                                  std::int64_t rows) const {
  const index_range bytes = bytes_of(process);
  const auto pieces = [](std::int64_t n, std::int64_t length) {
    return n > 0 ? (n + length - 1) / length : 0;
  };
  if (stride > 0)
    return index_range{pieces(bytes.first - first, stride), pieces(bytes.end - first, stride)}
        .within({0, rows});
  const bool begin_here = first >= bytes.first && first < bytes.end;
  if (stride == 0) return {0, begin_here ? rows : 0};
  // The stride is negative: byte `first - i * -stride` must be in the part.
  return index_range{pieces(first - bytes.end + 1, -stride),
                     pieces(first - bytes.first + 1, -stride)}
      .within({0, rows});
}

index_range process_part::mine(std::int64_t at, std::int64_t bytes) const {
  return bytes_of(mesh_.rank()).within({at, at + bytes});
}

void process_part::upload(std::int64_t at, const void* from, std::int64_t bytes) const {
  const index_range here = is_divided() ? mine(at, bytes) : index_range{at, at + bytes};
  detail::upload(own_, address(here.first),
                 static_cast<const unsigned char*>(from) + (here.first - at),
                 static_cast<std::size_t>(here.count()));
}

void process_part::download(std::int64_t at, void* to, std::int64_t bytes) const {
  if (!is_divided())
    return detail::download(own_, address(at), to, static_cast<std::size_t>(bytes));
  const index_range here = mine(at, bytes);
  detail::download(own_, address(here.first), static_cast<unsigned char*>(to) + (here.first - at),
                   static_cast<std::size_t>(here.count()));
  std::vector<std::size_t> sizes;
  for (int p = 0; p < mesh_.size(); ++p)
    sizes.push_back(static_cast<std::size_t>(bytes_of(p).within({at, at + bytes}).count()));
  mesh_.group().all_gather(to, sizes.data());
}

void process_part::fill(std::int64_t at, const void* element, std::size_t size,
                        std::int64_t count) const {
  const auto bytes = static_cast<std::int64_t>(size);
  const index_range here =
      is_divided() ? mine(at, count * bytes) : index_range{at, at + count * bytes};
  detail::fill(own_, address(here.first), element, size, here.count() / bytes);
}

void process_part::copy(std::int64_t at, const process_part& from, std::int64_t source,
                        std::int64_t bytes) const {
  bool is_local = true;  // no bytes come from another process
  for (int p = 0; p < mesh_.size() && is_divided() && from.is_divided(); ++p) {
    const index_range to = bytes_of(p).within({at, at + bytes}),
                      there = from.bytes_of(p).within({source, source + bytes});
    is_local = is_local && to.first - at == there.first - source && to.count() == there.count();
  }
  if (is_local && (is_divided() || !from.is_divided())) {
    const index_range here = is_divided() ? mine(at, bytes) : index_range{at, at + bytes};
    return detail::copy(own_, address(here.first), from.own_,
                        from.address(here.first - at + source),
                        static_cast<std::size_t>(here.count()));
  }
  const host_bytes staged(1, static_cast<std::size_t>(bytes));
  from.download(source, staged.data(), bytes);
  upload(at, staged.data(), bytes);
}

namespace {

// Calls each(place, number) for each element: its position in memory, in elements from the origin,
// and its number in row-major order.
template <class Each>
void each_element(const mapping& m, const Each& each) {
  std::int64_t index[max_rank] = {}, place = m.offset;
  const std::int64_t count = element_count(m);
  for (std::int64_t number = 0; number < count; ++number) {
    each(place, number);
    for (int d = m.rank - 1; d >= 0; --d) {
      place += m.strides[d];
      if (++index[d] < m.extents[d]) break;
      place -= m.extents[d] * m.strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

index_range bytes_spanned(const mapping& m, std::size_t size) {
  index_range places{m.offset, m.offset + 1};
  if (element_count(m) == 0) return {};
  for (int d = 0; d < m.rank; ++d) {
    const std::int64_t last = (m.extents[d] - 1) * m.strides[d];
    (last < 0 ? places.first : places.end) += last;
  }
  const auto bytes = static_cast<std::int64_t>(size);
  return {places.first * bytes, places.end * bytes};
}

// Elements that are not contiguous: copies their range of bytes to the host, changes the elements
// there, and copies the range back.
void process_part::upload(std::int64_t origin, const mapping& elements, std::size_t size,
                          const void* from) const {
  const auto bytes = static_cast<std::int64_t>(size);
  const index_range span = bytes_spanned(elements, size);
  if (is_contiguous(elements)) return upload(origin + span.first, from, span.count());
  const index_range wanted{origin + span.first, origin + span.end};
  const index_range here = is_divided() ? mine(wanted.first, wanted.count()) : wanted;
  const host_bytes staged(1, static_cast<std::size_t>(here.count()));
  detail::download(own_, address(here.first), staged.data(), staged.size());
  each_element(elements, [&](std::int64_t place, std::int64_t number) {
    const std::int64_t at = origin + place * bytes;
    if (here.contains({at, at + bytes}))
      std::memcpy(staged.data() + (at - here.first),
                  static_cast<const unsigned char*>(from) + number * bytes, size);
  });
  detail::upload(own_, address(here.first), staged.data(), staged.size());
}
void process_part::download(std::int64_t origin, const mapping& elements, std::size_t size,
                            void* to) const {
  const auto bytes = static_cast<std::int64_t>(size);
  const index_range span = bytes_spanned(elements, size);
  if (is_contiguous(elements)) return download(origin + span.first, to, span.count());
  const host_bytes staged(1, static_cast<std::size_t>(span.count()));
  download(origin + span.first, staged.data(), span.count());
  each_element(elements, [&](std::int64_t place, std::int64_t number) {
    std::memcpy(static_cast<unsigned char*>(to) + number * bytes,
                staged.data() + (place * bytes - span.first), size);
  });
}

void throw_no_address() {
  raise<device_error>(
      "the address of elements that several processes have: dsl::local shows the rows of this one");
}

namespace {

std::string spell_processes(const std::vector<int>& processes) {
  std::string who = processes.size() == 1 ? "process " : "processes ";
  for (const int& p : processes)
    who += (&p == &processes.front()  ? ""
            : &p == &processes.back() ? " and "
                                      : ", ") +
           std::to_string(p);
  return who;
}

}  // namespace

void throw_missing(const std::vector<int>& processes, double seconds) {
  raise<device_error>(spell_processes(processes) + " did not come within " +
                      spell_amount(seconds, "s") +
                      " to what all processes of a mesh do together: died, hangs, or runs other "
                      "statements. The mesh is of no use "
                      "any more. DSL_TIMEOUT sets the seconds");
}

void throw_different(const std::vector<int>& processes) {
  const std::string who =
      processes.empty() ? "some processes of a mesh" : spell_processes(processes);
  raise<device_error>(who + (processes.size() == 1 ? " runs" : " run") +
                      " other statements than process 0: all run the same ones on the mesh's "
                      "arrays, in the same order, also those "
                      "that only read. The mesh is of no use any more");
}

std::optional<own_elements> part_along(int axis, const buffer_ref& owner, void* first,
                                       const mapping& elements, std::size_t size) {
  const process_part* const part = owner.get()->part.get();
  if (part == nullptr || !part->is_divided() || axis >= elements.rank) return {};
  own_elements found{part->own(), first, elements};
  const auto bytes = static_cast<std::int64_t>(size);
  const std::int64_t origin =
      static_cast<unsigned char*>(first) - static_cast<unsigned char*>(part->shown_at());
  for (int p = 0; p < part->mesh().size(); ++p) {
    mapping of = elements;
    const index_range indices =
        part->rows_of(p, origin, elements.strides[axis] * bytes, elements.extents[axis]);
    of.extents[axis] = indices.count();
    of.offset = indices.first * elements.strides[axis];
    const index_range span = bytes_spanned(of, size);
    if (element_count(of) > 0 &&
        !part->bytes_of(p).contains({origin + span.first, origin + span.end}))
      return {};
    if (p != part->mesh().rank()) continue;
    found.elements.extents[axis] = indices.count();
    found.elements.offset = indices.first;
    found.first =
        indices.count() > 0 ? part->base() + origin + of.offset * bytes : part->own().data();
  }
  return found;
}

own_elements own_part(const buffer_ref& owner, void* first, const mapping& elements,
                      std::size_t size) {
  const process_part* const part = owner.get()->part.get();
  if (part == nullptr) return {owner, first, elements};
  if (!part->is_divided() || elements.rank == 0) return {part->own(), first, elements};
  if (auto found = part_along(0, owner, first, elements, size)) return *found;
  raise<device_error>(
      "dsl::local of a view whose rows (of its outermost axis) are in several processes each: " +
      spell_shape(elements.extents, elements.rank));
}

}  // namespace dsl::detail
