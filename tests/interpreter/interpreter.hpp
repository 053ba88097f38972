// Runs programs that are data: a node after another, each by the code that the back ends run for
// it, compiled once.
#pragma once

#include <dsl/ir/program.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace interpreter {

/// Which code runs: an element at a time, as in the simulator and on a GPU, or the host's loop for
/// an instruction set.
enum class form { scalar, sse2, avx2, avx512 };
constexpr const char* name(form f) {
  return f == form::scalar ? "scalar"
         : f == form::sse2 ? "sse2"
         : f == form::avx2 ? "avx2"
                           : "avx512";
}
/// Those that this machine can run.
const std::vector<form>& forms();

struct node_code;

/// A program, ready to run. Operands as the language has them: arrays and scalars in device memory
/// by their elements (load, load_scalar), C++ scalars by their values (value), which are float for
/// the 16-bit dtypes.
class executable {
 public:
  /// Throws std::runtime_error where an operation has no code.
  explicit executable(const dsl::detail::program_view& p);
  ~executable();
  executable(executable&&) noexcept;

  /// operands[k] is where operand k's elements are, or its single one; outputs[i] is where those of
  /// output i go, as they are in memory.
  void run(form how, int count, const void* const* operands, void* const* outputs) const;

 private:
  struct step;
  struct column;
  void run_block(form how, int first, int count, const void* const* operands,
                 void* const* outputs) const;

  std::vector<step> steps_;
  std::vector<column> outputs_;
  std::size_t columns_ = 0;
};

}  // namespace interpreter
