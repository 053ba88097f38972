#include "overloads.hpp"

#include <algorithm>
#include <cstring>

#include "keywords.hpp"

namespace dsl::python {

namespace {

constexpr dsl::kind number_kind(type_class::kind k) {
  return k == type_class::boolean   ? dsl::kind::boolean
         : k == type_class::integer ? dsl::kind::integer
         : k == type_class::real    ? dsl::kind::real
                                    : dsl::kind::complex;
}
constexpr bool is_number(type_class::kind k) {
  return k >= type_class::boolean && k <= type_class::complex;
}

bool fits(const detail::parameter& p, const passed& a) {
  if (a.of->is == type_class::array)
    return p.kind != detail::parameter_kind::number && a.elements.type == p.type &&
           (p.has_any_rank() || a.elements.elements.rank == p.rank);
  return p.kind != detail::parameter_kind::array && is_number(a.of->is) &&
         number_kind(a.of->is) <= kind_of(p.type);
}

std::string list(const std::vector<detail::parameter>& all, std::size_t first, std::size_t end) {
  std::string text;
  for (std::size_t i = first; i < end; ++i) text += (i > first ? ", " : "") + spell(all[i]);
  return text;
}
std::string in_tuple(const std::vector<detail::parameter>& all, std::size_t first,
                     std::size_t end) {
  const std::string text = list(all, first, end);
  return end - first == 1 ? text : "(" + text + ")";
}

std::string shape_of(const std::string& type, int rank) {
  if (rank == detail::parameter::of_any_rank) return type + "[...]";
  if (rank == 0) return type + "[()]";
  std::string text = type + "[:";
  for (int d = 1; d < rank; ++d) text += ", :";
  return text + "]";
}

const char* kind_name(detail::function_kind kind) {
  return kind == detail::function_kind::kernel ? "a kernel"
         : kind == detail::function_kind::loop ? "a loop"
                                               : "an ensemble";
}

// As `spell` writes a parameter.
std::string describe(nb::handle x) {
  const type_class& of = class_of(x);
  if (of.is == type_class::array) {
    const nb::object shape = nb::getattr(x, "shape", nb::tuple());
    return shape_of(dtype_name(x), static_cast<int>(nb::len(shape)));
  }
  const std::string type = text_of(x.type(), "__name__");
  return of.is == type_class::masked ? type + " (pass x.filled(), or x.data without the mask)"
                                     : type;
}

}  // namespace

bool is_dtype(const std::string& name) {
  return std::any_of(std::begin(dtype_table), std::end(dtype_table),
                     [&](const dtype_info& each) { return name == each.name; });
}

std::string spell(const detail::parameter& p) {
  return p.kind == detail::parameter_kind::number ? dsl::name(p.type)
                                                  : shape_of(dsl::name(p.type), p.rank);
}

void overloads::add(detail::signature&& one, const char* documentation) {
  if (!all_.empty() && kind() != one.kind)
    throw nb::import_error(
        (name_ + " is the name of " + kind_name(kind()) + " and of " + kind_name(one.kind))
            .c_str());
  const auto same = [&](const detail::signature& other) {
    return std::equal(one.parameters.begin(), one.parameters.end(), other.parameters.begin(),
                      other.parameters.end(), [](const auto& a, const auto& b) {
                        return a.kind == b.kind && a.type == b.type && a.rank == b.rank;
                      });
  };
  if (std::any_of(all_.begin(), all_.end(), same))
    throw nb::import_error(("a signature stands twice: " + spell(one)).c_str());
  all_.push_back(std::move(one));
  if (*documentation != '\0')
    documentation_ += (documentation_.empty() ? "" : "\n\n") + std::string(documentation);
}

const detail::signature& overloads::choose(const passed* arguments, std::size_t count) const {
  for (const detail::signature& one : all_) {
    bool does = one.parameters.size() == count;
    for (std::size_t i = 0; does && i < count; ++i) does = fits(one.parameters[i], arguments[i]);
    if (does) return one;
  }
  nb::list objects;
  for (std::size_t i = 0; i < count; ++i) objects.append(arguments[i].object);
  refuse(objects);
}

void overloads::refuse(nb::handle arguments) const {
  const bool is_loop = kind() == detail::function_kind::loop;
  std::string text = module_ + "." + name_ + " has no signature for (" + (is_loop ? "steps" : "");
  bool first = !is_loop;
  for (nb::handle x : arguments) {
    text += (first ? "" : ", ") + describe(x);
    first = false;
  }
  text += "); it has";
  for (const detail::signature& one : all_) text += "\n  " + spell(one);
  raise(PyExc_TypeError, text);
}

std::string overloads::spell(const detail::signature& one) const {
  const std::size_t states = static_cast<std::size_t>(one.variables), results = one.results.size();
  std::string text = name_ + "(" + (one.kind == detail::function_kind::loop ? "steps, " : "");
  for (std::size_t i = 0; i < one.parameters.size(); ++i)
    text += (one.kind == detail::function_kind::ensemble && i < 2 ? i == 0 ? "t0: " : "t1: " : "") +
            python::spell(one.parameters[i]) + ", ";
  text += "*";
  for (const keyword& each : keywords_of(one.kind)) text += ", " + each.name + "=" + each.standard;
  text += ") -> ";
  switch (one.kind) {
    case detail::function_kind::kernel: return text + in_tuple(one.results, 0, results);
    case detail::function_kind::loop:
      return text + "(" + in_tuple(one.results, 0, states) + ", " +
             in_tuple(one.results, states, results) + ")";
    case detail::function_kind::ensemble:
      return text + "(" + in_tuple(one.results, 0, states) + ", EnsembleResult)";
  }
  return text;
}

std::string overloads::documentation() const {
  std::string text;
  for (const detail::signature& one : all_) text += (text.empty() ? "" : "\n") + spell(one);
  return documentation_.empty() ? text : text + "\n\n" + documentation_;
}

namespace {

template <class T>
void put(const T& value, std::uint64_t (&bits)[2]) {
  std::memcpy(bits, &value, sizeof value);
}

void write_integer(nb::handle number, dtype type, std::uint64_t (&bits)[2]) {
  const nb::object integer = nb::steal(PyNumber_Index(number.ptr()));
  if (!integer.is_valid()) throw nb::python_error();
  const int width = 8 * size_of(type);
  bool outside = false;
  if (info(type).is_signed) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    outside = overflow != 0 ||
              (width < 64 && (value < -(1LL << (width - 1)) || value >= 1LL << (width - 1)));
    put(value, bits);  // the low bytes come first
  } else {
    const unsigned long long value = PyLong_AsUnsignedLongLong(integer.ptr());
    if (value == ~0ULL && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw nb::python_error();
      PyErr_Clear();
      outside = true;
    }
    outside = outside || (width < 64 && value >> width != 0);
    put(value, bits);
  }
  if (outside) refuse_integer("the integer ", integer, type);
}

}  // namespace

