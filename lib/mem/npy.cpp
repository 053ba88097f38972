#include "mem/npy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mem/processes.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace fs = std::filesystem;

namespace {

// A file that is not a member of an archive.
class whole_file final : public npy_bytes {
 public:
  explicit whole_file(const fs::path& name) : file_(name, O_RDONLY, name, unreadable) {}

  std::int64_t size() const override { return file_.size(); }
  bool is_in_order() const override { return false; }
  std::size_t read(void* to, std::size_t bytes, std::int64_t place) override {
    return file_.read(to, bytes, place);
  }
  void finish() override {}

 private:
  const open_file file_;
};

std::string spell_array(dtype type, const std::int64_t* sizes, int rank) {
  return std::string(name(type)) + " " + spell_shape(sizes, rank);
}

// The strides, in elements, of a file in Fortran order for a row-major traversal.
mapping fortran_order(const mapping& shape) {
  mapping m = shape;
  std::int64_t step = 1;
  for (int d = 0; d < m.rank; ++d) {
    m.strides[d] = step;
    step *= m.extents[d];
  }
  return m;
}

/// Gathers the elements of a mapping in row-major order.
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

// Equal runs of bytes at regular distances (`step`).
struct byte_runs { std::int64_t first, length, step, count; };

// The runs that hold a range of indices of an axis, counted from the first byte of the file's
// elements.
byte_runs runs_of(const mapping& shape, int axis, const index_range& part, bool is_fortran,
                  std::int64_t size) {
  byte_runs runs{0, size, size, 1};
  for (int d = 0; d < shape.rank; ++d) {
    const bool is_faster = is_fortran ? d < axis : d > axis;
    (d == axis ? runs.step : is_faster ? runs.length : runs.count) *= shape.extents[d];
  }
  runs.step *= runs.length / size;
  runs.first = part.first * runs.length;
  runs.length *= part.count();
  return runs;
}

// This process's elements, or all elements, and the runs of the file that hold them, counted from
// the first byte of the file's elements.
struct own_elements_of_file {
  stored elements;
  byte_runs runs;
  // Other processes hold the other elements.
  bool is_apart;
};
own_elements_of_file own_elements_of(const stored& all, bool is_fortran) {
  const std::int64_t size = size_of(all.type);
  for (int axis = 0; axis < all.elements.rank; ++axis) {
    auto part = part_along(axis, all.owner, const_cast<void*>(all.origin), all.elements,
                           static_cast<std::size_t>(size));
    if (!part) continue;
    const std::int64_t first = std::exchange(part->elements.offset, 0);
    const index_range indices{first, first + part->elements.extents[axis]};
    return {{all.type, part->owner, part->first, part->elements},
            runs_of(all.elements, axis, indices, is_fortran, size),
            true};
  }
  return {all, {0, element_count(all.elements) * size, 0, 1}, false};
}

// Writes contiguous elements to the runs.
void write_runs(const fs::path& file, const fs::path& name, const std::string& header,
                const byte_runs& runs, const void* elements) {
  const open_file out(file, O_WRONLY, name, unwritable);
  const auto* from = static_cast<const unsigned char*>(elements);
  for (std::int64_t k = 0; k < runs.count; ++k, from += runs.length)
    out.write(from, static_cast<std::size_t>(runs.length),
              static_cast<std::int64_t>(header.size()) + runs.first + k * runs.step);
  out.sync();
}

}  // namespace

host_bytes to_host(const stored& from, const std::string& before) {
  const auto size = static_cast<std::size_t>(size_of(from.type)),
             count = static_cast<std::size_t>(element_count(from.elements));
  host_bytes elements(count, size, before.size());
  std::copy(before.begin(), before.end(), elements.data());
  download(from.owner, from.origin, from.elements, size, elements.data() + before.size());
  return elements;
}

