// The library's state of a piece of device memory.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include <dsl/mem/buffer.hpp>
#include <dsl/mem/foreign.hpp>

#include "mem/stream.hpp"

namespace dsl::detail {

/// Uninitialised host memory for `before` bytes followed by `count` values of `size` bytes. Throws
/// memory_error.
class host_bytes {
 public:
  host_bytes(std::size_t count, std::size_t size, std::size_t before = 0);

  unsigned char* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  /// The caller frees the memory with std::free.
  unsigned char* release() noexcept { return data_.release(); }

 private:
  struct free_memory {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<unsigned char, free_memory> data_;
};

class process_part;

struct buffer {
  device where;
  void* data;  // for memory divided between processes not a real address
  std::size_t bytes;
  stream_state* home;    // allocated and freed on this stream
  stream_state* writer;  // the stream of the last write, or home
  std::atomic<int> owners{1};
  std::atomic<bool> is_replaced{false};        // its array has other memory now
  std::mutex mutex{};                          // of writer and readers
  std::vector<stream_state*> readers{};        // other streams that have read since the last write
  bool is_foreign = false;                     // owned outside the library
  bool is_brief = false;                       // a piece of home's brief memory
  keeper kept{};                               // foreign memory: the object that keeps it alive
  std::shared_ptr<const process_part> part{};  // for a mesh of processes
};

/// Memory of a mesh of processes. Throws device_error.
buffer_ref make_shared_buffer(device where, std::size_t bytes,
                              std::shared_ptr<const process_part> part);

/// Makes a stream's next work wait for other streams' work on foreign memory that overlaps this
/// memory.
void use_overlapping(const buffer& memory, stream_state& on, bool writes);
/// Removes foreign memory whose last owner was destroyed.
void forget_foreign(const buffer& memory) noexcept;

}  // namespace dsl::detail
