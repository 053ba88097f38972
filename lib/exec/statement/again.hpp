// Statements that are run again on the same operands.
#pragma once

#include <cstdint>
#include <memory>

#include <dsl/exec/statement/evaluation.hpp>

namespace dsl::detail {

/// All that a statement's checks and its plan depend on.
struct statement_key {
  const schedule_view* plan;  // Null: a single pass.
  const program_code* code;   // Of its first pass.
  const operand *inputs, *targets;
  int input_count, target_count;
  const reduced_space* spaces;
  int space_count;
  launch fixed;
};

/// A statement that one launch does, checked and planned. It owns no memory of operands.
class ready_statement {
 public:
  virtual ~ready_statement() = default;
  virtual const work& only() const = 0;
  virtual void replace(const changed_scalar* changed, int count) = 0;
};

/// The statements that the calling thread has run lately. A program that runs the same statement
/// on the same arrays in a loop has them checked, laid out and planned once: for a statement of two
/// phases this takes the host twice as long as a launch does. C++ scalars may change, but equal
/// ones must stay equal and different ones different, since equal operands may share a place.
class lately_run {
 public:
  struct found {
    std::shared_ptr<ready_statement> ready;  // Or null.
    bool is_wanted;  // There is none, but the statement has been run before, so keep it.
  };
  static found find(const statement_key& of);
  /// After `find` has said that it is wanted. Null: this statement cannot be kept.
  static void keep(const statement_key& of, std::shared_ptr<ready_statement> ready);
  /// For tests that change a simulated device.
  static void forget();
};

}  // namespace dsl::detail
