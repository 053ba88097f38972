#include "mem/npy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "mem/processes.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace fs = std::filesystem;

void throw_file_error(const fs::path& file, const std::string& what) { raise<file_error>(file.string() + ": " + what); }
void throw_system_error(const fs::path& file, const char* what) {
  throw_file_error(file, std::string(what) + ": " + std::strerror(errno));
}

namespace {

struct close_file {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using file_handle = std::unique_ptr<std::FILE, close_file>;

std::string spell_array(dtype type, const std::int64_t* sizes, int rank) {
  return std::string(name(type)) + " " + spell_shape(sizes, rank);
}

// The extents of row-major elements of a file in Fortran order, as strides.
mapping fortran_order(const mapping& shape) {
  mapping m = shape;
  std::int64_t step = 1;
  for (int d = 0; d < m.rank; ++d) {
    m.strides[d] = step;
    step *= m.extents[d];
  }
  return m;
}

/// Elements of a mapping, in row-major order.
void gather(const mapping& from, std::size_t size, const unsigned char* source, unsigned char* to) {
  std::int64_t index[max_rank] = {}, offset = 0;
  for (std::int64_t n = element_count(from); n > 0; --n, to += size) {
    std::memcpy(to, source + offset * static_cast<std::int64_t>(size), size);
    for (int d = from.rank - 1; d >= 0; --d) {
      offset += from.strides[d];
      if (++index[d] < from.extents[d]) break;
      offset -= index[d] * from.strides[d];
      index[d] = 0;
    }
  }
}

constexpr const char* unreadable = "cannot be read";
constexpr const char* unwritable = "cannot be written";

// False, with errno set and no file left, where it cannot be written and brought to the disk. It takes the permissions of the one
// that it is to replace, if there is one.
bool write(const fs::path& file, const fs::path& replaced, dtype type, const mapping& shape, const void* elements) {
  const std::string header = header_of(type, shape);
  const auto size = static_cast<std::size_t>(element_count(shape)) * static_cast<std::size_t>(size_of(type));
  struct stat before{};
  const bool replaces = stat(replaced.c_str(), &before) == 0;
  const int handle = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
  if (handle < 0) return false;
  if (replaces) fchmod(handle, before.st_mode & 07777);  // some file systems have none
  file_handle out(fdopen(handle, "wb"));
  const bool written = std::fwrite(header.data(), 1, header.size(), out.get()) == header.size() &&
                       std::fwrite(elements, 1, size, out.get()) == size && std::fflush(out.get()) == 0 &&
                       fsync(fileno(out.get())) == 0;
  if (written && std::fclose(out.release()) == 0) return true;
  const int why = errno;
  std::remove(file.c_str());
  errno = why;
  return false;
}

}  // namespace

host_bytes to_host(const stored& from, const std::string& before) {
  require_memory(from.owner, "save");
  const auto size = static_cast<std::size_t>(size_of(from.type)), count = static_cast<std::size_t>(element_count(from.elements));
  host_bytes elements(count, size, before.size());
  std::copy(before.begin(), before.end(), elements.data());
  download(from.owner, from.origin, from.elements, size, elements.data() + before.size());
  return elements;
}

fs::path path_of(file_path file) {
  if (file.name == nullptr) raise<file_error>("a null pointer for a file's name");
  return file.name;
}

fs::path behind_links(fs::path file) {
  std::error_code failed;
  for (int links = 0; links < 40 && fs::is_symlink(file, failed); ++links) {
    const fs::path to = fs::read_symlink(file, failed);
    if (failed) break;
    file = file.parent_path() / to;
  }
  if (fs::is_symlink(file, failed)) throw_file_error(file, "is a symbolic link that leads nowhere");
  return file;
}

void write_npy(const fs::path& file, const fs::path& replaced, dtype type, const mapping& shape, const void* elements) {
  if (!write(file, replaced, type, shape, elements)) throw_system_error(file, unwritable);
}
void write_npy(const fs::path& file, const fs::path& replaced, const stored& from) {
  write_npy(file, replaced, from.type, from.elements, to_host(from).data());
}

void sync_folder(const fs::path& folder) {
  const int handle = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (handle < 0) return;  // a folder that may be written to but not read
  fsync(handle);
  close(handle);
}

void replace_file(file_path to, const std::function<bool(const fs::path&, const fs::path&)>& write_new) {
  static std::atomic<unsigned> count{0};
  const fs::path target = behind_links(path_of(to));
  std::error_code ignored;
  if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored))
    throw_file_error(target, "is no regular file, and is not replaced by one");
  const fs::path unfinished = target.string() + "." + std::to_string(getpid()) + "-" + std::to_string(count++) + ".new";
  if (!write_new(unfinished, target)) throw_system_error(target, unwritable);
  if (std::rename(unfinished.c_str(), target.c_str()) != 0) {
    const int why = errno;
    std::remove(unfinished.c_str());
    errno = why;
    throw_system_error(target, unwritable);
  }
  sync_folder(target.parent_path());
}

