// Which release this is. The one place that says so: CMake and Conan read the three numbers here.
#pragma once

#define DSL_VERSION_MAJOR 0
#define DSL_VERSION_MINOR 1
#define DSL_VERSION_PATCH 0

/// The release of these headers as one number that grows with it: 10203 is 1.2.3.
#define DSL_VERSION (DSL_VERSION_MAJOR * 10000 + DSL_VERSION_MINOR * 100 + DSL_VERSION_PATCH)

namespace dsl {

/// The release of the library that the program is linked with, as "1.2.3". Headers of another
/// release do not go with it.
const char* version();

}  // namespace dsl
