// Writing .npy files, for what writes several.
#pragma once

#include <filesystem>
#include <string>

#include <dsl/mem/npy.hpp>

#include "mem/buffer.hpp"
#include "mem/files.hpp"
#include "mem/npy_header.hpp"

namespace dsl::detail {

/// Bytes, then the elements in row-major order. Waits.
host_bytes to_host(const stored& from, const std::string& before = {});

/// The processes that have such elements, or this one alone. Throws memory_error, and device_error where others have others;
/// `function` is named.
process_steps steps_of(const stored* all, std::size_t count, const char* function);

/// A new file, on the disk when this returns, with the permissions of the one that it is to replace if that is there; each
/// process writes what it has. Throws file_error in all processes.
void write_npy(const process_steps& together, const std::filesystem::path& file, const std::filesystem::path& replaced,
               const stored& from);
/// The same of elements on the host, by one process.
void write_npy(const std::filesystem::path& file, const std::filesystem::path& replaced, dtype type, const mapping& shape,
               const void* elements);

}  // namespace dsl::detail
