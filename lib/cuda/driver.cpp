#include "cuda/driver.hpp"

#include <string>

#include "cuda/calls.hpp"
#include "mem/text.hpp"

namespace dsl::detail::cuda {

namespace {

// Each function in the CUDA version in which its type last changed.
template <class Function>
void find(Function& function, const char* name, [[maybe_unused]] unsigned version = 10020) {
  cudaDriverEntryPointQueryResult found{};
  void* address = nullptr;
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found);
#endif
  check(status, "looking up a function of the driver");
  if (found != cudaDriverEntryPointSuccess || address == nullptr)
    raise<cuda_error>(std::string("the CUDA driver has no ") + name);
  function = reinterpret_cast<Function>(address);
}

}  // namespace

const driver_functions& driver() {
  static const driver_functions all = [] {
    driver_functions f{};
    find(f.granularity, "cuMemGetAllocationGranularity");
    find(f.reserve, "cuMemAddressReserve");
    find(f.free_addresses, "cuMemAddressFree");
    find(f.create, "cuMemCreate");
    find(f.release, "cuMemRelease");
    find(f.map, "cuMemMap");
    find(f.unmap, "cuMemUnmap");
    find(f.set_access, "cuMemSetAccess");
    find(f.write_value, "cuStreamWriteValue32", 11070);
    find(f.attribute, "cuDeviceGetAttribute");
    find(f.error_name, "cuGetErrorName");
    find(f.error_text, "cuGetErrorString");
    return f;
  }();
  return all;
}

void check(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return;
  const char *name = nullptr, *text = nullptr;
  driver().error_name(status, &name);
  driver().error_text(status, &text);
  raise<cuda_error>(std::string(call) +
                    " failed: " + (text != nullptr ? text : "an unknown error") + " (" +
                    (name != nullptr ? name : std::to_string(status)) + ")");
}

}  // namespace dsl::detail::cuda
