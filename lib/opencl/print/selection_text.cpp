// Selections. A work-group has a tile of consecutive elements, a few for each work-item. The first
// kernel counts each tile's chosen elements, the second one replaces the counts by those up to each
// tile, and the third one evaluates the elements again and writes them.
#include "opencl/print/selection_text.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "opencl/print/element_text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

// Elements of a work-item.
constexpr std::int64_t selected_run = 8;

class selection_printer {
 public:
  selection_printer(const selection_work& selection, const abilities& can)
      : selection_(selection), can_(can), operands_(selection, false) {
    while (group_ > 1 && (group_ > static_cast<std::int64_t>(can.largest_work_group) ||
                          group_ * 8 > static_cast<std::int64_t>(can.local_memory)))
      group_ /= 2;
  }

  kernel_text print() const {
    kernel_text made;
    made.name = "dsl_compress_count";
    made.finish = "dsl_compress_places";
    made.more = {"dsl_compress"};
    complete(made, "// compress " + spell_pass(operands_.view()) + "\n",
             counting_kernel() + "\n" + places_kernel() + "\n" + writing_kernel(), can_,
             [&] { return "a selection needs: compress " + spell_pass(operands_.view()); });
    return made;
  }

  kernel_launches launches() const {
    const std::int64_t count = tiles();
    kernel_launches made;
    made.scratch_bytes = static_cast<std::size_t>(std::max<std::int64_t>(16, 8 * count));
    const auto add = [&](const char* which, std::int64_t groups, int number) {
      if (groups == 0) return;
      kernel_launch l{which, {}, groups * group_, group_, number};
      for (const parameter& p : parameters()) l.arguments.push_back(p.argument);
      made.launches.push_back(std::move(l));
    };
    add("counting", count, 0);
    add("placing", 1, 1);
    add("writing", count, 2);
    return made;
  }

  std::uint64_t key() const {
    word_key key{0x5e1ec7};
    add_program(key, operands_.view().elements);
    add_text(key, operands_.pattern());
    add_text(key, spell_pass(operands_.view()));
    for (int k = 0; k < values(); ++k)
      key.add(static_cast<std::uint64_t>(selection_.target(k).type));
    add_abilities(key, can_);
    return key.value;
  }

 private:
  int values() const { return operands_.view().target_count - 1; }
  std::int64_t tiles() const { return pieces(operands_.space().elements, group_ * selected_run); }

  std::vector<parameter> parameters() const {
    std::vector<parameter> all = operands_.parameters();
    std::int64_t capacity = selection_.target(0).extents[0];
    for (int k = 0; k < values(); ++k) {
      const operand& to = selection_.target(k);
      capacity = std::min(capacity, to.extents[0]);
      const std::string own = "_to" + std::to_string(k);
      all.push_back(by_address(own, to.word[0], true));
      all.push_back(by_value("long", "step" + own, to.strides[0] * size_of(to.type)));
    }
    all.push_back(by_address("_count", selection_.target(values()).word[0], true));
    all.push_back(by_value("long", "elements", operands_.space().elements));
    all.push_back(by_value("long", "capacity", capacity));
    all.push_back(by_value("long", "tiles", tiles()));
    all.push_back(scratch_parameter());
    return all;
  }

  std::string begin(const std::string& name) const {
    const std::string size = std::to_string(group_);
    return "__attribute__((reqd_work_group_size(" + size + ", 1, 1)))\n" +
           begin_kernel(name, parameters(), can_) + "  __local long counts[" + size +
           "];\n"
           "  __global long* places = (__global long*)(m_scratch + o_scratch);\n"
           "  const int item = get_local_id(0);\n";
  }

  // The condition, then the values.
  const value_text& output(const printed_program& elements, int k) const {
    const target_word to{operands_.view().targets[k]};
    return elements.outputs[static_cast<std::size_t>(to.output())];
  }

