// The driver's functions that the runtime has not. They are looked up when they are first called,
// so that no program is linked with the driver.
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
/// Throws cuda_error where the driver has not all of them.
const driver_functions& driver();

/// Throws cuda_error that says which call failed.
void check(CUresult status, const char* call);

}  // namespace dsl::detail::cuda
