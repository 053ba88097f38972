// Random formulas on random layouts: every element on every device against a reference that shares
// no code with the library.
#include "../on_device.hpp"

#include <algorithm>
#include <set>

#include "bundle.hpp"
#include "reference.hpp"

namespace property {

std::vector<compiled_bundle>& compiled_bundles() {
  static std::vector<compiled_bundle> all;
  return all;
}

namespace {

struct tally { std::int64_t elements = 0, decided = 0, failures = 0; };

/// An operand's dtype and block, before the run.
struct memory {
  dtype type;
  placement place;
  std::vector<unsigned char> bytes;
};

constexpr dtype dtype_of(const tree& formula) { return formula.nodes[formula.size - 1].type.type; }

/// A bundle's formulas on operands drawn for one case, and their expected values.
class trial {
 public:
  trial(const bundle& b, int bundle_number, int case_number)
      : bundle_(b),
        name_("bundle " + std::to_string(bundle_number) + ", case " + std::to_string(case_number)) {
    random r(static_cast<std::uint64_t>(1000 * (bundle_number + 1) + case_number));
    space_ = draw_shape(r, b.rank, case_number);
    const auto drawn = static_cast<order>(std::min(2, r.below(4)));
    for (int i = 0; i < b.leaf_count; ++i) {
      const leaf& l = b.leaves[i];
      const placement p = draw_placement(r, space_, l.rank, drawn, true);
      leaves_.push_back({l.type, p, draw_elements(r, l.type, p.block)});
      if (l.from == source::value && kind_of(l.type) == kind::integer) make_small(leaves_.back());
    }
    for (const tree& formula : b.formula) {
      const placement p = draw_placement(r, space_, b.rank, drawn, false);
      const auto bytes = static_cast<std::size_t>(p.block * bytes_of(dtype_of(formula)));
      outputs_.push_back({dtype_of(formula), p, std::vector<unsigned char>(bytes, 0xa5)});
    }
    if (r.percent(40)) overlap(r);
    evaluate_all();
  }

  void run(const compiled_bundle& compiled, tally& count) const {
    std::vector<operand> leaves, outputs;
    for (const memory& m : leaves_)
      leaves.push_back({dsl::to_device(m.bytes).view(), m.bytes.data(), m.place});
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const memory& m = outputs_[i];
      const bool shares = static_cast<int>(i) == shared_output_;
      outputs.push_back(
          {shares ? leaves[shared_leaf_].block : dsl::to_device(m.bytes).view(), nullptr, m.place});
    }
    try {
      compiled.run(leaves.data(), outputs.data());
    } catch (const dsl::error& e) {
      ++count.failures;
      ADD_FAILURE() << name_ << ": " << e.what();
      return;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      check(i, outputs[i].block.copy_to_host(), count);
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (shared_output_ < 0 || i != shared_leaf_) {
        EXPECT_EQ(leaves[i].block.copy_to_host(), leaves_[i].bytes)
            << name_ << " wrote to operand " << i;
      }
  }

 private:
  // A C++ integer that the other operand's dtype cannot hold is an error, so such values are made
  // small.
  static void make_small(memory& m) {
    const auto width = static_cast<std::size_t>(bytes_of(m.type));
    for (std::size_t i = 0; i < m.bytes.size(); ++i)
      m.bytes[i] = i % width == 0 ? m.bytes[i] & 0x7f : 0;  // little-endian
  }

  // If an output and an operand have one dtype and shape, the output is placed in the operand's
  // memory: in place, or with another mapping.
  void overlap(random& r) {
    for (int o = 0; o < bundle::trees; ++o)
      for (std::size_t i = 0; i < leaves_.size(); ++i) {
        memory& to = outputs_[static_cast<std::size_t>(o)];
        const placement& from = leaves_[i].place;
        const bool whole =
            from.of.rank == space_.rank &&
            std::equal(from.of.extents, from.of.extents + space_.rank, space_.extents) &&
            std::find(from.strides, from.strides + from.of.rank, 0) == from.strides + from.of.rank;
        if (bundle_.leaves[i].from != source::array || leaves_[i].type != to.type || !whole)
          continue;
        to = leaves_[i];
        shared_output_ = o;
        shared_leaf_ = i;
        if (r.percent(50)) {
          const int d = r.below(space_.rank);
          if (space_.extents[d] > 0) {
            to.place.offset += (space_.extents[d] - 1) * to.place.strides[d];
            to.place.strides[d] *= -1;
          }
        }
        return;
      }
  }

  void evaluate_all() {
    if (space_.size() == 0) return;
    std::int64_t index[most_dimensions]{};
    value at_index[bundle::most_leaves], work[tree::most_nodes];
    do {
      for (std::size_t i = 0; i < leaves_.size(); ++i)
        at_index[i] = read(leaves_[i].type, element(leaves_[i], index));
      for (const tree& formula : bundle_.formula)
        expected_.push_back(stored(evaluate(formula, at_index, work)));
    } while (advance(space_, index));
  }

  const unsigned char* element(const memory& m, const std::int64_t* index) const {
    return m.bytes.data() + m.place.at(space_, index) * bytes_of(m.type);
  }

