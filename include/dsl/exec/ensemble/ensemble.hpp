// Runs a loop in each element of arrays.
#pragma once

#include <dsl/exec/ensemble/ensemble_kernel.hpp>
#include <dsl/exec/host/host.hpp>
#include <dsl/exec/run/compiled.hpp>

namespace dsl::detail {

/// A phase of an element's loop as data.
struct ensemble_phase {
  pass_view pass{};
  const int* set = nullptr;  // The variable of each output.
  int runs_while = -1;
  int flag = -1, row = -1, stored_count = 0;  // See stored_rows.
  const int* stored = nullptr;
  bool finds_entry = false;
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
  ensemble_phase start, phase[most_phases];
  int phases;
  // Null if no file compiled it for that back end.
  const ensemble_host* host;
  const entry_points<1>* kernels[kernel_targets];

  int stored() const {
    int n = 0;
    for (int k = 0; k < phases; ++k) n += phase[k].stored_count;
    return n;
  }
  int operands() const { return given_count + scalars + kept_count + stored(); }
};

/// What a call gives an element's loop besides its operands.
struct ensemble_request {
  std::int64_t elements;
  device where{backend::host};
  const double* table = nullptr;
  std::int64_t table_entries = 0;
  /// The rows of the arrays in which the first phase that stores rows stores them, and the second.
  std::int64_t rows = 0, other_rows = 0;
};

/// Queues an element's loop on the current stream, for each of `elements` elements of contiguous
/// arrays. `operands`: the arrays of the given variables, the scalars, the arrays of the kept
/// variables, and those of stored rows, each with `elements` elements a row. A kept variable may
/// have the array of a given one. Throws device_error or cuda_error.
void run_ensemble(const ensemble_code& code, const operand* operands,
                  const ensemble_request& request);

template <class Phase, class Entry, bool IsStart = false>
constexpr ensemble_phase phase_as_data() {
  bool finds = false;
  for (int i = 0; i < Phase::set::count; ++i)
    finds = finds || (Entry::row >= 0 && Phase::set::at[i] == Entry::row);
  return {Phase::pass::view(),       Phase::set::at,
          Phase::runs_while,         Phase::stored::flag,
          Phase::stored::row,        Phase::stored::values::count,
          Phase::stored::values::at, finds};
}

// The loop is taken apart, so that nvcc's stub can spell its parts.
template <kernel_target Target, int Scalars, class Types, class Given, class Kept, int Running,
          class Entry, class Start, class... Phases>
entry_points<1> kernels_of_ensemble(
    element_loop<Types, Given, Kept, Running, Entry, Start, Phases...>) {
  using element = element_loop<Types, Given, Kept, Running, Entry, Start, Phases...>;
  constexpr int operands =
      Given::count + Scalars + Kept::count + (0 + ... + Phases::stored::values::count);
  using naming = named_by_pass<unnamed, typename element::step::pass>;
  return {architectures_of<Target>,
          {entry_point<Target, ensemble_kernel<element, Scalars, ensemble_arguments<operands>>,
                       naming>()}};
}

template <class Loop, int Scalars> struct ensemble_kind;
template <int Scalars, class Types, class Given, class Kept, int Running, class Entry, class Start,
          class... Phases>
struct ensemble_kind<element_loop<Types, Given, Kept, Running, Entry, Start, Phases...>, Scalars> {
  using element = element_loop<Types, Given, Kept, Running, Entry, Start, Phases...>;
  using code_type = ensemble_code;
  using kernels_type = entry_points<1>;
  static constexpr bool has_kernels = true;
  static_assert(sizeof...(Phases) <= ensemble_code::most_phases);

  static constexpr ensemble_code made() {
    return {Types::at,
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
            phase_as_data<Start, Entry>(),
            {phase_as_data<Phases, Entry>()...},
            static_cast<int>(sizeof...(Phases)),
            nullptr,
            {}};
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