void create_file(const fs::path& file, const fs::path& name, const std::string& header,
                 std::int64_t bytes) {
  const open_file created(file, O_WRONLY | O_CREAT | O_EXCL, name, unwritable);
  struct stat replaced{};
  if (stat(name.c_str(), &replaced) == 0) fchmod(created.number(), 0600);
  created.write(header.data(), header.size(), 0);
  if (ftruncate(created.number(), static_cast<std::int64_t>(header.size()) + bytes) != 0)
    throw_system_error(name, unwritable);
}

process_steps steps_of(const stored* all, std::size_t count, const char* function) {
  for (std::size_t k = 0; k < count; ++k) {
    require_memory(all[k].owner, function);
    if (process_steps(all[k].owner.where()) != process_steps(all[0].owner.where()))
      raise<device_error>(function +
                          std::string(" of arrays of a mesh of processes beside others"));
  }
  return process_steps(count > 0 ? all[0].owner.where() : device::current());
}

void write_npy(const process_steps& together, const fs::path& file, const fs::path& replaced,
               const stored& from) {
  const std::string header = header_of(from.type, from.elements);
  together.first([&] {
    create_file(file, replaced, header, element_count(from.elements) * size_of(from.type));
  });
  const own_elements_of_file mine = own_elements_of(from, false);
  std::optional<host_bytes> bytes;
  const auto bring = [&] { bytes.emplace(to_host(mine.elements)); };
  mine.is_apart ? together.all(bring) : bring();  // all processes take part in copying elements
  together.all([&] {
    if (mine.is_apart || together.is_first())
      write_runs(file, replaced, header, mine.runs, bytes->data());
  });
  together.first([&] { bring_to_disk(file, replaced); });
}
void write_npy(const fs::path& file, const fs::path& replaced, dtype type, const mapping& shape,
               const void* elements) {
  const std::string header = header_of(type, shape);
  const std::int64_t bytes = element_count(shape) * size_of(type);
  create_file(file, replaced, header, bytes);
  write_runs(file, replaced, header, {0, bytes, 0, 1}, elements);
  bring_to_disk(file, replaced);
}

void save_npy(file_path to, const stored& from) {
  const process_steps together = steps_of(&from, 1, "save_npy");
  replace_file(to, together, [&](const fs::path& file, const fs::path& replaced) {
    write_npy(together, file, replaced, from);
  });
}

struct npy_file::contents {
  fs::path path;
  std::unique_ptr<npy_bytes> in;
  dtype type{};
  mapping shape{};
  bool is_fortran = false, is_swapped = false;
  std::int64_t header_bytes = 0;

  [[noreturn]] void fail(const std::string& what) const { throw_file_error(path, what); }
  void read_header();
  /// Reads the elements with the extents of `part` from these runs of the file.
  void read(const byte_runs& runs, const mapping& part, unsigned char* to);
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
    fail("holds an array of rank " + std::to_string(sizes.size()) + "; the highest is " +
         std::to_string(max_rank));
  shape.rank = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), shape.extents);

  std::int64_t wanted = 0;
  try {
    wanted = element_count(shape.extents, shape.rank, size_of(type)) * size_of(type);
  } catch (const shape_error& e) {
    fail(e.what());
  }
  const std::int64_t there = in->size() - header_bytes;
  if (there < wanted)
    fail("is cut off: " + std::to_string(there) + " of " + std::to_string(wanted) + " bytes of " +
         spell_array(type, shape.extents, shape.rank) + " are there");
}

void npy_file::contents::read_header() {
  unsigned char start[12] = {};
  if (in->read(start, 8, 0) != 8 || std::memcmp(start, "\x93NUMPY", 6) != 0)
    fail("is no .npy file");
  const int version = start[6], minor = start[7];
  if (version < 1 || version > 3 || minor != 0)
    fail("is of version " + std::to_string(version) + "." + std::to_string(minor) +
         " of the format; 1.0, 2.0 and 3.0 are known");
  const std::size_t width = version == 1 ? 2 : 4;
  std::size_t size = 0;
  if (in->read(start + 8, width, 8) != width) fail("is cut off in its header");
  for (std::size_t k = width; k-- > 0;) size = size << 8 | start[8 + k];
  constexpr std::size_t most = 1 << 20;
  if (size > most) fail("has a header of " + std::to_string(size) + " bytes");
  std::string text(size, '\0');
  header_bytes = static_cast<std::int64_t>(8 + width + size);
  if (in->read(text.data(), size, static_cast<std::int64_t>(8 + width)) != size)
    fail("is cut off in its header");
  npy_header header;
  if (!parse(text, header)) fail("has a header that is not understood: " + text.substr(0, 200));
  is_fortran = header.is_fortran;
  set_type(header.description);
  set_shape(header.shape);
}

