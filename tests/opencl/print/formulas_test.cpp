// Random formulas as data, printed as OpenCL C, against a reference that shares no code with the
// library.
#include <gtest/gtest.h>

#include <cstdlib>

#include "../../property/traced_bundle.hpp"
#include "run_time_pass.hpp"

namespace property {
namespace {

constexpr int first_bundle = 1000, element_count = 24;

struct formula_tally {
  std::int64_t formulas = 0, elements = 0, decided = 0;
  int failures = 0;
};

dsl::detail::operand operand_of(const leaf& l, const bytes& value, const run_time::block& memory) {
  if (l.from == source::value) return run_time::scalar_operand(dsl_type(l.type), value.data());
  return run_time::operand_in(memory, dsl_type(l.type),
                              l.from == source::array ? element_count : 0);
}

void check_bundle(open_cl::device& device, int number, formula_tally& count) {
  const bundle b = make_bundle(number);
  const drawn_operands drawn = draw_operands(b, number, element_count);
  interpreter::traced traced;
  std::vector<const tree*> formulas;
  std::vector<interpreter::value> outputs;
  for (const tree& formula : b.formula) {
    const auto made = trace(traced, b, formula);
    if (traced.refused()) continue;
    formulas.push_back(&formula);
    outputs.push_back(made.back());
  }
  if (formulas.empty()) return;
  const auto type_of = [](const tree& f) { return f.nodes[f.size - 1].type.type; };
  const auto program = traced.program(outputs);

  std::vector<run_time::block> blocks;
  std::vector<dsl::detail::operand> operands;
  for (int i = 0; i < b.leaf_count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    blocks.push_back(run_time::block_of(drawn.elements[at]));
    operands.push_back(operand_of(b.leaves[i], drawn.values[at], blocks.back()));
  }
  std::vector<bytes> results;
  for (const tree* f : formulas)
    results.emplace_back(static_cast<std::size_t>(element_count * bytes_of(type_of(*f))), 0xa5);
  run_time::run_operands(device, interpreter::view_of(program), operands, element_count, blocks,
                         results);

  value at_index[bundle::most_leaves], work[tree::most_nodes];
  count.formulas += static_cast<std::int64_t>(formulas.size());
  for (int e = 0; e < element_count; ++e) {
    for (int i = 0; i < b.leaf_count; ++i) {
      const leaf& l = b.leaves[i];
      const int offset = l.from == source::array ? e * bytes_of(l.type) : 0;
      at_index[i] = read(l.type, drawn.elements[static_cast<std::size_t>(i)].data() + offset);
    }
    for (std::size_t f = 0; f < formulas.size(); ++f) {
      const tree& formula = *formulas[f];
      const value expected = stored(evaluate(formula, at_index, work));
      const unsigned char* const got = results[f].data() + e * bytes_of(type_of(formula));
      ++count.elements;
      count.decided += is_decided(expected, coarsest(formula)) ? 1 : 0;
      if (agrees(expected, got) || ++count.failures > 20) continue;
      std::string text =
          "bundle " + std::to_string(number) + ": " + spell(formula, b, formula.size - 1);
      for (int n = 0; n < formula.size; ++n)
        if (const node& l = formula.nodes[n]; l.what == operation::leaf)
          text += "\n  " + spell(formula, b, n) + " " + name(l.type.type) + " " +
                  spell(at_index[l.number]);
      ADD_FAILURE() << text << "\n  gave " << spell(read(type_of(formula), got)) << ", expected "
                    << spell(expected);
    }
  }
}

TEST(opencl_formulas, agree_with_the_reference) {
  open_cl::device* const device = open_cl::device::first();
  if (device == nullptr) GTEST_SKIP() << "there is no OpenCL device";
  const char* const given = std::getenv("DSL_TEST_BUNDLES");
#ifdef DSL_TEST_ALL
  constexpr int usual = 840;  // More than 10,000 formulas.
#else
  constexpr int usual = 8;
#endif
  const int bundles = given != nullptr ? std::atoi(given) : usual;
  formula_tally count;
  for (int i = 0; i < bundles && count.failures < 20; ++i)
    check_bundle(*device, first_bundle + i, count);
  EXPECT_EQ(count.failures, 0);
  EXPECT_GE(count.formulas, 8 * bundles);
  EXPECT_GT(count.decided, count.elements / 100 * 90);
  std::printf("    %lld formulas, %lld elements, %lld decided\n",
              static_cast<long long>(count.formulas), static_cast<long long>(count.elements),
              static_cast<long long>(count.decided));
}

}  // namespace
}  // namespace property
