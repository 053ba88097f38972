#include "exec/statement/statement.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "exec/plan/layout.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/copy.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

void prepared::assign() { assign_all(this, 1, {}); }

void assign_pass(const program_code& code, const operand* operands, const launch& fixed) {
  prepared(code, operands, fixed).assign();
}

void prepared::redirect_outputs(std::uint32_t outputs, std::vector<late_copy>& copies,
                                bool imagined) {
  for (int i = 0; i < code_->outputs(); ++i) {
    if ((outputs >> i & 1) == 0) continue;
    operand& o = operands_[static_cast<std::size_t>(code_->inputs + i)];
    copies.push_back(redirect(o, imagined));
  }
  lay_out();
}

bool prepared::reads_memory_of(const operand& target) const {
  return std::any_of(operands_.begin(), operands_.begin() + code_->inputs,
                     [&](const operand& o) { return share_memory(o.memory, target.memory); });
}

std::vector<late_copy> prepared::redirect_targets(prepared* passes, int count, bool imagined) {
  std::vector<late_copy> copies;
  for (prepared* p = passes; p != passes + count; ++p) {
    const int inputs = p->code_->inputs, outputs = p->code_->outputs();
    const bool overlaps_itself = overlaps(p->operands_.data(), inputs, outputs, p->space_);
    std::uint32_t aside = 0;
    for (int i = 0; i < outputs; ++i) {
      const operand& target = p->operands_[static_cast<std::size_t>(inputs + i)];
      const bool read_later = target.source == nullptr &&
                              std::any_of(p + 1, passes + count, [&](const prepared& later) {
                                return later.reads_memory_of(target);
                              });
      if (read_later || (overlaps_itself && is_written_by_elements(target))) aside |= 1u << i;
    }
    if (aside != 0) p->redirect_outputs(aside, copies, imagined);
  }
  return copies;
}

void prepared::assign_all(prepared* passes, int count, const std::vector<late_copy>& later) {
  note_run(passes, count, later);
  const std::vector<late_copy> copies = redirect_targets(passes, count, false);
  // For each pass, the chain that begins with it. All plans are made before anything is queued,
  // because planning may throw.
  std::vector<std::optional<row_chain>> chains(static_cast<std::size_t>(count));
  for (int i = 0; i < count && count > 1; ++i) {
    std::optional<row_chain>& chain = chains[static_cast<std::size_t>(i)];
    chain = row_chain::of(passes + i, count - i, later);
    if (!chain) (void)passes[i].plan();
    else i += chain->count() - 1;
  }
  for (int i = 0; i < count; ++i) {
    const std::optional<row_chain>& chain = chains[static_cast<std::size_t>(i)];
    if (chain) chain->run();
    else passes[i].run();
    if (chain) i += chain->count() - 1;
  }
  for (const late_copy& copy : later) copy_elements(copy.from, copy.to);
  for (const late_copy& copy : copies) copy_elements(copy.from, copy.to);
}

void statement::add(const program_code& code, const operand* operands, const launch& fixed) {
  passes_.emplace_back(code, operands, fixed);
}

void statement::copy(const operand& from, const operand& to) { copies_.push_back({from, to}); }

void statement::assign() {
  prepared::assign_all(passes_.data(), static_cast<int>(passes_.size()), copies_);
}

}  // namespace dsl::detail
