// The host back end's loops over an index space.
#pragma once

#include <memory>

#include <dsl/exec/by_key/by_key.hpp>
#include <dsl/exec/by_key/compress.hpp>
#include <dsl/exec/run/run.hpp>

#include "exec/run/calibration.hpp"
#include "exec/scan/scan.hpp"

namespace dsl::detail {

class row_chain;

struct host_job {
  const program_code& code;
  const host_code& compiled;
  const operand* operands;
  const geometry& space;
  const std::uint64_t*
      recorded;  // for each output a second address for a reduction's result, or 0; or null
  unsigned char* partials = nullptr;  // where partial results go, in place of results
};

/// 0 to 2, as `host_code` counts: what this machine has, or less if DSL_SIMD says so.
int simd_level();
[[noreturn]] void throw_no_simd();

/// Of loops for each instruction set the one for `simd_level()`. Throws device_error where the file
/// was compiled for better ones alone.
template <class Loop>
Loop loop_of_level(const Loop (&loops)[3]) {
  const Loop found = loops[simd_level()];
  if (found == nullptr) throw_no_simd();
  return found;
}

/// Runs a job on all cores. Partial results combine in an order that does not depend on the number
/// of threads.
void run_on_host(const host_job& job);
/// Without reductions: `steps` times, the first of which has number `first`, in place: a block of
/// elements after another.
void run_on_host(const host_job& job, std::int64_t first, std::int64_t steps);

/// The part of `run_on_host` for a job that reduces.
void reduce_on_host(const host_job& job);

// As the executors' functions: there is one partial result, of all values of all results.
std::size_t partial_bytes_on_host(const host_job& job);
/// `job.partials` has so many of them, one behind the other.
void finish_partials_on_host(const host_job& job, std::int64_t partials, std::int64_t count);

/// How many pieces of rows are worked on one after another; 0 where that gains nothing.
std::int64_t pieces_of_rows_on_host(const row_chain& rows);
/// All phases of a piece on one core.
void run_rows_on_host(const row_chain& rows);

/// On all cores, in three phases: what each chunk comes to, what comes before each, the scan. The
/// order of operations does not depend on the number of threads.
void scan_on_host(const scan_code& code, const operand* operands, const scan_space& s,
                  const scan_parameters& parameters);

/// The number of tables of a reduction by key, which depends on sizes alone: results are the same
/// on any number of threads.
std::int64_t tables_by_key(const by_key_code& code, const geometry& g,
                           const by_key_request& request);
/// Cuts the elements into as many chunks as there are tables. Each chunk fills one; the tables are
/// joined in order.
void reduce_by_key_on_host(const by_key_code& code, const operand* operands, const geometry& g,
                           const by_key_request& request, std::int64_t tables);

/// In two phases: how many elements each chunk has that are chosen, and their values.
void compress_on_host(const compress_code& code, const operand* operands, const geometry& g);

/// Times all cores.
std::unique_ptr<calibration> measure_host();

}  // namespace dsl::detail
