// .npz files, by libzip.
#include <dsl/mem/npz.hpp>

#include <zip.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "mem/npy.hpp"
#include "mem/text.hpp"

namespace dsl {

namespace detail {

namespace {

namespace fs = std::filesystem;

constexpr const char* suffix = ".npy";  // of the names of what an archive holds

struct discard_archive {
  void operator()(zip_t* z) const { zip_discard(z); }
};
using archive_handle = std::unique_ptr<zip_t, discard_archive>;

std::string spell_error(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

void check_names(const fs::path& file, const npz_member* members, std::size_t count) {
  for (const npz_member* m = members; m != members + count; ++m) {
    if (m->name == nullptr || *m->name == '\0') throw_file_error(file, "an array needs a name");
    if (std::any_of(members, m, [&](const npz_member& before) { return std::strcmp(before.name, m->name) == 0; }))
      throw_file_error(file, std::string("two arrays are named \"") + m->name + "\"");
  }
}

// A new archive, written when it is closed: what it is made of has to live until then.
void write_archive(const fs::path& file, const npz_member* members, const std::vector<host_bytes>& contents, zip_int32_t method) {
  int code = 0;
  archive_handle out(zip_open(file.c_str(), ZIP_CREATE | ZIP_EXCL, &code));
  if (out == nullptr) throw_file_error(file, "cannot be written: " + spell_error(code));
  const auto require = [&](bool done) {
    if (!done) throw_file_error(file, std::string("cannot be written: ") + zip_strerror(out.get()));
  };
  for (std::size_t i = 0; i < contents.size(); ++i) {
    zip_source_t* const source = zip_source_buffer(out.get(), contents[i].data(), contents[i].size(), 0);
    require(source != nullptr);
    const std::string name = std::string(members[i].name) + suffix;
    const zip_int64_t added = zip_file_add(out.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (added < 0) zip_source_free(source);
    require(added >= 0);
    const auto number = static_cast<zip_uint64_t>(added);
    require(zip_set_file_compression(out.get(), number, method, 0) == 0);
    constexpr zip_uint16_t first_of_january_1980 = 1 << 5 | 1;  // as NumPy: the same arrays are the same file
    require(zip_file_set_dostime(out.get(), number, 0, first_of_january_1980, 0) == 0);
  }
  zip_t* const written = out.release();
  const bool is_closed = zip_close(written) == 0;
  if (!is_closed) out.reset(written);  // and is discarded
  require(is_closed);
}

}  // namespace

void save_npz(file_path to, const npz_member* members, std::size_t count, npz_compression compression) {
  check_names(path_of(to), members, count);
  if (count == 0) throw_file_error(path_of(to), "an archive of no arrays cannot be written");
  std::vector<stored> all;
  for (const npz_member* m = members; m != members + count; ++m) all.push_back(m->what);
  const process_steps together = steps_of(all.data(), count, "save_npz");
  std::vector<host_bytes> contents;
  for (const stored& one : all) contents.push_back(to_host(one, header_of(one.type, one.elements)));
  replace_file(to, together, [&](const fs::path& unfinished, const fs::path& target) {
    together.first([&] {
      write_archive(unfinished, members, contents, compression == npz_compression::none ? ZIP_CM_STORE : ZIP_CM_DEFLATE);
      bring_to_disk(unfinished, target);
    });
  });
}

}  // namespace detail

using detail::archive_handle;

struct npz_file::archive {
  std::filesystem::path path;
  archive_handle in;
};

npz_file::npz_file(file_path from) : archive_(nullptr) {
  const std::filesystem::path path = detail::path_of(from);
  archive_handle in;
  detail::process_steps(device::current()).all([&] {
    int code = 0;
    in.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (in == nullptr)
      detail::throw_file_error(path,
                               (code == ZIP_ER_NOZIP ? "is no .npz file: " : "cannot be read: ") + detail::spell_error(code));
  });
  archive_ = new archive{path, std::move(in)};
}
npz_file::~npz_file() { delete archive_; }

std::int64_t npz_file::size() const { return zip_get_num_entries(archive_->in.get(), 0); }

text npz_file::name(std::int64_t i) const {
  const char* const found = i < 0 ? nullptr : zip_get_name(archive_->in.get(), static_cast<zip_uint64_t>(i), 0);
  if (found == nullptr)
    detail::raise<index_error>("array " + std::to_string(i) + " of " + std::to_string(size()) + " in " + archive_->path.string());
  std::string name = found;
  if (name.ends_with(detail::suffix)) name.resize(name.size() - std::strlen(detail::suffix));
  return text(name.c_str());
}

bool npz_file::contains(const char* name) const {
  return zip_name_locate(archive_->in.get(), (std::string(name) + detail::suffix).c_str(), 0) >= 0;
}

detail::npy_file npz_file::open(const char* name) const {
  const std::string wanted = name != nullptr ? name : "", member = wanted + detail::suffix;
  zip_t* const in = archive_->in.get();
  if (!contains(wanted.c_str())) {
    std::string names;
    for (std::int64_t i = 0; i < size(); ++i) {
      names += i > 0 ? ", \"" : "\"";
      names += this->name(i).c_str();
      names += '"';
    }
    detail::throw_file_error(archive_->path, "holds no array \"" + wanted + "\"; there are " + names);
  }
  const auto fail = [&] { detail::throw_file_error(archive_->path, "\"" + wanted + "\" cannot be read: " + zip_strerror(in)); };
  zip_stat_t found;
  if (zip_stat(in, member.c_str(), 0, &found) != 0 || (found.valid & ZIP_STAT_SIZE) == 0) fail();
  zip_file_t* const opened = zip_fopen(in, member.c_str(), 0);
  if (opened == nullptr) fail();
  const cookie_io_functions_t calls{
      [](void* file, char* to, std::size_t bytes) -> ssize_t { return zip_fread(static_cast<zip_file_t*>(file), to, bytes); },
      nullptr, nullptr, [](void* file) { return zip_fclose(static_cast<zip_file_t*>(file)); }};
  std::FILE* const stream = fopencookie(opened, "rb", calls);
  if (stream == nullptr) {
    zip_fclose(opened);
    detail::throw_system_error(archive_->path, "cannot be read");
  }
  return {stream, (archive_->path.string() + ": " + member).c_str(), static_cast<std::int64_t>(found.size)};
}

}  // namespace dsl