  // Checks every element of an output, and that the memory around them is unchanged.
  void check(std::size_t output, const std::vector<unsigned char>& after, tally& count) const {
    const memory& m = outputs_[output];
    const auto bytes = static_cast<std::size_t>(bytes_of(m.type));
    const dtype precision = coarsest(bundle_.formula[output]);
    std::vector<unsigned char> around = after;
    std::int64_t index[most_dimensions]{};
    for (std::size_t i = output; i < expected_.size(); i += bundle::trees, advance(space_, index)) {
      const auto at = static_cast<std::size_t>(m.place.at(space_, index)) * bytes;
      ++count.elements;
      count.decided += is_decided(expected_[i], precision) ? 1 : 0;
      std::copy_n(m.bytes.data() + at, bytes, around.data() + at);
      if (agrees(expected_[i], after.data() + at) || ++count.failures > 20) continue;
      ADD_FAILURE() << describe(output, index) << "\n  gave "
                    << spell(read(m.type, after.data() + at)) << ", expected "
                    << spell(expected_[i]);
    }
    EXPECT_EQ(around, m.bytes) << name_ << " wrote beside output " << output;
  }

  std::string describe(std::size_t output, const std::int64_t* index) const {
    const tree& formula = bundle_.formula[output];
    std::string text = name_ + ", output " + std::to_string(output) + " (" +
                       ::property::name(outputs_[output].type) +
                       "): " + spell(formula, bundle_, formula.size - 1) + "\n  at element (";
    for (int d = 0; d < space_.rank; ++d) text += (d > 0 ? ", " : "") + std::to_string(index[d]);
    text += ") of " + spell(space_) + ", to " + spell(outputs_[output].place);
    if (static_cast<int>(output) == shared_output_)
      text += ", in the memory of operand " + std::to_string(shared_leaf_);
    for (int n = 0; n < formula.size; ++n) {
      if (formula.nodes[n].what != operation::leaf) continue;
      const memory& m = leaves_[static_cast<std::size_t>(formula.nodes[n].number)];
      text += "\n  " + spell(formula, bundle_, n) + ": " + ::property::name(m.type) + " " +
              spell(read(m.type, element(m, index))) + ", " + spell(m.place);
    }
    return text;
  }

  const bundle& bundle_;
  std::string name_;
  shape space_;
  std::vector<memory> leaves_, outputs_;
  std::vector<value> expected_;  // the formulas' values at the first index, then at the next
  int shared_output_ = -1;
  std::size_t shared_leaf_ = 0;
};

struct formulas_on : on_device {};
ON_EVERY_DEVICE(formulas_on);

TEST_P(formulas_on, random_layouts_agree_with_the_reference) {
  tally count;
  for (const compiled_bundle& compiled : compiled_bundles()) {
    const bundle b = make_bundle(compiled.number);
    for (int c = 0; c < cases; ++c) trial(b, compiled.number, c).run(compiled, count);
  }
  EXPECT_EQ(count.failures, 0);
  EXPECT_GT(count.elements, 30000 * static_cast<std::int64_t>(compiled_bundles().size()));
  // Ensures that the reference determines enough values for agreement to mean something.
  EXPECT_GT(count.decided, count.elements / 100 * 95);
  RecordProperty("elements", std::to_string(count.elements));
  RecordProperty("decided", std::to_string(count.decided));
}

TEST(formulas, are_many_and_distinct) {
  std::set<std::string> different;
  std::set<operation> used;
  std::set<dtype> dtypes;
  int deepest = 0;
  for (const compiled_bundle& compiled : compiled_bundles()) {
    const bundle b = make_bundle(compiled.number);
    for (const tree& formula : b.formula) {
      std::string text;
      for (int i = 0; i < formula.size; ++i)
        text += name(formula.nodes[i].type.type) + spell(formula, b, i) + ' ';
      different.insert(text);
      deepest = std::max(deepest, formula.depth);
      for (int i = 0; i < formula.size; ++i) {
        used.insert(formula.nodes[i].what);
        dtypes.insert(formula.nodes[i].type.type);
      }
    }
  }
  const std::size_t formulas = compiled_bundles().size() * bundle::trees;
  EXPECT_GE(different.size(), formulas - formulas / 100);
  // All bundles together contain every operation; a few do not.
  const bool all = formulas > 500;
  EXPECT_GE(deepest, all ? 8 : 7);
  EXPECT_GE(used.size(), static_cast<std::size_t>(all ? operation_count : 60));
  EXPECT_GE(dtypes.size(), static_cast<std::size_t>(all ? dtype_count : 14));
}

TEST(formulas, promote_as_numpy_does) {
  for (const compiled_bundle& compiled : compiled_bundles()) {
    const bundle b = make_bundle(compiled.number);
    for (int t = 0; t < bundle::trees; ++t) {
      const tree& formula = b.formula[t];
      const std::vector<typed> found = compiled.types(t);
      for (int i = 0; i < formula.size; ++i) {
        const typed want = formula.nodes[i].type, have = found[static_cast<std::size_t>(i)];
        const auto text = [](typed t) { return std::string(t.weak ? "weak " : "") + name(t.type); };
        EXPECT_EQ(text(have), text(want))
            << "bundle " << compiled.number << ": " << spell(formula, b, i);
      }
    }
  }
}

}  // namespace
}  // namespace property
