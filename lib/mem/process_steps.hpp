// File operations that several processes perform together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <dsl/mem/device.hpp>

namespace dsl::detail {

class process_group;

/// Steps that all processes of a mesh take together, one after another. If one process fails, all
/// of them throw in the same call of `all` or `first`: the others throw a file_error that names the
/// process.
class process_steps {
 public:
  /// The processes of a mesh; this process alone for any other device.
  explicit process_steps(device where);

  bool is_first() const;
  /// Each process runs `call`.
  void all(const std::function<void()>& call) const;
  /// The first process runs `call`.
  void first(const std::function<void()>& call) const;
  /// Returns the first process's text in all processes.
  std::string from_first_process(const std::string& text) const;

  bool operator==(const process_steps&) const = default;

 private:
  std::vector<std::string> gather(const std::string& text) const;

  process_group* group_ = nullptr;
};

}  // namespace dsl::detail