npy_file::npy_file(file_path from, device where) : contents_(nullptr) {
  auto opened = std::make_unique<contents>();
  opened->path = path_of(from);
  process_steps(where).all([&] {
    opened->in = std::make_unique<whole_file>(opened->path);
    opened->read_header();
  });
  contents_ = opened.release();
}
npy_file::npy_file(npy_bytes* part, file_path name) : contents_(nullptr) {
  auto opened = std::make_unique<contents>();
  opened->in.reset(part);
  opened->path = path_of(name);
  opened->read_header();
  contents_ = opened.release();
}
npy_file::~npy_file() { delete contents_; }

const mapping& npy_file::shape() const { return contents_->shape; }

void npy_file::require(dtype type, int rank, const std::int64_t* extents, int variable) const {
  const contents& c = *contents_;
  if (c.type == type && c.shape.rank == rank &&
      (extents == nullptr || std::equal(extents, extents + rank, c.shape.extents)))
    return;
  const std::string wanted = extents != nullptr ? spell_array(type, extents, rank)
                                                : name(type) + (" of rank " + std::to_string(rank));
  const std::string who =
      variable < 0 ? "asked for: " : "variable " + std::to_string(variable) + ": ";
  c.fail("holds " + spell_array(c.type, c.shape.extents, c.shape.rank) + "; " + who + wanted);
}

void npy_file::contents::read(const byte_runs& runs, const mapping& part, unsigned char* to) {
  const auto size = static_cast<std::size_t>(size_of(type)),
             count = static_cast<std::size_t>(element_count(part));
  const bool in_order = !is_fortran || part.rank < 2;
  const host_bytes in_file_order(in_order ? 0 : count, size);
  unsigned char* at = in_order ? to : in_file_order.data();
  for (std::int64_t k = 0; k < runs.count; ++k, at += runs.length) {
    const auto length = static_cast<std::size_t>(runs.length);
    if (in->read(at, length, header_bytes + runs.first + k * runs.step) != length)
      fail("cannot be read to its end");
  }
  in->finish();
  if (!in_order) gather(fortran_order(part), size, in_file_order.data(), to);
  // In memory a bool is a byte of 0 or 1, whatever the file contains.
  if (type == dtype::boolean)
    std::transform(to, to + count, to, [](unsigned char byte) { return byte != 0 ? 1 : 0; });
  if (!is_swapped) return;
  const std::size_t swapped = kind_of(type) == kind::complex ? size / 2 : size;
  for (std::size_t k = 0; k < count * size; k += swapped) std::reverse(to + k, to + k + swapped);
}

void npy_file::read(void* to_host) {
  contents& c = *contents_;
  c.read({0, element_count(c.shape) * size_of(c.type), 0, 1}, c.shape,
         static_cast<unsigned char*>(to_host));
}
void npy_file::read(const stored& to) {
  contents& c = *contents_;
  own_elements_of_file mine{to, {0, element_count(c.shape) * size_of(c.type), 0, 1}, false};
  if (!c.in->is_in_order()) mine = own_elements_of(to, c.is_fortran);
  const auto size = static_cast<std::size_t>(size_of(c.type));
  std::optional<host_bytes> elements;
  process_steps(to.owner.where()).all([&] {
    elements.emplace(static_cast<std::size_t>(element_count(mine.elements.elements)), size);
    c.read(mine.runs, mine.elements.elements, elements->data());
  });
  upload(mine.elements.owner, const_cast<void*>(mine.elements.origin), mine.elements.elements, size,
         elements->data());
}

}  // namespace dsl::detail
