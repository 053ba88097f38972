#include "opencl/driver.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

#include "mem/text.hpp"

namespace dsl::detail::opencl {

namespace {

struct loaded_driver {
  driver_functions functions{};
  std::string why_not{};
};

const char* library_name() {
  const char* const wanted = std::getenv("DSL_OPENCL_LIBRARY");
  return wanted != nullptr && *wanted != '\0' ? wanted : "libOpenCL.so.1";
}

loaded_driver load() {
  loaded_driver made;
  const char* const name = library_name();
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);  // never closed: drivers have threads
  if (library == nullptr) {
    made.why_not = std::string("OpenCL's loader cannot be opened: ") + dlerror();
    return made;
  }
  const auto find = [&](auto& function, const char* function_name) {
    void* const address = dlsym(library, function_name);
    if (address == nullptr && made.why_not.empty())
      made.why_not = std::string(name) + " has no " + function_name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
#define DSL_DETAIL_FUNCTION(function) find(made.functions.function, #function);
#include "opencl/functions.inc"
#undef DSL_DETAIL_FUNCTION
  return made;
}

const loaded_driver& loaded() {
  static const loaded_driver& once = *new loaded_driver(load());
  return once;
}

struct named_status {
  cl_int status;
  const char* name;
};
#define DSL_DETAIL_STATUS(name) {name, #name}
constexpr named_status known[] = {DSL_DETAIL_STATUS(CL_SUCCESS),
                                  DSL_DETAIL_STATUS(CL_DEVICE_NOT_FOUND),
                                  DSL_DETAIL_STATUS(CL_DEVICE_NOT_AVAILABLE),
                                  DSL_DETAIL_STATUS(CL_COMPILER_NOT_AVAILABLE),
                                  DSL_DETAIL_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE),
                                  DSL_DETAIL_STATUS(CL_OUT_OF_RESOURCES),
                                  DSL_DETAIL_STATUS(CL_OUT_OF_HOST_MEMORY),
                                  DSL_DETAIL_STATUS(CL_MEM_COPY_OVERLAP),
                                  DSL_DETAIL_STATUS(CL_BUILD_PROGRAM_FAILURE),
                                  DSL_DETAIL_STATUS(CL_MISALIGNED_SUB_BUFFER_OFFSET),
                                  DSL_DETAIL_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
                                  DSL_DETAIL_STATUS(CL_COMPILE_PROGRAM_FAILURE),
                                  DSL_DETAIL_STATUS(CL_LINKER_NOT_AVAILABLE),
                                  DSL_DETAIL_STATUS(CL_LINK_PROGRAM_FAILURE),
                                  DSL_DETAIL_STATUS(CL_INVALID_VALUE),
                                  DSL_DETAIL_STATUS(CL_INVALID_DEVICE_TYPE),
                                  DSL_DETAIL_STATUS(CL_INVALID_PLATFORM),
                                  DSL_DETAIL_STATUS(CL_INVALID_DEVICE),
                                  DSL_DETAIL_STATUS(CL_INVALID_CONTEXT),
                                  DSL_DETAIL_STATUS(CL_INVALID_QUEUE_PROPERTIES),
                                  DSL_DETAIL_STATUS(CL_INVALID_COMMAND_QUEUE),
                                  DSL_DETAIL_STATUS(CL_INVALID_HOST_PTR),
                                  DSL_DETAIL_STATUS(CL_INVALID_MEM_OBJECT),
                                  DSL_DETAIL_STATUS(CL_INVALID_BINARY),
                                  DSL_DETAIL_STATUS(CL_INVALID_BUILD_OPTIONS),
                                  DSL_DETAIL_STATUS(CL_INVALID_PROGRAM),
                                  DSL_DETAIL_STATUS(CL_INVALID_PROGRAM_EXECUTABLE),
                                  DSL_DETAIL_STATUS(CL_INVALID_KERNEL_NAME),
                                  DSL_DETAIL_STATUS(CL_INVALID_KERNEL_DEFINITION),
                                  DSL_DETAIL_STATUS(CL_INVALID_KERNEL),
                                  DSL_DETAIL_STATUS(CL_INVALID_ARG_INDEX),
                                  DSL_DETAIL_STATUS(CL_INVALID_ARG_VALUE),
                                  DSL_DETAIL_STATUS(CL_INVALID_ARG_SIZE),
                                  DSL_DETAIL_STATUS(CL_INVALID_KERNEL_ARGS),
                                  DSL_DETAIL_STATUS(CL_INVALID_WORK_DIMENSION),
                                  DSL_DETAIL_STATUS(CL_INVALID_WORK_GROUP_SIZE),
                                  DSL_DETAIL_STATUS(CL_INVALID_WORK_ITEM_SIZE),
                                  DSL_DETAIL_STATUS(CL_INVALID_GLOBAL_OFFSET),
                                  DSL_DETAIL_STATUS(CL_INVALID_EVENT_WAIT_LIST),
                                  DSL_DETAIL_STATUS(CL_INVALID_EVENT),
                                  DSL_DETAIL_STATUS(CL_INVALID_OPERATION),
                                  DSL_DETAIL_STATUS(CL_INVALID_BUFFER_SIZE),
                                  DSL_DETAIL_STATUS(CL_INVALID_GLOBAL_WORK_SIZE),
                                  {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}};
#undef DSL_DETAIL_STATUS

}  // namespace

const driver_functions* find_driver() {
  return loaded().why_not.empty() ? &loaded().functions : nullptr;
}
const std::string& why_no_driver() { return loaded().why_not; }

std::string name_of_status(cl_int status) {
  for (const named_status& each : known)
    if (each.status == status) return each.name;
  return "error " + std::to_string(status);
}

void raise_failure(cl_int status, const char* call, const std::string& asked,
                   const std::string& device) {
  raise<opencl_error>(asked + " failed on " + device + ": " + call + " returned " +
                      name_of_status(status));
}

}  // namespace dsl::detail::opencl
