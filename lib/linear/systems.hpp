// Systems of linear equations in memory as LAPACK's routines know them.
#pragma once

#include <dsl/exec/plan/operand.hpp>

#include "mem/buffer.hpp"

namespace dsl::detail {

/// Systems of more unknowns than `small_systems` has. The matrices are column-major to LAPACK, and
/// row-major here, so it solves their transposes' transposes. Both arrays are overwritten: `a` by
/// factors, `x`, first the right sides, by the solutions. `x`: for each system, `right_sides`
/// vectors one after another.
struct large_systems {
  dtype type;
  std::int64_t unknowns, right_sides, count;
  void* a;
  void* x;
};

void solve_on_host(const large_systems& s);
void solve_on_gpu(const large_systems& s, const stream& on);

template <class T> struct small_systems;
// T: float, double or dsl::complex of them.
template <class T>
void solve_small_on_host(const small_systems<T>& all, std::int64_t unknowns);
template <class T>
void solve_small_on_gpu(const small_systems<T>& all, std::int64_t unknowns, const stream& on);

}  // namespace dsl::detail
