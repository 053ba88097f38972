// The release number. It is defined only here: CMake and Conan read the three numbers below.
#pragma once

#define DSL_VERSION_MAJOR 0
#define DSL_VERSION_MINOR 1
#define DSL_VERSION_PATCH 0

/// The release of these headers as one increasing number: 10203 is 1.2.3.
#define DSL_VERSION (DSL_VERSION_MAJOR * 10000 + DSL_VERSION_MINOR * 100 + DSL_VERSION_PATCH)

namespace dsl {

/// The release of the library that the program is linked with, as "1.2.3". It must be that of the
/// headers.
const char* version();

}  // namespace dsl
