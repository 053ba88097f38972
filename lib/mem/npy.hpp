// Reading and writing of .npy files, shared by .npz files and checkpoints.
#pragma once

#include <filesystem>
#include <string>

#include <dsl/mem/npy.hpp>

#include "mem/buffer.hpp"
#include "mem/files.hpp"
#include "mem/npy_header.hpp"

namespace dsl::detail {

/// A source of a .npy file's bytes.
struct npy_bytes {
  virtual ~npy_bytes() = default;
  virtual std::int64_t size() const = 0;
  /// Whether the bytes can be read only in order, from the first to the last.
  virtual bool is_in_order() const = 0;
  /// Reads bytes at `place` and returns their number, which is less at the end. Throws file_error.
  virtual std::size_t read(void* to, std::size_t bytes, std::int64_t place) = 0;
  /// Called after the elements were read. Throws file_error if the data turn out to be damaged.
  virtual void finish() = 0;
};

/// The bytes of `before`, followed by the elements in row-major order. Waits.
host_bytes to_host(const stored& from, const std::string& before = {});

/// The processes that hold the elements, or this process alone. Throws memory_error; throws
/// device_error if the variables are held by different processes. The message names `function`.
process_steps steps_of(const stored* all, std::size_t count, const char* function);

/// Makes a new file with room for `bytes` bytes after its header. If it is to replace an existing
/// file nobody else may read it: that file may be private, and its permissions are set last. Error
/// messages name `replaced`.
void create_file(const std::filesystem::path& file, const std::filesystem::path& replaced,
                 const std::string& header, std::int64_t bytes);
/// Writes a new file, which is on the disk when this returns, with the permissions of the existing
/// file that it replaces. Each process writes its own part. Throws file_error in all processes.
void write_npy(const process_steps& together, const std::filesystem::path& file,
               const std::filesystem::path& replaced, const stored& from);
/// The same for elements on the host, by one process.
void write_npy(const std::filesystem::path& file, const std::filesystem::path& replaced, dtype type,
               const mapping& shape, const void* elements);

}  // namespace dsl::detail
