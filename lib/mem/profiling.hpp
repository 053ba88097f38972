// Ranges in profilers: what is launched or copied, in NVTX's domain "dsl".
#pragma once

#include <cstdint>
#include <string>

namespace dsl::detail {

/// What a range is of. Bytes and floating point operations are the formula's, of all elements and
/// steps, whatever stays on chip.
struct profiled_work {
  std::string name, formula;  // the formula where the name does not say it
  std::int64_t elements, steps, bytes, flops;
};

/// Whether a tool listens to NVTX. None can begin to after the first call.
bool is_profiled() noexcept;

/// A range of the calling thread, from its construction to its end. What it is of is only asked for
/// where a tool listens.
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
