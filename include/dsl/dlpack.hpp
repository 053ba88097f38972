// DLPack. Not part of dsl.hpp.
#pragma once

#include <dsl/mem/dlpack.hpp>
