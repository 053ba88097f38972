// What a piece of device memory is inside the library.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include <dsl/mem/buffer.hpp>

#include "stream.hpp"

namespace dsl::detail {

struct buffer {
  device where;
  void* data;
  std::size_t bytes;
  stream_state* home;    // allocated and freed on this stream
  stream_state* writer;  // the stream of the last write, or home
  std::atomic<int> owners{1};
  std::mutex mutex{};                    // of writer and readers
  std::vector<stream_state*> readers{};  // other streams that read since
};

}  // namespace dsl::detail
