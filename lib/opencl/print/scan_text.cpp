// Scans. A line is what is scanned: a row, a column, or all elements. A work-group has `side` lines
// side by side, and in each of them a tile of consecutive elements, a few for each work-item. A
// work-item combines its own elements in order, and the work-group the work-items' totals in local
// memory. Of lines of several tiles, a first kernel computes the tiles' totals and a second one
// combines these. All orders are fixed, so a device gives the same bits in each run.
#include "opencl/print/scan_text.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "opencl/print/element_text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

// Elements of a work-item.
constexpr std::int64_t scanned_run = 16;

// How the lines are divided.
struct tiling_of_lines {
  std::int64_t lines, columns;  // Lines, and how many of them are adjacent.
  std::int64_t side, tiles;     // Lines of a work-group, and tiles of a line.
};

class scan_printer {
 public:
  scan_printer(const scan_work& scan, const abilities& can)
      : scan_(scan),
        can_(can),
        operands_(scan, true),
        type_(scan.code().view.elements.output(0).type()),
        bytes_(size_of(computed_in(type_))) {
    while (group_ > 1 && (group_ > static_cast<std::int64_t>(can.largest_work_group) ||
                          group_ * bytes_ > static_cast<std::int64_t>(can.local_memory)))
      group_ /= 2;
  }

  kernel_text print() const {
    kernel_text made;
    made.name = "dsl_scan_totals";
    made.finish = "dsl_scan_combine";
    made.more = {"dsl_scan"};
    complete(made, "// scan of " + spell_pass(scan_.code().view) + "\n",
             print_rule(scan_.code().combine, 0, can_) + totals_kernel() + "\n" +
                 combining_kernel() + "\n" + writing_kernel(),
             can_, [&] { return "a scan needs: scan of " + spell_pass(scan_.code().view); });
    return made;
  }

  kernel_launches launches() const {
    const tiling_of_lines t = tiling();
    const std::int64_t blocks = pieces(t.lines, t.side);
    kernel_launches made;
    const auto add = [&](const char* which, std::int64_t groups, int number) {
      kernel_launch l{which, {}, groups * group_, group_, number};
      for (const parameter& p : parameters()) l.arguments.push_back(p.argument);
      made.launches.push_back(std::move(l));
    };
    made.scratch_bytes =
        static_cast<std::size_t>(std::max<std::int64_t>(16, t.lines * (t.tiles - 1) * bytes_));
    if (t.tiles > 1) {
      add("totals", blocks * (t.tiles - 1), 0);
      add("combining", t.lines, 1);
    }
    add("writing", blocks * t.tiles, 2);
    return made;
  }

  std::uint64_t key() const {
    word_key key{0x5ca1};
    add_program(key, operands_.view().elements);
    add_program(key, scan_.code().combine);
    add_text(key, operands_.pattern());
    add_text(key, spell_pass(scan_.code().view));
    add_abilities(key, can_);
    return key.value;
  }

 private:
  tiling_of_lines tiling() const {
    const scan_space& s = scan_.ordered();
    tiling_of_lines t{};
    t.lines = s.row > 0 ? s.space.elements / s.row : 0;
    t.columns = s.columns ? s.space.extents[s.space.rank - 1] : 1;
    // Adjacent columns are read together; short lines leave work-items for other lines.
    constexpr std::int64_t together = 32;
    std::int64_t depths = group_;
    while (depths > 1 && (depths / 2 * scanned_run >= s.row ||
                          group_ / depths < std::min(t.columns, std::min(together, group_))))
      depths /= 2;
    t.side = group_ / depths;
    t.tiles = pieces(s.row, depths * scanned_run);
    return t;
  }

  std::vector<parameter> parameters() const {
    const tiling_of_lines t = tiling();
    const scan_request& request = scan_.request();
    std::vector<parameter> all = operands_.parameters();
    all.push_back(by_value("long", "row", scan_.ordered().row));
    all.push_back(by_value("long", "lines", t.lines));
    all.push_back(by_value("long", "columns", t.columns));
    all.push_back(by_value("long", "side", t.side));
    all.push_back(by_value("long", "tiles", t.tiles));
    all.push_back(by_value("long", "has_init", request.has_init ? 1 : 0));
    all.push_back(by_value("long", "exclusive", request.exclusive ? 1 : 0));
    all.push_back(by_literal(type_, "init", request.init));
    all.push_back(scratch_parameter());
    return all;
  }

  std::string value() const { return value_type(type_); }
  std::string size() const { return std::to_string(group_); }
  std::string total_offset(const std::string& tile) const {
    return "o_scratch + ((" + tile + ") * lines + line) * " + std::to_string(bytes_);
  }
  std::string load_total(const std::string& tile) const {
    return std::string("load_") + name(computed_in(type_)) + "(m_scratch, " + total_offset(tile) +
           ")";
  }
  std::string store_total(const std::string& tile) const {
    return std::string("store_") + name(computed_in(type_)) + "(m_scratch, " + total_offset(tile) +
           ", total);\n";
  }

  std::string begin(const std::string& name) const {
    return "__attribute__((reqd_work_group_size(" + size() + ", 1, 1)))\n" +
           begin_kernel(name, parameters(), can_) + "  __local " + stored_type(type_) + " totals[" +
           size() + "];\n  const int item = get_local_id(0);\n";
  }

