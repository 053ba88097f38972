// Gathered elements on the host: first the addresses of some lanes, then the loads, then the
// formula. A loop that computes an address and loads from it is not vectorised; here everything but
// the loads is.
#pragma once

#include <dsl/exec/reduce/reduction.hpp>

namespace dsl::detail {

/// Gathered elements of some lanes.
template <class Program>
class gathered {
  static constexpr program_view program = Program::view();
  static constexpr bool gathers(int node) { return head{program.heads[node]}.code() == op::gather; }
  static constexpr int nodes = Program::nodes;
  // The length of the longest chain of gathers up to a node: an address may depend on a gathered
  // value.
  static constexpr std::array<int, nodes + 1> depths = [] {
    std::array<int, nodes + 1> made{};
    for (int i = 0; i < nodes; ++i) {
      for (int k = 0; k < operand_count(head{program.heads[i]}.code()); ++k) {
        const int from = node_of(program, reference::of(program.payloads[i], k));
        if (made[static_cast<std::size_t>(from)] > made[static_cast<std::size_t>(i)])
          made[static_cast<std::size_t>(i)] = made[static_cast<std::size_t>(from)];
      }
      if (gathers(i)) ++made[static_cast<std::size_t>(i)];
    }
    return made;
  }();
  static constexpr int count = [] {
    int n = 0;
    for (int i = 0; i < nodes; ++i) n += gathers(i) ? 1 : 0;
    return n;
  }();
  // The nodes that gather.
  static constexpr std::array<int, count + 1> readers = [] {
    std::array<int, count + 1> found{};
    std::size_t n = 0;
    for (int i = 0; i < nodes; ++i)
      if (gathers(i)) found[n++] = i;
    return found;
  }();
  static constexpr int reader_with(std::uint32_t head_word) {
    int r = 0;
    while (program.heads[readers[static_cast<std::size_t>(r)]] != head_word) ++r;
    return r;
  }
  template <int R> static constexpr int node = readers[static_cast<std::size_t>(R)];
  template <int R> static constexpr int depth = depths[static_cast<std::size_t>(node<R>)];
  template <int R> using element = memory_t<head{program.heads[node<R>]}.type()>;

 public:
  static constexpr int lanes = 64;
  /// How often addresses are computed.
  static constexpr int rounds = [] {
    int most = 0;
    for (const int d : depths) most = d > most ? d : most;
    return most;
  }();

  /// For `evaluator::compute_reading`. Each round computes the addresses of its gathers; after the
  /// last one all values are known.
  template <int Round>
  struct round {
    gathered& all;
    int lane;
    template <std::uint32_t Head, class T>
    DSL_DETAIL_FN T read(const T* at) const {
      constexpr int r = reader_with(Head);
      if constexpr (depth<r> <= Round) return nth<r>(all.values_)[static_cast<std::size_t>(lane)];
      if constexpr (depth<r> == Round + 1)
        nth<r>(all.addresses_)[static_cast<std::size_t>(lane)] = at;
      return T{};
    }
  };
  /// Loads from the addresses of a round.
  template <int Round>
  DSL_DETAIL_FN void read() {
    read<Round>(numbers{});
  }

 private:
  using numbers = std::make_index_sequence<static_cast<std::size_t>(count)>;
  template <class Numbers> struct lanes_of;
  template <std::size_t... R>
  struct lanes_of<std::index_sequence<R...>> {
    struct values
        : numbered<static_cast<int>(R), std::array<element<static_cast<int>(R)>, lanes>>... {};
    struct addresses
        : numbered<static_cast<int>(R), std::array<const element<static_cast<int>(R)>*, lanes>>... {
    };
  };
  template <int Round, std::size_t... R>
  DSL_DETAIL_FN void read(std::index_sequence<R...>) {
    (read_one<Round, static_cast<int>(R)>(), ...);
  }
  template <int Round, int R>
  DSL_DETAIL_FN void read_one() {
    if constexpr (depth<R> == Round + 1)
      for (std::size_t l = 0; l < lanes; ++l) nth<R>(values_)[l] = *nth<R>(addresses_)[l];
  }

  typename lanes_of<numbers>::values values_;
  typename lanes_of<numbers>::addresses addresses_;
};

}  // namespace dsl::detail
