// Chains of passes over rows. A work-group takes some rows through all phases, so that what a phase
// reads again is in registers or in a cache; `parts` work-items share a row. Values that a phase
// reduces are known to all of them, and go to memory only if they are stored. A work-item has the
// same elements in each phase, so that phases need no barriers for elements.
#include "opencl/print/chain_text.hpp"

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/phase_text.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

// The operand that is a phase's first target.
int first_target(const row_chain& rows, int phase) {
  int k = rows.leaves();
  for (int p = 0; p < phase; ++p) k += rows.phases()[p].code().outputs();
  return k;
}

input_places places_of_phase(const row_chain& rows, int number) {
  return [&rows, number](int input) -> input_place {
    const phase_input from = rows.code().inputs[number][input];
    if (from.is_leaf()) return {from.number(), {}};
    return {-1, numbered("value", first_target(rows, from.phase()) + from.number())};
  };
}

std::uint64_t leaves_read(const row_chain& rows) {
  std::uint64_t all = 0;
  for (int p = 0; p < rows.count(); ++p) {
    const std::uint64_t read = inputs_read(rows.phases()[p].code().pass.view);
    for (int i = 0; i < rows.phases()[p].code().inputs; ++i)
      if (const phase_input from = rows.code().inputs[p][i]; from.is_leaf() && (read >> i & 1) != 0)
        all |= std::uint64_t{1} << from.number();
  }
  return all;
}

std::vector<accumulated> accumulators_of(const row_chain& rows) {
  std::vector<accumulated> all;
  for (int p = 0; p < rows.count(); ++p)
    for (const accumulated& a : opencl::accumulators_of(rows.phases()[p].code().pass.view))
      all.push_back(a);
  return all;
}

class row_printer {
 public:
  row_printer(const row_chain& rows, const abilities& can)
      : rows_(rows), can_(can), operands_(rows.record(), leaves_read(rows)) {
    int reductions = 0;
    for (int p = 0; p < rows.count(); ++p) {
      const pass_view& pass = code(p).pass.view;
      phases_.emplace_back(
          operands_, can, phase{pass, places_of_phase(rows, p), first_target(rows, p), reductions});
      reductions += pass.reductions;
    }
    groups_ = usual_groups();
    if (can.takes_lanes && keeps_rows()) keep_rows();
  }

  const row_groups& groups() const { return groups_; }

  kernel_text print() const {
    kernel_text made;
    made.name = name();
    std::string comment;
    for (int p = 0; p < rows_.count(); ++p) comment += formulas(code(p));
    complete(made, comment, kernel(), can_,
             [&] { return spell_kernel(last().name) + " needs: " + spell_pass(last().pass.view); });
    return made;
  }

  kernel_launches launches() const {
    kernel_launches made;
    made.launches.push_back({"first", {}, groups_.count * groups_.group, groups_.group});
    for (const parameter& p : parameters()) made.launches[0].arguments.push_back(p.argument);
    return made;
  }

  std::uint64_t key() const {
    word_key key{0x4095};
    for (int p = 0; p < rows_.count(); ++p) {
      add_pass(key, code(p).pass.view);
      key.add(rows_.code().of_rows[p] ? 1 : 0);
      for (int i = 0; i < code(p).inputs; ++i)
        key.add(static_cast<std::uint64_t>(rows_.code().inputs[p][i].word));
    }
    add_text(key, operands_.pattern());
    add_text(key, name());
    key.add(static_cast<std::uint64_t>(groups_.group));
    key.add(static_cast<std::uint64_t>(groups_.vectors));
    add_abilities(key, can_);
    return key.value;
  }

 private:
  const program_code& code(int phase) const { return rows_.phases()[phase].code(); }
  const program_code& last() const { return code(rows_.count() - 1); }
  std::string name() const { return kernel_name(last()) + "_rows"; }

  row_groups usual_groups() const {
    constexpr std::int64_t elements = 4;  // Of a work-item, where rows are short.
    const geometry& g = rows_.space();
    row_groups made{group_size(accumulators_of(rows_), can_), 1, 1, 0};
    while (made.parts < made.group && made.parts * elements < g.count) made.parts *= 2;
    made.across = made.group / made.parts;
    made.count = pieces(g.results, made.across);
    return made;
  }

  // Whether vectors that a phase has read are what later phases read.
  bool keeps_rows() const {
    if (rows_.code().lanes == 1) return false;
    for (int p = 0; p < rows_.count(); ++p) {
      if (rows_.code().of_rows[p]) continue;
      const adjacent_text all = adjacent(p);
      if (!all.is_possible() || (p + 1 < rows_.count() && all.stores())) return false;
    }
    return true;
  }
  adjacent_text adjacent(int phase) const {
    return phases_[static_cast<std::size_t>(phase)].adjacent(rows_.code().lanes);
  }
  // The longer rows are, the more work-items share one.
  void keep_rows() {
    constexpr std::int64_t usual_vectors = 8, most_group = 1024, most_bytes = 256,
                           most_bytes_of_group = 1 << 17;
    const std::int64_t lanes = rows_.code().lanes, length = rows_.space().count;
    const std::int64_t bytes = bytes_of(accumulators_of(rows_));
    row_groups made = groups_;
    const auto has_room = [&] {
      const std::int64_t larger = 2 * made.group;
      return larger <= std::min<std::int64_t>(most_group, can_.largest_work_group) &&
             larger * bytes <= static_cast<std::int64_t>(can_.local_memory);
    };
    while (made.across == 1 && length > usual_vectors * made.parts * lanes && has_room())
      made.parts = made.group *= 2;
    made.lanes = static_cast<int>(lanes);
    made.vectors = power_of_two_from(pieces(length, made.parts * lanes));
    const std::uint64_t read = arrays_before(rows_.count());
    std::int64_t kept = 0;
    for (int k = 0; k < rows_.leaves(); ++k)
      if ((read >> k & 1) != 0) kept += lanes * size_of(operands_.at(k).type);
    kept *= made.vectors;
    if (kept <= most_bytes && kept * made.group <= most_bytes_of_group) groups_ = made;
  }
  // The arrays that the first phases read in vectors, a bit each.
  std::uint64_t arrays_before(int phase) const {
    std::uint64_t all = 0;
    for (int p = 0; p < phase; ++p)
      if (!rows_.code().of_rows[p]) all |= adjacent(p).arrays();
    return all;
  }

