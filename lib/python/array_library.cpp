#include "array_library.hpp"

#include <list>
#include <unordered_map>

namespace dsl::python {

namespace {

constexpr std::uint64_t is_read_only_flag = 1;

// Strings and tuples that calls need, made once and never freed: modules are not unloaded.
struct names {
  PyObject *dlpack = PyUnicode_InternFromString("__dlpack__"),
           *device = PyUnicode_InternFromString("__dlpack_device__"),
           *version = Py_BuildValue("(ii)", 1, 0),
           *stream_and_version = Py_BuildValue("(ss)", "stream", "max_version"),
           *only_version = Py_BuildValue("(s)", "max_version"),
           *only_stream = Py_BuildValue("(s)", "stream");
};
const names& known_names() {
  static const names all;
  return all;
}

nb::object checked(PyObject* made) {
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

// The tensor of a capsule, versioned or not.
array_argument read_capsule(nb::object capsule) {
  if (auto* const t = static_cast<dlpack::managed_tensor_versioned*>(
          PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"))) {
    if (t->version.major > 1) {
      PyErr_Format(PyExc_BufferError, "DLPack %u is not known here, 1 is", t->version.major);
      throw nb::python_error();
    }
    return {std::move(capsule), t->dl_tensor, (t->flags & is_read_only_flag) != 0};
  }
  PyErr_Clear();
  auto* const t =
      static_cast<dlpack::managed_tensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (t == nullptr) throw nb::python_error();
  return {std::move(capsule), t->dl_tensor, false};
}

// A tuple of extents.
nb::object tuple_of(int rank, const std::int64_t* extents) {
  nb::object made = checked(PyTuple_New(rank));
  for (int d = 0; d < rank; ++d)
    PyTuple_SetItem(made.ptr(), d, checked(PyLong_FromLongLong(extents[d])).release().ptr());
  return made;
}

// NumPy, and CuPy, which uses NumPy's dtypes.
class numpy_like : public array_library {
 public:
  explicit numpy_like(const char* name)
      : array_library(name), module_(nb::module_::import_(name)), empty_(module_.attr("empty")) {
    const nb::object dtype_of = nb::module_::import_("numpy").attr("dtype");
    for (int i = 0; i < dtype_count; ++i) {
      const auto type = static_cast<dtype>(i);
      if (type != dtype::bfloat16) dtypes_[i] = dtype_of(dsl::name(type));
    }
  }

  nb::object make(dtype type, int rank, const std::int64_t* extents,
                  const dlpack::device&) override {
    const nb::object& numpy_type =
        dtypes_[static_cast<int>(type == dtype::bfloat16 ? dtype::uint16 : type)];
    const nb::object shape = tuple_of(rank, extents);
    PyObject* const arguments[] = {shape.ptr(), numpy_type.ptr()};
    nb::object made = checked(PyObject_Vectorcall(empty_.ptr(), arguments, 2, nullptr));
    return type == dtype::bfloat16 ? made.attr("view")(bfloat16()) : made;
  }
  nb::object adopt(nb::handle exported, nb::handle) override {
    return module_.attr("from_dlpack")(exported);
  }
  bool frees_in_order() const override { return true; }

 protected:
  const nb::object& bfloat16() {
    if (!bfloat16_) bfloat16_ = nb::module_::import_("ml_dtypes").attr("bfloat16");
    return bfloat16_;
  }
  nb::object module_;

 private:
  nb::object empty_, dtypes_[dtype_count], bfloat16_;
};

class numpy_arrays final : public numpy_like {
 public:
  numpy_arrays() : numpy_like("numpy") {}

  order asks_for_stream() const override { return order::none; }
  array_argument read(nb::handle x, std::intptr_t) override {
    try {
      return numpy_like::read(x, 0);
    } catch (nb::python_error&) {
      if (dtype_name(x) != "bfloat16") throw;
    }
    array_argument bits = numpy_like::read(nb::borrow(x).attr("view")("uint16"), 0);
    bits.tensor.dtype = dsl::detail::dlpack_type(dtype::bfloat16);
    return bits;
  }
};

class cupy_arrays final : public numpy_like {
 public:
  cupy_arrays() : numpy_like("cupy"), current_(module_.attr("cuda").attr("get_current_stream")) {}

  order asks_for_stream() const override { return order::behind; }
  array_argument read(nb::handle x, std::intptr_t stream) override {
    array_argument found = numpy_like::read(x, stream);
    for (int d = 0; d < found.tensor.ndim; ++d)
      if (found.tensor.strides != nullptr && std::abs(found.tensor.strides[d]) > farthest)
        return with_strides(x, std::move(found));
    return found;
  }
  bool current_stream(const dlpack::device& where, native_stream& s) override {
    s.keeper = current_(where.device_id);
    s.handle = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(s.keeper.attr("ptr")));
    return true;
  }
  nb::object make(dtype type, int rank, const std::int64_t* extents,
                  const dlpack::device& where) override {
    const nb::object device = module_.attr("cuda").attr("Device")(where.device_id);
    device.attr("__enter__")();
    const auto leave = [&] { device.attr("__exit__")(nb::none(), nb::none(), nb::none()); };
    try {
      nb::object made = numpy_like::make(type, rank, extents, where);
      leave();
      return made;
    } catch (...) {
      leave();
      throw;
    }
  }

 private:
  // In elements: more than any memory has. CuPy 14 divides negative strides as unsigned numbers.
  static constexpr std::int64_t farthest = std::int64_t{1} << 48;
  static array_argument with_strides(nb::handle x, array_argument found) {
    const nb::object bytes = nb::getattr(x, "strides");
    for (int d = 0; d < found.tensor.ndim; ++d)
      found.tensor.strides[d] = nb::cast<std::int64_t>(bytes[d]) / (found.tensor.dtype.bits / 8);
    return found;
  }

  nb::object current_;
};

}  // namespace

std::string text_of(nb::handle x) {
  const nb::object text = checked(PyObject_Str(x.ptr()));
  Py_ssize_t length = 0;
  const char* const chars = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
  if (chars == nullptr) throw nb::python_error();
  return {chars, static_cast<std::size_t>(length)};
}
std::string text_of(nb::handle x, const char* attribute) {
  return nb::hasattr(x, attribute) ? text_of(nb::getattr(x, attribute)) : std::string();
}

std::intptr_t work_stream::number() const {
  const auto handle = reinterpret_cast<std::intptr_t>(stream_->native());
  return handle == 0 ? 1 : handle;
}

dlpack::device array_library::where(nb::handle x) const {
  PyObject* const self[] = {x.ptr()};
  const nb::object pair =
      checked(PyObject_VectorcallMethod(known_names().device, self, 1, nullptr));
  dlpack::device d{};
  if (!PyArg_ParseTuple(pair.ptr(), "ii", &d.device_type, &d.device_id)) throw nb::python_error();
  return d;
}

array_argument array_library::read(nb::handle x, std::intptr_t number) {
  const names& all = known_names();
  const nb::object stream = number != 0 ? checked(PyLong_FromSsize_t(number)) : nb::object();
  if (has_versions_) {
    PyObject* const arguments[] = {x.ptr(), stream ? stream.ptr() : all.version, all.version};
    PyObject* const capsule = PyObject_VectorcallMethod(
        all.dlpack, arguments, 1, stream ? all.stream_and_version : all.only_version);
    if (capsule != nullptr) return read_capsule(nb::steal(capsule));
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();  // a __dlpack__ without max_version, or another error, which then occurs again
  }
  PyObject* const arguments[] = {x.ptr(), stream.ptr()};
  array_argument found = read_capsule(checked(
      PyObject_VectorcallMethod(all.dlpack, arguments, 1, stream ? all.only_stream : nullptr)));
  has_versions_ = false;
  return found;
}

nb::object array_library::adopt(nb::handle exported, nb::handle like) {
  return nb::borrow(like).attr("__array_namespace__")().attr("from_dlpack")(exported);
}

std::string dtype_name(nb::handle array) {
  const std::string name = text_of(array, "dtype");
  return name.substr(name.rfind('.') + 1);
}

const dsl::stream& kept_stream(const dlpack::device& where, array_library::native_stream native) {
  struct entry {
    int index;
    void* handle;
    nb::object keeper;
    dsl::stream stream;
  };
  // The most recent first; unused ones are dropped.
  static std::list<entry>& kept = *new std::list<entry>;
  constexpr std::size_t most = 64;
  for (auto at = kept.begin(); at != kept.end(); ++at)
    if (at->index == where.device_id && at->handle == native.handle) {
      if (at != kept.begin()) kept.splice(kept.begin(), kept, at);
      return kept.front().stream;
    }
  kept.push_front({where.device_id, native.handle, std::move(native.keeper),
                   dsl::stream(native.handle, device(backend::cuda, where.device_id))});
  if (kept.size() > most) kept.pop_back();
  return kept.front().stream;
}

namespace {

type_class find_class(PyTypeObject* type) {
  const nb::object all =
      checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__mro__"));
  for (nb::handle base : nb::borrow<nb::tuple>(all)) {
    if (base.is(reinterpret_cast<PyObject*>(&PyBaseObject_Type))) break;
    const std::string module = text_of(base, "__module__"), name = text_of(base, "__name__"),
                      root = module.substr(0, module.find('.'));
    if (base.is(reinterpret_cast<PyObject*>(&PyBool_Type))) return {type_class::boolean};
    if (base.is(reinterpret_cast<PyObject*>(&PyLong_Type))) return {type_class::integer};
    if (base.is(reinterpret_cast<PyObject*>(&PyFloat_Type))) return {type_class::real};
    if (base.is(reinterpret_cast<PyObject*>(&PyComplex_Type))) return {type_class::complex};
    if (root == "numpy") {
      if (name == "MaskedArray") return {type_class::masked};
      if (name == "ndarray") return {type_class::array, &numpy_library()};
      if (name == "bool" || name == "bool_") return {type_class::boolean};
      if (name == "integer") return {type_class::integer};
      if (name == "floating") return {type_class::real};
      if (name == "complexfloating") return {type_class::complex};
    }
    if (root == "ml_dtypes" && name == "bfloat16") return {type_class::real};
    if (root == "cupy" && name == "ndarray") {
      static array_library& cupy = *new cupy_arrays;
      return {type_class::array, &cupy};
    }
  }
  const nb::handle self(reinterpret_cast<PyObject*>(type));
  if (!nb::hasattr(self, "__dlpack__") || !nb::hasattr(self, "__dlpack_device__")) return {};
  if (array_library* const fast = exchange_library(self)) return {type_class::array, fast};
  return {type_class::array, &protocol_library(self)};
}

}  // namespace

array_library& numpy_library() {
  static array_library& numpy = *new numpy_arrays;
  return numpy;
}

const type_class& class_of(nb::handle x) {
  static std::unordered_map<PyTypeObject*, type_class>& known =
      *new std::unordered_map<PyTypeObject*, type_class>;
  PyTypeObject* const type = Py_TYPE(x.ptr());
  const auto at = known.find(type);
  if (at != known.end()) return at->second;
  const type_class found = find_class(type);
  Py_IncRef(reinterpret_cast<PyObject*>(type));  // so that no other type gets its address
  return known.emplace(type, found).first->second;
}

}  // namespace dsl::python
