// Processes that run the same program as one device.
#pragma once

#include <memory>

#include <dsl/mem/processes.hpp>

namespace dsl::detail {

/// What a process brings by default, of so many on its machine before it: the current device; where
/// that is the first GPU, the one with this number.
device own_device(int number_on_machine);

/// The device that the processes of a group are together, each with a device of its own, which must
/// be of one kind: the host, the simulator or a GPU. Called by all of them. Throws device_error.
device mesh_of_processes(std::unique_ptr<process_group> joined, device own);

}  // namespace dsl::detail
