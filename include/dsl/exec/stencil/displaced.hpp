// Displaced reads: each array is read at one place, and a thread loads its neighbours from memory
// without a tile.
#pragma once

#include <dsl/exec/stencil/near.hpp>

namespace dsl::detail {

/// Bytes read and written an element. With at least as many, a thread for each element is as fast
/// as vectors (docs/lab.md).
inline constexpr int least_displaced_bytes = 24;

/// Whether a pass reads each array at one place, near the element, and at least one array at a
/// displaced place. Such a pass gains nothing from neighbours that are kept on chip.
template <class Pass>
constexpr bool reads_displaced() {
  using program = typename Pass::elements;
  constexpr program_view p = program::view();
  bool any = false;
  int bytes = 0;
  for (int i = 0; i < p.nodes; ++i) {
    const op code = head{p.heads[i]}.code();
    if (code != op::load && !is_placed(code)) continue;
    const near_place& place = near_places<program>[static_cast<std::size_t>(i)];
    if (!place.is_near) return false;
    if (code == op::inside) continue;
    any = any || code == op::neighbour;
    bytes += size_of(head{p.heads[i]}.type());
    for (int k = 0; k < i; ++k) {
      const op other = head{p.heads[k]}.code();
      if ((other == op::load || other == op::neighbour) && operand_read(p, k) == operand_read(p, i))
        return false;
    }
  }
  for (int k = 0; k < Pass::targets; ++k)
    if (!Pass::is_result(k))
      bytes += size_of(
          program::output(target_word{Pass::target_words[static_cast<std::size_t>(k)]}.output())
              .type());
  return any && bytes >= least_displaced_bytes && !calls_functors<program>;
}

/// Elements that a thread takes side by side: one with displaced reads, because vectors would not
/// be aligned.
template <class Pass, class Arguments>
inline constexpr int lanes_of_kernel = takes_displaced<Arguments> ? 1 : lanes_of_pass<Pass>;

/// The different steps of a program's near neighbours: `near_place::steps` one by one.
template <class Program>
struct displaced_steps {
  static constexpr int most = 3 * Program::nodes + 1;
  std::array<std::uint32_t, static_cast<std::size_t>(most)> word{};
  int count = 0;

  constexpr int number_of(std::uint32_t step) const {
    int k = 0;
    while (k < count && word[static_cast<std::size_t>(k)] != step) ++k;
    return k;
  }
  static constexpr std::uint32_t step_in(std::uint64_t steps, int number) {
    return static_cast<std::uint32_t>(steps >> near_place::step_bits * number) &
           ((1u << near_place::step_bits) - 1);
  }
  constexpr displaced_steps() {
    const program_view p = Program::view();
    for (int i = 0; i < p.nodes; ++i) {
      if (!is_placed(head{p.heads[i]}.code())) continue;
      const near_place place = near_place_of(p, i);
      for (int s = 0; s < near_place::axes; ++s)
        if (const std::uint32_t step = step_in(place.steps, s); (step & 1) != 0)
          if (const int k = number_of(step); k == count)
            word[static_cast<std::size_t>(count++)] = step;
    }
  }
};

template <class Program> inline constexpr displaced_steps<Program> steps_of{};

/// Reads a thread's element of each operand. All steps are taken once; the place of a neighbour is
/// the sum of at most three of them.
template <class Body>
class displaced_reader {
  using program = typename Body::program;
  static constexpr int count = steps_of<program>.count;

 public:
  DSL_DETAIL_KERNEL_FN displaced_reader(const Body& body, typename Body::group& g)
      : body_(body), g_(g) {
    const displaced_space& space = body.args.space_of;
    const auto number = static_cast<std::uint32_t>(g.first), line = space.columns.divide(number),
               plane = space.rows.divide(line);
    const std::int32_t at[] = {
        static_cast<std::int32_t>(number) - static_cast<std::int32_t>(line) * space.extents[0],
        static_cast<std::int32_t>(line) - static_cast<std::int32_t>(plane) * space.extents[1],
        static_cast<std::int32_t>(plane)};
    const std::int32_t stride[] = {1, space.extents[0], space.extents[0] * space.extents[1]};
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (take<K>(at, stride, space.extents), ...);
    }(std::make_integer_sequence<int, count>{});
  }

  template <op Code, dtype D, int N, std::uint32_t Head>
  DSL_DETAIL_KERNEL_FN void read() {
    if constexpr (!is_placed(Code)) {
      body_.template read<Code, D, N, Head>(g_);
    } else {
      auto place = static_cast<std::int32_t>(g_.first);
      bool exists = true;
      const auto follow = [&]<int S>(std::integral_constant<int, S>) {
        constexpr std::uint32_t step =
            displaced_steps<program>::step_in(place_with_head<program, Head>.steps, S);
        if constexpr ((step & 1) != 0) {
          constexpr int k = steps_of<program>.number_of(step);
          place += moved_[k];
          exists = exists && exists_[k];
        }
      };
      follow(std::integral_constant<int, 0>{});
      follow(std::integral_constant<int, 1>{});
      follow(std::integral_constant<int, 2>{});
      if constexpr (Code == op::inside) {
        operand_lanes<Head>(g_).set(0, exists);
      } else {
        using T = memory_t<D>;
        constexpr int slot = slot_with_head<program, Head>;
        T value{};
        if (exists)
          value = body_.memory.template load<T>(
              reinterpret_cast<const T*>(body_.args.operand[slot].word) + place);
        operand_lanes<Head>(g_).set(0, value);
      }
    }
  }

 private:
  // Extents are larger than any near displacement, so one wrap, clamp or reflection is enough.
  template <int K>
  DSL_DETAIL_KERNEL_FN void take(const std::int32_t (&at)[3], const std::int32_t (&stride)[3],
                                 const std::int32_t (&extents)[3]) {
    constexpr std::uint32_t word = steps_of<program>.word[static_cast<std::size_t>(K)];
    constexpr int axis = static_cast<int>(word >> 1 & 3),
                  distance = static_cast<int>(word >> 6 & 15) - 8;
    constexpr auto given = static_cast<boundary>(word >> 3 & 3);
    constexpr bool ends_inside = (word >> 5 & 1) != 0;
    constexpr boundary beyond = ends_inside && given == boundary::zero ? boundary::clamp : given;
    const std::int32_t n = extents[axis], from = at[axis] - distance;
    std::int32_t found = from;
    if (distance > 0 ? from < 0 : from >= n) {
      if constexpr (beyond == boundary::wrap) found = distance > 0 ? from + n : from - n;
      else if constexpr (beyond == boundary::clamp) found = distance > 0 ? 0 : n - 1;
      else if constexpr (beyond == boundary::zero) found = -1;
      else found = distance > 0 ? -from : 2 * (n - 1) - from;
    }
    exists_[K] = beyond != boundary::zero || found >= 0;
    moved_[K] = (found - at[axis]) * stride[axis];
  }

  const Body& body_;
  typename Body::group& g_;
  std::int32_t moved_[count > 0 ? count : 1];
  bool exists_[count > 0 ? count : 1];
};

}  // namespace dsl::detail
