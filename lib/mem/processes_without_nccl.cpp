#include <dsl/mem/processes.hpp>

#include "mem/text.hpp"

namespace dsl::detail {

std::unique_ptr<gpu_group> join_gpus(process_group&, device own) {
  raise<device_error>("processes with " + std::string(own.name()) +
                      " need NCCL, and dsl was built without it: build dsl where CMake finds "
                      "nccl.h and libnccl, 2.28 or newer "
                      "(-DNCCL_ROOT=...), with CUDA; or set DSL_DEVICE=host");
}

}  // namespace dsl::detail