  // Evaluates the work-item's elements. `use` follows the evaluation of each.
  std::string own_elements(const printed_program& elements, const std::string& use) const {
    const std::string run = std::to_string(selected_run);
    return "  const long first = (long)get_global_id(0) * " + run + ", end = min(first + " + run +
           ", elements);\n"
           "  for (long element = first; element < end; ++element) {\n" +
           operands_.positions("element", ~std::uint32_t{0}, "    ") + elements.text + use +
           "  }\n";
  }

  // Replaces the work-items' counts by those up to each of them.
  static std::string scan_of_counts(const std::string& size, const std::string& indent) {
    return indent + "counts[item] = count;\n" + indent + "barrier(CLK_LOCAL_MEM_FENCE);\n" +
           indent + "for (int step = 1; step < " + size + "; step *= 2) {\n" + indent +
           "  const long before = item >= step ? counts[item - step] : 0;\n" + indent +
           "  barrier(CLK_LOCAL_MEM_FENCE);\n" + indent + "  counts[item] += before;\n" + indent +
           "  barrier(CLK_LOCAL_MEM_FENCE);\n" + indent + "}\n";
  }

  std::string counting_kernel() const {
    const std::string size = std::to_string(group_);
    const printed_program elements = print_elements(operands_, can_, "    ");
    return begin("dsl_compress_count") + "  long count = 0;\n" +
           own_elements(elements, "    if (" + output(elements, 0).text + ") ++count;\n") +
           scan_of_counts(size, "  ") + "  if (item == 0) places[get_group_id(0)] = counts[" +
           std::to_string(group_ - 1) + "];\n}\n";
  }

  // One work-group.
  std::string places_kernel() const {
    const std::string size = std::to_string(group_), last = std::to_string(group_ - 1);
    return begin("dsl_compress_places") +
           "  long before = 0;\n"
           "  for (long done = 0; done < tiles; done += " +
           size +
           ") {\n"
           "    const long tile = done + item;\n"
           "    const long count = tile < tiles ? places[tile] : 0;\n" +
           scan_of_counts(size, "    ") +
           "    if (tile < tiles) places[tile] = before + counts[item];\n"
           "    before += counts[" +
           last +
           "];\n"
           "    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n"
           "  if (item == 0) *(__global long*)(m_count + o_count) = before;\n}\n";
  }

  std::string writing_kernel() const {
    const printed_program elements = print_elements(operands_, can_, "    ");
    std::string stores = "    if (" + output(elements, 0).text + ") {\n";
    for (int k = 0; k < values(); ++k) {
      const value_text& value = output(elements, k + 1);
      const dtype to = selection_.target(k).type;
      const std::string own = "_to" + std::to_string(k);
      stores += std::string("      if (place < capacity) store_") + name(to) + "(m" + own + ", o" +
                own + " + place * step" + own + ", " +
                (to == value.type ? value.text : conversion_text(to, value)) + ");\n";
    }
    stores += "      ++place;\n    }\n";
    return begin("dsl_compress") + "  long count = 0;\n" + "  {\n" +
           own_elements(elements, "    if (" + output(elements, 0).text + ") ++count;\n") +
           "  }\n" + scan_of_counts(std::to_string(group_), "  ") +
           "  const long tile = get_group_id(0);\n"
           "  long place = (tile > 0 ? places[tile - 1] : 0) + counts[item] - count;\n" +
           own_elements(elements, stores) + "}\n";
  }

  const selection_work& selection_;
  const abilities& can_;
  operand_texts operands_;
  std::int64_t group_ = 256;
};

}  // namespace

kernel_text print(const selection_work& selection, const abilities& can) {
  return selection_printer(selection, can).print();
}
kernel_launches launches_of(const selection_work& selection, const abilities& can) {
  return selection_printer(selection, can).launches();
}
std::uint64_t text_key(const selection_work& selection, const abilities& can) {
  return selection_printer(selection, can).key();
}

}  // namespace dsl::detail::opencl