  // The work-item's place, and the total of its elements. `after_each` follows each of them.
  std::string own_elements(const std::string& after_each) const {
    const std::string run = std::to_string(scanned_run), indent = "    ";
    const printed_program elements = print_elements(operands_, can_, indent);
    return "  const int depth = item / (int)side, depths = " + size() +
           " / (int)side;\n"
           "  const long blocks = (lines + side - 1) / side, group = get_group_id(0);\n"
           "  const long line = group % blocks * side + item % (int)side, tile = group / blocks;\n"
           "  const long first = (tile * depths + depth) * " +
           run +
           ";\n"
           "  const long end = line < lines ? min(first + " +
           run +
           ", row) : first;\n"
           "  const bool is_some = first < end;\n"
           "  const long begin = line / columns * row * columns + line % columns;\n  " +
           value() + " total = " + zero() +
           ";\n"
           "  for (long place = first; place < end; ++place) {\n"
           "    const long element = begin + place * columns;\n" +
           operands_.positions("element", ~std::uint32_t{0}, indent) + elements.text + indent +
           value() + " value = " + elements.outputs[0].text + ";\n" +
           "    if (place == 0 && has_init != 0) {\n      " + value() + " both = " + init() +
           ";\n"
           "      combine0(&both, value);\n      value = both;\n    }\n"
           "    if (place == first) total = value;\n"
           "    else combine0(&total, value);\n" +
           after_each + "  }\n";
  }
  std::string zero() const { return type_ == dtype::boolean ? "false" : "(" + value() + ")0"; }
  std::string init() const { return type_ == dtype::boolean ? "init != 0" : "init"; }

  // Replaces the totals of the work-items of a line by those up to each of them. `distance` is that
  // between two of a line, which has `count` in this group.
  static std::string scan_of_totals(const std::string& depth, const std::string& count,
                                    const std::string& distance, const std::string& value,
                                    const std::string& indent) {
    return indent + "totals[item] = total;\n" + indent + "barrier(CLK_LOCAL_MEM_FENCE);\n" +
           indent + "for (int step = 1; step < " + count + "; step *= 2) {\n" + indent +
           "  const bool joins = is_some && " + depth + " >= step;\n" + indent + "  " + value +
           " both = joins ? totals[item - step * " + distance + "] : total;\n" + indent +
           "  barrier(CLK_LOCAL_MEM_FENCE);\n" + indent + "  if (joins) {\n" + indent +
           "    combine0(&both, total);\n" + indent + "    total = both;\n" + indent +
           "    totals[item] = total;\n" + indent + "  }\n" + indent +
           "  barrier(CLK_LOCAL_MEM_FENCE);\n" + indent + "}\n";
  }

  std::string totals_kernel() const {
    return begin("dsl_scan_totals") + own_elements("") +
           scan_of_totals("depth", "depths", "(int)side", value(), "  ") +
           "  if (is_some && depth + 1 == depths)\n    " + store_total("tile") + "}\n";
  }

  // A work-group replaces the totals of a line's tiles by those up to each of them.
  std::string combining_kernel() const {
    return begin("dsl_scan_combine") + "  const long line = get_group_id(0);\n  " + value() +
           " before = " + zero() +
           ";\n"
           "  for (long done = 0; done < tiles - 1; done += " +
           size() +
           ") {\n"
           "    const long tile = done + item;\n"
           "    const bool is_some = tile < tiles - 1;\n    " +
           value() + " total = " + zero() + ";\n    if (is_some) total = " + load_total("tile") +
           ";\n" + scan_of_totals("item", size(), "1", value(), "    ") +
           "    if (done > 0 && is_some) {\n      " + value() +
           " both = before;\n"
           "      combine0(&both, total);\n      total = both;\n    }\n"
           "    if (is_some) " +
           store_total("tile") +
           "    totals[item] = total;\n"
           "    barrier(CLK_LOCAL_MEM_FENCE);\n"
           "    before = totals[" +
           std::to_string(group_ - 1) +
           "];\n"
           "    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n}\n";
  }

  std::string writing_kernel() const {
    const std::string indent = "    ";
    const int target = operands_.inputs();
    std::string text = begin("dsl_scan");
    text += "  " + value() + " own[" + std::to_string(scanned_run) + "];\n" +
            own_elements("    own[place - first] = total;\n") +
            scan_of_totals("depth", "depths", "(int)side", value(), "  ");
    text += "  const bool follows = depth > 0 || tile > 0;\n  " + value() + " before = " + init() +
            ";\n"
            "  if (tile > 0 && is_some) before = " +
            load_total("tile - 1") +
            ";\n"
            "  if (depth > 0 && is_some) {\n    const " +
            value() +
            " earlier = totals[item - (int)side];\n"
            "    if (tile > 0) combine0(&before, earlier);\n"
            "    else before = earlier;\n  }\n";
    text +=
        "  for (long place = first; place < end; ++place) {\n"
        "    const long element = begin + place * columns, last = place - first - exclusive;\n" +
        operands_.positions("element", ~std::uint32_t{0}, indent) + indent + value() +
        " sum = before;\n"
        "    if (last >= 0) {\n"
        "      if (follows) combine0(&sum, own[last]);\n"
        "      else sum = own[last];\n    }\n";
    const dtype to = scan_.code().target;
    const value_text sum{"sum", type_};
    text += store_text(operands_, target, operands_.own_position(),
                       {to == type_ ? sum.text : conversion_text(to, sum), to}, indent);
    return text + "  }\n}\n";
  }

  const scan_work& scan_;
  const abilities& can_;
  operand_texts operands_;
  dtype type_;
  std::int64_t bytes_, group_ = 256;
};

}  // namespace

kernel_text print(const scan_work& scan, const abilities& can) {
  return scan_printer(scan, can).print();
}
kernel_launches launches_of(const scan_work& scan, const abilities& can) {
  if (scan.is_empty()) return {};
  return scan_printer(scan, can).launches();
}
std::uint64_t text_key(const scan_work& scan, const abilities& can) {
  return scan_printer(scan, can).key();
}

}  // namespace dsl::detail::opencl