  std::vector<parameter> parameters() const {
    std::vector<parameter> all = operands_.parameters();
    all.push_back(operands_.by_position("results", rows_.space().results));
    all.push_back(operands_.by_position("count", rows_.space().count));
    all.push_back(operands_.by_position("work_items", groups_.parts));
    return all;
  }

  std::string kernel() const {
    const std::string group = std::to_string(groups_.group);
    std::string text, local, body;
    for (int p = 0; p < rows_.count(); ++p) {
      const phase_text& each = phases_[static_cast<std::size_t>(p)];
      text += each.rules();
      local += local_text(each.sums(), groups_.group);
      body += of_phase(p, each);
    }
    text += "__attribute__((reqd_work_group_size(" + group + ", 1, 1)))\n" +
            begin_kernel(name(), parameters(), can_) + local;
    text +=
        "  const int item = get_local_id(0), apart = 1, parts = work_items, part = item & "
        "(parts - 1);\n  const " +
        position() + " result = (" + position() + ")get_group_id(0) * ((uint)" + group +
        " / (uint)parts) + (uint)item / (uint)parts;\n";
    text += operands_.positions("result", rows_.space().kept, "  ");
    return text + body + "}\n";
  }

  std::string of_phase(int number, const phase_text& each) const {
    const geometry& g = rows_.space();
    const bool of_rows = rows_.code().of_rows[number];
    const std::string indent = of_rows ? "    " : "      ";
    std::string text = identities_text(each.sums(), "  ");
    if (of_rows) {
      text += "  if (part == 0 && result < results) {\n" + each.element(indent) + "  }\n";
    } else if (groups_.vectors > 0) {
      const adjacent_text all = adjacent(number);
      text += read_arrays(number) + for_vectors() +
              each.adjacent_elements(all, "[vector]", indent) + "    }\n  }\n";
    } else {
      text += "  if (result < results) {\n    for (" + position() +
              " number = part; number < count; number += parts) {\n";
      text += operands_.positions("number", ~g.kept, indent) + each.element(indent);
      text += "    }\n  }\n";
    }
    return each.sums().empty()
               ? text
               : text + combine_group_text(each.sums(), total_for::all) + results(number, each);
  }

  // All vectors of a work-item, one after another.
  std::string for_vectors() const {
    const std::string lanes = std::to_string(groups_.lanes);
    return "#pragma unroll\n  for (int vector = 0; vector < " + std::to_string(groups_.vectors) +
           "; ++vector) {\n    const " + position() + " number = (vector * parts + part) * " +
           lanes + ";\n    if (result < results && number < count) {\n" +
           operands_.positions("number", ~rows_.space().kept, "      ");
  }
  // Declares and reads the arrays of which a phase is the first reader.
  std::string read_arrays(int phase) const {
    std::uint64_t known = arrays_before(phase);
    std::string declared, read;
    for (const adjacent_text::vectors_read& of : adjacent(phase).reads("      ")) {
      const std::uint64_t own = std::uint64_t{1} << of.operand;
      if ((known & own) != 0) continue;
      known |= own;
      for (int i = 0; i < of.all.count; ++i)
        declared += "  " + of.all.type + " " + array_vectors::name(of.name, i) + "[" +
                    std::to_string(groups_.vectors) + "];\n";
      read += adjacent_text::read(of, "", "[vector]", "      ");
    }
    return read.empty() ? "" : declared + for_vectors() + read + "    }\n  }\n";
  }
  std::string position() const { return operands_.position_type(); }

  // Every work-item of a row computes its results.
  std::string results(int number, const phase_text& each) const {
    const printed_program made = each.results("  ");
    const auto spell = [&](int target) {
      return numbered("value", first_target(rows_, number) + target);
    };
    const std::string stored = each.store(made, "    ");
    return made.text + each.declare(made, true, spell, "  ") +
           (stored.empty() ? "" : "  if (part == 0 && result < results) {\n" + stored + "  }\n");
  }

  const row_chain& rows_;
  const abilities& can_;
  operand_texts operands_;
  row_groups groups_{};
  std::vector<phase_text> phases_;
};

}  // namespace

row_groups groups_of(const row_chain& rows, const abilities& can) {
  return row_printer(rows, can).groups();
}

kernel_text print(const row_chain& rows, const abilities& can) {
  return row_printer(rows, can).print();
}
kernel_launches launches_of(const row_chain& rows, const abilities& can) {
  return row_printer(rows, can).launches();
}
std::uint64_t text_key(const row_chain& rows, const abilities& can) {
  return row_printer(rows, can).key();
}

}  // namespace dsl::detail::opencl
