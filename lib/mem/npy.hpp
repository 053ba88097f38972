// Writing .npy files, for what writes several.
#pragma once

#include <filesystem>
#include <string>

#include <dsl/mem/npy.hpp>

#include "mem/buffer.hpp"
#include "mem/files.hpp"
#include "mem/npy_header.hpp"

namespace dsl::detail {

/// What a .npy file is read from.
struct npy_bytes {
  virtual ~npy_bytes() = default;
  virtual std::int64_t size() const = 0;
  /// Whether they can be read only one after another, from the first to the last.
  virtual bool is_in_order() const = 0;
  /// Fewer than so many where they end. Throws file_error.
  virtual std::size_t read(void* to, std::size_t bytes, std::int64_t place) = 0;
  /// The elements have been read: throws file_error where only now it shows that they are not what
  /// was written.
  virtual void finish() = 0;
};

/// Bytes, then the elements in row-major order. Waits.
host_bytes to_host(const stored& from, const std::string& before = {});

/// The processes that have such elements, or this one alone. Throws memory_error, and device_error
/// where others have others; `function` is named.
process_steps steps_of(const stored* all, std::size_t count, const char* function);

/// A new file with room for so many bytes behind its header. Where it is to replace one that is
/// there, nobody else may read it: that one may be private, and its permissions come last. Errors
/// name the latter.
void create_file(const std::filesystem::path& file, const std::filesystem::path& replaced,
                 const std::string& header, std::int64_t bytes);
/// A new file, on the disk when this returns, with the permissions of the one that it is to replace
/// if that is there; each process writes what it has. Throws file_error in all processes.
void write_npy(const process_steps& together, const std::filesystem::path& file,
               const std::filesystem::path& replaced, const stored& from);
/// The same of elements on the host, by one process.
void write_npy(const std::filesystem::path& file, const std::filesystem::path& replaced, dtype type,
               const mapping& shape, const void* elements);

}  // namespace dsl::detail
