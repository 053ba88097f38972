#include "host/back_end.hpp"

#include <dsl/exec/by_key/by_key.hpp>
#include <dsl/exec/by_key/compress.hpp>
#include <dsl/exec/loop/loop.hpp>
#include <dsl/exec/scan/scan.hpp>

#include <string>

#include "exec/plan/layout.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/calibration.hpp"
#include "exec/run/executor.hpp"
#include "host/host.hpp"

namespace dsl::detail {

namespace {

// Executor of passes as SIMD loops on all cores.
class host_executor final : public executor {
 public:
  void order_reduced(geometry& g, const operand*, int, int count, const pass_view&) const override {
    if (g.kept != 0) order_for_rows(g, count);
  }

  std::string describe_launch(const plan& p) const override {
    return "blocks of " + std::to_string(p.block) + " on " +
           std::to_string(properties(p.where).multiprocessors) + " threads";
  }

  reduction_plan plan_pass(const prepared& pass) const override {
    compiled(pass);
    return {plan_of(pass), {}, {}, {}};
  }
  void run_pass(const prepared& pass, const std::uint64_t* recorded, const bool*,
                const stream&) const override {
    run_on_host(job_of(pass, recorded, nullptr));
  }

  partial_results_layout partials_of(const prepared& pass) const override {
    return {1, 1, partial_bytes_on_host(job_of(pass, nullptr, nullptr))};
  }
  void reduce_to_partials(const prepared& pass, const partial_results_layout& all, void* memory,
                          std::int64_t first, const bool*, const stream&) const override {
    reduce_on_host(
        job_of(pass, nullptr,
               static_cast<unsigned char*>(memory) + static_cast<std::size_t>(first) * all.bytes));
  }
  void finish_partials(const prepared& pass, const partial_results_layout& all, void* memory,
                       std::int64_t count, const std::uint64_t* recorded, const bool*,
                       const stream&) const override {
    finish_partials_on_host(job_of(pass, recorded, static_cast<unsigned char*>(memory)), all.count,
                            count);
  }

  bool runs_rows(const chain_code& code) const override { return code.runs_together; }
  row_plan plan_rows(const row_chain& rows) const override {
    for (int p = 0; p < rows.count(); ++p) compiled(rows.phases()[p]);
    row_plan made{plan_of(rows.space(), rows.code().lanes), {}};
    made.path = rows.lies_along_rows() ? "rows" : "columns";
    made.grid = pieces_of_rows_on_host(rows);
    made.rows = rows.space().results;
    made.row = rows.space().count;
    return made;
  }
  void run_rows(const row_chain& rows, const stream&) const override { run_rows_on_host(rows); }

  loop_support supports(const loop& of) const override {
    return {of.compiled().stop < 0 && of.space().elements > 1, false, false, false, {}};
  }
  loop_plan plan_loop(const loop& of, strategy how) const override {
    compiled(of);
    loop_plan p{plan_of(of), how, {}};
    p.per_element = of.cost_per_element();
    return p;
  }
  // Runs all steps of a block of elements while the block is in the cache.
  void run_loop(const loop& of, const loop_plan&, const loop_steps& steps, const loop_part*,
                const stream&) const override {
    run_on_host({of.code(), compiled(of), of.operands(), of.space(), nullptr},
                steps.all.first + steps.done, steps.count);
  }

  std::unique_ptr<calibration> measure(int) const override { return measure_host(); }

  scan_plan plan_scan(const scan_code& code, const operand* operands,
                      const scan_space& s) const override {
    compiled_for(s.space.where, code.host, nullptr, code.view, operands);
    scan_plan p{plan_of(s.space, code.lanes), {}};
    p.per_element = cost_of(code.view, [operands](std::uint64_t k) {
      return first_of_array(operands, static_cast<int>(k));
    });
    p.along_columns = s.columns;
    return p;
  }
  void run_scan(const scan_code& code, const operand* operands, const scan_space& s,
                const scan_parameters& parameters, const stream&) const override {
    compiled_for(s.space.where, code.host, nullptr, code.view, operands);
    scan_on_host(code, operands, s, parameters);
  }
  by_key_plan plan_by_key(const by_key_code& code, const operand* operands, const geometry& g,
                          const by_key_request& request) const override {
    compiled_for(g.where, code.host, nullptr, code.view, operands);
    by_key_plan p{plan_of(g, code.lanes)};
    p.groups = p.span = request.groups;
    p.tables = static_cast<int>(tables_by_key(code, g, request));
    return p;
  }
  void run_by_key(const by_key_code& code, const operand* operands, const geometry& g,
                  const by_key_request& request, const by_key_plan& p,
                  const stream&) const override {
    reduce_by_key_on_host(code, operands, g, request, p.tables);
  }
  plan plan_compress(const compress_code& code, const operand* operands,
                     const geometry& g) const override {
    compiled_for(g.where, code.host, nullptr, code.view, operands);
    return plan_of(g, code.lanes);
  }
  void run_compress(const compress_code& code, const operand* operands, const geometry& g,
                    const plan&, const stream&) const override {
    compress_on_host(code, operands, g);
  }

 private:
  static plan plan_of(const prepared& pass) {
    return plan_of(pass.space(), pass.code().pass.lanes);
  }
  static plan plan_of(const geometry& g, int lanes) {
    plan p;
    p.where = g.where;
    p.path = g.linear ? "linear" : "strided";
    p.elements = g.elements;
    p.lanes = lanes;
    p.block = host_block;
    p.grid = pieces(g.elements, host_block);
    return p;
  }
  static host_job job_of(const prepared& pass, const std::uint64_t* recorded,
                         unsigned char* partials) {
    return {pass.code(), compiled(pass), pass.operands(), pass.space(), recorded, partials};
  }
  static const host_code& compiled(const prepared& pass) {
    const program_code& code = pass.code();
    return compiled_for(pass.where(), code.host, code.name, code.pass.view, pass.operands());
  }
};

constinit host_executor kernels;

}  // namespace

constinit host_back_end host(&kernels);

const device_properties& host_back_end::properties(int) {
  static const device_properties known = read_machine();
  return known;
}

}  // namespace dsl::detail
