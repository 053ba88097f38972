// A statement taken apart for its explanation.
#pragma once

#include <string>
#include <vector>

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/exec/run/run.hpp>

#include "exec/explain/predict.hpp"
#include "exec/plan/text.hpp"

namespace dsl::detail {

struct scan_space;

/// An operation of a program; operations are numbered from 0 on.
struct listed_operation {
  std::string text, type;          // "%1 + 2 * b", "float32"
  std::vector<int> from;           // operations
  std::vector<std::string> reads;  // operands
  std::vector<std::string> gives;  // targets and values of later kernels
  int uses = 0;
};

/// An array or a scalar in device memory.
struct listed_operand {
  std::string name, type, how;
  bool is_written;
};

struct explained_kernel {
  std::string formula;           // "out = exp(a) + 2 * b"
  std::vector<std::string> why;  // of several kernels
  std::vector<listed_operation> operations;
  std::vector<listed_operand> operands;
  std::string path, launch;
  kernel_demand demand;
  prediction predicted;
};

struct explained_statement {
  std::string formula;
  device where{backend::host};
  std::vector<explained_kernel> kernels;
  bool is_loop = false;
  std::int64_t steps = 1;
  double beside_steps = 0;  // seconds
  std::string note;         // how a loop runs
  double seconds() const;
};

/// How a statement's targets are called: out, out1, out2, or as the operand that a target is as
/// well.
class target_names {
 public:
  target_names(const operand_names& operands, int count) : operands_(&operands), count_(count) {}
  std::string of(const operand& target, int number) const;

 private:
  const operand_names* operands_;
  int count_;
};

/// The operations and operands of a pass, without a plan. `before`: operations of the same kernel
/// that are listed already.
explained_kernel list_pass(const pass_view& pass, const operand* operands, int inputs, int outputs,
                           const geometry& g, int lanes, const operand_names& names,
                           const target_names& targets, int before = 0);
std::vector<listed_operand> list_operands(const operand* operands, int inputs, int outputs,
                                          const geometry& g, int lanes, const operand_names& names,
                                          const target_names& targets,
                                          const program_view& reads = {});

/// "linear: ...", "strided: b is broadcast".
std::string spell_path(const char* path, const pass_view& pass, const geometry& g,
                       const operand* operands, int inputs, int count, const operand_names& names);
/// "grid 12 x block 256, 4 lanes a thread, 32 registers, 8 blocks an SM: 100 % of its threads".
std::string spell_plan(const plan& p);
/// Which device, as a heading has it: "cuda:0 (NVIDIA H200)".
std::string spell_device(device where);

std::string as_text(const explained_statement& s);
std::string as_dot(const explained_statement& s);

/// What DSL_EXPLAIN=1 prints, and what `explained_runs` collect.
struct run_notes {
  /// Whether the calling thread's work is to be noted now.
  static bool wanted();
  /// `identity` is what makes an expression another one: what it was compiled to, and how it is
  /// laid out.
  template <class Explain>
  static void note(const std::vector<const void*>& identity, const Explain& explain) {
    if (!begin(identity)) return;
    try {
      end(explain());
    } catch (...) {
      end({});
      throw;
    }
  }

 private:
  static bool begin(const std::vector<const void*>& identity);
  static void end(const explanation& made);
};

}  // namespace dsl::detail
