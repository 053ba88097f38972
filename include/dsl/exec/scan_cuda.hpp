// Scans on the GPU, in files that nvcc compiles.
#pragma once

#include <dsl/exec/cuda.hpp>
#include <dsl/exec/scan_kernel.hpp>
#include <dsl/exec/tagged.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

template <class Operator, class Part>
struct scan_block_team {
  using values = Part;
  using V = decltype(Part::value);
  using slot = tagged<V>;
  static constexpr int warps = scan_block_threads / 32;

  values* of_warp;  // 32 in shared memory

  __device__ static values none() { return {}; }
  __device__ static values join(const values& a, const values& b) { return detail::join<Operator>(a, b); }
  __device__ static bool is_headed(const values& v) { return v.is_headed(); }
  __device__ static bool is_first_warp() { return threadIdx.x < 32; }
  __device__ static void synchronize() { __syncthreads(); }

  __device__ static values shift_up(const values& v, int step) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return from_lane(v, lane - step).where(lane >= step);
  }
  __device__ static values from_lane(const values& v, int lane) {
    const auto shuffle = [lane](unsigned word) { return __shfl_sync(0xffffffffu, word, lane); };
    values from = v;
    from.value = block_team::by_words(v.value, shuffle);
    if constexpr (requires { v.state; }) from.state = static_cast<segment_state>(shuffle(v.tag()));
    return from;
  }

  __device__ void leave_warp_total(int round, const values& scanned) const {
    if (threadIdx.x % 32 == 31) of_warp[round * warps + threadIdx.x / 32] = scanned;
  }
  template <int Rounds> __device__ values warp_totals() const { return threadIdx.x < Rounds * warps ? of_warp[threadIdx.x] : none(); }
  __device__ void leave_prefixes(const values& v) const { of_warp[threadIdx.x] = v; }
  __device__ values warp_prefix(int round) const { return of_warp[round * warps + threadIdx.x / 32]; }

  __device__ static void publish(slot* to, const values& v) {
    if (threadIdx.x == 0) slot(v.value, v.tag()).publish(to);
  }
  /// At most 32 slots, one a lane.
  struct request_type {
    const slot* from;
    unsigned count;
    slot seen;
  };
  __device__ static request_type request(const slot* from, unsigned count) {
    request_type r{from + threadIdx.x, count, {}};
    if (threadIdx.x < count) r.seen.read(r.from);
    return r;
  }
  __device__ static values wait_for(request_type& r) {
    if (threadIdx.x < r.count)
      while (r.seen.tag() == 0) r.seen.read(r.from);
    __syncwarp();
    return values::of(r.seen.value(), threadIdx.x < r.count ? r.seen.tag() : 0);
  }
};

/// Blocks that a multiprocessor is to hold: many, for most of their time is spent waiting, but with 40 registers they spill.
inline constexpr int scan_blocks = 5;

/// One pass: every element is read once, and written once its predecessors are known. Blocks take tiles in the order in which they
/// start, so that a block waits only for such as run already.
template <class Scan, bool Rows, class Arguments>
__global__ void __launch_bounds__(scan_block_threads, scan_blocks) scan_rows(const __grid_constant__ scan_arguments<Arguments> args) {
  using body = scan_thread<Scan, Rows, Arguments, device_memory>;
  using team_type = scan_block_team<typename Scan::combine, typename body::part>;
  constexpr int rounds = body::rounds;
  __shared__ unsigned ticket;
  __shared__ alignas(16) unsigned char shared[32 * sizeof(typename team_type::values)];
  __shared__ typename body::elements elements[rounds * scan_block_threads];  // there, not in registers, while predecessors are waited for
  if (threadIdx.x == 0) ticket = atomicAdd(args.scan.ticket, 1u);
  __syncthreads();
  const unsigned tile = ticket;
  const int number = static_cast<int>(threadIdx.x);

  body thread(args, device_memory{});
  typename body::group groups[rounds];
  thread.read_rounds(tile, number, groups);
  const std::int64_t place = thread.place_in_row(tile);
  typename body::marks marks[rounds];
  typename team_type::values values[rounds];
  DSL_DETAIL_UNROLL
  for (int r = 0; r < rounds; ++r) {
    typename body::elements x;
    marks[r] = thread.evaluate(tile, r, number, place, groups[r], x);
    values[r] = thread.total(x, marks[r]);
    elements[r * scan_block_threads + number] = x;
  }
  team_type team{reinterpret_cast<typename team_type::values*>(shared)};
  scan_block(team, values, [&](const auto& total) { return look_back(team, args.scan, tile, place == 0, total); });
  DSL_DETAIL_UNROLL
  for (int r = 0; r < rounds; ++r) thread.write_round(tile, r, number, values[r], elements[r * scan_block_threads + number], marks[r]);
}

/// Neighbouring threads take neighbouring columns.
template <class Scan, class Arguments>
__global__ void __launch_bounds__(scan_block_threads, 2) scan_columns(const __grid_constant__ scan_arguments<Arguments> args, bool last) {
  scan_thread<Scan, true, Arguments, device_memory>(args, device_memory{}).scan_columns(blockIdx.x, static_cast<int>(threadIdx.x), last);
}

/// The chunks' totals become what comes before each in its column: a thread takes a column, or a block where a column has many.
template <class Operator, class V>
__global__ void __launch_bounds__(scan_block_threads) scan_column_totals(const scan_parameters scan) {
  using part = part_of_row<Operator, V>;
  using team_type = scan_block_team<Operator, part>;
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
  const auto visit = [&](const auto& take) {
    constexpr int ahead = 8;  // whose loads are on the way together
    for (std::int64_t k = first; k < end; k += ahead) {
      V mine[ahead];
      DSL_DETAIL_UNROLL
      for (int i = 0; i < ahead; ++i)
        if (k + i < end) mine[i] = totals[(k + i) * scan.across];
      DSL_DETAIL_UNROLL
      for (int i = 0; i < ahead; ++i)
        if (k + i < end) take(k + i, part::of(mine[i], 1));
    }
  };
  if (!alone) {
    visit([&](std::int64_t, const auto& mine) { values[0] = team.join(values[0], mine); });
    scan_block(team, values, [&](const auto&) { return team.none(); });
  }
  auto run = team.none();
  visit([&](std::int64_t k, const auto& mine) {
    if ((k - first) % totals_run == 0) values[0] = team.join(values[0], run), run = team.none();
    totals[k * scan.across] = team.join(values[0], run).value;
    run = team.join(run, mine);
  });
}

#endif  // __CUDACC__

}  // namespace dsl::detail
