// The array libraries of Python: whose an object is, on which stream it works, and how its arrays
// are read and made.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include <dsl/mem/dlpack.hpp>
#include <dsl/python/call.hpp>

namespace dsl::python {

namespace nb = nanobind;

/// What str() gives; of a missing attribute nothing.
std::string text_of(nb::handle x);
std::string text_of(nb::handle x, const char* attribute);

/// An array while a call uses it.
struct array_argument {
  nb::object keeper;  // what owns the tensor's extents and strides
  dlpack::tensor tensor;
  bool is_read_only;
};

/// The stream that a call's kernels run on: the current one of the first GPU array's library.
class work_stream {
 public:
  bool is_chosen() const { return stream_ != nullptr; }
  void choose(const dsl::stream& s) { stream_ = &s; }
  const dsl::stream* get() const { return stream_; }
  /// As DLPack numbers streams: CUDA's legacy default stream is 1.
  std::intptr_t number() const;

 private:
  const dsl::stream* stream_ = nullptr;  // one of those that are kept
};

/// A library, by the protocols that the array API has; those that are known have classes of their
/// own.
class array_library {
 public:
  explicit array_library(std::string name) : name_(std::move(name)) {}
  array_library(const array_library&) = delete;
  virtual ~array_library() = default;

  const std::string& name() const { return name_; }
  /// When `read` wants the stream that is chosen: before it reads a first time; or behind, as the
  /// library has a current stream that its arrays are in order with, and for arrays beside another
  /// library's alone; none: as behind, without a number.
  enum class order : std::uint8_t { none, before, behind };
  virtual order asks_for_stream() const { return order::before; }
  /// Where an array lies.
  dlpack::device where(nb::handle x) const;
  /// Reads an array, with a stream's next work ordered behind what its library has queued: a stream
  /// as DLPack numbers it, -1 for no order, 0 where there are no streams. Throws nb::python_error.
  virtual array_argument read(nb::handle x, std::intptr_t stream);
  /// The library's current stream on a device: an object that keeps it, or none, and its handle.
  /// Where it has none the calling thread's of dsl.
  struct native_stream {
    void* handle;
    nb::object keeper;
  };
  virtual bool current_stream(const dlpack::device&, native_stream&) { return false; }
  /// A new array. Where the library has no uninitialised ones, null: its arrays are then made of
  /// memory of dsl's, by `adopt`.
  virtual nb::object make(dtype, int /*rank*/, const std::int64_t* /*extents*/,
                          const dlpack::device&) {
    return {};
  }
  /// An array of the library of an object that has __dlpack__.
  virtual nb::object adopt(nb::handle exported, nb::handle like);
  virtual bool is_writable() const { return true; }
  /// Whether memory that it frees may be written by others only behind the work that is queued on
  /// its current stream.
  virtual bool frees_in_order() const { return false; }

 private:
  std::string name_;
  bool has_versions_ = true;  // __dlpack__ knows max_version
};

/// What an argument is, by its type.
struct type_class {
  enum kind { other, boolean, integer, real, complex, masked, array } is = other;
  array_library* library = nullptr;
};
/// Looked up once a type. Numbers are Python's and NumPy's scalars.
const type_class& class_of(nb::handle x);

/// The library of a type with DLPack's table of C functions, or null; and of one that has
/// __dlpack__.
array_library* exchange_library(nb::handle type);
array_library& protocol_library(nb::handle type);

/// NumPy, which results go to where no argument is an array.
array_library& numpy_library();

/// The name of an array's dtype, as its library prints it, without the library's own.
std::string dtype_name(nb::handle array);

/// The stream with this handle, one object for each.
const dsl::stream& kept_stream(const dlpack::device& where, array_library::native_stream native);

}  // namespace dsl::python
