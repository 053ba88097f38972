#include <dsl/ir/program.hpp>

#include "exec/plan/text.hpp"
#include "mem/text.hpp"
#include "opencl/print/kernel_parts.hpp"
#include "opencl/print/kernel_text.hpp"
#include "opencl/print/map_text.hpp"
#include "opencl/print/prelude.hpp"

namespace dsl::detail::opencl {

std::string kernel_name(const program_code& code) {
  std::string name = name_of_kernel(code.name);
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return "dsl_" + (name.empty() ? std::string("pass") : name);
}

std::string formulas(const program_code& code) {
  std::string text;
  for (int i = 0; i < code.outputs(); ++i)
    text += "// " + operand_names::letter(static_cast<unsigned>(code.inputs + i)) + " = " +
            spell_pass(code.pass.view, nullptr, i) + "\n";
  return text;
}

namespace {

// Whether code, without its comments, has a word.
bool has_word(const std::string& text, std::string_view word) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    at = end + 1;
    if (line.substr(0, 2) != "//" && line.find(word) != std::string_view::npos) return true;
  }
  return false;
}

void require_whole(const bound_pass& pass) {
  if (pass.now().part != reduction_part::whole)
    raise<device_error>("the OpenCL back end reduces on one device alone");
}

}  // namespace

void complete(kernel_text& made, const std::string& comment, const std::string& kernels,
              const abilities& can, const std::function<std::string()>& what) {
  const std::string code = functions_for(kernels, !can.rounds_divide_and_sqrt) + kernels;
  made.text = comment;
  if (has_word(code, "double")) {
    if (!can.has_double)
      raise<device_error>("this OpenCL device has no double precision (cl_khr_fp64), which " +
                          what());
    made.text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  }
  made.text += "#pragma OPENCL FP_CONTRACT ON\n\n" + code;
  made.options = "-cl-std=CL1.2";
  if (can.rounds_divide_and_sqrt) made.options += " -cl-fp32-correctly-rounded-divide-sqrt";
}

kernel_text print_pass(const bound_pass& pass, const abilities& can) {
  require_whole(pass);
  const program_code& code = pass.code();
  const operand_texts operands(pass);
  const bool reduces = code.reduces();
  const std::string kernels = reduces ? print_reduction(operands, can) : print_map(operands, can);
  kernel_text made;
  made.name = kernel_name(code);
  if (reduces) made.finish = made.name + "_finish";
  complete(made, formulas(code), kernels, can, [&] {
    return spell_kernel(code.name) + " needs: " + spell_pass(code.pass.view, pass.operands());
  });
  return made;
}

void add_program(word_key& key, const program_view& p) {
  key.add(static_cast<std::uint64_t>(p.nodes) << 32 | static_cast<std::uint64_t>(p.output_count));
  for (int i = 0; i < p.nodes; ++i) {
    key.add(p.heads[i]);
    key.add(p.payloads[i]);
  }
  for (int i = 0; i < p.output_count; ++i) key.add(p.outputs[i]);
}

void add_pass(word_key& key, const pass_view& p) {
  key.add(static_cast<std::uint64_t>(p.reductions));
  add_program(key, p.elements);
  add_program(key, p.results);
  const std::uint64_t* identity = p.identities;
  for (int j = 0; j < p.reductions; ++j) {
    add_program(key, p.rules[j]);
    key.add(static_cast<std::uint64_t>(p.firsts[j]));
    for (int i = 0; i < 2 * p.rules[j].output_count; ++i) key.add(*identity++);
  }
  for (int i = 0; i < p.target_count; ++i) key.add(p.targets[i]);
  for (int i = 0; i < p.name_words; ++i) key.add(p.names[i]);
}

void add_text(word_key& key, const std::string& text) {
  key.add(text.size());
  for (const char c : text) key.add(static_cast<unsigned char>(c));
}

void add_abilities(word_key& key, const abilities& can) {
  key.add((can.has_double ? 1u : 0u) | (can.rounds_divide_and_sqrt ? 2u : 0u) |
          (can.takes_lanes ? 4u : 0u));
  key.add(can.largest_work_group);
  key.add(can.local_memory);
  key.add(can.parameter_bytes);
}

namespace {

kernel_launches launches_of(const bound_pass& pass, const operand_texts& operands,
                            const abilities& can) {
  if (pass.is_empty()) return {};
  if (pass.code().reduces()) return launches_of_reduction(operands, can);
  return launches_of_map(operands, can);
}

std::uint64_t text_key(const bound_pass& pass, const operand_texts& operands,
                       const abilities& can) {
  const program_code& code = pass.code();
  word_key key{0};
  add_pass(key, code.pass.view);
  add_text(key, operands.pattern());
  add_text(key,
           code.reduces() ? pattern_of_reduction(operands, can) : lanes_of(operands, can).pattern);
  add_text(key, kernel_name(code));
  key.add(static_cast<std::uint64_t>(code.inputs));
  add_abilities(key, can);
  return key.value;
}

}  // namespace

kernel_launches launches_of(const bound_pass& pass, const abilities& can) {
  require_whole(pass);
  return launches_of(pass, operand_texts(pass), can);
}
std::uint64_t text_key(const bound_pass& pass, const abilities& can) {
  return text_key(pass, operand_texts(pass), can);
}
keyed_launches keyed_launches_of(const bound_pass& pass, const abilities& can) {
  require_whole(pass);
  const operand_texts operands(pass);
  return {text_key(pass, operands, can), launches_of(pass, operands, can)};
}

}  // namespace dsl::detail::opencl
