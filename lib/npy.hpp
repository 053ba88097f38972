// Writing .npy files, for what writes several.
#pragma once

#include <filesystem>
#include <string>

#include <dsl/mem/npy.hpp>

namespace dsl::detail {

/// "a/b.npy: what is wrong"
[[noreturn]] void throw_file_error(const std::filesystem::path& file, const std::string& what);
/// "a/b.npy: cannot be written: No space left on device", by errno.
[[noreturn]] void throw_system_error(const std::filesystem::path& file, const char* what);

/// A new file, on the disk when this returns.
void write_npy(const std::filesystem::path& file, const stored& from);
void write_npy(const std::filesystem::path& file, dtype type, const mapping& shape, const void* elements);

/// Makes what was created, renamed and removed in a folder lasting.
void sync_folder(const std::filesystem::path& folder);

}  // namespace dsl::detail
