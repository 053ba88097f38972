// Elementwise passes that are made at run time, printed and run on a device.
#pragma once

#include <dsl/exec/run/run.hpp>

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

/// An operand of `count` contiguous elements, of a scalar by value or of one in memory.
inline operand operand_for(operand_kind kind, dsl::dtype type, const void* data,
                           std::int64_t count) {
  operand o;
  o.kind = kind;
  o.type = type;
  if (kind == operand_kind::value) {
    std::memcpy(o.word, data,
                static_cast<std::size_t>(dsl::size_of(dsl::detail::computed_in(type))));
    return o;
  }
  o.word[0] = reinterpret_cast<std::uint64_t>(data);
  if (kind == operand_kind::device_scalar) return o;
  o.rank = 1;
  o.extents[0] = count;
  o.strides[0] = 1;
  return o;
}

/// Runs a program on operands; `results` have the outputs' sizes.
inline void run_operands(open_cl::device& on, const program_view& p,
                         std::vector<operand> operands, std::int64_t count,
                         std::map<const void*, std::size_t> blocks,
                         std::vector<std::vector<unsigned char>>& results) {
  std::vector<std::uint64_t> targets;
  program_code code{};
  code.inputs = static_cast<int>(operands.size());
  for (int i = 0; i < p.output_count; ++i) {
    targets.push_back(target_word::make(false, i).word);
    auto& bytes = results[static_cast<std::size_t>(i)];
    operands.push_back(operand_for(operand_kind::array, p.output(i).type(), bytes.data(), count));
    blocks[bytes.data()] = bytes.size();
  }
  code.pass.view.elements = p;
  code.pass.view.targets = targets.data();
  code.pass.view.target_count = p.output_count;
  code.pass.lanes = 1;
  const bound_pass pass(code, operands.data(), {});
  on.run(pass, blocks);
}

/// The same on arrays.
inline void run(open_cl::device& on, const program_view& p, std::int64_t count,
                const std::vector<std::vector<unsigned char>>& arrays,
                std::vector<std::vector<unsigned char>>& results) {
  std::vector<operand> operands;
  std::map<const void*, std::size_t> blocks;
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    if (h.code() != dsl::op::load) continue;
    const auto number = static_cast<std::size_t>(p.payloads[i]);
    if (operands.size() <= number) operands.resize(number + 1);
    operands[number] =
        operand_for(operand_kind::array, h.type(), arrays[number].data(), count);
    blocks[arrays[number].data()] = arrays[number].size();
  }
  run_operands(on, p, std::move(operands), count, std::move(blocks), results);
}

}  // namespace run_time
