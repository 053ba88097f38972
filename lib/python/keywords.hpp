// The arguments that functions of a module take by name.
#pragma once

#include <string>
#include <vector>

#include <dsl/python/call.hpp>

namespace dsl::python {

/// Its name, its type and its default in a signature of Python.
struct keyword { std::string name, type, standard; };

/// Those of a kind of function, in the order of help().
const std::vector<keyword>& keywords_of(detail::function_kind kind);

}  // namespace dsl::python
