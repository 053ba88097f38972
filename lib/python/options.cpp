// The arguments of a call that are given by name, and numbers of steps.
#include "invocation.hpp"
#include "keywords.hpp"

namespace dsl::python {

std::int64_t invocation::whole_number(nb::handle x, const char* what) const {
  const nb::object integer = nb::steal(PyNumber_Index(x.ptr()));
  int overflow = 0;
  const long long value =
      integer.is_valid() ? PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow) : -1;
  if (overflow != 0) refuse_integer(all_.name() + ": " + what + " ", integer, dtype::int64);
  if (PyErr_Occurred() == nullptr) return value;
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
  PyErr_Clear();
  raise(PyExc_TypeError,
        all_.name() + ": " + what + " is an integer, not " + text_of(x.type(), "__name__"));
}

double invocation::real_number(nb::handle x, const std::string& what) const {
  const type_class::kind is = class_of(x).is;
  if (is != type_class::boolean && is != type_class::integer && is != type_class::real)
    raise(PyExc_TypeError,
          all_.name() + ": " + what + " is a number, not " + text_of(x.type(), "__name__"));
  return real_value(x);
}

void invocation::read_options(const nb::kwargs& options) {
  const detail::function_kind kind = all_.kind();
  for (const auto& [key, value] : options) {
    const std::string name = text_of(key);
    if (name == "out") out_ = value;
    else if (kind == detail::function_kind::loop && name == "every")
      every = whole_number(value, "every=");
    else if (kind != detail::function_kind::ensemble || !read_ensemble_option(name, value)) {
      std::string known;
      for (const keyword& each : keywords_of(kind))
        known += (known.empty() ? "" : each.name == "out" ? " and " : ", ") + each.name + "=";
      raise(PyExc_TypeError, all_.name() + " does not know " + name + "=: by name it takes " +
                                 known + ", all else by position");
    }
  }
}

bool invocation::read_ensemble_option(const std::string& name, nb::handle value) {
  const std::pair<const char*, double&> reals[] = {{"rtol", wanted.relative},
                                                   {"atol", wanted.absolute},
                                                   {"first_step", wanted.first_step},
                                                   {"largest_step", wanted.largest_step}};
  for (const auto& [known, to] : reals) {
    if (name != known) continue;
    if (!value.is_none()) to = real_number(value, name + "=");
    return true;
  }
  if (name == "most_steps") wanted.most_steps = whole_number(value, "most_steps=");
  else if (name == "save_at") save_at_ = value;
  else return false;
  return true;
}

// The times of save_at=: an array of float64, or a sequence of numbers.
void invocation::read_times() {
  saves = save_at_.is_valid() && !save_at_.is_none();
  if (!saves) return;
  const auto require = [this](bool is_known) {
    if (!is_known)
      raise(PyExc_TypeError, all_.name() + ": save_at= is to be " +
                                 spell({detail::parameter_kind::array, dtype::float64, 1}) +
                                 ", or a sequence of numbers");
  };
  if (class_of(save_at_).is == type_class::array) {
    const passed p = read(save_at_);
    require(p.elements.type == dtype::float64 && p.elements.elements.rank == 1);
    detail::elements memory;
    bind(p, "save_at=", 1, false, memory);
    const nb::gil_scoped_release without_lock;
    times = memory.as<const double, 1>().copy_to_host();
    return;
  }
  require(PySequence_Check(save_at_.ptr()) != 0);
  for (const nb::handle time : nb::iter(save_at_))
    times.push_back(real_number(time, "a time of save_at="));
}

}  // namespace dsl::python
