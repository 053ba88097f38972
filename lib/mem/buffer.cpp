#include <dsl/mem/buffer.hpp>
#include <dsl/mem/pinned.hpp>

#include <algorithm>

#include "mem/buffer.hpp"
#include "mem/mapping.hpp"
#include "mem/processes.hpp"
#include "mem/profiling.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

buffer_ref buffer_ref::allocate(std::size_t bytes, device where) {
  const stream current = stream::current(where);
  stream_state& home = stream_state::of(current);
  if (const process_mesh* const mesh = home.on.processes())
    return mesh->allocate_copies(bytes, where);
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  void* const data = home.on.allocate(size, home.index, home.native);
  // As home and as the first writer.
  home.retain();
  home.retain();
  return buffer_ref(new buffer{where, data, size, &home, &home});
}
buffer_ref buffer_ref::allocate_briefly(std::size_t bytes, device where) {
  if (bytes > brief_memory::most) return allocate(bytes, where);
  const stream current = stream::current(where);
  stream_state& home = stream_state::of(current);
  // A graph of the program's may run on any stream.
  const bool may_lend =
      home.on.traits.is_asynchronous && !back_end::is_mesh(where) && !home.is_captured();
  void* const data = may_lend ? home.brief.take(home, bytes) : nullptr;
  if (data == nullptr) return allocate(bytes, where);
  home.retain();
  home.retain();
  auto* const made = new buffer{where, data, std::max<std::size_t>(bytes, 1), &home, &home};
  made->is_brief = true;
  return buffer_ref(made);
}
buffer_ref buffer_ref::allocate(const std::int64_t* extents, int rank, std::size_t size,
                                device where) {
  const std::int64_t count = element_count(extents, rank, static_cast<std::int64_t>(size));
  const stream current = stream::current(where);
  if (const process_mesh* const mesh = stream_state::of(current).on.processes())
    return mesh->allocate_rows(extents, rank, size, where);
  return allocate(static_cast<std::size_t>(count) * size, where);
}
buffer_ref make_shared_buffer(device where, std::size_t bytes,
                              std::shared_ptr<const process_part> part) {
  const stream current = stream::current(where);
  stream_state& home = stream_state::of(current);
  home.retain();
  home.retain();
  auto* const made =
      new buffer{where, part->shown_at(), std::max<std::size_t>(bytes, 1), &home, &home};
  made->part = std::move(part);
  return buffer_ref(made);
}

void* buffer_ref::data() const noexcept { return buffer_ ? buffer_->data : nullptr; }
device buffer_ref::where() const noexcept {
  return buffer_ ? buffer_->where : device(backend::host);
}

void buffer_ref::replace() const noexcept {
  if (buffer_) buffer_->is_replaced.store(true, std::memory_order_relaxed);
}
bool buffer_ref::is_replaced() const noexcept {
  return buffer_ && buffer_->is_replaced.load(std::memory_order_relaxed);
}

void add_owner(buffer& b) noexcept { b.owners.fetch_add(1, std::memory_order_relaxed); }

void drop_owner(buffer& b) noexcept {
  if (b.owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    const auto lasting = b.home->hold();
    stream_state& home = b.home->or_default_stream();
    const auto follow = [&](stream_state* s) {
      if (s == &home || s == b.home) return;
      try {
        home.wait_for(*s);
      } catch (const error&) {
        s->synchronize_quietly();
      }
    };
    follow(b.writer);
    for (stream_state* s : b.readers) follow(s);
    if (b.is_brief) b.home->brief.give_back(b.data);
    else if (!b.is_foreign && b.part == nullptr) home.on.release(b.data, home.index, home.native);
  }
  if (b.is_foreign) forget_foreign(b);
  b.writer->release();
  for (stream_state* s : b.readers) s->release();
  b.home->release();
  delete &b;
}

void use(buffer* memory, const stream& on, bool writes) {
  stream_state& s = stream_state::of(on);
  if (!s.on.traits.is_asynchronous) return;
  if (memory->is_foreign) use_overlapping(*memory, s, writes);
  const std::lock_guard lock(memory->mutex);
  const auto behind = [&](stream_state* other) {
    if (other != &s) s.wait_for(*other);
  };
  const bool known =
      std::find(memory->readers.begin(), memory->readers.end(), &s) != memory->readers.end();
  if (!writes) {
    if (memory->writer == &s || known) return;
    behind(memory->writer);
    s.retain();
    memory->readers.push_back(&s);
    return;
  }
  behind(memory->writer);
  for (stream_state* reader : memory->readers) behind(reader);  // any of these may throw
  for (stream_state* reader : memory->readers) reader->release();
  memory->readers.clear();
  s.retain();
  std::exchange(memory->writer, &s)->release();
}

