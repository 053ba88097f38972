// Arrays in NumPy's .npy files: numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <dsl/mem/array.hpp>
#include <dsl/mem/scalar.hpp>

namespace dsl {

/// A file's path: a C string, or anything with c_str(), such as std::string and
/// std::filesystem::path. It refers to the characters and does not copy them.
struct file_path {
  const char* name;

  file_path(const char* chars) : name(chars) {}
  template <class Path>
    requires requires(const Path& p) {
      { p.c_str() } -> std::same_as<const char*>;
    }
  file_path(const Path& p) : name(p.c_str()) {}
};

namespace detail {

/// Elements in device memory, to be written to a file or read from one.
struct stored {
  dtype type;
  buffer_ref owner;
  const void* origin;
  mapping elements;
};

template <class T, int R>
stored elements_of(const view<T, R>& v) {
  return {dtype_v<T>, v.owner(), v.origin(), v.mapping()};
}
template <class T, int R>
stored to_store(const view<T, R>& v) {
  static_assert(dtype_v<T> != dtype::bfloat16,
                "NumPy's files have no bfloat16: save dsl::eval(dsl::cast<float>(x))");
  return elements_of(v);
}
template <viewable A> stored to_store(const A& a) { return to_store(a.view()); }

void save_npy(file_path to, const stored& from);

struct npy_bytes;

/// A file opened for reading.
class npy_file {
 public:
  /// Reads the header. If the elements are for a mesh of processes, all processes open the file.
  /// Throws file_error.
  npy_file(file_path from, device where);
  npy_file(npy_file&& other) noexcept : contents_(other.contents_) { other.contents_ = nullptr; }
  npy_file& operator=(npy_file&&) = delete;
  ~npy_file();

  /// A file that is a member of an archive; takes ownership of it. Error messages use `name`.
  npy_file(npy_bytes* part, file_path name);

  /// Throws file_error if the file's dtype or rank differs, or its extents if `extents` is not
  /// null. `variable` is the number of a checkpoint's variable, which the message names, or -1.
  void require(dtype type, int rank, const std::int64_t* extents = nullptr,
               int variable = -1) const;
  template <int Rank> dsl::extents<Rank> extents() const { return first_of<Rank>(shape().extents); }
  /// Copies the elements in row-major order. On a mesh of processes each process reads its own
  /// part. Throws file_error.
  void read(void* to_host);
  void read(const stored& to);

 private:
  struct contents;
  const mapping& shape() const;
  contents* contents_;
};

template <element T, int Rank>
auto load_from(npy_file file) {
  file.require(dtype_v<T>, Rank);
  std::conditional_t<Rank == 0, scalar<T>, array<T, Rank>> a;
  if constexpr (Rank > 0) a = array<T, Rank>(file.extents<Rank>());
  file.read(elements_of(a.view()));
  return a;
}

}  // namespace detail

/// Writes an array, a view, or a scalar (rank 0) as a file of version 1.0 in C order, which np.load
/// reads. half is stored as float16; bfloat16 is not supported. The file appears once all of it is
/// on the disk, and replaces an existing one. Waits. Throws file_error, and memory_error if there
/// is no memory.
template <detail::viewable A>
void save_npy(file_path to, const A& from) {
  detail::save_npy(to, detail::to_store(from));
}
template <element T, int Rank>
void save_npy(file_path to, const view<T, Rank>& from) {
  detail::save_npy(to, detail::to_store(from));
}

/// An array on the current device (for rank 0 a scalar) with the contents of a file of version 1, 2
/// or 3, in C or Fortran order, of either byte order. Throws file_error for a file that does not
/// exist, is not an .npy file, holds another dtype or rank, or is truncated.
template <element T, int Rank = 1>
auto load_npy(file_path from) {
  return detail::load_from<T, Rank>(detail::npy_file(from, device::current()));
}

}  // namespace dsl
