// Scans on the GPU, in files that nvcc compiles.
#pragma once

#include <dsl/exec/cuda.hpp>
#include <dsl/exec/scan_kernel.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

template <class Operator, class V>
struct scan_block_team {
  using values = segment<V>;
  using slot = segment_slot<V>;
  static constexpr int warps = scan_block_threads / 32;

  values* of_warp;  // 32 in shared memory

  __device__ static values none() { return {V{}, segment_state::none}; }
  __device__ static values join(const values& a, const values& b) { return detail::join<Operator>(a, b); }
  __device__ static bool is_headed(const values& v) { return v.state == segment_state::headed; }
  __device__ static bool is_first_warp() { return threadIdx.x < 32; }
  __device__ static void synchronize() { __syncthreads(); }

  __device__ static values shift_up(const values& v, int step) {
    const values from = shuffle(v, static_cast<int>(threadIdx.x % 32) - step);
    return static_cast<int>(threadIdx.x % 32) >= step ? from : none();
  }
  __device__ static values last_of_warp(const values& v) { return shuffle(v, 31); }

  __device__ void leave_warp_total(int round, const values& scanned) const {
    if (threadIdx.x % 32 == 31) of_warp[round * warps + threadIdx.x / 32] = scanned;
  }
  template <int Rounds> __device__ values warp_totals() const { return threadIdx.x < Rounds * warps ? of_warp[threadIdx.x] : none(); }
  __device__ void leave_prefixes(const values& v) const { of_warp[threadIdx.x] = v; }
  __device__ values warp_prefix(int round) const { return of_warp[round * warps + threadIdx.x / 32]; }

  /// The value is in memory before the state that says so, and is read after it.
  __device__ static void publish(slot* to, const values& v) {
    if (threadIdx.x != 0) return;
    std::uint32_t word[slot::words] = {};
    memcpy(word, &v.value, sizeof(V));
    for (int i = 0; i < slot::words; ++i) *static_cast<volatile std::uint32_t*>(&to->word[i]) = word[i];
    __threadfence();
    *static_cast<volatile std::uint32_t*>(&to->state) = static_cast<std::uint32_t>(v.state);
  }
  __device__ static values wait_for(const slot* slots, unsigned count) {
    values v = none();
    if (threadIdx.x < count) {
      const slot& from = slots[threadIdx.x];
      while (v.state == segment_state::none) v.state = static_cast<segment_state>(*static_cast<const volatile std::uint32_t*>(&from.state));
      __threadfence();
      std::uint32_t word[slot::words];
      for (int i = 0; i < slot::words; ++i) word[i] = *static_cast<const volatile std::uint32_t*>(&from.word[i]);
      memcpy(&v.value, word, sizeof(V));
    }
    __syncwarp();
    return v;
  }

 private:
  __device__ static values shuffle(const values& v, int lane) {
    std::uint32_t word[slot::words] = {};
    memcpy(word, &v.value, sizeof(V));
    values from;
    for (int i = 0; i < slot::words; ++i) word[i] = __shfl_sync(0xffffffffu, word[i], lane);
    memcpy(&from.value, word, sizeof(V));
    from.state = static_cast<segment_state>(__shfl_sync(0xffffffffu, static_cast<std::uint32_t>(v.state), lane));
    return from;
  }
};

/// One pass: every element is read once, and written once its predecessors are known. Blocks take tiles in the order in which they
/// start, so that a block waits only for such as run already.
template <class Scan, class Arguments>
__global__ void __launch_bounds__(scan_block_threads, 2) scan_rows(const __grid_constant__ scan_arguments<Arguments> args) {
  using body = scan_thread<Scan, Arguments, device_memory>;
  using team_type = scan_block_team<typename Scan::combine, typename Scan::value>;
  constexpr int rounds = body::rounds;
  __shared__ unsigned ticket;
  __shared__ alignas(16) unsigned char shared[32 * sizeof(typename team_type::values)];
  if (threadIdx.x == 0) ticket = atomicAdd(args.scan.ticket, 1u);
  __syncthreads();
  const unsigned tile = ticket;
  const int number = static_cast<int>(threadIdx.x);

  body thread(args, device_memory{nullptr});
  typename body::group groups[rounds];
  thread.read_rounds(tile, number, groups);
  const std::int64_t place = thread.place_in_row(tile);
  typename body::elements x[rounds];
  typename team_type::values values[rounds];
  DSL_DETAIL_UNROLL
  for (int r = 0; r < rounds; ++r) {
    x[r] = thread.evaluate(tile, r, number, place, groups[r]);
    values[r] = thread.total(x[r]);
  }
  team_type team{reinterpret_cast<typename team_type::values*>(shared)};
  scan_block(team, values, [&](const auto& total) { return look_back<typename team_type::slot>(team, args.scan, tile, place == 0, total); });
  DSL_DETAIL_UNROLL
  for (int r = 0; r < rounds; ++r) thread.write_round(tile, r, number, values[r], x[r]);
}

/// Neighbouring threads take neighbouring columns.
template <class Scan, class Arguments>
__global__ void __launch_bounds__(scan_block_threads, 2) scan_columns(const __grid_constant__ scan_arguments<Arguments> args, bool last) {
  scan_thread<Scan, Arguments, device_memory>(args, device_memory{nullptr}).scan_columns(blockIdx.x, static_cast<int>(threadIdx.x), last);
}

/// The chunks' totals become what comes before each in its column: a thread takes a column, or a block where a column has many.
template <class Operator, class V>
__global__ void __launch_bounds__(scan_block_threads) scan_column_totals(const scan_parameters scan) {
  using team_type = scan_block_team<Operator, V>;
  __shared__ alignas(16) unsigned char shared[32 * sizeof(typename team_type::values)];
  const bool alone = scan.chunks <= scan_block_threads;
  const std::int64_t column = alone ? static_cast<std::int64_t>(blockIdx.x) * scan_block_threads + threadIdx.x : blockIdx.x;
  if (column >= scan.columns) return;
  const std::int64_t outer = column / scan.across;
  V* const totals = static_cast<V*>(scan.totals) + outer * scan.chunks * scan.across + (column - outer * scan.across);
  const std::int64_t each = alone ? scan.chunks : (scan.chunks + scan_block_threads - 1) / scan_block_threads;
  const std::int64_t first = alone ? 0 : threadIdx.x * each, end = first + each < scan.chunks ? first + each : scan.chunks;
  team_type team{reinterpret_cast<typename team_type::values*>(shared)};
  typename team_type::values values[1] = {team.none()};
  if (!alone) {
    for (std::int64_t k = first; k < end; ++k) values[0] = team.join(values[0], {totals[k * scan.across], segment_state::open});
    scan_block(team, values, [&](const auto&) { return team.none(); });
  }
  for (std::int64_t k = first; k < end; ++k) {
    const segment<V> mine{totals[k * scan.across], segment_state::open};
    totals[k * scan.across] = values[0].value;
    values[0] = team.join(values[0], mine);
  }
}

#endif  // __CUDACC__

}  // namespace dsl::detail
