// Sorting by radix, the lowest digit first. Elements become keys, unsigned integers in the same
// order (`ordered_key`), with their positions if these are wanted. For each digit of 4 bits a
// kernel counts the digits in each tile of consecutive keys, a second one turns the counts, all
// tiles of digit 0 first, into places, and a third one moves the keys there. Each step keeps the
// order of equal digits.
#include "opencl/print/sort_text.hpp"

#include <algorithm>
#include <cstdio>

#include "exec/plan/layout.hpp"
#include "exec/tasks/ordered_key.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/operand_text.hpp"

namespace dsl::detail::opencl {

namespace {

constexpr int digit_bits = 4, digits = 1 << digit_bits;
// Keys of a work-item.
constexpr std::int64_t sorted_run = 16;

class sort_printer {
 public:
  sort_printer(const sort_task& task, const abilities& can)
      : task_(task), can_(can), keys_(ordered_key::of_type(task.type)) {
    while (group_ > 1 && (group_ > static_cast<std::int64_t>(can.largest_work_group) ||
                          group_ * digits * 4 > static_cast<std::int64_t>(can.local_memory)))
      group_ /= 2;
    tiles_ = pieces(task.count, group_ * sorted_run);
    const std::int64_t keys = padded(task.count * key_bytes()),
                       positions = has_order() ? padded(task.count * 4) : 0;
    positions_at_ = 2 * keys;
    counts_at_ = positions_at_ + 2 * positions;
    scratch_bytes_ = counts_at_ + padded(tiles_ * digits * 4);
    keys_step_ = keys;
    positions_step_ = positions;
  }

  kernel_text print() const {
    kernel_text made;
    made.name = "dsl_sort_keys";
    made.finish = "dsl_sort_count";
    made.more = {"dsl_sort_places", "dsl_sort_move", "dsl_sort"};
    complete(
        made,
        std::string("// ") + (has_order() ? "argsort" : "sort") + " of " + name(task_.type) + "\n",
        conversions() + keys_kernel() + "\n" + counting_kernel() + "\n" + places_kernel() + "\n" +
            moving_kernel() + "\n" + results_kernel(),
        can_, [] { return std::string("a sort needs"); });
    return made;
  }

  kernel_launches launches() const {
    kernel_launches made;
    made.scratch_bytes = static_cast<std::size_t>(scratch_bytes_);
    const auto add = [&](const char* which, std::int64_t work_items, std::int64_t group, int number,
                         int shift) {
      kernel_launch l{which, {}, work_items, group, number};
      for (const parameter& p : parameters(shift)) l.arguments.push_back(p.argument);
      made.launches.push_back(std::move(l));
    };
    add("first", task_.count, 0, 0, 0);
    for (int shift = 0; shift < 8 * keys_.bytes; shift += digit_bits) {
      add("counting", tiles_ * group_, group_, 1, shift);
      add("placing", group_, group_, 2, shift);
      add("moving", tiles_ * group_, group_, 3, shift);
    }
    add("last", task_.count, 0, 4, 0);
    return made;
  }

  std::uint64_t key() const {
    word_key key{0x5027};
    key.add(static_cast<std::uint64_t>(task_.type));
    key.add((has_order() ? 1u : 0u) | (task_.sorted != nullptr ? 2u : 0u));
    add_abilities(key, can_);
    return key.value;
  }

 private:
  bool has_order() const { return task_.order != nullptr; }
  std::int64_t key_bytes() const { return keys_.bytes <= 4 ? 4 : 8; }
  const char* key_type() const { return keys_.bytes <= 4 ? "uint" : "ulong"; }
  const char* bits_type() const {
    return keys_.bytes == 1   ? "uchar"
           : keys_.bytes == 2 ? "ushort"
           : keys_.bytes == 4 ? "uint"
                              : "ulong";
  }
  std::string constant(std::uint64_t bits) const {
    char line[32];
    std::snprintf(line, sizeof line, "0x%llx%s", static_cast<unsigned long long>(bits),
                  keys_.bytes <= 4 ? "u" : "UL");
    return line;
  }

