// Libraries recognised by the type of their arrays: through DLPack's table of C functions if there
// is one, otherwise through __dlpack__.
#include <map>

#include "array_library.hpp"

namespace dsl::python {

namespace {

// DLPack's DLPackExchangeAPI.
struct exchange_table {
  dlpack::version version;
  const exchange_table* previous;
  int (*allocate)(dlpack::tensor* prototype, dlpack::managed_tensor_versioned** made, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, dlpack::managed_tensor_versioned** made);
  int (*to_object)(dlpack::managed_tensor_versioned* taken, void** object);
  int (*from_object)(void* object, dlpack::tensor* found);
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream);
};

void check(int status) {
  if (status == 0) return;
  if (PyErr_Occurred() == nullptr)
    PyErr_SetString(PyExc_BufferError,
                    "an array library's DLPack function failed and did not say why");
  throw nb::python_error();
}

class exchange_arrays : public array_library {
 public:
  exchange_arrays(std::string name, const exchange_table& table)
      : array_library(std::move(name)), table_(table) {}

  order asks_for_stream() const override { return order::none; }
  array_argument read(nb::handle x, std::intptr_t stream) override {
    if (stream > 0) return array_library::read(x, stream);  // the table orders no streams
    return {nb::borrow(x), tensor_of(x), false};
  }
  bool current_stream(const dlpack::device& where, native_stream& s) override {
    check(table_.current_stream(where.device_type, where.device_id, &s.handle));
    return true;
  }
  nb::object make(dtype type, int rank, const std::int64_t* extents,
                  const dlpack::device& where) override {
    dlpack::tensor wanted{
        nullptr, where, rank, dsl::detail::dlpack_type(type), const_cast<std::int64_t*>(extents),
        nullptr, 0};
    dlpack::managed_tensor_versioned* made = nullptr;
    check(table_.allocate(&wanted, &made, nullptr, [](void*, const char*, const char* message) {
      const nb::gil_scoped_acquire lock;
      PyErr_SetString(PyExc_MemoryError, message);
    }));
    void* object = nullptr;
    check(table_.to_object(made, &object));
    return nb::steal(static_cast<PyObject*>(object));
  }
  bool frees_in_order() const override { return true; }

 protected:
  dlpack::tensor tensor_of(nb::handle x) const {
    dlpack::tensor t{};
    check(table_.from_object(x.ptr(), &t));
    return t;
  }

 private:
  const exchange_table& table_;
};

// Properties of a PyTorch tensor that its DLPack functions ignore.
class torch_arrays final : public exchange_arrays {
 public:
  using exchange_arrays::exchange_arrays;

  array_argument read(nb::handle x, std::intptr_t stream) override {
    array_argument found = exchange_arrays::read(x, stream);
    const std::uint8_t code = found.tensor.dtype.code;
    constexpr std::uint8_t real = 2, bfloat16 = 4, complex = 5;
    if (code != real && code != bfloat16 && code != complex) return found;
    refuse_if(is_true(x, requires_grad_, false),
              "a tensor that requires a gradient: pass x.detach()");
    refuse_if(is_true(x, is_neg_, true),
              "a tensor that PyTorch negates when it reads it: pass x.resolve_neg()");
    if (code == complex)
      refuse_if(is_true(x, is_conj_, true),
                "a tensor that PyTorch conjugates when it reads it: pass x.resolve_conj()");
    return found;
  }

 private:
  static bool is_true(nb::handle x, PyObject* name, bool is_method) {
    PyObject* const self[] = {x.ptr()};
    PyObject* const answer = is_method ? PyObject_VectorcallMethod(name, self, 1, nullptr)
                                       : PyObject_GetAttr(x.ptr(), name);
    if (answer == nullptr) throw nb::python_error();
    const bool yes = answer == Py_True;
    Py_DecRef(answer);
    return yes;
  }
  static void refuse_if(bool wrong, const char* why) {
    if (wrong) throw nb::value_error(why);
  }

  PyObject *const requires_grad_ = PyUnicode_InternFromString("requires_grad"),
                  *const is_neg_ = PyUnicode_InternFromString("is_neg"),
                  *const is_conj_ = PyUnicode_InternFromString("is_conj");
};

std::string root_module(nb::handle type) {
  const std::string module = text_of(type, "__module__");
  return module.substr(0, module.find('.'));
}

// Whether a class of this module is among a type's bases.
bool comes_from(nb::handle type, const char* module) {
  for (nb::handle base : nb::borrow<nb::tuple>(type.attr("__mro__")))
    if (root_module(base) == module) return true;
  return false;
}

// PyTorch before it had the table of C functions.
class torch_by_protocol final : public array_library {
 public:
  torch_by_protocol()
      : array_library("torch"),
        stream_(nb::module_::import_("torch").attr("cuda").attr("current_stream")) {}
  order asks_for_stream() const override { return order::behind; }
  bool current_stream(const dlpack::device& where, native_stream& s) override {
    s.handle = reinterpret_cast<void*>(
        nb::cast<std::uintptr_t>(stream_(where.device_id).attr("cuda_stream")));
    return true;
  }
  nb::object adopt(nb::handle exported, nb::handle) override {
    return nb::module_::import_("torch").attr("from_dlpack")(exported);
  }
  bool frees_in_order() const override { return true; }

 private:
  nb::object stream_;
};

class jax_arrays final : public array_library {
 public:
  jax_arrays() : array_library("jax") {}
  bool is_writable() const override { return false; }
  nb::object adopt(nb::handle exported, nb::handle) override { return from_dlpack_(exported); }

 private:
  const nb::object from_dlpack_ = nb::module_::import_("jax.dlpack").attr("from_dlpack");
};

}  // namespace

array_library* exchange_library(nb::handle type) {
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::object());
  if (!capsule.is_valid() || !PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    return nullptr;
  const auto* table = static_cast<const exchange_table*>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (table != nullptr && table->version.major != 1) table = table->previous;
  if (table == nullptr) return nullptr;
  static std::map<const exchange_table*, std::unique_ptr<array_library>>& made =
      *new std::map<const exchange_table*, std::unique_ptr<array_library>>;
  std::unique_ptr<array_library>& mine = made[table];
  if (mine == nullptr) {
    if (comes_from(type, "torch")) mine = std::make_unique<torch_arrays>("torch", *table);
    else mine = std::make_unique<exchange_arrays>(root_module(type), *table);
  }
  return mine.get();
}

array_library& protocol_library(nb::handle type) {
  static std::map<std::string, std::unique_ptr<array_library>>& made =
      *new std::map<std::string, std::unique_ptr<array_library>>;
  const std::string name = comes_from(type, "torch") ? "torch" : root_module(type);
  std::unique_ptr<array_library>& mine = made[name];
  if (mine == nullptr) {
    if (name == "torch") mine = std::make_unique<torch_by_protocol>();
    else if (name == "jax" || name == "jaxlib") mine = std::make_unique<jax_arrays>();
    else mine = std::make_unique<array_library>(name);
  }
  return *mine;
}

}  // namespace dsl::python
