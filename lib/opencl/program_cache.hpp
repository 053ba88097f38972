// Built programs in files, so that a program is built once for a device and driver.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsl::detail::opencl {

/// A program's binary from an earlier call of `store_program`, of any process, with the same
/// identity: everything that the binary depends on. None if there is no such file, or if it is
/// damaged.
std::optional<std::string> find_program(std::string_view identity);

/// Stores a binary in the folder DSL_CACHE_DIR, else dsl in XDG_CACHE_HOME, else ~/.cache/dsl.
/// Processes may store the same program at once: a file appears when it is complete. Does nothing
/// if the folder cannot be written to.
void store_program(std::string_view identity, std::string_view binary) noexcept;

}  // namespace dsl::detail::opencl