double real_value(nb::handle number) {
  const double value = PyFloat_AsDouble(number.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

void refuse_integer(const std::string& what, nb::handle integer, dtype type) {
  const nb::object text = nb::steal(PyObject_Str(integer.ptr()));
  if (!text.is_valid()) PyErr_Clear();  // Python does not print integers of more than 4,300 digits
  raise(PyExc_OverflowError, what + (text.is_valid() ? text_of(text) : "of thousands of digits") +
                                 " is outside " + dsl::name(type));
}

void write_number(nb::handle number, dtype type, std::uint64_t (&bits)[2]) {
  switch (type) {
    case dtype::boolean: {
      const int value = PyObject_IsTrue(number.ptr());
      if (value < 0) throw nb::python_error();
      return put(value != 0, bits);
    }
    case dtype::float16: return put(half(static_cast<float>(real_value(number))), bits);
    case dtype::bfloat16: return put(bfloat16(static_cast<float>(real_value(number))), bits);
    case dtype::float32: return put(static_cast<float>(real_value(number)), bits);
    case dtype::float64: return put(real_value(number), bits);
    case dtype::complex64:
    case dtype::complex128: {
      const nb::object z = nb::borrow(reinterpret_cast<PyObject*>(&PyComplex_Type))(number);
      const double re = PyComplex_RealAsDouble(z.ptr()), im = PyComplex_ImagAsDouble(z.ptr());
      if (type == dtype::complex128) {
        const double parts[] = {re, im};
        return put(parts, bits);
      }
      const float parts[] = {static_cast<float>(re), static_cast<float>(im)};
      return put(parts, bits);
    }
    default: return write_integer(number, type, bits);
  }
}

}  // namespace dsl::python
