// The signatures that share a name: selection for a call, and their text.
#pragma once

#include <string>
#include <vector>

#include "array_library.hpp"

namespace dsl::python {

/// One argument of a call, read according to its type.
struct passed {
  nb::handle object;
  const type_class* of;
  array_argument array;  // if it is an array
  dsl::detail::dlpack_elements elements;
};

class overloads {
 public:
  overloads(std::string module, std::string name)
      : module_(std::move(module)), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  /// All signatures are of one kind.
  detail::function_kind kind() const { return all_.front().kind; }
  /// Throws nb::import_error.
  void add(detail::signature&& one, const char* documentation);
  /// The first signature that fits. Throws a TypeError that lists all if none does.
  const detail::signature& choose(const passed* arguments, std::size_t count) const;
  /// Throws a TypeError for arguments one of which has a dtype that no signature has.
  [[noreturn]] void refuse(nb::handle arguments) const;
  std::string documentation() const;

 private:
  std::string spell(const detail::signature& one) const;

  std::string module_, name_, documentation_;
  std::vector<detail::signature> all_;
};

/// Whether dsl's arrays have a dtype with this name.
bool is_dtype(const std::string& name);

/// `float32[:, :]`, `float32[...]`, `float32[()]`, `float32`.
std::string spell(const detail::parameter& p);

/// Writes a Python number as its dtype is stored in memory. Throws the exception of the conversion;
/// OverflowError for an integer out of range.
void write_number(nb::handle number, dtype type, std::uint64_t (&bits)[2]);

/// A number as a double. Throws the exception of the conversion.
double real_value(nb::handle number);

/// Throws an OverflowError that names the range; `what` precedes the integer in the message.
[[noreturn]] void refuse_integer(const std::string& what, nb::handle integer, dtype type);

[[noreturn]] inline void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

}  // namespace dsl::python
