#include <dsl/mem/buffer.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "mem/buffer.hpp"
#include "exec/copy.hpp"
#include "cuda/cuda.hpp"
#include "mem/stream.hpp"
#include "exec/text.hpp"

namespace dsl::detail {

namespace {

constexpr std::size_t alignment = 256;

void* allocate_host(std::size_t bytes, device where) {
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr)
    raise<memory_error>("out of memory on " + std::string(where.name()) + ": asked for " + spell_bytes(static_cast<double>(bytes)) + " of " +
                        spell_bytes(static_cast<double>(properties(where).memory)));
  // The simulator's memory starts as NaNs and -1s, so that reading what was never written shows.
  if (where.kind == backend::sim) std::memset(memory, 0xff, bytes);
  return memory;
}

}  // namespace

buffer_ref::buffer_ref(const buffer_ref& other) noexcept : buffer_(other.buffer_) {
  if (buffer_ != nullptr) buffer_->owners.fetch_add(1, std::memory_order_relaxed);
}

buffer_ref buffer_ref::allocate(std::size_t bytes, device where) {
  properties(where);  // throws where there is no such device
  const stream on = stream::current(where);
  stream_state& home = stream_state::of(on);
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  void* data = where.kind == backend::cuda ? cuda::allocate(size, where.index, home.native) : allocate_host(size, where);
  home.retain(), home.retain();  // as home and as the first writer
  buffer_ref ref;
  ref.buffer_ = new buffer{where, data, size, &home, &home};
  return ref;
}

void* buffer_ref::data() const noexcept { return buffer_ != nullptr ? buffer_->data : nullptr; }
device buffer_ref::where() const noexcept { return buffer_ != nullptr ? buffer_->where : device(backend::host); }