  // Keys and positions are moved between two places; all digits of a key are an even number.
  std::vector<parameter> parameters(int shift) const {
    const bool is_odd = shift / digit_bits % 2 != 0;
    std::vector<parameter> all;
    const auto address = [](const void* at) { return reinterpret_cast<std::uint64_t>(at); };
    all.push_back(by_address("_elements", address(task_.elements), false));
    if (task_.sorted != nullptr) all.push_back(by_address("_sorted", address(task_.sorted), true));
    if (has_order()) all.push_back(by_address("_order", address(task_.order), true));
    all.push_back(scratch_parameter());
    all.push_back(by_value("long", "elements", task_.count));
    all.push_back(by_value("long", "tiles", tiles_));
    all.push_back(by_value("long", "shift", shift));
    all.push_back(by_value("long", "keys_at", is_odd ? keys_step_ : 0));
    all.push_back(by_value("long", "keys_to", is_odd ? 0 : keys_step_));
    all.push_back(by_value("long", "positions_at", positions_at_ + (is_odd ? positions_step_ : 0)));
    all.push_back(by_value("long", "positions_to", positions_at_ + (is_odd ? 0 : positions_step_)));
    all.push_back(by_value("long", "counts_at", counts_at_));
    return all;
  }

  std::string begin(const char* name, bool in_groups) const {
    const std::string size = std::to_string(group_);
    const std::string type = key_type();
    std::string text;
    if (in_groups) text = "__attribute__((reqd_work_group_size(" + size + ", 1, 1)))\n";
    text += begin_kernel(name, parameters(0), can_) +
            "  __global uchar* const scratch = m_scratch + o_scratch;\n  __global " + type +
            "* const keys = (__global " + type + "*)(scratch + keys_at);\n";
    if (has_order())
      text += "  __global uint* const positions = (__global uint*)(scratch + positions_at);\n";
    if (in_groups)
      text +=
          "  __global uint* const counts = (__global uint*)(scratch + counts_at);\n"
          "  const int item = get_local_id(0);\n";
    return text;
  }
  static const char* each_element() {
    return "  for (long i = get_global_id(0); i < elements; i += get_global_size(0)) {\n";
  }
  std::string element(const char* memory, const char* i) const {
    const std::string type = bits_type(), number = memory;
    return "((__global " + type + "*)(m" + number + " + o" + number + "))[" + i + "]";
  }

  // `ordered_key::to_key` and `to_bits`.
  std::string conversions() const {
    const std::string type = key_type(), sign = constant(keys_.sign), all = constant(keys_.all),
                      head = type + " key_of(" + type + " bits) {\n",
                      tail = type + " bits_of(" + type + " key) {\n";
    if (keys_.of != kind::real) {
      const std::string change = keys_.is_signed ? " ^ " + sign : "";
      return head + "  return bits" + change + ";\n}\n" + tail + "  return key" + change +
             ";\n}\n\n";
    }
    const std::uint64_t nan = keys_.to_bits(keys_.all);
    return head + "  const " + type + " magnitude = bits & ~" + sign + ";\n  if (magnitude > " +
           constant(keys_.infinity) + ") return " + all + ";\n" +
           (has_order() ? "  if (magnitude == 0) bits = 0;\n" : "") + "  return (bits & " + sign +
           ") != 0 ? ~bits & " + all + " : bits | " + sign + ";\n}\n" + tail +
           "  if (key == " + all + ") return " + constant(nan) + ";\n  return (key & " + sign +
           ") != 0 ? key ^ " + sign + " : ~key & " + all + ";\n}\n\n";
  }

  std::string keys_kernel() const {
    return begin("dsl_sort_keys", false) + each_element() + "    keys[i] = key_of(" +
           element("_elements", "i") + ");\n" +
           (has_order() ? "    positions[i] = (uint)i;\n" : "") + "  }\n}\n";
  }

  // Counts the digits of each work-item's keys.
  std::string counts_of_items() const {
    const std::string size = std::to_string(group_), run = std::to_string(sorted_run),
                      all = std::to_string(digits), mask = std::to_string(digits - 1);
    return "  __local uint own[" + std::to_string(digits * group_) +
           "];\n"
           "  const long first = (long)get_global_id(0) * " +
           run + ", end = min(first + " + run +
           ", elements);\n"
           "  for (int digit = 0; digit < " +
           all + "; ++digit) own[digit * " + size +
           " + item] = 0;\n"
           "  for (long i = first; i < end; ++i) ++own[(int)(keys[i] >> shift & " +
           mask + ") * " + size + " + item];\n  barrier(CLK_LOCAL_MEM_FENCE);\n";
  }
  // A work-item for each digit, if there are as many.
  std::string each_digit() const {
    return "  for (int digit = item; digit < " + std::to_string(digits) +
           "; digit += " + std::to_string(group_) + ") {\n";
  }
  static std::string place() { return "counts[digit * tiles + (long)get_group_id(0)]"; }

