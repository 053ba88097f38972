// Several arrays in one file: NumPy's .npz, a zip archive of .npy files.
#pragma once

#include <initializer_list>

#include <dsl/mem/npy.hpp>

namespace dsl {

/// What `save_npz` is given: an array, a view or a scalar, and its name.
struct npz_member {
  template <class A>
  npz_member(const char* name_of, const A& from) : name(name_of), what(detail::to_store(from)) {}

  const char* name;
  detail::stored what;
};

namespace detail {

enum class npz_compression : std::uint8_t { none, deflate };
void save_npz(file_path to, const npz_member* members, std::size_t count,
              npz_compression compression);

}  // namespace detail

/// Writes arrays, views and scalars into one file under their names: dsl::save_npz("fields.npz",
/// {{"F", F}, {"G", G}}). np.load reads it. The file appears when all of it is on the disk; one
/// that was there is replaced. All of it is in the host's memory meanwhile. Waits. Throws
/// file_error (also for a name that is empty or stands twice, that is not UTF-8, has control
/// characters or is longer than 65,531 bytes, and where dsl was built without libzip), and
/// memory_error.
inline void save_npz(file_path to, std::initializer_list<npz_member> members) {
  detail::save_npz(to, members.begin(), members.size(), detail::npz_compression::none);
}
/// The same, deflated: NumPy's savez_compressed.
inline void save_npz_compressed(file_path to, std::initializer_list<npz_member> members) {
  detail::save_npz(to, members.begin(), members.size(), detail::npz_compression::deflate);
}

/// A file of several arrays, opened to be read; what np.savez and np.savez_compressed wrote.
class npz_file {
 public:
  /// Reads which arrays there are. Throws file_error where the file is not there or is no zip
  /// archive, and where dsl was built without libzip.
  explicit npz_file(file_path from);
  npz_file(npz_file&& other) noexcept : archive_(std::exchange(other.archive_, nullptr)) {}
  npz_file& operator=(npz_file&&) = delete;
  ~npz_file();

  /// How many arrays there are, and their names in the order in which they were written: without
  /// ".npy", and of what is no array the whole name.
  std::int64_t size() const;
  text name(std::int64_t i) const;
  bool contains(const char* name) const;

  /// The array of that name on the current device, of several the last one; for rank 0 a scalar.
  /// Throws as load_npy, and file_error that lists the names where there is none of that name, or
  /// where its bytes are damaged.
  template <element T, int Rank = 1>
  auto load(const char* name) const {
    return detail::load_from<T, Rank>(open(name));
  }

 private:
  detail::npy_file open(const char* name) const;
  struct archive;
  archive* archive_;
};

}  // namespace dsl
