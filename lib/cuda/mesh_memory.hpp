// Arrays distributed over the memory of several GPUs.
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

/// Memory of a mesh's members. An array is one range of addresses, divided at granules (2 MiB) into
/// a part for each member. The parts are as even as granules allow. For two members they are
/// exactly even, because the array begins inside its first granule such that its middle is at a
/// granule. An array with less than a granule per member is with the first one. Memory is allocated
/// and freed in stream order. Mapped ranges are kept and reused until they are given back.
class mesh_memory {
 public:
  /// The GPUs must reach each other's memory. A test may name one several times.
  explicit mesh_memory(std::vector<int> members);
  mesh_memory(const mesh_memory&) = delete;

  /// Null if a member has too little memory.
  void* allocate(std::size_t bytes, mesh_stream& on);
  void release(void* memory, mesh_stream& on);
  /// Called before a stream ends, because its order determines when memory freed on it is free.
  void forget(mesh_stream& ends) noexcept;

  /// A contiguous piece of memory and its member. There is at most one part per member, in the
  /// order of the members.
  struct part {
    int member;
    unsigned char* at;
    std::size_t bytes;
  };
  std::vector<part> parts(const void* address, std::size_t bytes) const;
  /// Whether an address is inside an array that was allocated here.
  bool has(const void* address) const;

  /// `bytes` rounded up to whole granules. An array of that size times the number of members has
  /// one such part on each member.
  std::size_t granules(std::size_t bytes) const {
    return (bytes + granule_ - 1) / granule_ * granule_;
  }

  /// Bytes that arrays use, and bytes kept for reuse; `free` and `total` are not filled in.
  memory_usage usage() const;
  /// Waits for the members, and gives back unused memory.
  void give_back();
  /// After this, `trim` gives back unused memory while more than `bytes` are kept.
  void set_release_threshold(std::size_t bytes);
  void trim() noexcept;

 private:
  // Addresses that are mapped to the memory of each member in turn.
  struct range {
    CUdeviceptr low;
    std::vector<std::size_t> ends;  // end of each member's part, in bytes
    std::size_t used = 0;           // bytes of the array; 0: free
    // When it was freed: the stream (null once its work has ended), and the number of work items
    // its members had been given.
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
  std::size_t least_memory_ = SIZE_MAX;  // memory of the smallest member
  cudaMemPool_t small_{};                // pool of the first member

  // Guards the members below.
  mutable std::mutex mutex_;
  std::size_t threshold_ = SIZE_MAX, kept_ = 0;
  std::map<std::uintptr_t, range> used_;              // by the array's address
  std::map<std::uintptr_t, std::size_t> small_used_;  // bytes of small arrays by address
  std::list<range> free_;
};

}  // namespace dsl::detail::cuda
