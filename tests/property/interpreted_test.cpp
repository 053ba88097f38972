// Random formulas as data: drawn, traced and interpreted in every form that a back end has, against
// a reference that shares no code with the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "reference.hpp"
#include "traced_bundle.hpp"

namespace property {
namespace {

constexpr int first_bundle = 1000, bundle_count = 4200, element_count = 24;

struct tally {
  std::int64_t formulas = 0, elements = 0, decided = 0, folded = 0;
  int failures = 0, refused = 0;
  std::set<operation> used;
  std::set<dtype> dtypes;
};

/// Drawn elements of a bundle's leaves, and the expected values of its formulas.
class case_of {
 public:
  case_of(const bundle& b, int number)
      : bundle_(b), number_(number), operands_(draw_operands(b, number, element_count)) {}

  void run(tally& count) {
    interpreter::traced traced;
    interpreter::written_out written;
    std::vector<interpreter::value> outputs, written_outputs;
    for (const tree& formula : bundle_.formula) {
      const auto made = trace(traced, bundle_, formula);
      if (traced.refused()) {
        ++count.refused;
        continue;
      }
      check_types(formula, made);
      formulas_.push_back(&formula);
      outputs.push_back(made.back());
      written_outputs.push_back(trace(written, bundle_, formula).back());
      for (int i = 0; i < formula.size; ++i) {
        count.used.insert(formula.nodes[i].what);
        count.dtypes.insert(formula.nodes[i].type.type);
      }
    }
    if (formulas_.empty()) return;
    count.formulas += static_cast<std::int64_t>(formulas_.size());
    const auto program = traced.program(outputs),
               written_program = written.program(written_outputs);
    count.folded += written_program.heads.size() - program.heads.size();
    const interpreter::executable made(interpreter::view_of(program)),
        as_written(interpreter::view_of(written_program));
    evaluate_all(count);
    for (const interpreter::form how : interpreter::forms()) {
      const auto got = run_form(made, how);
      check(got, how, count);
      if (how == interpreter::form::scalar) check_same(got, run_form(as_written, how), count);
    }
  }

 private:
  void check_types(const tree& formula, const std::vector<interpreter::value>& made) const {
    for (int i = 0; i < formula.size; ++i) {
      const typed want = formula.nodes[i].type;
      const dsl::weak_dtype have = made[static_cast<std::size_t>(i)].type;
      EXPECT_TRUE(have.type == dsl_type(want.type) && have.weak == want.weak)
          << "bundle " << number_ << ": " << spell(formula, bundle_, i) << " is "
          << dsl::name(have.type) << ", expected " << name(want.type);
    }
  }

  void evaluate_all(tally& count) {
    value at_index[bundle::most_leaves], work[tree::most_nodes];
    for (int e = 0; e < element_count; ++e) {
      for (int i = 0; i < bundle_.leaf_count; ++i)
        at_index[i] = read(bundle_.leaves[i].type, element(i, e));
      for (const tree* formula : formulas_) {
        expected_.push_back(stored(evaluate(*formula, at_index, work)));
        count.decided += is_decided(expected_.back(), coarsest(*formula)) ? 1 : 0;
      }
    }
    count.elements += static_cast<std::int64_t>(expected_.size());
  }

  const unsigned char* element(int leaf, int e) const {
    const auto i = static_cast<std::size_t>(leaf);
    return operands_.elements[i].data() + (bundle_.leaves[leaf].from == source::array
                                               ? e * bytes_of(bundle_.leaves[leaf].type)
                                               : 0);
  }

  std::vector<bytes> run_form(const interpreter::executable& program, interpreter::form how) const {
    std::vector<const void*> in;
    std::vector<void*> out;
    std::vector<bytes> results;
    for (const bytes& b : operands_.values) in.push_back(b.data());
    for (const tree* formula : formulas_)
      results.emplace_back(static_cast<std::size_t>(element_count * bytes_of(type_of(*formula))),
                           0xa5);
    for (bytes& b : results) out.push_back(b.data());
    program.run(how, element_count, in.data(), out.data());
    return results;
  }

