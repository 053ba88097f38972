#include <dsl/exec/statement/evaluation.hpp>

#include <algorithm>
#include <optional>
#include <vector>

#include "exec/rows/rows.hpp"
#include "exec/run/executor.hpp"
#include "exec/run/work.hpp"
#include "exec/statement/again.hpp"
#include "exec/statement/passes.hpp"
#include "exec/statement/prepared.hpp"

namespace dsl::detail {

namespace {

template <class T>
std::vector<T> copied(const T* from, int count) {
  return {from, from + count};
}

}  // namespace

/// A statement with copies of what its passes are made of. If its passes are one chain whose rows
/// stay on chip, it can be queued again.
class evaluation::chain_again final : public ready_statement {
 public:
  chain_again(const parts& of, const operand* targets, const launch& fixed)
      : codes_(copied(of.codes, of.plan.passes)),
        leaves_(copied(of.leaves, of.plan.leaves)),
        spaces_(copied(of.spaces, of.space_count)),
        expressions_(copied(of.expressions, of.expression_count)),
        passes_({of.plan, codes_.data(), leaves_.data(), spaces_.data(), of.space_count,
                 expressions_.data(), of.expression_count, of.targets}) {
    for (int t = 0; t < of.targets; ++t) passes_.bind(t, targets[t]);
    statement_ = passes_.first(passes_.size(), fixed);
    prepared_.emplace(statement_.prepare());
  }
  void queue() const { prepared_->queue(); }
  const work& only() const override { return prepared_->only(); }
  void replace(const changed_scalar* changed, int count) override {
    prepared_->chain().replace(changed, count);
    statement_.replace(changed, count);  // For messages.
  }
  /// After `queue`. Gives up the memory of the values, which the chain does not store.
  bool may_run_again() {
    if (!prepared_->is_one_chain()) return false;
    row_chain& chain = prepared_->chain();
    if (!executor::of(chain.where()).keeps_values_on_chip()) return false;
    chain.forget_discarded();
    return passes_.release_unused(chain.operands(), chain.operand_count());
  }

 private:
  std::vector<const program_code*> codes_;
  std::vector<operand> leaves_;
  std::vector<reduced_space> spaces_;
  std::vector<operand_range> expressions_;
  passes passes_;
  statement statement_;
  std::optional<prepared_statement> prepared_;
};

evaluation::evaluation(const parts& of)
    : parts_(of), targets_(static_cast<std::size_t>(of.targets)) {}
evaluation::~evaluation() { delete passes_; }

evaluation::passes& evaluation::all() {
  if (passes_ == nullptr) passes_ = new passes(parts_);
  return *passes_;
}
evaluation::passes& evaluation::all_bound() {
  passes& made = all();
  for (int t = 0; t < parts_.targets; ++t) made.bind(t, targets_[static_cast<std::size_t>(t)]);
  return made;
}
evaluation::source evaluation::source_of(int target) { return all().source_of(target); }
void evaluation::bind(int target, const operand& elements) {
  targets_[static_cast<std::size_t>(target)] = elements;
}
void evaluation::assign(const launch& fixed) {
  const statement_key key{&parts_.plan,    parts_.codes[0],    parts_.leaves,
                          targets_.data(), parts_.plan.leaves, parts_.targets,
                          parts_.spaces,   parts_.space_count, fixed};
  const lately_run::found before = lately_run::find(key);
  if (before.ready != nullptr) return queue(before.ready->only());
  if (!before.is_wanted) {
    passes& of = all_bound();
    return of.first(of.size(), fixed).assign();
  }
  const auto made = std::make_shared<chain_again>(parts_, targets_.data(), fixed);
  made->queue();
  lately_run::keep(key, made->may_run_again() ? made : nullptr);
}
explanation evaluation::explain(const launch& fixed) {
  passes& of = all_bound();
  return of.first(of.size(), fixed).explain();
}
void evaluation::assign_all_but_last() {
  passes& of = all_bound();
  of.first(of.size() - 1, {}).assign();
}
const operand* evaluation::last_inputs() { return all().last_inputs(); }

}  // namespace dsl::detail
