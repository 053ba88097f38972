// Describes what will run, as text and as a graph.
#pragma once

#include <dsl/exec/plan/plan.hpp>

namespace dsl {

namespace detail {
struct explained_statement;
class explained_runs;
}  // namespace detail

/// Describes what a statement would do; returned by `explain`.
class explanation {
 public:
  explanation() = default;
  explicit explanation(const detail::explained_statement& of);
  /// The explanations of all statements, one after another.
  explicit explanation(const detail::explained_runs& all);
  /// One line, about what is no formula.
  static explanation of_line(const dsl::text& line);

  /// The formula; for each kernel its program, operands, path, launch and cost, why it is one of
  /// several, and the predicted time.
  dsl::text text() const { return text_; }
  /// The same program as a Graphviz graph: `dot -Tsvg`.
  dsl::text dot() const { return dot_; }
  /// The predicted time in seconds of one of many consecutive calls; for a loop, of one step. NaN
  /// without a prediction: in the simulator, and if functors are called.
  double seconds() const { return seconds_; }

  /// Adds the explanation of a statement that runs afterwards.
  void append(const explanation& next);
  /// Adds a line: the operations of a derivative, for each element, and those of the formula that
  /// it is of.
  void compare_operations(int derivative, int formula);

 private:
  dsl::text text_{""}, dot_{""};
  double seconds_ = __builtin_nan("");
};

template <detail::character_stream Stream>
Stream& operator<<(Stream& stream, const explanation& e) {
  stream << e.text().c_str();
  return stream;
}

namespace detail {

class bound_pass;
class loop;
struct by_key_code;
struct by_key_request;
struct scan_code;
struct scan_request;

explanation explain_pass(const bound_pass& pass);
/// Explains a call with `steps` steps; 0: a single step.
explanation explain_loop(const loop& of, std::int64_t steps = 0);
explanation explain_scan(const scan_code& code, const operand* operands,
                         const scan_request& request);
explanation explain_by_key(const by_key_code& code, const operand* operands,
                           const by_key_request& request);

/// Also explains every call that the calling thread runs during this object's lifetime, in order.
class explained_runs {
 public:
  explained_runs();
  ~explained_runs();
  explained_runs(const explained_runs&) = delete;
  int count() const;
  const explanation& operator[](int call) const;

 private:
  friend struct run_notes;
  struct list;
  list* list_;
  explained_runs* outer_;
};

}  // namespace detail
}  // namespace dsl
