// The back ends of the library, in the order of `backend`. No other place lists them all.
// DSL_WITH_CUDA and DSL_WITH_OPENCL say which of them this build has.
#include "host/back_end.hpp"
#include "mem/absent_back_end.hpp"
#include "sim/back_end.hpp"
#if DSL_WITH_CUDA
#include "cuda/back_end.hpp"
#endif
#if DSL_WITH_OPENCL
#include "opencl/back_end.hpp"
#endif

namespace dsl::detail {

#if !DSL_WITH_CUDA
static constinit absent_back_end gpus({"cuda", true, true}, backend::cuda,
                                      "this build of dsl has no CUDA back end");
#endif
#if !DSL_WITH_OPENCL
static constinit absent_back_end opencl_devices({"opencl", true, true}, backend::opencl,
                                                "this build of dsl has no OpenCL back end");
#endif

constinit std::atomic<back_end*> back_end::table[max_kinds] = {&gpus, &host, &simulator,
                                                               &opencl_devices};

}  // namespace dsl::detail
