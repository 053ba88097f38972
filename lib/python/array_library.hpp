// Python's array libraries: the library of an object, the stream on which it works, and how its
// arrays are read and made.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include <dsl/mem/dlpack.hpp>
#include <dsl/python/call.hpp>

namespace dsl::python {

namespace nb = nanobind;

/// The result of str(); empty for a missing attribute.
std::string text_of(nb::handle x);
std::string text_of(nb::handle x, const char* attribute);

/// An array while a call uses it.
struct array_argument {
  nb::object keeper;  // owner of the tensor's extents and strides
  dlpack::tensor tensor;
  bool is_read_only;
};

/// The stream of a call's kernels: the current stream of the library of the first GPU array.
class work_stream {
 public:
  bool is_chosen() const { return stream_ != nullptr; }
  void choose(const dsl::stream& s) { stream_ = &s; }
  const dsl::stream* get() const { return stream_; }
  /// The stream in DLPack's numbering: CUDA's legacy default stream is 1.
  std::intptr_t number() const;

 private:
  const dsl::stream* stream_ = nullptr;  // one of the kept streams
};

/// A library, accessed by the protocols of the array API. Known libraries have classes of their
/// own.
class array_library {
 public:
  explicit array_library(std::string name) : name_(std::move(name)) {}
  array_library(const array_library&) = delete;
  virtual ~array_library() = default;

  const std::string& name() const { return name_; }
  /// When `read` needs the chosen stream. before: before the first read. behind: only for arrays
  /// that occur together with arrays of another library, because the library has a current stream
  /// with which its own arrays are ordered. none: as behind, but `read` takes no stream number.
  enum class order : std::uint8_t { none, before, behind };
  virtual order asks_for_stream() const { return order::before; }
  /// The device of an array.
  dlpack::device where(nb::handle x) const;
  /// Reads an array. The stream's next work waits for the work that the library has queued.
  /// `stream` is in DLPack's numbering; -1 for no ordering, 0 if there are no streams. Throws
  /// nb::python_error.
  virtual array_argument read(nb::handle x, std::intptr_t stream);
  /// The library's current stream on a device: its handle, and an object that keeps it alive, if
  /// any. A library without one uses dsl's current stream of the calling thread.
  struct native_stream {
    void* handle;
    nb::object keeper;
  };
  virtual bool current_stream(const dlpack::device&, native_stream&) { return false; }
  /// A new array. Null if the library has no uninitialised arrays: its arrays are then made from
  /// dsl's memory by `adopt`.
  virtual nb::object make(dtype, int /*rank*/, const std::int64_t* /*extents*/,
                          const dlpack::device&) {
    return {};
  }
  /// An array of the library made from an object with __dlpack__.
  virtual nb::object adopt(nb::handle exported, nb::handle like);
  virtual bool is_writable() const { return true; }
  /// Whether memory that the library frees is reused only after the work queued on its current
  /// stream.
  virtual bool frees_in_order() const { return false; }

 private:
  std::string name_;
  // Whether __dlpack__ accepts max_version.
  bool has_versions_ = true;
};

/// The class of an argument's type.
struct type_class {
  enum kind { other, boolean, integer, real, complex, masked, array } is = other;
  array_library* library = nullptr;
};
/// Looked up once for each type. Numbers are Python's and NumPy's scalars.
const type_class& class_of(nb::handle x);

/// The library of a type with DLPack's table of C functions, or null; and the library of a type
/// with __dlpack__.
array_library* exchange_library(nb::handle type);
array_library& protocol_library(nb::handle type);

/// NumPy, whose arrays are the results if no argument is an array.
array_library& numpy_library();

/// The name of an array's dtype, as its library prints it, without the library's name.
std::string dtype_name(nb::handle array);

/// The stream with this handle; one object for each handle.
const dsl::stream& kept_stream(const dlpack::device& where, array_library::native_stream native);

}  // namespace dsl::python
