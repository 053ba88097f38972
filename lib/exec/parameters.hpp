// A kernel's parameters, as bytes: the launcher does not know the kernel.
#pragma once

#include <cstring>

#include <dsl/exec/run.hpp>

namespace dsl::detail {

/// An operand's `argument::descriptor`, but for a reduction's result and for tiles in shared memory.
inline std::uint64_t descriptor_of(const operand& o, const operand_layout& w, int rank) {
  const reach how = w.how == access::wide ? in_vectors : by_elements;
  if (o.kind == operand_kind::array) return how;
  if (o.kind == operand_kind::address) return static_cast<std::uint64_t>(o.size);
  if (o.kind == operand_kind::neighbour)
    return neighbour_word::make(how, o.beyond, w.axis < 0 ? neighbour_word::no_dimension : rank - 1 - w.axis, o.distance).word;
  return o.word[1];
}

/// Whether all arrays are reached in whole vectors.
inline bool are_in_vectors(const operand* operands, const geometry& g, int count) {
  for (int k = 0; k < count; ++k)
    if (operands[k].kind <= operand_kind::neighbour && descriptor_of(operands[k], g.layouts[k], g.rank) != in_vectors)
      return false;
  return true;
}

/// Filled from front to back, in the order of `linear_arguments` or `strided_arguments`.
class kernel_parameters {
 public:
  explicit kernel_parameters(const argument_header& header) { put(header); }
  template <class T> void put(const T& value) {
    std::memcpy(bytes_ + used_, &value, sizeof(T));
    used_ += sizeof(T);
  }
  void put_strides(const geometry& g, int operands) {
    for (int k = 0; k < operands; ++k)
      for (int d = 0; d < max_rank; ++d) put(d < g.rank ? g.layouts[k].strides[g.rank - 1 - d] : std::int64_t{0});
  }
  argument_header& header() { return *reinterpret_cast<argument_header*>(bytes_); }
  void* data() { return bytes_; }

 private:
  static constexpr std::size_t beside = 256;  // for what a kernel takes beside its operands
  alignas(16) unsigned char bytes_[sizeof(argument_header) + sizeof(tiling) +
                                   max_operands * (sizeof(argument) + max_rank * sizeof(std::int64_t)) + beside];
  std::size_t used_ = 0;
};

/// Those of a pass's kernel for a plan; `recorded` and `stop` as `prepared::run`'s.
kernel_parameters pass_parameters(const program_code& code, const operand* operands, const geometry& g, const reduction_plan& p,
                                  const std::uint64_t* recorded = nullptr, const bool* stop = nullptr);

}  // namespace dsl::detail
