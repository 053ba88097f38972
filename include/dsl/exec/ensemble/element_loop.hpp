// A loop that each element runs by itself, as a type: its variables, and the programs that change
// them.
#pragma once

#include <dsl/ir/evaluate.hpp>
#include <dsl/ir/pass.hpp>
#include <dsl/ir/tuple.hpp>

namespace dsl::detail {

/// Numbers of variables of an element's loop.
template <int... V> struct variable_list {
  static constexpr int count = sizeof...(V);
  static constexpr int at[sizeof...(V) + 1] = {V..., -1};
};

/// Rows that a phase stores for an element: where variable `Flag` is true, variables `Values` at
/// the row that variable `Row` numbers, of targets of their own. Rows beyond the targets' are not
/// stored.
template <int Flag, int Row, int... Values> struct stored_rows {
  static constexpr int flag = Flag, row = Row;
  using values = variable_list<Values...>;
};

/// A part of an element's loop. Its pass reads variables, and scalars, whose operands are numbered
/// after the variables; its outputs become the values of variables `Set`. Variable `While` says
/// whether it runs, again and again; -1: it runs once a round. Afterwards rows are stored.
template <class Pass, class Set, int While, class... Stored>
struct element_phase {
  using pass = Pass;
  using program = typename Pass::elements;
  using set = Set;
  static constexpr int runs_while = While;
  using stored = tuple<Stored...>;
  static constexpr int stored_kinds = sizeof...(Stored),
                       stored_arrays = (0 + ... + Stored::values::count);
};

/// After each phase that sets variable `Row`, variables `Value` and `Following` have the entry of a
/// table of doubles that `Row` numbers, and the one after it: NaN behind the last one. -1: there is
/// no table.
template <int Row, int Value, int Following> struct table_entry {
  static constexpr int row = Row, value = Value, following = Following;
};

/// After each phase that sets variable `Row`, variables `Values` have the values of arrays of their
/// own at the row that it numbers. They keep theirs if there is no such row.
template <int Row, int... Values> struct read_rows {
  static constexpr int row = Row;
  using values = variable_list<Values...>;
};
template <class... Rows> struct list_of_read_rows {
  static constexpr int kinds = sizeof...(Rows), arrays = (0 + ... + Rows::values::count);
};

template <dtype... D> struct variable_types {
  static constexpr int count = sizeof...(D);
  static constexpr dtype at[sizeof...(D) + 1] = {D...};
};

/// The loop of an element. Variables `Given` are read from arrays; the start sets others; then
/// rounds, in which the phases run in order, follow each other while variable `Running` is true. In
/// the end variables `Kept` are stored in arrays. `InStep`: all elements take as many rounds, so
/// that none is idle before the others. `Main`: the number of the phase that takes most of the
/// time. `Entry`: a table_entry. `Read`: a list_of_read_rows.
template <class Types, class Given, class Kept, int Running, bool InStep, int Main, class Entry,
          class Read, class Start, class... Phases>
struct element_loop {
  using types = Types;
  using given = Given;
  using kept = Kept;
  static constexpr int running = Running;
  static constexpr bool in_step = InStep;
  static constexpr int main = Main;
  using entry = Entry;
  using read = Read;
  using start = Start;
  using phases = tuple<Phases...>;
  using main_phase = std::tuple_element_t<Main, phases>;
  static constexpr int variables = Types::count;
};

/// The value of a variable as it is held between phases: whole registers.
template <dtype D> using held_value_t =
    std::conditional_t<(kind_of(D) <= kind::integer && size_of(D) < 4), std::int32_t, value_t<D>>;

/// The values of all variables.
template <class Types, class Numbers> struct element_variables_of;
template <dtype... D, std::size_t... I>
struct element_variables_of<variable_types<D...>, std::index_sequence<I...>>
    : numbered<static_cast<int>(I), held_value_t<D>>... {};
template <class Loop> using element_variables =
    element_variables_of<typename Loop::types,
                         std::make_index_sequence<static_cast<std::size_t>(Loop::variables)>>;

}  // namespace dsl::detail
