// A Python module, from the definition of DSL_PYTHON_MODULE. Compiled once for each module, with
// DSL_PYTHON_NAME as its name.
#include <memory>

#include <dsl/python/module.hpp>

#include "ensemble_result.hpp"
#include "exported.hpp"
#include "invocation.hpp"
#include "keywords.hpp"

extern const dsl::python::detail::module_definition dsl_python_module_definition;

namespace dsl::python {

class module_builder::state {
 public:
  explicit state(const char* name) : name_(name) {}

  void add(const char* name, detail::signature&& one, const char* documentation) {
    for (const auto& known : functions_)
      if (known->name() == name) return known->add(std::move(one), documentation);
    functions_.push_back(std::make_unique<overloads>(name_, name));
    functions_.back()->add(std::move(one), documentation);
  }
  // Functions live as long as the program: modules are not unloaded.
  void define(nb::module_& m) {
    for (auto& each : functions_) {
      if (each->kind() == detail::function_kind::ensemble) define_ensemble_result(m);
      define(m, *each.release());
    }
  }

 private:
  static void define(nb::module_& m, const overloads& all);

  std::string name_;
  std::vector<std::unique_ptr<overloads>> functions_;
};

void module_builder::add(const char* name, detail::signature&& one, const char* documentation) {
  state_.add(name, std::move(one), documentation);
}

namespace {

// Rethrows dsl's exceptions as Python's, with the same message.
[[noreturn]] void raise_again() {
  try {
    throw;
  } catch (const shape_error& e) {
    raise(PyExc_ValueError, e.what());
  } catch (const value_error& e) {
    raise(PyExc_ValueError, e.what());
  } catch (const index_error& e) {
    raise(PyExc_IndexError, e.what());
  } catch (const overflow_error& e) {
    raise(PyExc_OverflowError, e.what());
  } catch (const memory_error& e) {
    raise(PyExc_MemoryError, e.what());
  } catch (const file_error& e) {
    raise(PyExc_OSError, e.what());
  } catch (const error& e) {
    raise(PyExc_RuntimeError, e.what());
  }
}

}  // namespace

void module_builder::state::define(nb::module_& m, const overloads& all) {
  std::string signature = "def " + all.name() + "(";
  if (all.kind() == detail::function_kind::loop) signature += "steps: int, ";
  if (all.kind() == detail::function_kind::ensemble)
    signature += "t0: typing.Any, t1: typing.Any, ";
  signature += "*args: typing.Any";
  for (const keyword& each : keywords_of(all.kind()))
    signature += ", " + each.name + ": " + each.type + " = " + each.standard;
  signature += ") -> typing.Any";
  const std::string documentation = all.documentation();
  m.def(
      all.name().c_str(),
      [&all](const nb::args& arguments, const nb::kwargs& options) {
        try {
          return invocation(all).run(arguments, options);
        } catch (const error&) {
          raise_again();
        }
      },
      nb::sig(signature.c_str()), documentation.c_str());
}

}  // namespace dsl::python

NB_MODULE(DSL_PYTHON_NAME, m) {
  const dsl::python::detail::module_definition& definition = dsl_python_module_definition;
  const std::string name = dsl::python::text_of(m, "__name__");
  if (name.substr(name.rfind('.') + 1) != definition.name)
    throw nanobind::import_error(
        ("DSL_PYTHON_MODULE(" + std::string(definition.name) + ", m) is in a module called " + name)
            .c_str());
  dsl::python::exported::define(m);
  dsl::python::module_builder::state all(definition.name);
  dsl::python::module_builder filled(all);
  definition.fill(filled);
  all.define(m);
}
