// The kernel of a selection: writes elements that fulfil a condition one after another, in one
// pass.
#pragma once

#include <dsl/exec/by_key/warp_tiles.hpp>
#include <dsl/exec/scan/scan_kernel.hpp>

namespace dsl::detail {

/// Parameters in addition to the operands: the inputs, one that stands for the condition, and the
/// targets, whose `argument::descriptor` is the distance between elements.
struct compress_parameters {
  scan_parameters scan;   // For the blocks' exchange of their counts.
  std::int64_t* count;    // The number of selected elements.
  std::int64_t capacity;  // Elements of the targets: further ones are not written.
};
template <class Arguments> struct compress_arguments : without_leads<Arguments> {
  compress_parameters compress;
};

/// A pass whose first output is the condition, and the program that adds counts.
template <class Pass, class Count, int Inputs>
struct compress_program {
  using pass = Pass;
  using count = Count;
  static constexpr int inputs = Inputs;
  static constexpr int lanes = lanes_of_pass<Pass>;
  /// Tiles that a warp takes, a power of two: a thread keeps its results in up to 32 registers, and
  /// a bit for each element.
  static constexpr int rounds = [] {
    int bytes = 0;
    for (int k = 1; k < Pass::targets; ++k) bytes += size_of(Pass::elements::output(k).type());
    int most = 1;
    while (most < 8 && 2 * most * lanes <= 32 && 2 * most * lanes * bytes <= 128) most *= 2;
    return most;
  }();
};

template <class Compress, class Arguments, class Memory, class Team>
DSL_DETAIL_KERNEL_FN void run_compress(const compress_arguments<Arguments>& args, Memory memory,
                                       Team team) {
  using pass = typename Compress::pass;
  using body = warp_tiles<pass, Compress::inputs, Arguments, Memory, Team::warp_size>;
  using eval = typename body::eval;
  constexpr int lanes = body::lanes, rounds = Compress::rounds,
                warps = scan_block_threads / Team::warp_size;
  constexpr scan_policy policy = scan_policy_of<pass>(Memory::compute_capability, Team::warp_size);
  constexpr int ahead = policy.vectors_ahead < rounds ? policy.vectors_ahead : rounds;
  static_assert(rounds * lanes <= 32 && rounds % ahead == 0);

  unsigned* const ticket = team.template shared<struct ticket_of_block, unsigned, 1>();
  if (team.thread() == 0) memory.store(ticket, team.next_ticket(args.compress.scan.ticket));
  team.synchronize();
  const auto tile = memory.template load<unsigned>(ticket);
  const std::int64_t first = (static_cast<std::int64_t>(tile) * warps + team.warp()) * rounds;

  body thread(args, memory);
  typename eval::results value[rounds * lanes];
  unsigned chosen = 0;
  const bool whole = thread.are_whole_to(first + rounds - 1);
  DSL_DETAIL_UNROLL
  for (int r = 0; r < rounds; r += ahead) {
    typename body::group g[ahead];
    if (whole) {
      DSL_DETAIL_UNROLL
      for (int k = 0; k < ahead; ++k) thread.read_whole(g[k], first + r + k, team.lane());
    } else {
      DSL_DETAIL_UNROLL
      for (int k = 0; k < ahead; ++k) thread.read(g[k], first + r + k, team.lane());
    }
    DSL_DETAIL_UNROLL
    for (int k = 0; k < ahead; ++k) {
      if (g[k].count <= 0) continue;
      const auto out = thread.compute(g[k]);
      DSL_DETAIL_UNROLL
      for (int l = 0; l < lanes; ++l) {
        value[(r + k) * lanes + l] = out.of[l];
        if (l < g[k].count && nth<0>(out.of[l])) chosen |= 1u << ((r + k) * lanes + l);
      }
    }
  }

  // Counts the selected elements before a thread's in its warp's tiles, two tiles at a time.
  constexpr unsigned of_group = lanes == 32 ? ~0u : (1u << lanes) - 1;
  unsigned before[rounds], total = 0;
  DSL_DETAIL_UNROLL
  for (int r = 0; r < rounds; r += 2) {
    const auto of_tile = [&](int number) {
      return static_cast<unsigned>(
          number < rounds ? count_bits(chosen >> (number * lanes % 32) & of_group) : 0);
    };
    const unsigned mine = of_tile(r) | of_tile(r + 1) << 16;
    const unsigned sum = sum_up_to_lane(mine, team);
    const unsigned all = team.from_lane(sum, Team::warp_size - 1);
    before[r] = total + ((sum - mine) & 0xffff);
    total += all & 0xffff;
    if (r + 1 < rounds) before[r + 1] = total + ((sum - mine) >> 16);
    total += all >> 16;
  }

  using segment_type = one_row_segment<std::int64_t>;
  const segment_scan<typename Compress::count, segment_type, Memory, Team, true> scan(memory, team);
  const segment_type own{team.lane() == 0 ? static_cast<std::int64_t>(total) : 0, true};
  const segment_type earlier = scan.scan_block(own, [&](const segment_type& all) {
    return scan.look_back(args.compress.scan, tile, tile == 0, all, policy.pause);
  });
  const std::int64_t place = team.from_lane(earlier.is_none() ? std::int64_t{0} : earlier.value, 0);
  if (tile + 1 == team.blocks() && team.thread() == scan_block_threads - Team::warp_size)
    memory.store(args.compress.count, place + static_cast<std::int64_t>(total));

  DSL_DETAIL_UNROLL
  for (int r = 0; r < rounds; ++r) {
    std::int64_t at = place + before[r];
    DSL_DETAIL_UNROLL
    for (int l = 0; l < lanes; ++l) {
      if ((chosen >> (r * lanes + l) & 1) == 0) continue;
      if (at < args.compress.capacity) thread.store_at(at, value[r * lanes + l]);
      ++at;
    }
  }
}

}  // namespace dsl::detail

#if defined(__CUDACC__)
namespace dsl::kernels {

template <class Name, class Arguments, class Compress>
__global__ void __launch_bounds__(detail::scan_block_threads)
    compress(const __grid_constant__ detail::compress_arguments<Arguments> args) {
  detail::run_compress<Compress>(args, detail::device_memory{}, detail::team_of_launch(args.range));
}

}  // namespace dsl::kernels
#endif

namespace dsl::detail {

template <class Compress, class Arguments>
struct compress_kernel {
  DSL_DETAIL_SMALL static void simulated(const void* arguments, simulated_thread& self) {
    run_compress<Compress>(*static_cast<const compress_arguments<Arguments>*>(arguments),
                           simulated_memory{&self}, simulated_team{&self});
  }
#if defined(__CUDACC__)
  template <class Name>
  static const void* with_name() {
    return reinterpret_cast<const void*>(&kernels::compress<Name, Arguments, Compress>);
  }
#endif
};

}  // namespace dsl::detail