void save_npy(file_path to, const stored& from) {
  const host_bytes elements = to_host(from);
  const auto save = [&] {
    replace_file(to, [&](const fs::path& unfinished, const fs::path& target) {
      return write(unfinished, target, from.type, from.elements, elements.data());
    });
  };
  const process_part* const part = from.owner.get()->part.get();
  if (part == nullptr) return save();
  // Of several processes the first one writes, and tells the others when it is done, and whether it could.
  process_group& group = part->mesh().group();
  std::vector<char> is_saved(static_cast<std::size_t>(group.size()), 1);
  const auto tell = [&] { group.all_gather(is_saved.data(), std::vector<std::size_t>(is_saved.size(), 1).data()); };
  try {
    if (group.rank() == 0) save();
  } catch (...) {
    is_saved[0] = 0;
    tell();
    throw;
  }
  tell();
  if (is_saved[0] == 0) throw_file_error(path_of(to), "was not written by the first process");
}

struct npy_file::contents {
  fs::path path;
  file_handle in;
  std::int64_t bytes = -1;  // of all that can be read; -1: the file's
  dtype type{};
  mapping shape{};
  bool is_fortran = false, is_swapped = false;
  std::int64_t header_bytes = 0;

  [[noreturn]] void fail(const std::string& what) const { throw_file_error(path, what); }
  void read_header();
  void set_type(const std::string& description);
  void set_shape(const std::vector<std::int64_t>& sizes);
};

void npy_file::contents::set_type(const std::string& description) {
  is_swapped = description.starts_with('>');
  std::string in_this_order = description;
  if (is_swapped) in_this_order[0] = '<';
  const auto known = dtype_of_description(in_this_order);
  if (!known) fail("holds elements of dtype '" + description + "', which there is none for");
  type = *known;
}

void npy_file::contents::set_shape(const std::vector<std::int64_t>& sizes) {
  if (sizes.size() > static_cast<std::size_t>(max_rank))
    fail("holds an array of rank " + std::to_string(sizes.size()) + "; the highest is " + std::to_string(max_rank));
  shape.rank = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), shape.extents);

  const std::int64_t begin = header_bytes;
  std::int64_t wanted = 0;
  try {
    wanted = element_count(shape.extents, shape.rank, size_of(type)) * size_of(type);
  } catch (const shape_error& e) {
    fail(e.what());
  }
  std::int64_t end = bytes;
  if (struct stat status{}; bytes < 0) {
    if (fstat(fileno(in.get()), &status) != 0) throw_system_error(path, unreadable);
    end = status.st_size;
  }
  if (end - begin < wanted)
    fail("is cut off: " + std::to_string(end - begin) + " of " + std::to_string(wanted) + " bytes of " +
         spell_array(type, shape.extents, shape.rank) + " are there");
}

