#include "mem/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "mem/text.hpp"

namespace dsl::detail {

namespace fs = std::filesystem;

void throw_file_error(const fs::path& file, const std::string& what) {
  raise<file_error>(file.string() + ": " + what);
}
void throw_system_error(const fs::path& file, const char* what) {
  throw_file_error(file, std::string(what) + ": " + std::strerror(errno));
}

fs::path path_of(file_path file) {
  if (file.name == nullptr) raise<file_error>("a null pointer for a file's name");
  return file.name;
}

fs::path resolve_links(fs::path file) {
  std::error_code failed;
  for (int links = 0; links < 40 && fs::is_symlink(file, failed); ++links) {
    const fs::path to = fs::read_symlink(file, failed);
    if (failed) break;
    file = file.parent_path() / to;
  }
  if (fs::is_symlink(file, failed)) throw_file_error(file, "is a symbolic link that leads nowhere");
  return file;
}

open_file::open_file(const fs::path& file, int flags, const fs::path& name, const char* what)
    : name_(name), what_(what), number_(open(file.c_str(), flags | O_CLOEXEC, 0666)) {
  if (number_ < 0) fail();
}
open_file::~open_file() { close(number_); }

std::int64_t open_file::size() const {
  struct stat status{};
  if (fstat(number_, &status) != 0) fail();
  return status.st_size;
}

std::size_t open_file::read(void* to, std::size_t bytes, std::int64_t place) const {
  auto* const at = static_cast<unsigned char*>(to);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got =
        pread(number_, at + done, bytes - done, place + static_cast<std::int64_t>(done));
    if (got < 0 && errno != EINTR) fail();
    if (got == 0) return done;
    done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return bytes;
}

void open_file::write(const void* from, std::size_t bytes, std::int64_t place) const {
  const auto* at = static_cast<const unsigned char*>(from);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t written =
        pwrite(number_, at + done, bytes - done, place + static_cast<std::int64_t>(done));
    if (written < 0 && errno != EINTR) fail();
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
}
void open_file::sync() const {
  if (fsync(number_) != 0) fail();
}
void open_file::fail() const { throw_system_error(name_, what_); }

void bring_to_disk(const fs::path& file, const fs::path& replaced) {
  const open_file written(file, O_RDONLY, replaced, unwritable);
  struct stat before{};
  if (stat(replaced.c_str(), &before) == 0)
    fchmod(written.number(), before.st_mode & 07777);  // some file systems have no permissions
  written.sync();
}

void sync_folder(const fs::path& folder) {
  const int handle = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (handle < 0) return;  // a folder that may be written to but not read
  fsync(handle);
  close(handle);
}

void replace_file(file_path to, const process_steps& together,
                  const std::function<void(const fs::path&, const fs::path&)>& write_new) {
  static std::atomic<unsigned> count{0};
  const fs::path target = resolve_links(path_of(to));
  together.first([&] {
    std::error_code ignored;
    if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored))
      throw_file_error(target, "is no regular file, and is not replaced by one");
  });
  const fs::path unfinished = together.from_first_process(
      target.string() + "." + std::to_string(getpid()) + "-" + std::to_string(count++) + ".new");
  try {
    write_new(unfinished, target);
    together.first([&] {
      if (std::rename(unfinished.c_str(), target.c_str()) != 0)
        throw_system_error(target, unwritable);
    });
  } catch (...) {
    if (together.is_first()) std::remove(unfinished.c_str());
    throw;
  }
  if (together.is_first()) sync_folder(target.parent_path());
}

}  // namespace dsl::detail