namespace {

// The current stream of a buffer's device, ordered after other streams' work on the buffer.
class ordered_stream {
 public:
  ordered_stream(const buffer_ref& memory, bool writes)
      : current_(stream::current(memory.where())) {
    use(memory.get(), current_, writes);
  }
  stream_state* operator->() const { return &stream_state::of(current_); }
  const stream& get() const { return current_; }

 private:
  stream current_;
};

// Describes a copy or a fill for a profiler.
auto transfer(const char* what, const buffer_ref& memory, std::size_t bytes) {
  return [=, &memory] {
    const std::string where = memory.where().name().c_str();
    return profiled_work{what + where, {}, 0, 1, static_cast<std::int64_t>(bytes), 0};
  };
}

// Queues a copy of bytes from or to the host.
ordered_stream queue_copy(const buffer_ref& memory, void* to, const void* from, std::size_t bytes,
                          direction way) {
  const bool is_upload = way == direction::to_device;
  const profiled_range range(
      transfer(is_upload ? "copy from the host to " : "copy to the host from ", memory, bytes));
  ordered_stream s(memory, is_upload);
  s->on.copy(to, from, bytes, way, s->index, s->native);
  return s;
}

// The memory's part of a mesh of processes; null for other memory.
const process_part* part_of(const buffer_ref& memory) {
  return memory ? memory.get()->part.get() : nullptr;
}
std::int64_t number_of_byte(const buffer_ref& memory, const void* at) {
  return static_cast<const unsigned char*>(at) - static_cast<const unsigned char*>(memory.data());
}

// The elements of a mapping in contiguous memory: in place if they are contiguous, otherwise in a
// temporary.
struct packed_elements {
  packed_elements(const buffer_ref& memory, const void* origin, const mapping& elements,
                  std::size_t size)
      : count(element_count(elements)),
        bytes(static_cast<std::size_t>(count) * size),
        in_order(row_major(elements)) {
    if (count == 0) return;
    first = static_cast<unsigned char*>(const_cast<void*>(origin)) +
            elements.offset * static_cast<std::int64_t>(size);
    owner = is_contiguous(elements) ? memory : buffer_ref::allocate(bytes, memory.where());
  }
  bool are_copied(const buffer_ref& memory) const { return owner.get() != memory.get(); }
  void* data(const buffer_ref& memory) const { return are_copied(memory) ? owner.data() : first; }

  std::int64_t count;
  std::size_t bytes;
  mapping in_order;
  void* first = nullptr;
  buffer_ref owner{};
};

// Both directions of moving elements between host and device: `move(owner, at, bytes)` moves
// contiguous bytes.
template <class Move>
void move_in(const buffer_ref& to, void* origin, const mapping& elements, std::size_t size,
             const Move& move) {
  const packed_elements p(to, origin, elements, size);
  if (p.count == 0) return;
  move(p.owner, p.data(to), p.bytes);
  if (p.are_copied(to)) copy(to, p.first, elements, p.owner, p.owner.data(), p.in_order, size);
}
template <class Move>
void move_out(const buffer_ref& from, const void* origin, const mapping& elements, std::size_t size,
              const Move& move) {
  const packed_elements p(from, origin, elements, size);
  if (p.count == 0) return;
  if (p.are_copied(from)) copy(p.owner, p.owner.data(), p.in_order, from, p.first, elements, size);
  move(p.owner, p.data(from), p.bytes);
}

}  // namespace

void upload(const buffer_ref& to, void* at, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  require_memory(to, "a copy from the host");
  if (const process_part* const part = part_of(to))
    return part->upload(number_of_byte(to, at), from, static_cast<std::int64_t>(bytes));
  const ordered_stream s = queue_copy(to, at, from, bytes, direction::to_device);
  if (s->on.is_page_locked(from) && !s->is_captured()) s->synchronize();
}

void download(const buffer_ref& from, const void* at, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  require_memory(from, "a copy to the host");
  if (const process_part* const part = part_of(from))
    return part->download(number_of_byte(from, at), to, static_cast<std::int64_t>(bytes));
  queue_copy(from, to, at, bytes, direction::to_host)->synchronize();
}

