// Elementwise passes that are made at run time, printed and run on a device.
#pragma once

#include <dsl/dsl.hpp>

#include <cstring>
#include <vector>

#include "open_cl.hpp"

namespace run_time {

using namespace dsl::detail;

/// A program under construction.
struct program {
  std::vector<std::uint32_t> heads;
  std::vector<std::uint64_t> payloads, outputs;

  /// Adds a node and returns its number.
  int add(dsl::op code, dsl::dtype type, std::uint64_t payload) {
    heads.push_back(head::make(code, type, used_[static_cast<int>(type)]++).word);
    payloads.push_back(payload);
    return static_cast<int>(heads.size()) - 1;
  }
  /// The reference of a node's value.
  std::uint64_t place(int node) const {
    const head h{heads[static_cast<std::size_t>(node)]};
    return reference::make(h.type(), h.slot()).word;
  }
  /// The number of the operand that a load reads.
  std::uint64_t operand_of(int node) const { return payloads[static_cast<std::size_t>(node)]; }
  program_view view() const {
    return {heads.data(), payloads.data(), static_cast<int>(heads.size()), outputs.data(),
            static_cast<int>(outputs.size())};
  }

 private:
  int used_[dsl::dtype_count] = {};
};

/// A block of the host's memory that the library knows.
using block = dsl::array<unsigned char, 1>;
inline block block_of(const std::vector<unsigned char>& bytes) { return dsl::to_device(bytes); }

/// An operand that lies in a block: `count` contiguous elements, or, for 0, one in memory.
inline operand operand_in(const block& memory, dsl::dtype type, std::int64_t count) {
  operand o;
  const std::int64_t step = 1;
  const auto v = memory.view();
  set_array(o, type, count > 0 ? 1 : 0, v.owner(), v.data(), &count, &step);
  return o;
}
/// A scalar by value, given by the bits of its value.
inline operand scalar_operand(dsl::dtype type, const void* value) {
  operand o;
  o.kind = operand_kind::value;
  o.type = type;
  std::memcpy(o.word, value, static_cast<std::size_t>(dsl::size_of(computed_in(type))));
  return o;
}

/// Runs a program on operands; `results` have the outputs' sizes. `blocks`: the operands' memory.
inline void run_operands(open_cl::device& on, const program_view& p, std::vector<operand> operands,
                         std::int64_t count, const std::vector<block>& blocks,
                         std::vector<std::vector<unsigned char>>& results) {
  std::vector<std::uint64_t> targets;
  std::vector<block> outputs;
  std::map<const void*, std::size_t> ranges;
  for (const block& b : blocks) ranges[b.view().data()] = static_cast<std::size_t>(b.size());
  program_code code{};
  code.inputs = static_cast<int>(operands.size());
  for (int i = 0; i < p.output_count; ++i) {
    targets.push_back(target_word::make(false, i).word);
    outputs.push_back(block_of(results[static_cast<std::size_t>(i)]));
    operands.push_back(operand_in(outputs.back(), p.output(i).type(), count));
    ranges[outputs.back().view().data()] = static_cast<std::size_t>(outputs.back().size());
  }
  code.pass.view.elements = p;
  code.pass.view.targets = targets.data();
  code.pass.view.target_count = p.output_count;
  code.pass.lanes = 1;
  const bound_pass pass(code, operands.data(), {});
  on.run(pass, ranges);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    std::memcpy(results[i].data(), outputs[i].view().data(), results[i].size());
}

/// The same on arrays.
inline void run(open_cl::device& on, const program_view& p, std::int64_t count,
                const std::vector<std::vector<unsigned char>>& arrays,
                std::vector<std::vector<unsigned char>>& results) {
  std::vector<operand> operands(arrays.size());
  std::vector<block> blocks;
  for (const auto& a : arrays) blocks.push_back(block_of(a));
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    if (h.code() != dsl::op::load) continue;
    const auto number = static_cast<std::size_t>(p.payloads[i]);
    operands[number] = operand_in(blocks[number], h.type(), count);
  }
  run_operands(on, p, std::move(operands), count, blocks, results);
}

}  // namespace run_time
