// Recognizes reductions in traced programs by the nodes that lang/reduction_rules.hpp emits for
// them. Both must be changed together.
#include "exec/plan/words.hpp"

namespace dsl::detail {

indexed_program::indexed_program(const program_view& p) : p_(p) {
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    std::vector<int>& of_dtype = places_[static_cast<int>(h.type())];
    of_dtype.resize(static_cast<std::size_t>(h.slot()) + 1, -1);
    of_dtype.back() = i;
  }
}

int indexed_program::node_of(reference r) const {
  const std::vector<int>& of_dtype = places_[static_cast<int>(r.type())];
  const auto slot = static_cast<std::size_t>(r.slot());
  return slot < of_dtype.size() ? of_dtype[slot] : -1;
}

worded_pass::worded_pass(const pass_view& p)
    : pass_(&p), elements_(p.elements), results_(p.results) {
  for (int j = 0; j < p.reductions; ++j) rules_.push_back(rule_of(j));
}

worded_pass::rule worded_pass::rule_of(int reduction) const {
  const indexed_program combine(pass_->rules[reduction]);
  const int last = combine.output(0);
  const auto compares_first_to_second = [&](op code) {
    for (int i = 0; i < combine.size(); ++i) {
      if (combine.code(i) != code) continue;
      int from = combine.operand(i, 0);
      if (combine.code(from) == op::real) from = combine.operand(from, 0);
      if (combine.code(from) == op::value) return combine.payload(from) == 0;
    }
    return false;
  };
  // The second operand wins where first < second (a maximum), the first where first > second. For
  // numbers that may be NaN, the negated opposite comparison is emitted.
  const bool second_is_greater =
      compares_first_to_second(op::less) || compares_first_to_second(op::less_equal);
  if (pass_->rules[reduction].output_count == 4) return rule::variance;
  if (pass_->rules[reduction].output_count == 2) {
    const bool has_position = pass_->rules[reduction].output(1).type() == dtype::int64;
    if (!has_position) return rule::other;
    for (int i = 0; i < combine.size(); ++i)
      if (combine.code(i) == op::less_equal || combine.code(i) == op::greater_equal)
        return combine.code(i) == op::less_equal ? rule::argmax : rule::argmin;
    // The rule compares the values (b, a) or (a, b) first, and the positions (k, i) after them.
    for (int i = 0; i < combine.size(); ++i) {
      if (combine.code(i) != op::less) continue;
      int from = combine.operand(i, 0);
      if (combine.code(from) == op::real || combine.code(from) == op::imag)
        from = combine.operand(from, 0);
      if (combine.code(from) == op::value && combine.payload(from) % 2 == 0)
        return combine.payload(from) == 0 ? rule::argmax : rule::argmin;
    }
    return rule::other;
  }
  switch (combine.code(last)) {
    case op::add: return rule::sum;
    case op::multiply: return rule::prod;
    case op::min: return rule::min;
    case op::max: return rule::max;
    case op::fmin: return rule::nanmin;
    case op::fmax: return rule::nanmax;
    case op::logical_and: return rule::all;
    case op::logical_or: return rule::any;
    case op::where: {
      if (kind_of(combine.at(last).type()) != kind::complex) return rule::other;
      bool ignores_nan = false;
      for (int i = 0; i < combine.size(); ++i) {
        // choose(either(is_nan(a), ...), b, a): the condition begins with the test for the NaN to
        // replace.
        if (combine.code(i) != op::logical_or || combine.operand(last, 0) != i) continue;
        ignores_nan = combine.code(combine.operand(i, 0)) == op::isnan;
      }
      if (ignores_nan) return second_is_greater ? rule::nanmax : rule::nanmin;
      return second_is_greater ? rule::max : rule::min;
    }
    default: return rule::other;
  }
}

bool worded_pass::is_reduced(int node, rule of, int value) const {
  return node >= 0 && results_.code(node) == op::reduced &&
         rules_[static_cast<std::size_t>(results_.field(node, 0))] == of &&
         results_.field(node, 1) == value;
}

// Whether a node is isnan(x), whatever dtype x is converted to for the reduction.
bool worded_pass::is_nan_test_of(int node, int x) const {
  return elements_.code(node) == op::isnan &&
         without_conversion(elements_.operand(node, 0)) == without_conversion(x);
}

// The node x of where(isnan(x), number, x); -1 for any other node.
int worded_pass::without_nan(int node) const {
  const int choice = without_conversion(node);
  if (elements_.code(choice) != op::where) return -1;
  const int constant = elements_.operand(choice, 1), x = elements_.operand(choice, 2);
  if (elements_.code(constant) != op::constant || !is_nan_test_of(elements_.operand(choice, 0), x))
    return -1;
  return x;
}

// The node before the conversion that a reduction adds to widen its operand.
int worded_pass::without_conversion(int node) const {
  if (elements_.code(node) != op::convert) return node;
  const int from = elements_.operand(node, 0);
  const dtype narrow = elements_.at(from).type(), wide = elements_.at(node).type();
  const bool is_integer = kind_of(narrow) <= kind::integer;
  const bool widens =
      (is_integer && (wide == dtype::float64 || wide == dtype::int64 || wide == dtype::uint64)) ||
      (is_widened(narrow) && wide == computed_in(narrow)) || wide == dtype::boolean;
  return widens ? from : node;
}

