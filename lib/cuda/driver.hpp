// Functions of the driver that the runtime lacks. They are looked up at the first call, so that no
// program is linked with the driver.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace dsl::detail::cuda {

struct driver_functions {
  decltype(&cuMemGetAllocationGranularity) granularity;
  decltype(&cuMemAddressReserve) reserve;
  decltype(&cuMemAddressFree) free_addresses;
  decltype(&cuMemCreate) create;
  decltype(&cuMemRelease) release;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) set_access;
  decltype(&cuStreamWriteValue32) write_value;
  decltype(&cuDeviceGetAttribute) attribute;
  decltype(&cuGetErrorName) error_name;
  decltype(&cuGetErrorString) error_text;
};
/// Throws cuda_error if the driver lacks one of them.
const driver_functions& driver();

/// Throws cuda_error, which names the call that failed.
void check(CUresult status, const char* call);

}  // namespace dsl::detail::cuda
