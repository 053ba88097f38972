// What processes do together with files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <dsl/mem/device.hpp>

namespace dsl::detail {

class process_group;

/// Steps that all processes of a mesh take one after another. What fails in one fails in all of
/// them: in each `all` and `first` throw, and what another process has thrown is a file_error that
/// names it.
class process_steps {
 public:
  /// The processes of a mesh; on another device there is this one alone.
  explicit process_steps(device where);

  bool is_first() const;
  /// Each process calls it.
  void all(const std::function<void()>& call) const;
  /// The first process calls it.
  void first(const std::function<void()>& call) const;
  /// What the first process gives.
  std::string told_by_first(const std::string& text) const;

  bool operator==(const process_steps&) const = default;

 private:
  std::vector<std::string> gather(const std::string& text) const;

  process_group* group_ = nullptr;
};

}  // namespace dsl::detail
