// A device "host-opencl": the host's memory, in which passes run as printed text on the first
// OpenCL device, and everything else as on the host. Tests of the language run on it unchanged.
#pragma once

namespace printed_device {

/// Adds the device, unless there is no OpenCL device. Returns whether it was added.
bool add();
/// Passes that ran as printed text.
int passes();

}  // namespace printed_device
