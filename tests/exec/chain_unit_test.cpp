// Chains built by hand: the phases of softmax as separate passes, and as one chain.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <dsl/dsl.hpp>
#include <dsl/exec/rows/chain.hpp>

#include "exec/statement/statement.hpp"

namespace {

using namespace dsl::detail;

template <class E, class Target> using pass_of_expression =
    typename lowered<types_of_targets<Target>, E>::one_pass::spelled;

using matrix = dsl::array<float, 2>;
using column = dsl::array<float, 1>;

auto phase0(const matrix& m) { return dsl::max(m, dsl::axis(1)); }
auto phase1(const matrix& m, const column& top) {
  return dsl::sum(exp(m - dsl::expand_dims(top, -1)), dsl::axis(1));
}
auto phase2(const matrix& m, const column& top, const column& sum) {
  return exp(m - dsl::expand_dims(top, -1)) / dsl::expand_dims(sum, -1);
}

constexpr int leaf(int k) { return phase_input::leaf(k).word; }
constexpr int value(int p, int t) { return phase_input::value(p, t).word; }
template <class P0, class P1, class P2> using softmax_chain =
    pass_chain<chain_phase<P0, leaf(0)>, chain_phase<P1, leaf(0), value(0, 0)>,
               chain_phase<P2, leaf(0), value(0, 0), value(1, 0)>>;

TEST(chain, softmax_of_rows) {
  for (const char* name : {"host", "sim"}) {
    const dsl::device_guard guard(dsl::device{name});
    for (const auto& [rows, columns] : {std::pair{3, 5}, {7, 64}, {40, 33}, {2, 5000}}) {
      std::vector<float> values(static_cast<std::size_t>(rows * columns));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i * 37 % 101) / 17;
      matrix m(rows, columns), out(rows, columns);
      m.copy_from_host(values);
      column top(rows), sum(rows);
      using chain = softmax_chain<pass_of_expression<decltype(phase0(m)), column>,
                                  pass_of_expression<decltype(phase1(m, top)), column>,
                                  pass_of_expression<decltype(phase2(m, top, sum)), matrix>>;
      const chain_code& code = code_of_chain<unnamed, chain>();
      operand all[5], *at = all;
      const auto add = [&](const auto& e) { add_leaves(as_operand(e), at); };
      add(m);
      add(dsl::expand_dims(top, -1));
      add(dsl::expand_dims(sum, -1));
      add(out);
      operand of_phase[3][4];
      const value_source sources[] = {{&code.phase[0].pass.view, of_phase[0], 0, 2, 2, all, 1},
                                      {&code.phase[1].pass.view, of_phase[1], 0, 2, 2, all, 1}};
      all[1].source = &sources[0];
      all[2].source = &sources[1];
      operand results[] = {all[1], all[2]};
      for (operand& o : results) align_with_axes(o, {2, 2});
      const operand bound[3][4] = {
          {all[0], results[0]}, {all[0], all[1], results[1]}, {all[0], all[1], all[2], all[3]}};
      for (int p = 0; p < 3; ++p) std::copy_n(bound[p], 4, of_phase[p]);
      statement s;
      for (int p = 0; p < 3; ++p) s.add(code.phase[p], of_phase[p], {});
      s.assign();
      const std::vector<float> got = out.copy_to_host();
      for (int r = 0; r < rows; ++r) {
        const float* const row = values.data() + r * columns;
        double most = *std::max_element(row, row + columns), all_of_row = 0;
        for (int c = 0; c < columns; ++c) all_of_row += std::exp(row[c] - most);
        for (int c = 0; c < columns; ++c)
          ASSERT_NEAR(got[static_cast<std::size_t>(r * columns + c)],
                      std::exp(row[c] - most) / all_of_row, 1e-6)
              << name << r << ' ' << c;
      }
    }
  }
}

}  // namespace
