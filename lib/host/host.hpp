// The host back end's loops over an index space.
#pragma once

#include <memory>

#include "exec/by_key/by_key_work.hpp"
#include "exec/by_key/selection_work.hpp"
#include "exec/ensemble/ensemble_work.hpp"
#include "exec/run/calibration.hpp"
#include "exec/scan/scan_work.hpp"

namespace dsl::detail {

class row_chain;

struct host_job {
  const program_code& code;
  const host_code& compiled;
  const operand* operands;
  const geometry& space;
  // For each output a second address for a reduction's result, or 0; or null.
  const std::uint64_t* recorded;
  // Memory for partial results, which are then stored instead of results; or null.
  unsigned char* partials = nullptr;
};

/// The instruction set of this machine, or a lower one if DSL_SIMD says so: 0 to 2, numbered as in
/// `host_code`.
int simd_level();
[[noreturn]] void throw_no_simd();

/// The loop for `simd_level()` among the loops for each instruction set. Throws device_error if the
/// file was compiled only for better instruction sets.
template <class Loop>
Loop loop_of_level(const Loop (&loops)[3]) {
  const Loop found = loops[simd_level()];
  if (found == nullptr) throw_no_simd();
  return found;
}

/// Runs a job on all cores. The order in which partial results are combined does not depend on the
/// number of threads.
void run_on_host(const host_job& job);
/// Runs a job without reductions `steps` times in place, from step number `first` on: all steps of
/// one block of elements after another.
void run_on_host(const host_job& job, std::int64_t first, std::int64_t steps);

/// The part of `run_on_host` for jobs with reductions.
void reduce_on_host(const host_job& job);

// As the executors' functions. A partial result has the accumulators of all results.
std::size_t partial_bytes_on_host(const host_job& job);
/// Combines `partials` contiguous partial results in `job.partials`. `count`: number of elements
/// that were reduced.
void finish_partials_on_host(const host_job& job, std::int64_t partials, std::int64_t count);

/// The number of pieces into which the rows are divided, one worked on after another; 0 if that is
/// not faster.
std::int64_t pieces_of_rows_on_host(const row_chain& rows);
/// Runs all phases of a piece on one core.
void run_rows_on_host(const row_chain& rows);

/// Scans on all cores in three phases: the total of each chunk, the total before each chunk, the
/// scan. The order of operations does not depend on the number of threads.
void scan_on_host(const scan_work& w);

/// The number of tables of a reduction by key, which depends on sizes alone: results are the same
/// on any number of threads.
std::int64_t tables_by_key(const by_key_work& w);
/// Cuts the elements into as many chunks as the plan has tables. Each chunk fills one; the tables
/// are joined in order.
void reduce_by_key_on_host(const by_key_work& w);

/// In two phases: the number of chosen elements of each chunk, then their values.
void compress_on_host(const selection_work& w);

/// Runs the loop of each element, many elements side by side.
void run_ensemble_on_host(const ensemble_work& w);

/// Measures all cores.
std::unique_ptr<calibration> measure_host();

}  // namespace dsl::detail
