// .npz files, with libzip.
#include <dsl/mem/npz.hpp>

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mem/npy.hpp"
#include "mem/text.hpp"

namespace dsl {

namespace detail {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".npy";   // of the names of members
constexpr std::size_t longest_name = 0xffff;  // of a member's name, in bytes

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

// Whether every reader of an archive can find a member by this name: UTF-8 without control
// characters. libzip takes names with control characters for another encoding.
bool is_plain_text(std::string_view name) {
  while (!name.empty()) {
    const auto first = static_cast<unsigned char>(name[0]);
    const std::size_t size = first < 0x80       ? 1
                             : first >> 5 == 6  ? 2
                             : first >> 4 == 14 ? 3
                             : first >> 3 == 30 ? 4
                                                : 0;
    if (size == 0 || size > name.size()) return false;
    std::uint32_t point = size == 1 ? first : first & (0x7fu >> size);
    for (std::size_t k = 1; k < size; ++k) {
      const auto next = static_cast<unsigned char>(name[k]);
      if (next >> 6 != 2) return false;
      point = point << 6 | (next & 0x3fu);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = point >> 11 == 0xd800 >> 11;
    if (point < least[size] || point > 0x10ffff || is_surrogate ||
        (point < ' ' && std::strchr("\t\n\r", first) == nullptr))
      return false;
    name.remove_prefix(size);
  }
  return true;
}

void check_names(const fs::path& file, const npz_member* members, std::size_t count) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = members[i].name != nullptr ? members[i].name : "";
    const std::string what = "array " + std::to_string(i);
    if (name.empty()) throw_file_error(file, what + " needs a name");
    if (name.size() > longest_name - suffix.size())
      throw_file_error(file, what + " has a name of " + std::to_string(name.size()) +
                                 " bytes; the longest in a zip archive is of " +
                                 std::to_string(longest_name - suffix.size()));
    if (!is_plain_text(name))
      throw_file_error(file, what + " has a name that is not UTF-8 or has control characters");
    if (!numbers.emplace(name, i).second)
      throw_file_error(file, "two arrays are named \"" + std::string(name) + '"');
  }
}

// Writes a new archive. libzip writes it when it is closed, so `contents` must live until then.
// Error messages name the file that it replaces.
void write_archive(const fs::path& file, const fs::path& replaced, const npz_member* members,
                   const std::vector<host_bytes>& contents, zip_int32_t method) {
  create_file(file, replaced, {}, 0);
  int code = 0;
  archive_handle out(zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (out == nullptr) throw_file_error(replaced, "cannot be written: " + spell_error(code));
  const auto require = [&](bool done) {
    if (!done)
      throw_file_error(replaced, std::string("cannot be written: ") + zip_strerror(out.get()));
  };
  for (std::size_t i = 0; i < contents.size(); ++i) {
    zip_source_t* const source =
        zip_source_buffer(out.get(), contents[i].data(), contents[i].size(), 0);
    require(source != nullptr);
    const std::string name = std::string(members[i].name).append(suffix);
    const zip_int64_t added = zip_file_add(out.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (added < 0) zip_source_free(source);
    require(added >= 0);
    const auto number = static_cast<zip_uint64_t>(added);
    require(zip_set_file_compression(out.get(), number, method, 0) == 0);
    // As NumPy: equal arrays give equal files.
    constexpr zip_uint16_t first_of_january_1980 = 1 << 5 | 1;
    require(zip_file_set_dostime(out.get(), number, 0, first_of_january_1980, 0) == 0);
  }
  zip_t* const written = out.release();
  const bool is_closed = zip_close(written) == 0;
  if (!is_closed) out.reset(written);  // discards the archive
  require(is_closed);
}

}  // namespace

void save_npz(file_path to, const npz_member* members, std::size_t count,
              npz_compression compression) {
  check_names(path_of(to), members, count);
  if (count == 0) throw_file_error(path_of(to), "an archive of no arrays cannot be written");
  std::vector<stored> all;
  for (const npz_member* m = members; m != members + count; ++m) all.push_back(m->what);
  const process_steps together = steps_of(all.data(), count, "save_npz");
  std::vector<host_bytes> contents;
  for (const stored& one : all) contents.push_back(to_host(one, header_of(one.type, one.elements)));
  replace_file(to, together, [&](const fs::path& unfinished, const fs::path& target) {
    together.first([&] {
      const zip_int32_t method =
          compression == npz_compression::none ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
      write_archive(unfinished, target, members, contents, method);
      bring_to_disk(unfinished, target);
    });
  });
}

namespace {

// The bytes of one member of an archive. Their checksum is verified when the last byte was read.
class archived_file final : public npy_bytes {
 public:
  archived_file(zip_t* archive, zip_uint64_t number, std::int64_t size, fs::path name)
      : name_(std::move(name)), size_(size) {
    in_.reset(zip_fopen_index(archive, number, 0));
    if (in_ == nullptr)
      throw_file_error(name_, std::string("cannot be read: ") + zip_strerror(archive));
  }

  std::int64_t size() const override { return size_; }
  bool is_in_order() const override { return true; }
  std::size_t read(void* to, std::size_t bytes, std::int64_t) override {
    return take(to, std::min(bytes, static_cast<std::size_t>(size_ - taken_)));
  }
  void finish() override {
    std::vector<char> rest(1 << 16);
    while (take(rest.data(), rest.size()) == rest.size()) {}
    if (taken_ != size_)
      throw_file_error(name_, "cannot be read: it has " + std::to_string(taken_) +
                                  " bytes, and the archive says that it has " +
                                  std::to_string(size_));
  }

 private:
  std::size_t take(void* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      const zip_int64_t got = zip_fread(in_.get(), static_cast<char*>(to) + done, bytes - done);
      if (got < 0)
        throw_file_error(name_, std::string("cannot be read: ") + zip_file_strerror(in_.get()));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    taken_ += static_cast<std::int64_t>(done);
    return done;
  }

  struct close_file {
    void operator()(zip_file_t* f) const { zip_fclose(f); }
  };
  const fs::path name_;
  const std::int64_t size_;
  std::int64_t taken_ = 0;
  std::unique_ptr<zip_file_t, close_file> in_;
};

// The greatest expansion of one compressed byte. Memory is allocated for the size that the archive
// states, so a size that is impossible must be rejected first.
std::uint64_t most_by(zip_uint16_t method) {
  switch (method) {
    case ZIP_CM_STORE: return 1;
    case ZIP_CM_DEFLATE: return 1032;  // zlib.net/zlib_tech.html
    default: return 1 << 24;           // bzip2: 45,899,235 bytes from 42
  }
}

}  // namespace

}  // namespace detail

struct npz_file::archive {
  std::filesystem::path path;
  detail::archive_handle in;
  std::uint64_t bytes = 0;
  std::vector<std::string> names;  // without ".npy"
  /// If several members have one name, the last one, as in NumPy; "x.npy" takes precedence over
  /// "x".
  std::unordered_map<std::string, std::size_t> numbers;

