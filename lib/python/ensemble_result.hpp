// EnsembleResult, the class of what an ensemble returns beside its fields: a named tuple.
#pragma once

#include <nanobind/nanobind.h>

namespace dsl::python {

namespace nb = nanobind;

/// Adds the class to a module, once.
void define_ensemble_result(nb::module_& m);
/// An object of the class, which has been defined.
nb::object make_ensemble_result(nb::object t, nb::object steps, nb::object rejected,
                                nb::object outcome, nb::object saved, nb::object event_times);

}  // namespace dsl::python
