// Processes that run the same program as one device.
#pragma once

#include <memory>

#include <dsl/mem/processes.hpp>

namespace dsl::detail {

/// The device that the processes of a group are together, each with a device of its own, which must be of one kind, the host or
/// the simulator. Called by all of them. Throws device_error.
device mesh_of_processes(std::unique_ptr<process_group> joined, device own);

}  // namespace dsl::detail
