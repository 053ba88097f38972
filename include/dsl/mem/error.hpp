// The library's exceptions, and a text type for its interface. <string> costs 0.6 s of an nvcc
// compilation, so it is not included.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>

namespace dsl {

/// Immutable text, shared between copies. Converts to std::string, compares with strings, and
/// prints with any stream's operator<<.
class text {
 public:
  text() = default;
  explicit text(const char* chars);
  text(const text&) noexcept;
  text(text&& other) noexcept : chars_(other.chars_) { other.chars_ = nullptr; }
  text& operator=(text other) noexcept {
    char* mine = chars_;
    chars_ = other.chars_;
    other.chars_ = mine;
    return *this;
  }
  ~text();

  friend bool operator==(const text& a, const text& b) noexcept;
  friend bool operator==(const text& a, const char* b) noexcept;
  /// Comparison with a std::string or a std::string_view.
  template <class String>
    requires requires(const String& s) {
      { s.data() } -> std::same_as<const char*>;
      { s.size() } -> std::convertible_to<std::size_t>;
    }
  friend bool operator==(const text& a, const String& b) noexcept {
    return a.is(b.data(), b.size());
  }

  const char* c_str() const noexcept { return chars_ != nullptr ? chars_ : ""; }
  template <class String>
    requires(std::constructible_from<String, const char*> && !std::same_as<String, const char*>)
  operator String() const {
    return String(c_str());
  }
  template <class Stream>
    requires requires(Stream& s) { s.put('c'); }
  friend Stream& operator<<(Stream& stream, const text& t) {
    stream << t.c_str();
    return stream;
  }

 private:
  bool is(const char* chars, std::size_t length) const noexcept;
  char* chars_ = nullptr;
};

/// The base of all exceptions that the library throws.
class error : public std::exception {
 public:
  explicit error(text what) noexcept : what_(static_cast<text&&>(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  text what_;
};

/// A CUDA call or a kernel launch failed. The message names the kernel, the expression and the
/// sizes, if any.
class cuda_error : public error { using error::error; };
/// An OpenCL call failed, or a kernel's text did not compile. The message names the call, OpenCL's
/// error, and the device or the expression.
class opencl_error : public error { using error::error; };
/// Operands whose shapes do not broadcast, or do not fit their target. The message contains the
/// shapes and the expression.
class shape_error : public error { using error::error; };
/// An index outside its axis, or a slice with a step of 0.
class index_error : public error { using error::error; };
/// A C++ integer operand that the dtype of the computation does not hold: uint8_array + 300.
/// NumPy's OverflowError.
class overflow_error : public error { using error::error; };
/// A value that an option does not allow: NaN as the end of a time interval, or a loop's end
/// condition that the loop does not change.
class value_error : public error { using error::error; };
/// An operand without memory (never assigned, or moved from); memory is exhausted; or the simulator
/// found an access outside an array.
class memory_error : public error { using error::error; };
/// A device that does not exist or cannot be used, or operands on different devices.
class device_error : public error { using error::error; };
/// A file that cannot be written or read, or whose contents are not as requested. The message names
/// the file.
class file_error : public error { using error::error; };

}  // namespace dsl
