// Interprets programs, node by node, with the code that the back ends run for each operation, which
// is compiled once.
#pragma once

#include <dsl/ir/program.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace interpreter {

/// The code to run: one element at a time, as in the simulator and on a GPU, or the host's loop for
/// an instruction set.
enum class form { scalar, sse2, avx2, avx512 };
constexpr const char* name(form f) {
  return f == form::scalar ? "scalar"
         : f == form::sse2 ? "sse2"
         : f == form::avx2 ? "avx2"
                           : "avx512";
}
/// The forms that this machine can run.
const std::vector<form>& forms();

struct node_code;

/// A program, ready to run. Operands are as in the language: arrays and scalars in device memory by
/// their elements (load, load_scalar), C++ scalars by their values (value), which are float for the
/// 16-bit dtypes.
class executable {
 public:
  /// Throws std::runtime_error if an operation has no code.
  explicit executable(const dsl::detail::program_view& p);
  ~executable();
  executable(executable&&) noexcept;

  /// operands[k]: operand k's elements, or its single one. outputs[i]: memory for output i's
  /// elements. Both in their dtypes' memory format.
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
