#include "ensemble_result.hpp"

#include <dsl/ode/tolerance.hpp>

namespace dsl::python {

namespace {

constexpr const char* documentation_of_class =
    "How the integration of each element went, as arrays: t, the time that it reached; steps, the "
    "steps that it tried, and rejected, those that were rejected; outcome, which compares with "
    "reached, step_too_small, too_many_steps and event. saved: for each field an array with a row "
    "for each time of save_at; event_times: the same for each event that keeps its times.";

nb::object& result_class() {
  static nb::object& made = *new nb::object;  // never freed: modules are not unloaded
  return made;
}

}  // namespace

void define_ensemble_result(nb::module_& m) {
  if (result_class().is_valid()) return;
  const nb::object tuple =
      nb::module_::import_("collections")
          .attr("namedtuple")("EnsembleResult", "t steps rejected outcome saved event_times");
  nb::dict members;
  members["__slots__"] = nb::tuple();
  members["__module__"] = m.attr("__name__");
  members["__doc__"] = documentation_of_class;
  const std::pair<const char*, ode::outcome> outcomes[] = {
      {"reached", ode::outcome::reached},
      {"step_too_small", ode::outcome::step_too_small},
      {"too_many_steps", ode::outcome::too_many_steps},
      {"event", ode::outcome::event}};
  for (const auto& [known, value] : outcomes) members[known] = static_cast<int>(value);
  result_class() = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))(
      "EnsembleResult", nb::make_tuple(tuple), members);
  m.attr("EnsembleResult") = result_class();
}

nb::object make_ensemble_result(nb::object t, nb::object steps, nb::object rejected,
                                nb::object outcome, nb::object saved, nb::object event_times) {
  return result_class()(t, steps, rejected, outcome, saved, event_times);
}

}  // namespace dsl::python
