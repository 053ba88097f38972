#include "exec/statement/statement.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "exec/plan/layout.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/copy.hpp"
#include "exec/run/work.hpp"
#include "exec/statement/again.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

/// A single pass that needs no copies.
class pass_again final : public ready_statement {
 public:
  pass_again(const program_code& code, const operand* operands, const launch& fixed)
      : pass_(code, operands, fixed) {}
  bound_pass& pass() { return pass_; }
  const work& only() const override { return pass_; }
  void replace(const changed_scalar* changed, int count) override { pass_.replace(changed, count); }

 private:
  bound_pass pass_;
};

}  // namespace

void bound_pass::assign() { assign_all(this, 1, {}); }

void assign_pass(const program_code& code, const operand* operands, const launch& fixed) {
  const statement_key key{nullptr,     &code,          operands, operands + code.inputs,
                          code.inputs, code.outputs(), nullptr,  0,
                          fixed};
  const lately_run::found before = lately_run::find(key);
  if (before.ready != nullptr) return queue(before.ready->only());
  if (!before.is_wanted) return bound_pass(code, operands, fixed).assign();
  const auto made = std::make_shared<pass_again>(code, operands, fixed);
  std::vector<late_copy> copies = bound_pass::redirect_targets(&made->pass(), 1, false);
  const work* const only = &made->pass();
  queue_all(&only, 1, copies);
  lately_run::keep(key, copies.empty() ? made : nullptr);
}

void bound_pass::redirect_outputs(std::uint32_t outputs, std::vector<late_copy>& copies,
                                  bool imagined) {
  for (int i = 0; i < code_->outputs(); ++i) {
    if ((outputs >> i & 1) == 0) continue;
    operand& o = operands_[static_cast<std::size_t>(code_->inputs + i)];
    copies.push_back(redirect(o, imagined));
  }
  lay_out();
}

bool bound_pass::may_read(const operand& target) const {
  return std::any_of(operands_.begin(), operands_.begin() + code_->inputs,
                     [&](const operand& o) { return may_share_elements(o, target); });
}

std::vector<late_copy> bound_pass::redirect_targets(bound_pass* passes, int count, bool imagined) {
  std::vector<late_copy> copies;
  for (bound_pass* p = passes; p != passes + count; ++p) {
    const int inputs = p->code_->inputs, outputs = p->code_->outputs();
    const bool overlaps_itself = overlaps(p->operands_.data(), inputs, outputs, p->space_);
    std::uint32_t aside = 0;
    for (int i = 0; i < outputs; ++i) {
      const operand& target = p->operands_[static_cast<std::size_t>(inputs + i)];
      const bool read_later = target.source == nullptr &&
                              std::any_of(p + 1, passes + count, [&](const bound_pass& later) {
                                return later.may_read(target);
                              });
      if (read_later || (overlaps_itself && is_written_by_elements(target))) aside |= 1u << i;
    }
    if (aside != 0) p->redirect_outputs(aside, copies, imagined);
  }
  return copies;
}

prepared_statement::prepared_statement(bound_pass* passes, int count,
                                       const std::vector<late_copy>& later)
    : copies_(bound_pass::redirect_targets(passes, count, false)) {
  copies_.insert(copies_.begin(), later.begin(), later.end());
  for (int i = 0; i < count; ++i) {
    std::optional<row_chain> chain;
    if (count > 1) chain = row_chain::of(passes + i, count - i, later);
    if (chain) {
      chains_.push_back(std::make_unique<row_chain>(std::move(*chain)));
      all_.push_back(chains_.back().get());
      i += chains_.back()->count() - 1;
    } else {
      all_.push_back(passes + i);
    }
  }
}
void prepared_statement::queue() const { queue_all(all_.data(), all_.size(), copies_); }

void bound_pass::assign_all(bound_pass* passes, int count, const std::vector<late_copy>& later) {
  note_run(passes, count, later);
  prepared_statement(passes, count, later).queue();
}

void statement::add(const program_code& code, const operand* operands, const launch& fixed) {
  passes_.emplace_back(code, operands, fixed);
}

void statement::copy(const operand& from, const operand& to) { copies_.push_back({from, to}); }

prepared_statement statement::prepare() {
  return {passes_.data(), static_cast<int>(passes_.size()), copies_};
}
void statement::assign() {
  bound_pass::assign_all(passes_.data(), static_cast<int>(passes_.size()), copies_);
}

}  // namespace dsl::detail
