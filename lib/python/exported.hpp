// dsl's memory as an object that other libraries take over by DLPack.
#pragma once

#include <nanobind/nanobind.h>

#include <dsl/mem/dlpack.hpp>

namespace dsl::python {

namespace nb = nanobind;

/// Elements in row-major order. Has __dlpack__ and __dlpack_device__, from which the array API's
/// from_dlpack makes an array without a copy.
struct exported {
  dsl::detail::buffer_ref owner;
  dtype type;
  dsl::detail::mapping elements;

  nb::tuple device() const;
  nb::object capsule(nb::handle stream, nb::handle max_version, nb::handle device,
                     nb::handle copy) const;

  static void define(nb::module_& m);
};

}  // namespace dsl::python
