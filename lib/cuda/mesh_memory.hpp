// Arrays over the memory of several GPUs.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <dsl/mem/device.hpp>

#include "cuda/driver.hpp"
#include "cuda/mesh_stream.hpp"

namespace dsl::detail::cuda {

/// Memory of a mesh's members. An array is one range of addresses, cut at granules (2 MiB) into a
/// part for each member: as even as granules allow, and for two members even, since the array
/// begins within its first granule where that suits its middle. What is smaller than a granule a
/// member lies with the first one. Memory is taken and freed in the order of a stream; what was
/// mapped once is kept, and used again, until it is given back.
class mesh_memory {
 public:
  /// Of GPUs that reach each other's memory, in which a test may name one several times.
  explicit mesh_memory(std::vector<int> members);
  mesh_memory(const mesh_memory&) = delete;

  /// Null where a member has too little.
  void* allocate(std::size_t bytes, mesh_stream& on);
  void release(void* memory, mesh_stream& on);
  /// Before a stream ends, whose order says when what was freed on it is free.
  void forget(mesh_stream& ends) noexcept;

  /// A stretch of memory with its home: at most one part a member, in the order of the members.
  struct part {
    int member;
    unsigned char* at;
    std::size_t bytes;
  };
  std::vector<part> parts(const void* address, std::size_t bytes) const;
  /// Whether an address lies in what was allocated here.
  bool has(const void* address) const;

  /// So many bytes, up to a multiple of what a member's part is: an array of as many times that as
  /// there are members has one at each.
  std::size_t granules(std::size_t bytes) const {
    return (bytes + granule_ - 1) / granule_ * granule_;
  }

  /// What arrays use, and what is kept for them; `free` and `total` are not filled in.
  memory_usage usage() const;
  /// Waits for the members, and gives back what nothing uses.
  void give_back();
  /// From now on `trim` gives back what nothing uses while more than so many bytes are kept.
  void set_release_threshold(std::size_t bytes);
  void trim() noexcept;

 private:
  // Addresses that are mapped to each member's memory in turn.
  struct range {
    CUdeviceptr low;
    std::vector<std::size_t> ends;  // of each member's part, in bytes
    std::size_t used = 0;           // bytes of an array
    // Since when it is free: the stream, null once its work has ended, and how much its members had
    // been given.
    mesh_stream* freed_on = nullptr;
    std::vector<std::uint64_t> freed_at{};

    std::size_t bytes() const { return ends.back(); }
  };

  std::optional<std::size_t> lead_in(const range& r, std::size_t bytes) const;
  range divided(std::size_t bytes) const;
  bool map(range& r) const;
  void unmap(const range& r) const noexcept;
  static bool has_ended(const range& r);
  void* allocate_small(std::size_t bytes, mesh_stream& on);

  const std::vector<int> members_;
  std::size_t granule_ = 0;
  std::size_t least_memory_ = SIZE_MAX;  // of a member
  cudaMemPool_t small_{};                // the first member's

  mutable std::mutex mutex_;  // of what follows
  std::size_t threshold_ = SIZE_MAX, kept_ = 0;
  std::map<std::uintptr_t, range> used_;              // by the array's address
  std::map<std::uintptr_t, std::size_t> small_used_;  // and of small ones their bytes
  std::list<range> free_;
};

}  // namespace dsl::detail::cuda
