// Writing .npy files, for what writes several.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <dsl/mem/npy.hpp>

#include "mem/buffer.hpp"
#include "mem/npy_header.hpp"

namespace dsl::detail {

/// "a/b.npy: what is wrong"
[[noreturn]] void throw_file_error(const std::filesystem::path& file, const std::string& what);
/// "a/b.npy: cannot be written: No space left on device", by errno.
[[noreturn]] void throw_system_error(const std::filesystem::path& file, const char* what);

/// Throws file_error where there is no name.
std::filesystem::path path_of(file_path file);
/// What a name stands for where it is a symbolic link, which may lead to a file that is not there yet.
std::filesystem::path behind_links(std::filesystem::path file);

/// Bytes, then the elements in row-major order. Waits.
host_bytes to_host(const stored& from, const std::string& before = {});

/// Puts a new file in a name's place: write_new(path, replaced) makes it, and returns false with errno set where it cannot, with
/// no file left. One that is there has to be a regular file; of a link it is what the link leads to. Throws file_error.
void replace_file(file_path to,
                  const std::function<bool(const std::filesystem::path& file, const std::filesystem::path& replaced)>& write_new);

/// A new file, on the disk when this returns, with the permissions of the one that it is to replace if that is there.
void write_npy(const std::filesystem::path& file, const std::filesystem::path& replaced, const stored& from);
void write_npy(const std::filesystem::path& file, const std::filesystem::path& replaced, dtype type, const mapping& shape,
               const void* elements);

/// Makes what was created, renamed and removed in a folder lasting.
void sync_folder(const std::filesystem::path& folder);

}  // namespace dsl::detail