reduction_word worded_pass::of_reduction(int reduction, int which) const {
  const int x = value(reduction, 0);
  switch (rules_[static_cast<std::size_t>(reduction)]) {
    case rule::sum: {
      if (const int with_nan = without_nan(x); with_nan >= 0)
        return {"nansum", without_conversion(with_nan)};
      const int counted = without_conversion(x);
      if (counted != x && elements_.code(counted) == op::convert &&
          elements_.at(counted).type() == dtype::boolean)
        return {"count_nonzero", elements_.operand(counted, 0)};
      return {"sum", counted};
    }
    case rule::prod:
      if (const int with_nan = without_nan(x); with_nan >= 0)
        return {"nanprod", without_conversion(with_nan)};
      return {"prod", without_conversion(x)};
    case rule::min: return {"min", x};
    case rule::max: return {"max", x};
    case rule::nanmin: return {"nanmin", x};
    case rule::nanmax: return {"nanmax", x};
    case rule::all: return {"all", without_conversion(x)};
    case rule::any: return {"any", without_conversion(x)};
    case rule::argmin:
    case rule::argmax: {
      if (which != 1) break;
      const bool is_greatest = rules_[static_cast<std::size_t>(reduction)] == rule::argmax;
      return {is_greatest ? "argmax" : "argmin", x};
    }
    default: break;
  }
  return {"reduce", x};
}

// mean divides the sum by the count; nanmean divides it by the number of elements that are not NaN.
reduction_word worded_pass::of_quotient(int node) const {
  const int sum = results_.operand(node, 0);
  if (!is_reduced(sum, rule::sum, 0)) return of_variance(node);
  int by = results_.operand(node, 1);
  if (results_.code(by) == op::convert) by = results_.operand(by, 0);
  const int x = value(results_.field(sum, 0), 0);
  if (results_.code(by) == op::count) return {"mean", without_conversion(x)};
  if (!is_reduced(by, rule::sum, 0)) return {};
  const int of = without_nan(x);
  const int counted = without_conversion(value(results_.field(by, 0), 0));
  const bool counts_numbers = of >= 0 && elements_.code(counted) == op::logical_not &&
                              is_nan_test_of(elements_.operand(counted, 0), of);
  return counts_numbers ? reduction_word{"nanmean", without_conversion(of)} : reduction_word{};
}

// Matches add(max(subtract(squares, ...), 0), 0) / max(count - ddof, 0).
reduction_word worded_pass::of_variance(int node) const {
  const auto is = [this](int n, op code) { return n >= 0 && results_.code(n) == code; };
  const int sum = results_.operand(node, 0);
  if (!is(sum, op::add)) return {};
  const int positive = results_.operand(sum, 0);
  if (!is(positive, op::max)) return {};
  const int difference = results_.operand(positive, 0);
  if (!is(difference, op::subtract)) return {};
  const int squares = results_.operand(difference, 0);
  if (!is_reduced(squares, rule::variance, 3)) return {};
  const int reduction = results_.field(squares, 0);
  reduction_word w;
  w.of = value(reduction, 1);
  w.name = "var";
  if (const int of = without_nan(w.of);
      of >= 0 && elements_.code(value(reduction, 0)) == op::where) {
    w.name = "nanvar";
    w.of = of;
  }
  w.of = without_conversion(w.of);
  const int free = results_.operand(node, 1);
  if (is(free, op::max) && is(results_.operand(free, 0), op::subtract)) {
    w.ddof = results_.operand(results_.operand(free, 0), 1);
    if (is(w.ddof, op::convert)) w.ddof = results_.operand(w.ddof, 0);
  }
  return w;
}

reduction_word worded_pass::word_of(int node) const {
  switch (results_.code(node)) {
    case op::reduced: return of_reduction(results_.field(node, 0), results_.field(node, 1));
    case op::divide: return of_quotient(node);
    case op::sqrt: {
      const int of = results_.operand(node, 0);
      if (is_reduced(of, rule::sum, 0)) {
        const int x = value(results_.field(of, 0), 0);
        if (elements_.code(x) == op::abs2)
          return {"norm", without_conversion(elements_.operand(x, 0))};
      }
      if (results_.code(of) != op::divide) return {};
      reduction_word w = of_variance(of);
      if (w.name != nullptr) w.name = w.name[0] == 'n' ? "nanstd" : "std";
      return w;
    }
    case op::convert: {  // 16-bit results are computed in float and converted.
      const int of = results_.operand(node, 0);
      if (size_of(results_.at(node).type()) != 2 || results_.code(of) == op::reduced) return {};
      return word_of(of);
    }
    case op::where: {  // nanargmin, nanargmax: -1 if all elements are NaN.
      const int position = results_.operand(node, 2), test = results_.operand(node, 0);
      if (results_.code(test) != op::equal || results_.operand(test, 0) != position) return {};
      const bool least = is_reduced(position, rule::argmin, 1);
      if (!least && !is_reduced(position, rule::argmax, 1)) return {};
      const int x = without_nan(value(results_.field(position, 0), 0));
      return x >= 0 ? reduction_word{least ? "nanargmin" : "nanargmax", x} : reduction_word{};
    }
    default: return {};
  }
}

}  // namespace dsl::detail
