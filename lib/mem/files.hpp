// Files that take their places when all of them is on the disk.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <dsl/mem/npy.hpp>

#include "mem/process_steps.hpp"

namespace dsl::detail {

/// "a/b.npy: what is wrong"
[[noreturn]] void throw_file_error(const std::filesystem::path& file, const std::string& what);
/// "a/b.npy: cannot be written: No space left on device", by errno.
[[noreturn]] void throw_system_error(const std::filesystem::path& file, const char* what);
inline constexpr const char *unreadable = "cannot be read", *unwritable = "cannot be written";

/// Throws file_error where there is no name.
std::filesystem::path path_of(file_path file);
/// What a name stands for where it is a symbolic link, which may lead to a file that is not there
/// yet.
std::filesystem::path behind_links(std::filesystem::path file);

/// Puts a new file in a name's place: write_new(path, replaced), called in all processes, makes it.
/// One that is there has to be a regular file; of a link it is what the link leads to. Throws
/// file_error, and then the new file is gone.
void replace_file(file_path to, const process_steps& together,
                  const std::function<void(const std::filesystem::path& file,
                                           const std::filesystem::path& replaced)>& write_new);

/// A file is on the disk when this returns, with the permissions of the one that it is to replace
/// if that is there. Errors name the latter.
void bring_to_disk(const std::filesystem::path& file, const std::filesystem::path& replaced);
/// Makes what was created, renamed and removed in a folder lasting.
void sync_folder(const std::filesystem::path& folder);

/// A file that is open, by its number; closed at the end.
class open_file {
 public:
  /// As open(2). Throws file_error that calls the file `name` and says that it is `unreadable` or
  /// `unwritable`.
  open_file(const std::filesystem::path& file, int flags, const std::filesystem::path& name,
            const char* what);
  open_file(const open_file&) = delete;
  ~open_file();

  int number() const { return number_; }
  std::int64_t size() const;
  /// How many were read: fewer where the file ends.
  std::size_t read(void* to, std::size_t bytes, std::int64_t place) const;
  void write(const void* from, std::size_t bytes, std::int64_t place) const;
  /// Brings what was written to the disk.
  void sync() const;

 private:
  [[noreturn]] void fail() const;

  const std::filesystem::path name_;
  const char* const what_;
  const int number_;
};

}  // namespace dsl::detail
