// Arrays in NumPy's .npy files: numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <dsl/mem/array.hpp>
#include <dsl/mem/scalar.hpp>

namespace dsl {

/// A path as its name: a C string, or anything with c_str(), a std::string or std::filesystem::path
/// say. Refers to it.
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

/// Elements in device memory.
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

/// A file opened to be read.
class npy_file {
 public:
  /// Reads the header. Where its elements are for a mesh of processes all of them open it. Throws
  /// file_error.
  npy_file(file_path from, device where);
  npy_file(npy_file&& other) noexcept : contents_(other.contents_) { other.contents_ = nullptr; }
  npy_file& operator=(npy_file&&) = delete;
  ~npy_file();

  /// One that is a part of another file and is taken over; `name` is what errors call it.
  npy_file(npy_bytes* part, file_path name);

  /// Throws file_error where the file's dtype or rank is another, or where there are `extents` and
  /// they are not the file's. `variable` is a checkpoint's, by which the error names what does not
  /// fit, or -1.
  void require(dtype type, int rank, const std::int64_t* extents = nullptr,
               int variable = -1) const;
  template <int Rank> dsl::extents<Rank> extents() const { return first_of<Rank>(shape().extents); }
  /// Copies the elements, in row-major order; of a mesh of processes each reads those that it has.
  /// Throws file_error.
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

/// Writes an array, a view, or a scalar (of rank 0) as a file of version 1.0 in C order: np.load
/// reads it. half is float16; there is no bfloat16. The file appears when all of it is on the disk;
/// one that was there is replaced. Waits. Throws file_error, and memory_error where there is no
/// memory.
template <detail::viewable A>
void save_npy(file_path to, const A& from) {
  detail::save_npy(to, detail::to_store(from));
}
template <element T, int Rank>
void save_npy(file_path to, const view<T, Rank>& from) {
  detail::save_npy(to, detail::to_store(from));
}

/// An array on the current device with what a file of version 1, 2 or 3 holds, C or Fortran order,
/// of either byte order; for rank 0 a scalar. Throws file_error for a file that is not there, is no
/// .npy file, holds another dtype or rank, or ends too early.
template <element T, int Rank = 1>
auto load_npy(file_path from) {
  return detail::load_from<T, Rank>(detail::npy_file(from, device::current()));
}

}  // namespace dsl
