// Short rows in shared memory: all threads of a block load and store its rows together, in memory
// order, and a thread computes whole rows there.
#pragma once

#include <dsl/exec/rows/row_arguments.hpp>
#include <dsl/exec/rows/row_operands.hpp>
#include <dsl/exec/team/team.hpp>

namespace dsl::detail {

/// A block's rows: a piece of shared memory for each array that phases load or store by elements,
/// given by the operand's descriptor (`staged_piece`).
template <class Chain, class Arguments, class Memory, class Team>
class row_stage {
  using operands = chain_operands<Chain>;
  struct alignas(16) quad { std::uint32_t word[4]; };

 public:
  DSL_DETAIL_KERNEL_FN row_stage(const Arguments& a, Memory memory, Team team)
      : args_(a), memory_(memory), team_(team) {}

  /// Loads the elements of `rows` rows. `first_of(k)`: the offset of operand k's first element of
  /// the first row.
  template <class First, std::size_t... K>
  DSL_DETAIL_KERNEL_FN void load_rows(int rows, const First& first_of,
                                      std::index_sequence<K...>) const {
    (load_leaf<static_cast<int>(K)>(rows, first_of), ...);
    memory_.commit_copies();
    memory_.template wait_for_copies<0>();
    team_.synchronize();
  }
  /// Stores the elements after all threads have computed theirs.
  template <class First, std::size_t... K>
  DSL_DETAIL_KERNEL_FN void store_rows(int rows, const First& first_of,
                                       std::index_sequence<K...>) const {
    (store_target<static_cast<int>(K)>(rows, first_of), ...);
  }
  /// The place of an element. An operand that is the same along a row is stored once.
  template <int K, class T> DSL_DETAIL_KERNEL_FN T* place(int row, int position) const {
    const staged_piece piece{args_.operand[K].descriptor};
    return reinterpret_cast<T*>(memory_.shared() + piece.place()) +
           (row * piece.pitch() + position * piece.step());
  }

 private:
  template <int K, class First> DSL_DETAIL_KERNEL_FN void load_leaf(int rows,
                                                                    const First& first_of) const {
    if constexpr (K < operands::leaves) {
      if constexpr (operands::loaded[static_cast<std::size_t>(K)].is_loaded) {
        using T = memory_t<operands::loaded[static_cast<std::size_t>(K)].type>;
        if ((args_.rows_of.distinct >> K & 1) == 0) return;
        const T* const from = reinterpret_cast<const T*>(args_.operand[K].word) + first_of(K);
        for_each<K>(
            rows, from,
            [&](T* element, std::int64_t at) { memory_.copy_async(element, from + at); },
            [&](quad* part, int i) {
              memory_.copy_async(part, reinterpret_cast<const quad*>(from) + i);
            });
      }
    }
  }
  template <int K, class First> DSL_DETAIL_KERNEL_FN void store_target(
      int rows, const First& first_of) const {
    if constexpr (operands::stored[static_cast<std::size_t>(K)].is_stored) {
      using T = memory_t<operands::stored[static_cast<std::size_t>(K)].type>;
      T* const to = reinterpret_cast<T*>(args_.operand[K].word) + first_of(K);
      for_each<K>(
          rows, to,
          [&](const T* element, std::int64_t at) {
            memory_.store(to + at, memory_.template load<T>(element));
          },
          [&](const quad* part, int i) {
            memory_.store(reinterpret_cast<quad*>(to) + i, memory_.template load<quad>(part));
          });
    }
  }
  // Adjacent threads take adjacent elements, or 16 bytes of them if their order in memory and here
  // is the same.
  template <int K, class T, class Use, class UsePart>
  DSL_DETAIL_KERNEL_FN void for_each(int rows, const T* first, const Use& use,
                                     const UsePart& use_part) const {
    using element = std::remove_const_t<T>;
    const staged_piece piece{args_.operand[K].descriptor};
    const std::int64_t across = args_.strides[K][1], along = args_.strides[K][0];
    const int columns = piece.step() != 0 ? args_.rows_of.count : 1, threads = team_.threads();
    int done = 0;
    if (piece.pitch() == columns && across == columns && (columns == 1 || along == 1) &&
        reinterpret_cast<std::uintptr_t>(first) % sizeof(quad) == 0) {
      const int parts =
          rows * columns * static_cast<int>(sizeof(T)) / static_cast<int>(sizeof(quad));
      DSL_DETAIL_ROLLED
      for (int i = team_.thread(); i < parts; i += threads) use_part(place<K, quad>(0, 0) + i, i);
      done = parts * static_cast<int>(sizeof(quad)) / static_cast<int>(sizeof(T));
    }
    DSL_DETAIL_ROLLED
    for (int i = done + team_.thread(); i < rows * columns; i += threads) {
      const int row =
          columns == 1
              ? i
              : static_cast<int>(args_.rows_of.of_step.divide(static_cast<std::uint32_t>(i)));
      const int position = i - row * columns;
      use(place<K, element>(row, position), row * across + position * along);
    }
  }

  const Arguments& args_;
  Memory memory_;
  Team team_;
};

}  // namespace dsl::detail