void upload(const buffer_ref& to, void* origin, const mapping& elements, std::size_t size,
            const void* from) {
  if (const process_part* const part = part_of(to))
    return part->upload(number_of_byte(to, origin), elements, size, from);
  move_in(to, origin, elements, size, [from](const buffer_ref& owner, void* at, std::size_t bytes) {
    upload(owner, at, from, bytes);
  });
}
void download(const buffer_ref& from, const void* origin, const mapping& elements, std::size_t size,
              void* to) {
  if (const process_part* const part = part_of(from))
    return part->download(number_of_byte(from, origin), elements, size, to);
  move_out(from, origin, elements, size,
           [to](const buffer_ref& owner, void* at, std::size_t bytes) {
             download(owner, at, to, bytes);
           });
}

void upload_async(const buffer_ref& to, void* origin, const mapping& elements, std::size_t size,
                  const pinned_ref& owner, const void* from) {
  if (part_of(to) != nullptr) return upload(to, origin, elements, size, from);
  move_in(to, origin, elements, size, [&](const buffer_ref& packed, void* at, std::size_t bytes) {
    owner.note_use(queue_copy(packed, at, from, bytes, direction::to_device).get());
  });
}
void download_async(const buffer_ref& from, const void* origin, const mapping& elements,
                    std::size_t size, const pinned_ref& owner, void* to) {
  if (part_of(from) != nullptr) return download(from, origin, elements, size, to);
  move_out(from, origin, elements, size,
           [&](const buffer_ref& packed, void* at, std::size_t bytes) {
             owner.note_use(queue_copy(packed, to, at, bytes, direction::to_host).get());
           });
}

host_bytes::host_bytes(std::size_t count, std::size_t size, std::size_t before) {
  if (!__builtin_mul_overflow(count, size, &size_) &&
      !__builtin_add_overflow(size_, before, &size_))
    data_.reset(static_cast<unsigned char*>(std::malloc(std::max<std::size_t>(size_, 1))));
  if (data_ == nullptr) throw_host_is_full(count, size);
}

void throw_host_is_full(std::size_t count, std::size_t size) {
  raise<memory_error>("out of memory on the host: asked for " +
                      spell_bytes(static_cast<double>(count) * static_cast<double>(size)));
}

void require_memory(const buffer_ref& owner, const char* function) {
  if (!owner)
    raise<memory_error>(std::string(function) +
                        ": an operand without memory, never assigned or moved from");
}

void require_undivided(const buffer_ref& owner, const char* function) {
  require_memory(owner, function);
  if (const process_part* const part = owner.get()->part.get();
      part != nullptr && part->is_divided())
    raise<device_error>(std::string(function) +
                        " of elements of several processes: copy them to the host, or work on "
                        "dsl::local of the array");
}

void copy(const buffer_ref& to, void* at, const buffer_ref& from, const void* source,
          std::size_t bytes) {
  if (bytes == 0) return;
  require_memory(to, "a copy");
  require_memory(from, "a copy");
  if (to.where() != from.where()) {
    host_bytes staged(1, bytes);
    download(from, source, staged.data(), bytes);
    return upload(to, at, staged.data(), bytes);
  }
  if (const process_part* const part = part_of(to))
    return part->copy(number_of_byte(to, at), *part_of(from), number_of_byte(from, source),
                      static_cast<std::int64_t>(bytes));
  const profiled_range range(transfer("copy on ", to, bytes));
  use(from.get(), stream::current(from.where()), false);
  const ordered_stream s(to, true);
  s->on.copy(at, source, bytes, direction::on_device, s->index, s->native);
}

void copy(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from,
          const void* source, const mapping& elements, std::size_t size) {
  back_end::of(from.where()).kernels().copy_elements(to, at, target, from, source, elements, size);
}

void fill(const buffer_ref& to, void* at, const void* element, std::size_t size,
          std::int64_t count) {
  if (count == 0) return;
  require_memory(to, "a fill");
  if (const process_part* const part = part_of(to))
    return part->fill(number_of_byte(to, at), element, size, count);
  const profiled_range range(transfer("fill on ", to, static_cast<std::size_t>(count) * size));
  const ordered_stream s(to, true);
  s->on.fill(at, element, size, count, s->index, s->native);
}

}  // namespace dsl::detail
