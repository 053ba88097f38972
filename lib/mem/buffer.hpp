// What a piece of device memory is inside the library.
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

/// Memory of the host for `before` bytes and then `count` values of `size` bytes, not initialised.
/// Throws memory_error.
class host_bytes {
 public:
  host_bytes(std::size_t count, std::size_t size, std::size_t before = 0);

  unsigned char* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  /// For std::free.
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
  void* data;  // of memory that processes have parts of, no address of theirs
  std::size_t bytes;
  stream_state* home;    // allocated and freed on this stream
  stream_state* writer;  // the stream of the last write, or home
  std::atomic<int> owners{1};
  std::atomic<bool> is_replaced{false};  // the array that it was the memory of has other memory
  std::mutex mutex{};                    // of writer and readers
  std::vector<stream_state*> readers{};  // other streams that read since
  bool is_foreign = false;               // of an owner outside the library
  keeper kept{};                         // foreign: what keeps the memory alive
  std::shared_ptr<const process_part> part{};  // of a mesh of processes
};

/// Memory of a mesh of processes. Throws device_error.
buffer_ref make_shared_buffer(device where, std::size_t bytes,
                              std::shared_ptr<const process_part> part);

/// Orders a stream's next work behind what other streams do with foreign memory that overlaps this
/// one.
void use_overlapping(const buffer& memory, stream_state& on, bool writes);
/// Foreign memory whose last owner has died.
void forget_foreign(const buffer& memory) noexcept;

}  // namespace dsl::detail
