// Runs a loop in each element of arrays.
#pragma once

#include <dsl/exec/ensemble/ensemble_kernel.hpp>
#include <dsl/exec/host/host.hpp>
#include <dsl/exec/run/compiled.hpp>

namespace dsl::detail {

/// See stored_rows, and read_rows, which have no flag.
struct ensemble_row_kind {
  int flag = -1, row = -1, count = 0;
  const int* values = nullptr;
};
/// A phase of an element's loop as data.
struct ensemble_phase {
  pass_view pass{};
  const int* set = nullptr;  // The variable of each output.
  int runs_while = -1;
  ensemble_row_kind stored[ensemble_rows]{};
  int kinds = 0;

  constexpr bool sets(int variable) const {
    for (int i = 0; i < pass.target_count; ++i)
      if (set[i] == variable) return true;
    return false;
  }
};
/// The host's loop of a phase, over lanes that are elements.
struct ensemble_host { const host_code* phase[8]; };

/// The compiled code of an element's loop.
struct ensemble_code {
  static constexpr int most_phases = 7;
  const dtype* types;
  int variables, scalars;
  const int *given, *kept;
  int given_count, kept_count, running, entry_row, entry_value, entry_following;
  ensemble_row_kind read[ensemble_rows];
  int read_kinds, read_arrays;
  ensemble_phase start, phase[most_phases];
  int phases, main;
  // Null if no file compiled it for that back end.
  const ensemble_host* host;
  const entry_points<1>* kernels[kernel_targets];

  int stored() const {
    int n = 0;
    for (int p = 0; p < phases; ++p)
      for (int k = 0; k < phase[p].kinds; ++k) n += phase[p].stored[k].count;
    return n;
  }
  int inputs() const { return given_count + scalars + read_arrays; }
  int operands() const { return inputs() + kept_count + stored(); }
  const ensemble_phase& main_phase() const { return phase[main]; }
};

/// What a call gives an element's loop besides its operands.
struct ensemble_request {
  std::int64_t elements;
  device where{backend::host};
  /// See table_entry.
  operand table{};
  bool has_table = false;
  /// The rows of the arrays of each kind of rows that are read, and of each kind of stored rows in
  /// the order of the phases.
  std::int64_t rows[ensemble_rows] = {};

  void set_table(const view<const double, 1>& entries) {
    set_array(table, dtype::float64, 1, entries.owner(), entries.origin(), entries.extents().data(),
              entries.strides().data());
    has_table = true;
  }
  const double* entries() const { return reinterpret_cast<const double*>(table.word[0]); }
  std::int64_t entry_count() const { return has_table ? table.extents[0] : 0; }
};

/// Queues an element's loop on the current stream, for each of `elements` elements of contiguous
/// arrays. `operands`: the arrays of the given variables, the scalars, the arrays of rows that are
/// read, the arrays of the kept variables, and those of stored rows; rows have `elements` elements.
/// A kept variable may have the array of a given one. Throws device_error or cuda_error.
void run_ensemble(const ensemble_code& code, const operand* operands,
                  const ensemble_request& request);

template <class... Stored>
constexpr void add_stored(ensemble_phase& to, tuple<Stored...>) {
  ((to.stored[to.kinds++] = {Stored::flag, Stored::row, Stored::values::count, Stored::values::at}),
   ...);
}
template <class Phase>
constexpr ensemble_phase phase_as_data() {
  ensemble_phase made{Phase::pass::view(), Phase::set::at, Phase::runs_while};
  add_stored(made, typename Phase::stored{});
  return made;
}
template <class... Read>
constexpr void add_read(ensemble_code& to, list_of_read_rows<Read...>) {
  ((to.read[to.read_kinds++] = {-1, Read::row, Read::values::count, Read::values::at}), ...);
}

// The loop is taken apart, so that nvcc's stub can spell its parts.
template <kernel_target Target, int Scalars, class Types, class Given, class Kept, int Running,
          bool InStep, int Main, class Entry, class Read, class Start, class... Phases>
entry_points<1> kernels_of_ensemble(
    element_loop<Types, Given, Kept, Running, InStep, Main, Entry, Read, Start, Phases...>) {
  using element =
      element_loop<Types, Given, Kept, Running, InStep, Main, Entry, Read, Start, Phases...>;
  constexpr int operands =
      Given::count + Scalars + Read::arrays + Kept::count + (0 + ... + Phases::stored_arrays);
  using naming = named_by_pass<unnamed, typename element::main_phase::pass>;
  return {architectures_of<Target>,
          {entry_point<Target, ensemble_kernel<element, Scalars, ensemble_arguments<operands>>,
                       naming>()}};
}

template <class Loop, int Scalars> struct ensemble_kind;
template <int Scalars, class Types, class Given, class Kept, int Running, bool InStep, int Main,
          class Entry, class Read, class Start, class... Phases>
struct ensemble_kind<
    element_loop<Types, Given, Kept, Running, InStep, Main, Entry, Read, Start, Phases...>,
    Scalars> {
  using element =
      element_loop<Types, Given, Kept, Running, InStep, Main, Entry, Read, Start, Phases...>;
  using code_type = ensemble_code;
  using kernels_type = entry_points<1>;
  static constexpr bool has_kernels = true;
  static_assert(sizeof...(Phases) <= ensemble_code::most_phases);

  static constexpr ensemble_code made() {
    ensemble_code code{Types::at,
                       Types::count,
                       Scalars,
                       Given::at,
                       Kept::at,
                       Given::count,
                       Kept::count,
                       Running,
                       Entry::row,
                       Entry::value,
                       Entry::following,
                       {},
                       0,
                       Read::arrays,
                       phase_as_data<Start>(),
                       {phase_as_data<Phases>()...},
                       static_cast<int>(sizeof...(Phases)),
                       Main,
                       nullptr,
                       {}};
    add_read(code, Read{});
    return code;
  }
  static inline constinit ensemble_host host{};
  static void add_host(ensemble_code& code) {
    host = {{&host_code_of<typename Start::pass>, &host_code_of<typename Phases::pass>...}};
    code.host = &host;
  }
  template <kernel_target Target>
  static entry_points<1> kernels() {
    return kernels_of_ensemble<Target, Scalars>(element{});
  }
};

template <class Loop, int Scalars>
const ensemble_code& ensemble_code_of() {
  return compiled<ensemble_kind<Loop, Scalars>>::code();
}

}  // namespace dsl::detail