void npy_file::contents::read_header() {
  unsigned char start[12] = {};
  const bool has_start = std::fread(start, 1, 8, in.get()) == 8;
  if (std::ferror(in.get()) != 0) throw_system_error(path, unreadable);  // a folder, say
  if (!has_start || std::memcmp(start, "\x93NUMPY", 6) != 0) fail("is no .npy file");
  const int version = start[6];
  if (version < 1 || version > 3) fail("is of version " + std::to_string(version) + " of the format; 1, 2 and 3 are known");
  const std::size_t width = version == 1 ? 2 : 4;
  std::size_t size = 0;
  if (std::fread(start + 8, 1, width, in.get()) != width) fail("is cut off in its header");
  for (std::size_t k = width; k-- > 0;) size = size << 8 | start[8 + k];
  constexpr std::size_t most = 1 << 20;
  if (size > most) fail("has a header of " + std::to_string(size) + " bytes");
  std::string text(size, '\0');
  if (std::fread(text.data(), 1, size, in.get()) != size) fail("is cut off in its header");
  npy_header header;
  if (!parse(text, header)) fail("has a header that is not understood: " + text.substr(0, 200));
  header_bytes = static_cast<std::int64_t>(8 + width + size);
  is_fortran = header.is_fortran;
  set_type(header.description);
  set_shape(header.shape);
}

npy_file::npy_file(file_path from) : contents_(nullptr) {
  auto opened = std::make_unique<contents>();
  opened->path = path_of(from);
  opened->in.reset(std::fopen(opened->path.c_str(), "rb"));
  if (opened->in == nullptr) throw_system_error(opened->path, unreadable);
  opened->read_header();
  contents_ = opened.release();
}
npy_file::npy_file(void* stream, const char* name, std::int64_t bytes) : contents_(nullptr) {
  auto opened = std::make_unique<contents>();
  opened->in.reset(static_cast<std::FILE*>(stream));
  opened->path = name;
  opened->bytes = bytes;
  opened->read_header();
  contents_ = opened.release();
}
npy_file::~npy_file() { delete contents_; }

const mapping& npy_file::shape() const { return contents_->shape; }

void npy_file::require(dtype type, int rank, const std::int64_t* extents, int variable) const {
  const contents& c = *contents_;
  if (c.type == type && c.shape.rank == rank && (extents == nullptr || std::equal(extents, extents + rank, c.shape.extents)))
    return;
  const std::string wanted =
      extents != nullptr ? spell_array(type, extents, rank) : name(type) + (" of rank " + std::to_string(rank));
  const std::string who = variable < 0 ? "asked for: " : "variable " + std::to_string(variable) + ": ";
  c.fail("holds " + spell_array(c.type, c.shape.extents, c.shape.rank) + "; " + who + wanted);
}

void npy_file::read(void* to_host) {
  contents& c = *contents_;
  const auto size = static_cast<std::size_t>(size_of(c.type)), count = static_cast<std::size_t>(element_count(c.shape));
  auto* const to = static_cast<unsigned char*>(to_host);
  const bool in_order = !c.is_fortran || c.shape.rank < 2;
  const host_bytes as_they_lie(in_order ? 0 : count, size);
  if (std::fread(in_order ? to : as_they_lie.data(), size, count, c.in.get()) != count) c.fail("cannot be read to its end");
  // What holds several files checks their bytes when the last one has been read.
  if (c.bytes >= 0 && (std::fgetc(c.in.get()) != EOF || std::ferror(c.in.get()) != 0)) c.fail("cannot be read to its end");
  if (!in_order) gather(fortran_order(c.shape), size, as_they_lie.data(), to);
  // A bool is a byte of 0 or 1 in memory, whatever a file has.
  if (c.type == dtype::boolean) std::transform(to, to + count, to, [](unsigned char byte) { return byte != 0 ? 1 : 0; });
  if (!c.is_swapped) return;
  const std::size_t part = kind_of(c.type) == kind::complex ? size / 2 : size;
  for (std::size_t k = 0; k < count * size; k += part) std::reverse(to + k, to + k + part);
}
void npy_file::read(const buffer_ref& to, void* at) {
  const host_bytes elements(static_cast<std::size_t>(element_count(contents_->shape)),
                            static_cast<std::size_t>(size_of(contents_->type)));
  read(elements.data());
  upload(to, at, elements.data(), elements.size());
}

}  // namespace dsl::detail
