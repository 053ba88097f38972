// The signatures that share a name: which one a call is for, and their text.
#pragma once

#include <string>
#include <vector>

#include "array_library.hpp"

namespace dsl::python {

/// One argument of a call, read as what its type is.
struct passed {
  nb::handle object;
  const type_class* of;
  array_argument array;  // where it is one
  dsl::detail::dlpack_elements elements;
};

class overloads {
 public:
  overloads(std::string module, std::string name)
      : module_(std::move(module)), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool is_loop() const { return !all_.empty() && all_.front().variables > 0; }
  /// Throws nb::import_error.
  void add(detail::signature&& one, const char* documentation);
  /// The first that fits; a TypeError that lists all where none does.
  const detail::signature& choose(const passed* arguments, std::size_t count) const;
  /// A TypeError for arguments of which one is of no dtype that any signature has.
  [[noreturn]] void refuse(nb::handle arguments) const;
  std::string documentation() const;

 private:
  std::string spell(const detail::signature& one) const;

  std::string module_, name_, documentation_;
  std::vector<detail::signature> all_;
};

/// Whether arrays of dsl's have a dtype of this name.
bool is_dtype(const std::string& name);

/// `float32[:, :]`, `float32[...]`, `float32[()]`, `float32`.
std::string spell(const detail::parameter& p);

/// Writes a Python number as its dtype lies in memory. Throws what the conversion raises,
/// OverflowError for an integer outside.
void write_number(nb::handle number, dtype type, std::uint64_t (&bits)[2]);

/// An OverflowError that says what `integer` is outside of; `what` stands before it.
[[noreturn]] void refuse_integer(const std::string& what, nb::handle integer, dtype type);

[[noreturn]] inline void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

}  // namespace dsl::python
