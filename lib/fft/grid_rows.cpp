// Statements of formulas and transforms along rows on a grid of blocks of threads.
#include <algorithm>
#include <string>
#include <utility>

#include "exec/plan/layout.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/grid_executor.hpp"
#include "exec/run/parameters.hpp"
#include "fft/line.hpp"
#include "fft/recent.hpp"
#include "fft/rows.hpp"

namespace dsl::detail {

namespace {

template <class T>
std::vector<std::complex<T>> roots_in_order(const row_passes& passes) {
  std::vector<std::complex<T>> all;
  for (int p = 1; p < passes.count(); ++p) {
    const int before = passes.before(p), points = before * passes.radix(p);
    for (int i = 0; i < passes.exponents(p); ++i)
      for (int j = 0; j < before; ++j) {
        const std::complex<double> root =
            root_of_unity(passes.exponent(p, i) * j, points, /*conjugate=*/true);
        all.emplace_back(static_cast<T>(root.real()), static_cast<T>(root.imag()));
      }
  }
  return all;
}

template <class T>
buffer_ref made_roots(const row_passes& passes, device where) {
  const std::vector<std::complex<T>> roots = roots_in_order<T>(passes);
  const std::size_t bytes = roots.size() * sizeof roots[0];
  buffer_ref memory = buffer_ref::allocate(bytes, where);
  upload(memory, memory.data(), roots.data(), bytes);
  // No stream has to wait for the table later, and none is kept for having read it.
  stream::current(where).synchronize();
  return memory;
}

}  // namespace

buffer_ref roots_of_rows(const row_passes& passes, dtype type, device where) {
  struct key {
    device where;
    int points;
    dtype type;
    bool operator==(const key&) const = default;
  };
  // All that there may be, of 12 lengths on 64 devices: kernels may read what nobody else has.
  constexpr std::size_t most = 2 * 12 * 64;
  // Never destroyed: at the end of the program the driver may be gone.
  static recent<key, const buffer_ref>& all = *new recent<key, const buffer_ref>(most);
  return *all.get({where, passes.points, type}, [&] {
    return std::make_shared<const buffer_ref>(type == dtype::complex128
                                                  ? made_roots<double>(passes, where)
                                                  : made_roots<float>(passes, where));
  });
}

dsl::plan transformed_row_work::plan_for(const grid_executor& devices) const {
  const program_code& last = code_.phase[code_.phases - 1];
  const pass_view& pass = last.pass.view;
  const operand* const own = phases_.operands(code_.phases - 1);
  const transformed_row_kernels& kernels =
      compiled_for(space_.where, devices.compiled(code_.kernels), last.name, pass, own);
  dsl::plan p;
  p.where = space_.where;
  p.path = "transformed rows";
  p.elements = space_.elements;
  p.block = code_.block;
  p.shared_bytes = code_.shared_bytes;
  p.grid = pieces(rows(), code_.rows_a_block);
  const kernel_attributes known = devices.attributes(
      {kernels.kernel[0], kernels.architectures, last.name, pass}, p.block, p.where.index);
  p.registers = known.registers;
  const std::int64_t by_shared =
      (static_cast<std::int64_t>(properties(p.where).shared_per_block) + 1024) /
      (p.shared_bytes + 1024);
  p.blocks_per_multiprocessor =
      static_cast<int>(std::min<std::int64_t>(known.blocks_per_multiprocessor, by_shared));
  if (fixed_.block != 0 && fixed_.block != p.block)
    raise<device_error>("a block of " + std::to_string(fixed_.block) +
                        " threads was asked for; this kernel takes " + std::to_string(p.block) +
                        ": " + spell_pass(pass, own));
  require_grid(fixed_, p.grid, pass);
  if (p.grid > 0x7fffffff)
    raise<shape_error>(std::to_string(space_.elements) +
                       " elements need more blocks than a grid has: " + spell_pass(pass, own));
  return p;
}

void transformed_row_work::run_on(const grid_executor& devices, const stream& on) const {
  const geometry& g = space_;
  const dsl::plan& p = plan();
  const transformed_row_kernels& kernels = *devices.compiled(code_.kernels);
  const program_code& last = code_.phase[code_.phases - 1];
  const int count = code_.leaves + 1;

  transformed_row_schedule s{};
  s.rows = rows();
  std::vector<buffer_ref> tables;
  std::vector<memory_range> others;
  for (const auto& [type, to] :
       {std::pair{dtype::complex64, &s.roots64}, std::pair{dtype::complex128, &s.roots128}}) {
    if (code_.passes.roots() == 0 || !transforms(type)) continue;
    const buffer_ref& table = tables.emplace_back(roots_of_rows(code_.passes, type, g.where));
    *to = table.data();
    others.push_back(
        {table.data(), static_cast<std::size_t>(code_.passes.roots() * size_of(type)), false});
  }
  s.outer_rank = std::max(0, g.rank - 2);
  s.inner = divisor::of(g.rank > 2 ? g.extents[g.rank - 2] : 1);
  for (int d = 0; d < s.outer_rank; ++d) s.outer[d] = divisor::of(g.extents[g.rank - 3 - d]);

  kernel_parameters given({{}, g.elements, 1, {}});
  given.put(s);
  for (int k = 0; k < count; ++k)
    given.put(argument{operands_[static_cast<std::size_t>(k)].word[0],
                       descriptor_of(operands_.data(), k, g, pass_view{})});
  given.put_strides(g, count);
  kernel_launch k{{kernels.kernel[0], kernels.architectures, last.name, last.pass.view},
                  p.grid,
                  p.block,
                  p.shared_bytes,
                  given.range(),
                  operands_.data(),
                  code_.leaves,
                  1,
                  g.elements,
                  false,
                  others.data(),
                  static_cast<int>(others.size()),
                  phases_.operands(code_.phases - 1)};
  devices.launch_kernel(k, on);
}

}  // namespace dsl::detail
