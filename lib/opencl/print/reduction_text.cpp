// Kernels that reduce. A work-group has `across` results side by side, and W / across work-items
// for each of them; the elements of a result are divided among `splits` work-groups. Each work-item
// accumulates its elements in order, the work-group combines its accumulators in local memory in a
// fixed order, and a second kernel combines the work-groups' in the same way. So a device gives the
// same bits in each run. On a GPU a work-item reads vectors of adjacent elements where these are
// reduced to one result, and several at once.
#include <algorithm>

#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/phase_text.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

// Values of a program that stand in a loop several times.
constexpr int most_unrolled = 512;

// How the elements are divided. `turns`: of a loop, which all work-items take.
struct division { std::int64_t across, blocks, splits, turns; };
division division_of(const geometry& g, std::int64_t group, int lanes) {
  constexpr std::int64_t most_groups = 1024;
  const std::int64_t least_elements = lanes > 1 ? 4 * lanes : 8;
  const bool by_columns = g.kept != 0 && (g.kept >> (g.rank - 1) & 1) != 0;
  const std::int64_t results = std::max<std::int64_t>(g.results, 1);
  division d{1, 1, 1, 0};
  // Results side by side: as many as are adjacent, or as leave no work-item without elements.
  const std::int64_t enough = by_columns ? std::min(results, g.extents[g.rank - 1])
                                         : group / std::max<std::int64_t>(g.count / lanes, 1);
  while (d.across < group && d.across < enough && d.across < results) d.across *= 2;
  d.blocks = (results + d.across - 1) / d.across;
  const std::int64_t rows = group / d.across;
  d.splits = std::clamp<std::int64_t>(
      std::min(g.count / (rows * least_elements), most_groups / d.blocks), 1, most_groups);
  d.turns = g.count / lanes / (d.splits * rows);
  return d;
}
// How the second kernel divides the results, so that many work-items take part and adjacent ones
// still read adjacent values.
division division_of_partials(division d, std::int64_t results, std::int64_t group) {
  while (d.across > 8 && group / d.across < d.splits) d.across /= 2;
  d.blocks = (results + d.across - 1) / d.across;
  d.turns = d.splits / (group / d.across);
  return d;
}

class reduction_printer {
 public:
  reduction_printer(const operand_texts& operands, const abilities& can)
      : operands_(operands),
        can_(can),
        code_(operands.pass().code()),
        pass_(operands, can, {code_.pass.view, own_place, code_.inputs}),
        group_(group_size(pass_.sums(), can)),
        lanes_(most_lanes()) {}

  std::string print() const { return pass_.rules() + first_kernel() + "\n" + finish_kernel(); }

  kernel_launches launches() const {
    const geometry& g = operands_.space();
    const division d = division_of(g, group_, lanes_);
    kernel_launches made;
    const auto add = [&](const char* which, std::int64_t groups, const division& by) {
      kernel_launch l{which, {}, groups * group_, group_, static_cast<int>(made.launches.size())};
      for (const parameter& p : parameters(by)) l.arguments.push_back(p.argument);
      made.launches.push_back(std::move(l));
    };
    add("first", d.blocks * d.splits, d);
    if (d.splits > 1) {
      const division of_partials = division_of_partials(d, g.results, group_);
      add("finish", of_partials.blocks, of_partials);
    }
    made.scratch_bytes = static_cast<std::size_t>(
        d.splits > 1 ? padded(g.results * d.splits) * bytes_of(pass_.sums()) : 16);
    return made;
  }

  std::string pattern() const { return lanes_ > 1 ? pass_.adjacent(lanes_).pattern() : repeat(); }

 private:
  // Adjacent elements that a work-item takes at once; 1: one by one.
  int most_lanes() const {
    const geometry& g = operands_.space();
    if (!can_.takes_lanes || g.rank == 0 || (g.kept >> (g.rank - 1) & 1) != 0) return 1;
    int lanes = std::max(code_.pass.lanes, 1);
    while (lanes > 1 && lanes * code_.pass.view.elements.nodes > most_unrolled) lanes /= 2;
    return lanes > 1 && pass_.adjacent(lanes).is_possible() ? lanes : 1;
  }
  // So that several reads are on their way.
  std::string repeat() const {
    const int times = lanes_ > 1 ? 4 : 8;
    const bool is_short = times * lanes_ * code_.pass.view.elements.nodes <= most_unrolled;
    return can_.takes_lanes && is_short ? "#pragma unroll " + std::to_string(times) + "\n" : "";
  }

  std::vector<parameter> parameters(const division& d) const {
    const geometry& g = operands_.space();
    std::vector<parameter> all = operands_.parameters();
    all.push_back(operands_.by_position("results", g.results));
    all.push_back(operands_.by_position("count", g.count));
    all.push_back(operands_.by_position("across", d.across));
    all.push_back(operands_.by_position("blocks", d.blocks));
    all.push_back(operands_.by_position("splits", d.splits));
    all.push_back(operands_.by_position("turns", d.turns));
    // The distance between two values' partial results, in elements.
    all.push_back(by_value("long", "partials", padded(g.results * d.splits)));
    all.push_back(scratch_parameter());
    return all;
  }