  static dtype type_of(const tree& formula) { return formula.nodes[formula.size - 1].type.type; }

  void check(const std::vector<bytes>& got, interpreter::form how, tally& count) const {
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const std::size_t f = i % formulas_.size(), e = i / formulas_.size();
      const unsigned char* const at =
          got[f].data() + e * static_cast<std::size_t>(bytes_of(type_of(*formulas_[f])));
      if (agrees(expected_[i], at) || ++count.failures > 20) continue;
      ADD_FAILURE() << describe(f, static_cast<int>(e)) << "\n  gave "
                    << spell(read(type_of(*formulas_[f]), at)) << " (" << name(how)
                    << "), expected " << spell(expected_[i]);
    }
  }

  // Bit for bit, except for the bits of a NaN.
  void check_same(const std::vector<bytes>& got, const std::vector<bytes>& written,
                  tally& count) const {
    for (std::size_t f = 0; f < formulas_.size(); ++f) {
      const dtype type = type_of(*formulas_[f]);
      const auto size = static_cast<std::size_t>(bytes_of(part_of(type)));
      for (std::size_t at = 0; at < got[f].size(); at += size) {
        if (std::memcmp(got[f].data() + at, written[f].data() + at, size) == 0) continue;
        const auto is_nan = [&](const bytes& b) {
          return kind_of(type) >= kind::real && read(part_of(type), b.data() + at).part[0].is_nan();
        };
        if ((is_nan(got[f]) && is_nan(written[f])) || ++count.failures > 20) continue;
        const int e = static_cast<int>(at) / bytes_of(type);
        ADD_FAILURE() << describe(f, e) << "\n  gave "
                      << spell(read(type, got[f].data() + e * bytes_of(type)))
                      << ", and as it is written "
                      << spell(read(type, written[f].data() + e * bytes_of(type)));
      }
    }
  }

  std::string describe(std::size_t f, int e) const {
    const tree& formula = *formulas_[f];
    std::string text = "bundle " + std::to_string(number_) + " (" +
                       ::property::name(type_of(formula)) +
                       "): " + spell(formula, bundle_, formula.size - 1);
    for (int n = 0; n < formula.size; ++n)
      if (const node& leaf = formula.nodes[n]; leaf.what == operation::leaf)
        text += "\n  " + spell(formula, bundle_, n) + ": " + ::property::name(leaf.type.type) +
                " " + spell(read(leaf.type.type, element(leaf.number, e)));
    return text;
  }

  const bundle& bundle_;
  int number_;
  std::vector<const tree*> formulas_;
  drawn_operands operands_;
  std::vector<value> expected_;  // the formulas' values of the first element, then of the next
};

TEST(interpreted_formulas, agree_with_the_reference_in_every_form) {
  for (int t = 0; t < dtype_count; ++t)
    EXPECT_STREQ(name(static_cast<dtype>(t)), dsl::name(static_cast<dsl::dtype>(t)));
  tally count;
  for (int i = first_bundle; i < first_bundle + bundle_count && count.failures < 20; ++i) {
    const bundle b = make_bundle(i);
    case_of(b, i).run(count);
  }
  EXPECT_EQ(count.failures, 0);
  EXPECT_GE(count.formulas, 50000);
  EXPECT_LT(count.refused, count.formulas / 100);
  // Ensures that the reference determines enough values for agreement to mean something.
  EXPECT_GT(count.decided, count.elements / 100 * 95);
  EXPECT_GT(count.folded, count.formulas / 2);  // ensures folding and sharing
  EXPECT_EQ(count.used.size(), static_cast<std::size_t>(operation_count));
  EXPECT_EQ(count.dtypes.size(), static_cast<std::size_t>(dtype_count));
  RecordProperty("formulas", std::to_string(count.formulas));
  RecordProperty("elements", std::to_string(count.elements));
  RecordProperty("decided", std::to_string(count.decided));
  RecordProperty("nodes_less", std::to_string(count.folded));
}

}  // namespace
}  // namespace property
