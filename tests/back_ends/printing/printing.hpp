// A back end that only prints its calls. It lies in one folder and needs no change of the library.
#pragma once

#include <sstream>
#include <string>

namespace printing {

/// Returns the calls that were printed since the last call of this function.
std::string printed();
/// The OpenCL C of the pass that was run last.
std::string last_text();

/// Registers the devices "print", "print:0" and "print:1".
void add_devices();

}  // namespace printing