  std::string counting_kernel() const {
    const std::string size = std::to_string(group_);
    return begin("dsl_sort_count", true) + counts_of_items() + each_digit() +
           "    uint count = 0;\n    for (int k = 0; k < " + size + "; ++k) count += own[digit * " +
           size + " + k];\n    " + place() + " = count;\n  }\n}\n";
  }

  // One work-group. Each work-item has some consecutive counts at a time.
  std::string places_kernel() const {
    const std::string size = std::to_string(group_), run = std::to_string(sorted_run),
                      at_once = std::to_string(group_ * sorted_run);
    return begin("dsl_sort_places", true) + "  __local uint sums[" + size +
           "];\n"
           "  const long all = tiles * " +
           std::to_string(digits) +
           ";\n"
           "  uint before = 0;\n"
           "  for (long done = 0; done < all; done += " +
           at_once +
           ") {\n"
           "    const long first = done + item * " +
           run + ", end = min(first + " + run +
           ", all);\n"
           "    uint sum = 0;\n"
           "    for (long i = first; i < end; ++i) sum += counts[i];\n"
           "    sums[item] = sum;\n"
           "    barrier(CLK_LOCAL_MEM_FENCE);\n"
           "    for (int step = 1; step < " +
           size +
           "; step *= 2) {\n"
           "      const uint earlier = item >= step ? sums[item - step] : 0;\n"
           "      barrier(CLK_LOCAL_MEM_FENCE);\n"
           "      sums[item] += earlier;\n"
           "      barrier(CLK_LOCAL_MEM_FENCE);\n"
           "    }\n"
           "    uint place = before + sums[item] - sum;\n"
           "    for (long i = first; i < end; ++i) {\n"
           "      const uint count = counts[i];\n"
           "      counts[i] = place;\n"
           "      place += count;\n"
           "    }\n"
           "    before += sums[" +
           std::to_string(group_ - 1) +
           "];\n"
           "    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n}\n";
  }

  std::string moving_kernel() const {
    const std::string size = std::to_string(group_), type = key_type(),
                      mask = std::to_string(digits - 1);
    std::string text = begin("dsl_sort_move", true) + "  __global " + type +
                       "* const to = (__global " + type + "*)(scratch + keys_to);\n";
    if (has_order())
      text += "  __global uint* const moved = (__global uint*)(scratch + positions_to);\n";
    text += counts_of_items() + each_digit() + "    uint place = " + place() +
            ";\n    for (int k = 0; k < " + size +
            "; ++k) {\n"
            "      const uint count = own[digit * " +
            size +
            " + k];\n"
            "      own[digit * " +
            size +
            " + k] = place;\n"
            "      place += count;\n    }\n  }\n"
            "  barrier(CLK_LOCAL_MEM_FENCE);\n"
            "  for (long i = first; i < end; ++i) {\n"
            "    const uint place = own[(int)(keys[i] >> shift & " +
            mask + ") * " + size +
            " + item]++;\n"
            "    to[place] = keys[i];\n";
    if (has_order()) text += "    moved[place] = positions[i];\n";
    return text + "  }\n}\n";
  }

  std::string results_kernel() const {
    std::string text = begin("dsl_sort", false) + each_element();
    if (has_order()) text += "    " + order() + " = positions[i];\n";
    if (task_.sorted != nullptr)
      text += "    " + element("_sorted", "i") + " = " +
              (has_order() ? element("_elements", "positions[i]")
                           : std::string("(") + bits_type() + ")bits_of(keys[i])") +
              ";\n";
    return text + "  }\n}\n";
  }
  static std::string order() { return "((__global long*)(m_order + o_order))[i]"; }

  const sort_task& task_;
  const abilities& can_;
  ordered_key keys_;
  std::int64_t group_ = 128, tiles_;
  // Bytes from the beginning of the scratch memory, and between the two places.
  std::int64_t positions_at_, counts_at_, scratch_bytes_, keys_step_, positions_step_;
};

}  // namespace

kernel_text print_sort(const sort_task& task, const abilities& can) {
  return sort_printer(task, can).print();
}
kernel_launches launches_of_sort(const sort_task& task, const abilities& can) {
  return sort_printer(task, can).launches();
}
std::uint64_t key_of_sort(const sort_task& task, const abilities& can) {
  return sort_printer(task, can).key();
}

}  // namespace dsl::detail::opencl
