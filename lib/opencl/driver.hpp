// Functions of OpenCL. Its loader is opened at the first call, so that no program is linked with it
// and a machine without it loses nothing.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace dsl::detail::opencl {

/// Every function of OpenCL that the library calls, under its own name.
struct driver_functions {
#define DSL_DETAIL_FUNCTION(name) decltype(&::name) name;
#include "opencl/functions.inc"
#undef DSL_DETAIL_FUNCTION
};

/// Null if there is no usable loader; `why_no_driver` gives the reason. DSL_OPENCL_LIBRARY names
/// the loader's file, libOpenCL.so.1 without it.
const driver_functions* find_driver();
const std::string& why_no_driver();
/// For callers that have a device, and so a driver.
inline const driver_functions& driver() { return *find_driver(); }

/// "CL_OUT_OF_RESOURCES"
std::string name_of_status(cl_int status);
/// Throws opencl_error, which names the call, OpenCL's error, the device and what was asked for.
[[noreturn]] void raise_failure(cl_int status, const char* call, const std::string& asked,
                                const std::string& device);

}  // namespace dsl::detail::opencl
