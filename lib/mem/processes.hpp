// A mesh of processes: its memory consists of parts, one for each process on the process's own
// device.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <dsl/mem/processes.hpp>

#include "mem/back_end.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

/// Rows of an array, or bytes, from `first` to before `end`.
struct index_range {
  std::int64_t first = 0, end = 0;

  std::int64_t count() const { return end - first; }
  index_range within(const index_range& other) const {
    const std::int64_t from = std::max(first, other.first);
    return {from, std::max(from, std::min(end, other.end))};
  }
  bool contains(const index_range& other) const { return first <= other.first && other.end <= end; }
};

/// Several processes as one device. Each process's own device runs the work and holds its bytes.
class process_mesh final : public back_end {
 public:
  /// Throws device_error if the GPUs cannot be connected.
  process_mesh(std::unique_ptr<process_group> joined, device own_device, kernel_services& kernels);

  process_group& group() const { return *group_; }
  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }
  const device own;

  /// Null if the own device is not a GPU.
  gpu_group* gpus() const { return gpus_.get(); }
  /// Gathers each process's data in all processes, in memory of the own device, as
  /// `process_group::all_gather`; on GPUs in the order of the current stream.
  void all_gather(const buffer_ref& memory, void* at, const std::vector<std::size_t>& bytes) const;
  /// The same in memory that only the current stream uses.
  void all_gather(void* at, const std::vector<std::size_t>& bytes) const;
  /// As `process_group::exchange`, in memory of the own device that only its current stream has
  /// used.
  void exchange(const std::vector<process_message>& sent,
                const std::vector<process_message>& received) const;

  /// Memory divided between the processes: each holds the bytes from the previous process's `ends`
  /// to its own.
  buffer_ref allocate_parts(std::vector<std::int64_t> ends, device where) const;
  /// Memory divided evenly by rows of the outermost axis.
  buffer_ref allocate_rows(const std::int64_t* extents, int rank, std::size_t size,
                           device where) const;
  /// Memory of which each process has a complete copy.
  buffer_ref allocate_copies(std::size_t bytes, device where) const;

  process_mesh* processes() override { return this; }
  std::string spell(int) const override;
  const device_properties& properties(int) override;
  void synchronize_device(int) override { own.synchronize(); }
  memory_usage usage(int) override { return memory_usage_of(own); }
  void release_memory(int) override { dsl::release_memory(own); }
  void set_release_threshold(int, std::size_t bytes) override {
    dsl::set_release_threshold(bytes, own);
  }

  // The mesh's only stream is the own device's current stream.
  void synchronize(int, void*) override { stream::current(own).synchronize(); }
  void synchronize_quietly(int, void*) noexcept override;
  void* record_event(int, void*) override;
  void wait_for_event(void* event) override { runs_.wait_for_event(event); }
  bool is_reached(void* event) override { return runs_.is_reached(event); }
  void wait_for_event_on(int, void*, void* event) override;
  void destroy_event(void* event) noexcept override { runs_.destroy_event(event); }

  void* allocate_pinned(std::size_t bytes, int) override {
    return runs_.allocate_pinned(bytes, own.index);
  }
  void release_pinned(void* memory, int) noexcept override {
    runs_.release_pinned(memory, own.index);
  }
  bool is_page_locked(const void* address) override { return runs_.is_page_locked(address); }

  // Never called: memory belongs to the own device.
  void* allocate(std::size_t, int, void*) override { return nullptr; }
  void release(void*, int, void*) noexcept override {}
  void copy(void*, const void*, std::size_t, direction, int, void*) override {}
  void set_zero(void*, std::size_t, int, void*) override {}
  void fill(void*, const void*, std::size_t, std::int64_t, int, void*) override {}

 private:
  std::unique_ptr<process_group> group_;
  // Null if the own device's memory is the host's.
  std::unique_ptr<gpu_group> gpus_;
  back_end& runs_;
};

/// Memory of a mesh of processes. Bytes are numbered over all processes.
class process_part {
 public:
  process_part(const process_mesh& mesh, std::vector<std::int64_t> ends, std::size_t bytes);

  const process_mesh& mesh() const { return mesh_; }
  /// This process's memory, on its own device.
  const buffer_ref& own() const { return own_; }
  /// Whether the bytes are divided between the processes; otherwise each process has all.
  bool is_divided() const { return !ends_.empty(); }
  const std::vector<std::int64_t>& ends() const { return ends_; }
  index_range bytes_of(int process) const;
  /// The address that the program sees for byte number 0. For divided memory it is an address that
  /// nothing else has.
  void* shown_at() const { return shown_at_; }
  /// The address that byte number 0 would have in the process's own memory.
  unsigned char* base() const {
    return static_cast<unsigned char*>(own_.data()) - bytes_of(mesh_.rank()).first;
  }

  /// The rows that begin in a process's part, of `rows` rows at distances of `stride` bytes; the
  /// first row begins at byte number `first`.
  index_range rows_of(int process, std::int64_t first, std::int64_t stride,
                      std::int64_t rows) const;

  // As the functions on buffers, by all processes together. `at` is the number of a byte.
  void upload(std::int64_t at, const void* from, std::int64_t bytes) const;
  void download(std::int64_t at, void* to, std::int64_t bytes) const;
  void upload(std::int64_t origin, const mapping& elements, std::size_t size,
              const void* from) const;
  void download(std::int64_t origin, const mapping& elements, std::size_t size, void* to) const;
  void fill(std::int64_t at, const void* element, std::size_t size, std::int64_t count) const;
  void copy(std::int64_t at, const process_part& from, std::int64_t source,
            std::int64_t bytes) const;

 private:
  unsigned char* address(std::int64_t at) const { return base() + at; }
  index_range mine(std::int64_t at, std::int64_t bytes) const;

  const process_mesh& mesh_;
  std::vector<std::int64_t> ends_;
  buffer_ref own_;
  void* shown_at_;
};

/// The process's part of elements in divided memory, if it is a range of indices of the axis. The
/// result's `elements.offset` is the first of these indices.
std::optional<own_elements> part_along(int axis, const buffer_ref& owner, void* first,
                                       const mapping& elements, std::size_t size);

/// The bytes from the first to the end of the last of some elements, counted from the origin.
index_range bytes_spanned(const mapping& elements, std::size_t size);

}  // namespace dsl::detail
