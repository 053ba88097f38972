// Ranges in profilers, in NVTX's domain "dsl": launches and copies.
#pragma once

#include <cstdint>
#include <string>

namespace dsl::detail {

/// The work of a range. Bytes and floating point operations are those of the formula, for all
/// elements and steps, whatever stays on the chip.
struct profiled_work {
  std::string name, formula;  // the formula, if the name does not say it
  std::int64_t elements, steps, bytes, flops;
};

/// Whether a tool listens to NVTX. Tools attach before the first call or not at all.
bool is_profiled() noexcept;

/// A range of the calling thread, from construction to destruction. The description is computed
/// only if a tool listens.
class profiled_range {
 public:
  template <class Describe>
  explicit profiled_range(const Describe& describe) : is_open_(is_profiled()) {
    if (is_open_) begin(describe());
  }
  profiled_range(const profiled_range&) = delete;
  ~profiled_range() {
    if (is_open_) end();
  }

 private:
  static void begin(const profiled_work& work);
  static void end() noexcept;

  bool is_open_;
};

}  // namespace dsl::detail
