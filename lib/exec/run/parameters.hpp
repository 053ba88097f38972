// A kernel's parameters as bytes, since the launcher does not know the kernel's type.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>

#include <dsl/exec/run/run.hpp>
#include <dsl/exec/team/arguments.hpp>

#include "exec/plan/layout.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

/// The `argument::descriptor` of an operand that is neither a reduction's result nor a tile in
/// shared memory.
inline std::uint64_t descriptor_of(const operand* operands, int k, const geometry& g,
                                   const pass_view& pass) {
  const operand& o = operands[k];
  const bool reads_neighbours = k < max_inputs && (pass.neighbours.operands >> k & 1) != 0;
  const reach how = g.layouts[k].how == access::wide ? in_vectors : by_elements;
  // In a linear kernel an element's position is its number, so an address that all elements share
  // must not move: its unit is 0.
  const std::int64_t unit = g.linear && is_one_address(g, o, k) ? 0 : o.size;
  const std::uint64_t reached =
      o.kind == operand_kind::address ? static_cast<std::uint64_t>(unit) : how;
  if (o.kind == operand_kind::value || o.kind == operand_kind::device_scalar) return o.word[1];
  if (o.kind != operand_kind::step && !reads_neighbours)
    return o.kind == operand_kind::index ? 0 : reached;
  std::uint32_t single = 0;
  for (int axis = 0; axis < max_rank; ++axis)
    single |= dimension_of_axis(g, o, axis) < 0 ? 1u << axis : 0;
  const int dimension = g.dimension[o.axis];
  const std::int64_t n = dimension < 0 ? 1 : g.extents[dimension];
  const path_step step{o.axis, o.beyond, least_distance(o.beyond, o.distance, n)};
  return neighbour_word::make(reached, step, single).word;
}

/// Computes `tiling::dimension_of_axis`.
inline std::uint32_t dimensions_of_axes(const geometry& g) {
  std::uint32_t all = 0;
  for (int axis = 0; axis < max_rank; ++axis) {
    const int d = g.dimension[axis] < 0 ? tiling::no_dimension : g.rank - 1 - g.dimension[axis];
    all |= static_cast<std::uint32_t>(d) << 4 * axis;
  }
  return all;
}

/// Writes all kernels' parameters. They must be added in the order of the members of
/// `linear_arguments`, `strided_arguments` or a struct derived from one, and get the same offsets.
class kernel_parameters {
 public:
  explicit kernel_parameters(const argument_header& header) { put(header); }
  /// Throws memory_error if there is no room, which is an error in the library.
  template <class T> void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignment);
    used_ = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    if (used_ + sizeof(T) > sizeof bytes_)
      raise<memory_error>("a kernel's parameters exceed " + std::to_string(sizeof bytes_) +
                          " bytes");
    std::memcpy(bytes_ + used_, &value, sizeof(T));
    used_ += sizeof(T);
  }
  void put_strides(const geometry& g, int operands) {
    for (int k = 0; k < operands; ++k)
      for (int d = 0; d < max_rank; ++d)
        put(d < g.rank ? g.layouts[k].strides[g.rank - 1 - d] : std::int64_t{0});
  }
  argument_header& header() { return *reinterpret_cast<argument_header*>(bytes_); }
  /// The parameter that was added last.
  template <class T> T& last() { return *reinterpret_cast<T*>(bytes_ + used_ - sizeof(T)); }
  /// As `reduction_schedule::take_neighbours`.
  void take_neighbours(std::int64_t first, std::int64_t blocks) {
    header().reduction.take_neighbours(header().tiles, first, blocks);
  }
  /// The first member of the parameters, which a launch fills in.
  block_range* range() { return &header().range; }

 private:
  // Bytes for parameters other than the operands' addresses and strides. A loop by tiles has two
  // more addresses for each operand, which need as many bytes as the halos' fields.
  static constexpr std::size_t other_bytes =
      256 + sizeof(halo_tiles) + max_operands * 2 * sizeof(std::uint64_t);
  static constexpr std::size_t alignment = 16;
  alignas(alignment) unsigned char bytes_[sizeof(argument_header) + sizeof(tiling) +
                                          max_operands *
                                              (sizeof(argument) + max_rank * sizeof(std::int64_t)) +
                                          other_bytes];
  std::size_t used_ = 0;
};

/// The parameters of a pass's kernel for a plan.
kernel_parameters pass_parameters(const program_code& code, const operand* operands,
                                  const geometry& g, const reduction_plan& p,
                                  const pass_run& now = {});

}  // namespace dsl::detail
