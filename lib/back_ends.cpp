// The back ends of the library, in the order of `backend`. No other place lists them all.
#include "cuda/back_end.hpp"
#include "host/back_end.hpp"
#include "sim/back_end.hpp"

namespace dsl::detail {

constinit std::atomic<back_end*> back_end::table[max_kinds] = {&gpus, &host, &simulator};

}  // namespace dsl::detail
