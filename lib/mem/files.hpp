// Files that replace others only once they are completely on the disk.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <dsl/mem/npy.hpp>

#include "mem/process_steps.hpp"

namespace dsl::detail {

/// "a/b.npy: what is wrong"
[[noreturn]] void throw_file_error(const std::filesystem::path& file, const std::string& what);
/// "a/b.npy: cannot be written: No space left on device", from errno.
[[noreturn]] void throw_system_error(const std::filesystem::path& file, const char* what);
inline constexpr const char *unreadable = "cannot be read", *unwritable = "cannot be written";

/// Throws file_error if there is no name.
std::filesystem::path path_of(file_path file);
/// The file to which a symbolic link leads, which need not exist yet; any other path unchanged.
std::filesystem::path resolve_links(std::filesystem::path file);

/// Replaces a file: all processes call write_new(path, replaced), which makes the new one. An
/// existing file must be a regular file; for a symbolic link, the file it leads to is replaced.
/// Throws file_error, after removing the new file.
void replace_file(file_path to, const process_steps& together,
                  const std::function<void(const std::filesystem::path& file,
                                           const std::filesystem::path& replaced)>& write_new);

/// Flushes a file to the disk and gives it the permissions of the existing file that it replaces.
/// Error messages name `replaced`.
void bring_to_disk(const std::filesystem::path& file, const std::filesystem::path& replaced);
/// Flushes a folder, so that created, renamed and removed files are durable.
void sync_folder(const std::filesystem::path& folder);

/// An open file descriptor, closed by the destructor.
class open_file {
 public:
  /// Opens a file as open(2) does. Throws file_error that names the file `name` and says `what`:
  /// `unreadable` or `unwritable`.
  open_file(const std::filesystem::path& file, int flags, const std::filesystem::path& name,
            const char* what);
  open_file(const open_file&) = delete;
  ~open_file();

  int number() const { return number_; }
  std::int64_t size() const;
  /// Returns the number of bytes read, which is less at the end of the file.
  std::size_t read(void* to, std::size_t bytes, std::int64_t place) const;
  void write(const void* from, std::size_t bytes, std::int64_t place) const;
  /// Flushes the written data to the disk.
  void sync() const;

 private:
  [[noreturn]] void fail() const;

  const std::filesystem::path name_;
  const char* const what_;
  const int number_;
};

}  // namespace dsl::detail
