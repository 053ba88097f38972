// Several arrays in one file: NumPy's .npz, a zip archive of .npy files.
#pragma once

#include <initializer_list>

#include <dsl/mem/npy.hpp>

namespace dsl {

/// A member for `save_npz`: a name, and an array, a view or a scalar.
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

/// Writes arrays, views and scalars to one file under their names: dsl::save_npz("fields.npz",
/// {{"F", F}, {"G", G}}). np.load reads it. The file appears once all of it is on the disk, and
/// replaces an existing one. The host's memory holds all of it meanwhile. Waits. Throws file_error
/// (also for a name that is empty, occurs twice, is not UTF-8, has control characters or is longer
/// than 65,531 bytes, and if dsl was built without libzip), and memory_error.
inline void save_npz(file_path to, std::initializer_list<npz_member> members) {
  detail::save_npz(to, members.begin(), members.size(), detail::npz_compression::none);
}
/// The same, compressed with deflate: NumPy's savez_compressed.
inline void save_npz_compressed(file_path to, std::initializer_list<npz_member> members) {
  detail::save_npz(to, members.begin(), members.size(), detail::npz_compression::deflate);
}

/// A file of several arrays, opened for reading, as np.savez and np.savez_compressed write it.
class npz_file {
 public:
  /// Reads the list of arrays. Throws file_error if the file does not exist or is not a zip
  /// archive, and if dsl was built without libzip.
  explicit npz_file(file_path from);
  npz_file(npz_file&& other) noexcept : archive_(std::exchange(other.archive_, nullptr)) {}
  npz_file& operator=(npz_file&&) = delete;
  ~npz_file();

  /// The number of arrays, and their names in the order in which they were written, without ".npy";
  /// for a member that is not an array, the whole name.
  std::int64_t size() const;
  text name(std::int64_t i) const;
  bool contains(const char* name) const;

  /// The array with that name on the current device (for rank 0 a scalar); the last one if there
  /// are several. Throws as load_npy, and file_error that lists the names if there is none with
  /// that name, or if the data are damaged.
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