  std::string begin(const std::string& name) const {
    std::string text = "__attribute__((reqd_work_group_size(" + std::to_string(group_) +
                       ", 1, 1)))\n" + begin_kernel(name, parameters({1, 1, 1, 0}), can_);
    text += local_text(pass_.sums(), group_);
    const std::string position = operands_.position_type();
    text +=
        "  const int item = get_local_id(0), apart = across, part = (uint)item / (uint)apart, "
        "parts = "
        "(uint)" +
        std::to_string(group_) + " / (uint)apart;\n  const " + position +
        " group = get_group_id(0), split = " + operands_.quotient("group", "blocks") +
        ";\n  const " + position + " result = " + result_if_running() +
        "(group - split * blocks) * across + (item - part * apart);\n";
    return text + identities_text(pass_.sums(), "  ");
  }

  // Once a loop has ended, its kernels have no result left to compute. They do not return at once:
  // PoCL 3.1 compiles barriers behind a conditional return to wrong sums.
  std::string result_if_running() const {
    return operands_.pass().now().stop == nullptr ? "" : "m_stop[o_stop] != 0 ? results : ";
  }

  // Where a value's partial results begin, and the place of one.
  std::string partial_offset(std::size_t value, const std::string& number) const {
    std::int64_t before = 0;
    for (std::size_t v = 0; v < value; ++v) before += pass_.sums()[v].bytes();
    return "o_scratch + partials * " + std::to_string(before) + " + (long)(" + number + ") * " +
           std::to_string(pass_.sums()[value].bytes());
  }
  static const char* partial_type(dtype type) { return name(computed_in(type)); }

  std::string store_results(const std::string& indent) const {
    const printed_program results = pass_.results(indent);
    return operands_.positions("result", operands_.space().kept, indent) + results.text +
           pass_.store(results, indent);
  }

  std::string first_kernel() const {
    const std::vector<accumulated>& sums = pass_.sums();
    const geometry& g = operands_.space();
    std::string text = begin(kernel_name(code_));
    const std::string position = operands_.position_type();
    text += "  if (result < results) {\n";
    text += operands_.positions("result", g.kept, "    ");
    if (lanes_ > 1) {
      const std::string lanes = std::to_string(lanes_);
      const adjacent_text all = pass_.adjacent(lanes_);
      text += "    const " + position + " whole = count - count % " + lanes + ";\n" +
              loop(repeat(), "number", "(split * parts + part) * " + lanes, "whole",
                   "splits * parts * " + lanes);
      text += operands_.positions("number", ~g.kept, "      ") + all.read("      ") +
              pass_.adjacent_elements(all, "", "      ") + "    }\n";
      if (g.rank == 1)
        text += "    if (split == splits - 1 && part == 0)\n    for (" + position +
                " number = whole; number < count; ++number) {\n" + one_element();
    } else {
      text += loop(repeat(), "number", "split * parts + part", "count", "splits * parts") +
              one_element();
    }
    text += "  }\n" + combine_group_text(sums, total_for::first);
    text += "  if (part != 0 || result >= results) return;\n  if (splits == 1) {\n";
    text += store_results("    ") + "  } else {\n";
    for (std::size_t v = 0; v < sums.size(); ++v)
      text += std::string("    store_") + partial_type(sums[v].type) + "(m_scratch, " +
              partial_offset(v, "split * results + result") + ", " + sums[v].name() + ");\n";
    return text + "  }\n}\n";
  }

  // A loop whose turns are counted before, so that a compiler that repeats its statements reads for
  // several turns before it combines.
  std::string loop(const std::string& repeated, const std::string& number, const std::string& from,
                   const std::string& to, const std::string& stride) const {
    const std::string position = operands_.position_type();
    return "    const " + position + " first = " + from + ", stride = " + stride +
           ", own_turns = turns + (first + turns * stride < " + to + " ? 1 : 0);\n" + repeated +
           "    for (" + position + " turn = 0; turn < own_turns; ++turn) {\n      const " +
           position + " " + number + " = first + turn * stride;\n";
  }
  std::string one_element() const {
    return operands_.positions("number", ~operands_.space().kept, "      ") +
           pass_.element("      ") + "    }\n";
  }

  std::string finish_kernel() const {
    const std::vector<accumulated>& sums = pass_.sums();
    std::string text = begin(kernel_name(code_) + "_finish");
    text += "  if (result < results) {\n" + loop(can_.takes_lanes ? "#pragma unroll 4\n" : "",
                                                 "of_split", "part", "splits", "parts");
    for (std::size_t v = 0; v < sums.size(); ++v)
      text += std::string("      const ") + value_type(sums[v].type) + " partial" +
              std::to_string(v) + " = load_" + partial_type(sums[v].type) + "(m_scratch, " +
              partial_offset(v, "of_split * results + result") + ");\n";
    std::size_t v = 0;
    text += combine_text(sums, "      ",
                         [&](const accumulated&) { return "partial" + std::to_string(v++); });
    text += "    }\n  }\n" + combine_group_text(sums, total_for::first);
    return text + "  if (part != 0 || result >= results) return;\n" + store_results("  ") + "}\n";
  }

  const operand_texts& operands_;
  const abilities& can_;
  const program_code& code_;
  phase_text pass_;
  std::int64_t group_;
  int lanes_;
};

}  // namespace

std::string print_reduction(const operand_texts& operands, const abilities& can) {
  return reduction_printer(operands, can).print();
}
std::string pattern_of_reduction(const operand_texts& operands, const abilities& can) {
  return reduction_printer(operands, can).pattern();
}
kernel_launches launches_of_reduction(const operand_texts& operands, const abilities& can) {
  return reduction_printer(operands, can).launches();
}

}  // namespace dsl::detail::opencl
