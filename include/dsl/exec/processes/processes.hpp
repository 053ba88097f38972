// Processes that run the same program as one device.
#pragma once

#include <memory>

#include <dsl/mem/processes.hpp>

namespace dsl::detail {

/// Default device of a process, given the number of the group's processes before it on its machine:
/// the current device; if that is the first GPU, the GPU with this number.
device own_device(int number_on_machine);

/// The mesh device of a group of processes. Each has a device of its own, all of one kind: the
/// host, the simulator or a GPU. Called by all of them. Throws device_error.
device mesh_of_processes(std::unique_ptr<process_group> joined, device own);

}  // namespace dsl::detail