  explicit archive(std::filesystem::path file);
  detail::npy_file open(const std::string& name) const;
};

npz_file::archive::archive(std::filesystem::path file) : path(std::move(file)) {
  int code = 0;
  in.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (in == nullptr)
    detail::throw_file_error(path,
                             (code == ZIP_ER_NOZIP ? "is no .npz file: " : "cannot be read: ") +
                                 detail::spell_error(code));
  std::error_code failed;
  bytes = std::filesystem::file_size(path, failed);
  if (failed) detail::throw_file_error(path, "cannot be read: " + failed.message());

  std::vector<bool> is_npy;
  for (std::int64_t i = 0; i < zip_get_num_entries(in.get(), 0); ++i) {
    const char* const name = zip_get_name(in.get(), static_cast<zip_uint64_t>(i), 0);
    if (name == nullptr)
      detail::throw_file_error(path, std::string("cannot be read: ") + zip_strerror(in.get()));
    names.emplace_back(name);
    is_npy.push_back(names.back().ends_with(detail::suffix));
    if (is_npy.back()) names.back().resize(names.back().size() - detail::suffix.size());
  }
  for (const bool first : {false, true})
    for (std::size_t i = 0; i < names.size(); ++i)
      if (is_npy[i] == first) numbers[names[i]] = i;
}

detail::npy_file npz_file::archive::open(const std::string& wanted) const {
  const auto at = numbers.find(wanted);
  if (at == numbers.end()) {
    std::string there;
    for (const std::string& each : names) there += (there.empty() ? "\"" : ", \"") + each + '"';
    detail::throw_file_error(path, "holds no array \"" + wanted + "\"; " +
                                       (there.empty() ? "there are none" : "there are " + there));
  }
  const std::size_t number = at->second;
  const char* const member = zip_get_name(in.get(), number, 0);
  const std::filesystem::path name = path.string() + ": " + member;
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  zip_stat_t found;
  if (zip_stat_index(in.get(), number, 0, &found) != 0 || (found.valid & needed) != needed)
    detail::throw_file_error(name, std::string("cannot be read: ") + zip_strerror(in.get()));
  if (found.comp_size > bytes || found.size / detail::most_by(found.comp_method) > found.comp_size)
    detail::throw_file_error(name, "cannot be read: the archive has " + std::to_string(bytes) +
                                       " bytes, and says that " + std::to_string(found.comp_size) +
                                       " of them hold " + std::to_string(found.size));
  const auto size = static_cast<std::int64_t>(found.size);
  return {new detail::archived_file(in.get(), number, size, name), name};
}

npz_file::npz_file(file_path from) : archive_(nullptr) {
  const std::filesystem::path path = detail::path_of(from);
  std::unique_ptr<archive> opened;
  detail::process_steps(device::current()).all([&] { opened = std::make_unique<archive>(path); });
  archive_ = opened.release();
}
npz_file::~npz_file() { delete archive_; }

std::int64_t npz_file::size() const { return static_cast<std::int64_t>(archive_->names.size()); }

text npz_file::name(std::int64_t i) const {
  if (i < 0 || i >= size())
    detail::raise<index_error>("array " + std::to_string(i) + " of " + std::to_string(size()) +
                               " in " + archive_->path.string());
  return text(archive_->names[static_cast<std::size_t>(i)].c_str());
}

bool npz_file::contains(const char* name) const {
  return name != nullptr && archive_->numbers.contains(name);
}

detail::npy_file npz_file::open(const char* name) const {
  std::optional<detail::npy_file> opened;
  detail::process_steps(device::current()).all([&] {
    opened.emplace(archive_->open(name != nullptr ? name : ""));
  });
  return std::move(*opened);
}

}  // namespace dsl
