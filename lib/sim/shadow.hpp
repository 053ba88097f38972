// The simulator's knowledge of memory: who last wrote and read each cell.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace dsl::detail {

/// A thread at a time of its block's clock, which each barrier advances.
struct moment {
  std::uint32_t who = 0;  // the block's number from 1, and the thread's; 0: nobody
  std::uint32_t when = 0;

  static constexpr int thread_bits = 10;
  // Set for the future write of a copy that has not been waited for.
  static constexpr std::uint32_t pending = std::uint32_t{1} << 31;
  static std::uint32_t block_of(std::int64_t number) {
    return static_cast<std::uint32_t>(number % ((1 << 21) - 1)) + 1;
  }
  static std::uint32_t of(std::int64_t block, int thread) {
    return block_of(block) << thread_bits | static_cast<std::uint32_t>(thread);
  }

  std::uint32_t block() const { return (who & ~pending) >> thread_bits; }
  int thread() const { return static_cast<int>(who & ((1u << thread_bits) - 1)); }
  bool is_before(std::uint32_t time) const { return static_cast<std::int32_t>(when - time) < 0; }
};

/// The last accesses of each cell of a range of memory. A cell is as large as the smallest aligned
/// access so far.
class shadow {
 public:
  struct cell {
    moment& written;
    moment* read;  // two reads since the last write, by different threads
  };

  shadow() = default;
  shadow(std::uintptr_t begin, std::size_t bytes)
      : begin_(begin / largest_access * largest_access), bytes_(bytes + begin % largest_access) {}

  /// Calls visit(cell) for each cell of an access. There are no cells for memory that is too large
  /// to be recorded.
  template <class Visit>
  void visit(std::uintptr_t address, std::size_t bytes, std::size_t alignment, bool with_reads,
             const Visit& visit) {
    if (alignment < (std::size_t{1} << log2_cell_)) divide(std::countr_zero(alignment));
    if (with_reads && reads_ == nullptr) reads_ = allocate(2 * cells());
    if (writes_ == nullptr || (with_reads && reads_ == nullptr)) return;
    const std::size_t end = (address - begin_ + bytes) >> log2_cell_;
    for (std::size_t i = (address - begin_) >> log2_cell_; i < end; ++i)
      visit(cell{writes_[i], reads_ != nullptr ? &reads_[2 * i] : nullptr});
  }

 private:
  struct free_memory {
    void operator()(moment* m) const { std::free(m); }
  };
  using moments = std::unique_ptr<moment[], free_memory>;

  std::size_t cells() const { return (bytes_ >> log2_cell_) + 1; }
  // calloc: pages that are not touched take no time.
  static moments allocate(std::size_t count) {
    return moments(static_cast<moment*>(std::calloc(count, sizeof(moment))));
  }
  void divide(int log2_cell) {
    const moments writes = std::move(writes_), reads = std::move(reads_);
    const std::size_t before = cells(), pieces = std::size_t{1} << (log2_cell_ - log2_cell);
    log2_cell_ = log2_cell;
    writes_ = allocate(cells());
    if (reads != nullptr) reads_ = allocate(2 * cells());
    for (std::size_t i = 0; i < before && writes != nullptr && writes_ != nullptr; ++i) {
      if (writes[i].who == 0 && (reads == nullptr || reads[2 * i].who == 0)) continue;
      for (std::size_t k = i * pieces; k < (i + 1) * pieces && k < cells(); ++k) {
        writes_[k] = writes[i];
        if (reads != nullptr && reads_ != nullptr) {
          reads_[2 * k] = reads[2 * i];
          reads_[2 * k + 1] = reads[2 * i + 1];
        }
      }
    }
  }

  static constexpr std::size_t largest_access = 16;
  std::uintptr_t begin_ = 0;  // aligned down, so that cells match aligned accesses
  std::size_t bytes_ = 0;
  int log2_cell_ = 31;  // before the first access
  moments writes_, reads_;
};

}  // namespace dsl::detail
