// The data of an explanation: a statement, its kernels, their operations and operands.
#pragma once

#include <string>
#include <vector>

#include <dsl/exec/explain/explanation.hpp>
#include <dsl/exec/run/run.hpp>

#include "exec/explain/predict.hpp"
#include "exec/plan/text.hpp"

namespace dsl::detail {

struct scan_space;

/// An operation of a program. Operations are numbered from 0.
struct listed_operation {
  std::string text, type;          // Such as "%1 + 2 * b" and "float32".
  std::vector<int> from;           // Numbers of the operations it reads.
  std::vector<std::string> reads;  // Names of the operands it reads.
  std::vector<std::string> gives;  // Targets, and values that later kernels read.
  int uses = 0;
};

/// An array or a scalar in device memory.
struct listed_operand {
  std::string name, type, how;
  bool is_written;
};

struct explained_kernel {
  std::string formula;           // Such as "out = exp(a) + 2 * b".
  std::vector<std::string> why;  // Why the statement needs several kernels.
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
  // Seconds of a loop's call that no step takes.
  double overhead_seconds = 0;
  std::string note;  // How a loop runs.
  double seconds() const;
};

/// Names a statement's targets: out, or out1, out2, ... A target that is also an input has the
/// input's name.
class target_names {
 public:
  target_names(const operand_names& operands, int count) : operands_(&operands), count_(count) {}
  std::string of(const operand& target, int number) const;

 private:
  const operand_names* operands_;
  int count_;
};

/// Lists the operations and operands of a pass, without a plan. `before` is the number of
/// operations of the same kernel that are already listed.
explained_kernel list_pass(const pass_view& pass, const operand* operands, int inputs, int outputs,
                           const geometry& g, int lanes, const operand_names& names,
                           const target_names& targets, int before = 0);
std::vector<listed_operand> list_operands(const operand* operands, int inputs, int outputs,
                                          const geometry& g, int lanes, const operand_names& names,
                                          const target_names& targets,
                                          const program_view& reads = {});

/// The path and its reason: "linear: ...", "strided: b is broadcast".
std::string spell_path(const char* path, const pass_view& pass, const geometry& g,
                       const operand* operands, int inputs, int count, const operand_names& names);
/// The launch: "grid 12 x block 256, 4 lanes a thread, 32 registers, 8 blocks an SM: 100 % of its
/// threads".
std::string spell_plan(const plan& p);
/// The device as in a heading: "cuda:0 (NVIDIA H200)".
std::string spell_device(device where);

std::string as_text(const explained_statement& s);
std::string as_dot(const explained_statement& s);

/// The explanations that DSL_EXPLAIN=1 prints and `explained_runs` collects.
struct run_notes {
  /// Whether the calling thread's work is to be explained now.
  static bool wanted();
  /// Explains an expression once. `identity` distinguishes expressions: by their compiled code and
  /// their layout.
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