void buffer_ref::release() noexcept {
  buffer* const b = std::exchange(buffer_, nullptr);
  if (b->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const auto leave = [b](stream_state* s) {
    if (s != b->home && b->where.kind == backend::cuda) {
      try {
        cuda::wait_for(b->where.index, b->home->native, s->native);
      } catch (const cuda_error&) {
        cuda::wait_quietly(b->where.index, s->native);
      }
    }
    s->release();
  };
  leave(b->writer);
  for (stream_state* s : b->readers) leave(s);
  if (b->where.kind == backend::cuda) cuda::release(b->data, b->where.index, b->home->native);
  else std::free(b->data);
  b->home->release();
  delete b;
}

void use(buffer* memory, const stream& on, bool writes) {
  if (memory->where.kind != backend::cuda) return;
  stream_state& s = stream_state::of(on);
  const std::lock_guard lock(memory->mutex);
  const auto behind = [&](stream_state* other) {
    if (other != &s) cuda::wait_for(memory->where.index, s.native, other->native);
  };
  const bool known = std::find(memory->readers.begin(), memory->readers.end(), &s) != memory->readers.end();
  if (!writes) {
    if (memory->writer == &s || known) return;
    behind(memory->writer);
    s.retain();
    memory->readers.push_back(&s);
    return;
  }
  behind(memory->writer);
  for (stream_state* reader : memory->readers) behind(reader);  // all of which may throw
  for (stream_state* reader : memory->readers) reader->release();
  memory->readers.clear();
  s.retain();
  std::exchange(memory->writer, &s)->release();
}

namespace {

template <class Cuda, class Host>
void on_stream(const buffer_ref& written, Cuda&& cuda_way, Host&& host_way) {
  const device where = written.where();
  if (where.kind != backend::cuda) return host_way();
  const stream on = stream::current(where);
  use(written.get(), on, true);
  cuda_way(where.index, native_of(on));
}

}  // namespace

void upload(const buffer_ref& to, void* at, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  require_memory(to, "a copy from the host");
  on_stream(
      to, [&](int index, void* s) { cuda::copy(at, from, bytes, cuda::direction::to_device, index, s); },
      [&] { std::memcpy(at, from, bytes); });
}

void download(const buffer_ref& from, const void* at, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  require_memory(from, "a copy to the host");
  const device where = from.where();
  if (where.kind != backend::cuda) {
    std::memcpy(to, at, bytes);
    return;
  }
  const stream on = stream::current(where);
  use(from.get(), on, false);
  cuda::copy(to, at, bytes, cuda::direction::to_host, where.index, native_of(on));
  on.synchronize();
}

void download(const buffer_ref& from, const void* origin, const mapping& elements, std::size_t size, void* to) {
  const std::int64_t count = element_count(elements);
  if (count == 0) return;
  const auto bytes = static_cast<std::size_t>(count) * size;
  const auto* const first = static_cast<const unsigned char*>(origin) + elements.offset * static_cast<std::int64_t>(size);
  if (is_contiguous(elements)) return download(from, first, to, bytes);
  mapping in_order = elements;
  std::int64_t step = 1;
  for (int d = elements.rank - 1; d >= 0; --d) in_order.strides[d] = step, step *= elements.extents[d];
  const buffer_ref packed = buffer_ref::allocate(bytes, from.where());
  copy(packed, packed.data(), in_order, from, first, elements, size);
  download(packed, packed.data(), to, bytes);
}

host_bytes::host_bytes(std::size_t count, std::size_t size) {
  if (!__builtin_mul_overflow(count, size, &size_)) data_.reset(static_cast<unsigned char*>(std::malloc(std::max<std::size_t>(size_, 1))));
  if (data_ == nullptr) throw_host_is_full(count, size);
}

void throw_host_is_full(std::size_t count, std::size_t size) {
  raise<memory_error>("out of memory on the host: asked for " + spell_bytes(static_cast<double>(count) * static_cast<double>(size)));
}

void require_memory(const buffer_ref& owner, const char* function) {
  if (!owner) raise<memory_error>(std::string(function) + ": an operand without memory, never assigned or moved from");
}

void copy(const buffer_ref& to, void* at, const buffer_ref& from, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  require_memory(to, "a copy");
  require_memory(from, "a copy");
  if (to.where() != from.where()) {
    host_bytes staged(1, bytes);
    download(from, source, staged.data(), bytes);
    return upload(to, at, staged.data(), bytes);
  }
  if (from.where().kind == backend::cuda) use(from.get(), stream::current(from.where()), false);
  on_stream(
      to, [&](int index, void* s) { cuda::copy(at, source, bytes, cuda::direction::on_device, index, s); },
      [&] { std::memmove(at, source, bytes); });
}

void copy(const buffer_ref& to, void* at, const mapping& target, const buffer_ref& from, const void* source, const mapping& elements,
          std::size_t size) {
  const program_code& code = copy_code(static_cast<int>(size));
  const auto in = [&](const buffer_ref& memory, const void* data, const mapping& m) {
    operand o;
    o.kind = operand_kind::array, o.type = code.pass.view.type(0), o.rank = m.rank;
    o.word[0] = reinterpret_cast<std::uintptr_t>(data), o.memory = memory.get();
    std::copy_n(m.extents, max_rank, o.extents);
    std::copy_n(m.strides, max_rank, o.strides);
    return o;
  };
  const operand from_to[] = {in(from, source, elements), in(to, at, target)};
  prepared(code, from_to, {}).run();
}

void fill(const buffer_ref& to, void* at, const void* element, std::size_t size, std::int64_t count) {
  if (count == 0) return;
  require_memory(to, "a fill");
  on_stream(
      to, [&](int index, void* s) { cuda::fill(at, element, size, count, index, s); },
      [&] {
        auto* out = static_cast<unsigned char*>(at);
        for (std::int64_t i = 0; i < count; ++i) std::memcpy(out + static_cast<std::size_t>(i) * size, element, size);
      });
}

}  // namespace dsl::detail
