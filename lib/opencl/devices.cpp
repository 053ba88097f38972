// The devices as the library counts them.
#include "opencl/back_end.hpp"
#include "opencl/device.hpp"

namespace dsl::detail {

using opencl::device_state;

int opencl_back_end::device_count() { return opencl::count_devices(); }
std::string opencl_back_end::why_no_device() { return opencl::why_no_device(); }
const device_properties& opencl_back_end::properties(int index) {
  return device_state::of(index).properties;
}
void opencl_back_end::synchronize_device(int index) { device_state::of(index).finish(); }

}  // namespace dsl::detail
