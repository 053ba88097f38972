// DLPack, beside everything else: not in dsl.hpp.
#pragma once

#include <dsl/mem/dlpack.hpp>
