#include "exported.hpp"

#include <dsl/mem/stream.hpp>

namespace dsl::python {

namespace {

template <class Managed>
nb::object capsule_of(Managed* tensor, const char* name) {
  PyObject* const made = PyCapsule_New(tensor, name, [](PyObject* capsule) {
    // A consumer that takes the tensor over renames the capsule.
    const char* const now = PyCapsule_GetName(capsule);
    if (now == nullptr || std::strncmp(now, "used_", 5) == 0) return;
    if (auto* const t = static_cast<Managed*>(PyCapsule_GetPointer(capsule, now))) t->deleter(t);
  });
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

// Makes the consumer's stream wait for the work queued on the memory.
void order_consumer(const dsl::detail::buffer_ref& memory, nb::handle stream) {
  if (memory.where().kind != backend::cuda) return;
  constexpr std::intptr_t without_order = -1, legacy_default = 1;
  const auto number = stream.is_none() ? legacy_default : nb::cast<std::intptr_t>(stream);
  if (number == without_order) return;
  void* const native = number == legacy_default ? nullptr : reinterpret_cast<void*>(number);
  dsl::detail::use(memory.get(), dsl::stream(native, memory.where()), false);
}

}  // namespace

nb::tuple exported::device() const {
  const dlpack::device d = dsl::detail::dlpack_device(owner.where());
  return nb::make_tuple(d.device_type, d.device_id);
}

nb::object exported::capsule(nb::handle stream, nb::handle max_version, nb::handle device,
                             nb::handle copy) const {
  if (!device.is_none() && !this->device().equal(device))
    throw nb::buffer_error("the elements stay on the device that they are on");
  if (!copy.is_none() && nb::cast<bool>(copy))
    throw nb::buffer_error("this hands out the elements themselves, no copy");
  order_consumer(owner, stream);
  if (!max_version.is_none() && nb::cast<int>(max_version[nb::int_(0)]) >= 1) {
    dlpack::managed_tensor_versioned* made = nullptr;
    dsl::detail::make_dlpack(made, owner, owner.data(), type, elements, false);
    return capsule_of(made, "dltensor_versioned");
  }
  dlpack::managed_tensor* made = nullptr;
  dsl::detail::make_dlpack(made, owner, owner.data(), type, elements, false);
  return capsule_of(made, "dltensor");
}

void exported::define(nb::module_& m) {
  nb::class_<exported>(m, "_Exported", "Memory that an array library takes over by DLPack.")
      .def("__dlpack_device__", &exported::device)
      .def("__dlpack__", &exported::capsule, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none());
}

}  // namespace dsl::python
