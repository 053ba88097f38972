// Scans in the simulator: the GPU's blocks one after another, with every access checked.
#pragma once

#include <dsl/exec/scan_kernel.hpp>
#include <dsl/exec/sim.hpp>
#include <dsl/exec/tagged.hpp>

namespace dsl::detail {

/// What a scan does on the GPU, block by block. The accesses that are checked are those of the operands and of the columns' totals.
struct simulated_scan {
  void (*rows)(const void* arguments, checked_ranges&, std::int64_t tile);
  void (*columns)(const void* arguments, checked_ranges&, std::int64_t block, bool last);
  void (*column_totals)(const scan_parameters&, std::int64_t column);
};

/// A block waits for one that has not run: the order of the tiles is wrong. Throws memory_error.
[[noreturn]] void throw_scan_deadlock();

// All threads of a block at once, or a warp's.
template <class Operator, class Part>
struct simulated_scan_team {
  using V = decltype(Part::value);
  using slot = tagged<V>;
  using values = per_thread<Part>;
  static constexpr int warps = scan_block_threads / 32;

  values of_warp = none();

  static values none() { return values(32); }
  static values join(const values& a, const values& b) {
    values joined = a;
    for (std::size_t t = 0; t < a.size(); ++t) joined[t] = detail::join<Operator>(a[t], b[t]);
    return joined;
  }
  static bool is_headed(const values& v) { return v[0].is_headed(); }
  static constexpr bool is_first_warp() { return true; }
  static void synchronize() {}

  static values shift_up(const values& v, int step) {
    values shifted(v.size());
    for (std::size_t t = 0; t < v.size(); ++t)
      if (t % 32 >= static_cast<std::size_t>(step)) shifted[t] = v[t - static_cast<std::size_t>(step)].where(true);
    return shifted;
  }
  static values from_lane(const values& v, int lane) { return values(32, v[static_cast<std::size_t>(lane)]); }

  void leave_warp_total(int round, const values& scanned) {
    for (int w = 0; w < warps; ++w) of_warp[static_cast<std::size_t>(round * warps + w)] = scanned[static_cast<std::size_t>(32 * w + 31)];
  }
  template <int Rounds> values warp_totals() const {
    values v = of_warp;
    for (std::size_t i = Rounds * warps; i < 32; ++i) v[i] = {};
    return v;
  }
  void leave_prefixes(const values& v) { of_warp = v; }
  values warp_prefix(int round) const {
    values v;
    for (int t = 0; t < scan_block_threads; ++t) v.push_back(of_warp[static_cast<std::size_t>(round * warps + t / 32)]);
    return v;
  }

  static void publish(slot* to, const values& v) { *to = slot(v[0].value, v[0].tag()); }
  struct request_type {
    const slot* from;
    unsigned count;
  };
  static request_type request(const slot* from, unsigned count) { return {from, count}; }
  static values wait_for(const request_type& r) {
    values v = none();
    for (unsigned i = 0; i < r.count; ++i) {
      if (r.from[i].tag() == 0) throw_scan_deadlock();
      v[i] = Part::of(r.from[i].value(), r.from[i].tag());
    }
    return v;
  }
};

template <class Scan, bool Rows, class Arguments>
struct simulated_scan_rows {
  using body = scan_thread<Scan, Rows, Arguments, checked_memory>;
  using team_type = simulated_scan_team<typename Scan::combine, typename body::part>;

  DSL_DETAIL_SMALL static void run(const void* arguments, checked_ranges& allowed, std::int64_t tile) {
    const auto& args = *static_cast<const scan_arguments<Arguments>*>(arguments);
    body thread(args, checked_memory{&allowed, nullptr});
    const std::int64_t place = thread.place_in_row(tile);
    sequence<typename body::elements> x(scan_block_threads * body::rounds, {});
    sequence<typename body::marks> marks(x.size(), {});
    typename team_type::values values[body::rounds];
    const auto at = [](int r, int t) { return static_cast<std::size_t>(r * scan_block_threads + t); };
    int& t = allowed.thread;
    for (t = 0; t < scan_block_threads; ++t) {
      typename body::group groups[body::rounds];
      thread.read_rounds(tile, t, groups);
      for (int r = 0; r < body::rounds; ++r) {
        marks[at(r, t)] = thread.evaluate(tile, r, t, place, groups[r], x[at(r, t)]);
        values[r].push_back(body::total(x[at(r, t)], marks[at(r, t)]));
      }
    }
    team_type team;
    scan_block(team, values, [&](const auto& total) {
      return look_back(team, args.scan, static_cast<unsigned>(tile), place == 0, total);
    });
    for (t = 0; t < scan_block_threads; ++t)
      for (int r = 0; r < body::rounds; ++r) thread.write_round(tile, r, t, values[r][static_cast<std::size_t>(t)], x[at(r, t)], marks[at(r, t)]);
  }
};

template <class Scan, class Arguments>
struct simulated_scan_columns {
  using V = typename Scan::value;

  DSL_DETAIL_SMALL static void run(const void* arguments, checked_ranges& allowed, std::int64_t block, bool last) {
    const auto& args = *static_cast<const scan_arguments<Arguments>*>(arguments);
    for (allowed.thread = 0; allowed.thread < scan_block_threads; ++allowed.thread)
      scan_thread<Scan, true, Arguments, checked_memory>(args, checked_memory{&allowed, nullptr}).scan_columns(block, allowed.thread, last);
  }
  DSL_DETAIL_SMALL static void totals(const scan_parameters& scan, std::int64_t column) {
    const std::int64_t outer = column / scan.across;
    V* const of_chunk = static_cast<V*>(scan.totals) + outer * scan.chunks * scan.across + (column - outer * scan.across);
    using combine = typename Scan::combine;
    stretch<V> before{}, run{};
    for (std::int64_t k = 0; k < scan.chunks; ++k) {
      const stretch<V> mine{of_chunk[k * scan.across], true};
      if (k % totals_run == 0) before = join<combine>(before, run), run = {};
      of_chunk[k * scan.across] = join<combine>(before, run).value;
      run = join<combine>(run, mine);
    }
  }
};

}  // namespace dsl::detail
