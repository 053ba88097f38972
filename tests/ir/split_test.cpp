// Statements with nested reductions, drawn at random and split into passes as data; no kernel is
// compiled. Values are integers, so the passes must give exactly the statement's value.
#include <gtest/gtest.h>

#include <dsl/ir/split.hpp>
#include <dsl/lang/reduction_rules.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace dsl;
using namespace dsl::detail;

namespace {

/// Numbers that broadcast.
struct table {
  int rows = 1, columns = 1;
  std::vector<double> values{0};
  double at(int i, int j) const {
    return values[static_cast<std::size_t>((rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j))];
  }
};
template <class F>
table join(const table& a, const table& b, F f) {
  table to{std::max(a.rows, b.rows), std::max(a.columns, b.columns), {}};
  for (int i = 0; i < to.rows; ++i)
    for (int j = 0; j < to.columns; ++j) to.values.push_back(f(a.at(i, j), b.at(i, j)));
  return to;
}
double subtract(double a, double b) { return a - b; }
double sum(double a, double b) { return a + b; }
double greater(double a, double b) { return std::max(a, b); }
table stretched(const table& t, int rows, int columns) {
  return join(t, {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))},
              sum);
}

using reducer_of_two = double (*)(double, double);
/// Reduces along rows (axes 1), columns (2) or both (3).
table reduced(const table& t, int axes, reducer_of_two f) {
  table to{(axes & 1) != 0 ? 1 : t.rows, (axes & 2) != 0 ? 1 : t.columns, {}};
  to.values.assign(static_cast<std::size_t>(to.rows * to.columns), 0);
  std::vector<bool> begun(to.values.size());
  for (int i = 0; i < t.rows; ++i)
    for (int j = 0; j < t.columns; ++j) {
      const auto at =
          static_cast<std::size_t>((to.rows == 1 ? 0 : i) * to.columns + (to.columns == 1 ? 0 : j));
      to.values[at] = begun[at] ? f(to.values[at], t.at(i, j)) : t.at(i, j);
      begun[at] = true;
    }
  return to;
}

/// An expression: an array or a scalar, a difference or a maximum of two, a reduction, or a formula
/// that contains reductions.
struct tree {
  enum {
    array,
    scalar,
    difference,
    maximum,
    reduce_sum,
    reduce_max,
    first_formula,
    last_formula = first_formula + 3
  } kind;
  int number = 0, axes = 3;
  std::vector<std::unique_ptr<tree>> operands{};
  bool keeps_axes = false;

  int rank() const {
    if (kind == array) return 2;
    if (kind == scalar || kind == first_formula + 1 || kind == first_formula + 3) return 0;
    if (kind == reduce_sum || kind == reduce_max) return keeps_axes ? 2 : 0;
    int rank = 0;
    for (const auto& o : operands) rank = std::max(rank, o->rank());
    return rank;
  }
};

struct statement_of_trees {
  std::vector<std::unique_ptr<tree>> expressions;
  std::vector<table> leaves;  // in the order of the graph
  std::vector<int> axes{3};   // of each index space
  graph g;

  static table value_of(const tree& t, const std::vector<table>& arrays) {
    if (t.kind <= tree::scalar) return arrays[static_cast<std::size_t>(t.number)];
    const table a = value_of(*t.operands[0], arrays),
                b = t.operands.size() > 1 ? value_of(*t.operands[1], arrays) : table{};
    const auto all = [](const table& x, reducer_of_two f) { return reduced(x, 3, f); };
    // A formula's arguments are first broadcast to a common shape.
    const int rows = std::max(a.rows, b.rows), columns = std::max(a.columns, b.columns);
    const table x = stretched(a, rows, columns), y = stretched(b, rows, columns);
    switch (static_cast<int>(t.kind)) {
      case tree::difference: return join(a, b, subtract);
      case tree::maximum: return join(a, b, greater);
      case tree::reduce_sum: return reduced(a, t.axes, sum);
      case tree::reduce_max: return reduced(a, t.axes, greater);
      case tree::first_formula: return join(x, all(x, sum), subtract);
      case tree::first_formula + 1:
        return join(all(join(x, all(x, greater), subtract), sum), all(x, greater), greater);
      case tree::first_formula + 2:
        return join(join(x, all(join(y, all(x, greater), subtract), sum), subtract), y, greater);
      default: return join(all(x, sum), all(y, greater), subtract);
    }
  }

  symbol<dtype::float64> trace(const tree& t, tracer& tr, const std::vector<table>& arrays) {
    using S = symbol<dtype::float64>;
    if (t.kind <= tree::scalar) {
      leaves.push_back(arrays[static_cast<std::size_t>(t.number)]);
      return operand_symbol<dtype::float64>(t.kind == tree::array ? op::load : op::value, tr);
    }
    const bool reduces = t.kind == tree::reduce_sum || t.kind == tree::reduce_max;
    int space = 0;
    if (reduces || t.kind >= tree::first_formula) {
      space = g.open_space(tr.operands, reduces, t.keeps_axes ? 2 : 0);
      axes.push_back(t.axes);
    }
    const S a = trace(*t.operands[0], tr, arrays),
            b = t.operands.size() > 1 ? trace(*t.operands[1], tr, arrays) : a;
    const auto max_of = [&](S x) { return max_function::trace(tr, x); };
    const auto sum_of = [&](S x) { return sum_function::trace(tr, x); };
    const S made = [&]() -> S {
      switch (static_cast<int>(t.kind)) {
        case tree::difference: return apply<op::subtract>(a, b);
        case tree::maximum: return apply<op::max>(a, b);
        case tree::reduce_sum: return sum_of(a);
        case tree::reduce_max: return max_of(a);
        case tree::first_formula: return apply<op::subtract>(a, sum_of(a));
        case tree::first_formula + 1:
          return apply<op::max>(sum_of(apply<op::subtract>(a, max_of(a))), max_of(a));
        case tree::first_formula + 2:
          return apply<op::max>(apply<op::subtract>(a, sum_of(apply<op::subtract>(b, max_of(a)))),
                                b);
        default: return apply<op::subtract>(sum_of(a), max_of(b));
      }
    }();
    if (space > 0) {
      g.spaces[space - 1].outputs.push_back(made.id);
      g.close_space(tr.operands);
    }
    return made;
  }
  template <dtype D>
  static symbol<D> operand_symbol(op code, tracer& t) {
    return {t.g, t.g->add(code, D, {static_cast<std::uint64_t>(t.operands++)})};
  }
  void trace_all(const std::vector<table>& arrays) {
    tracer t{&g};
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      if (expressions[i]->rank() == 0) g.scalar_outputs |= 1u << i;
      g.outputs.push_back(trace(*expressions[i], t, arrays).id);
    }
    g.operands = t.operands;
  }
};

/// The values of a graph that is one pass, for each output.
std::vector<table> run_pass(const graph& g, const std::vector<table>& inputs, int axes) {
  table space{1, 1, {0}};
  for (int i = 0; i < g.size(); ++i)
    if (g[i].code == op::load)
      space = join(space, inputs[static_cast<std::size_t>(g[i].field(0))], sum);
  for (const table& t : inputs) space = join(space, t, sum);  // unread operands count as well
  std::vector<table> at;
  for (int i = 0; i < g.size(); ++i) {
    const node& n = g[i];
    const auto operand = [&](int k) -> const table& {
      return at[static_cast<std::size_t>(n.field(k))];
    };
    switch (n.code) {
      case op::load:
      case op::load_scalar:
      case op::value: at.push_back(inputs[static_cast<std::size_t>(n.field(0))]); break;
      case op::subtract: at.push_back(join(operand(0), operand(1), subtract)); break;
      case op::max: at.push_back(join(operand(0), operand(1), greater)); break;
      case op::reduced: {
        const traced_reduction& f = g.reduction_at(n.field(0));
        const graph& rule = g.rule_at(f.rule).combine;
        const bool adds = rule[rule.outputs[0]].code == op::add;
        at.push_back(
            reduced(stretched(at[static_cast<std::size_t>(f.values[0])], space.rows, space.columns),
                    axes, adds ? sum : greater));
        break;
      }
      default:
        ADD_FAILURE() << "an operation that no tree has: " << static_cast<int>(n.code);
        at.emplace_back();
    }
  }
  std::vector<table> outputs;
  for (int i = 0; i < g.outputs.size(); ++i)
    outputs.push_back(at[static_cast<std::size_t>(g.outputs[i])]);
  return outputs;
}

// Binds the inputs of a use at the places of a use that computes the same function.
template <class Schedule>
std::vector<table> inputs_at(const Schedule& plan, const scheduled_pass& pass, const pass_use& use,
                             const pass_use& places, const std::vector<table>& leaves,
                             const std::vector<table>& values) {
  std::vector<table> inputs(static_cast<std::size_t>(pass.inputs));  // unbound: one element
  for (int i = 0; i < use.inputs; ++i) {
    const int input = plan.input[static_cast<std::size_t>(use.first_input + i)].input,
              place = plan.input[static_cast<std::size_t>(places.first_input + i)].place;
    inputs[static_cast<std::size_t>(place)] =
        input < plan.leaves ? leaves[static_cast<std::size_t>(input)]
                            : values[static_cast<std::size_t>(input - plan.leaves)];
  }
  return inputs;
}

std::vector<table> run_all_passes(const statement_of_trees& s) {
  const pass_splitter split(s.g);
  const auto plan = split.make_schedule();
  std::vector<table> values(static_cast<std::size_t>(plan.values)), targets(s.expressions.size());
  for (int p = 0; p < plan.passes; ++p) {
    const scheduled_pass& pass = plan.pass[static_cast<std::size_t>(p)];
    const graph& g = split.pass_graph(p);
    EXPECT_TRUE(image_of<max_program_nodes>(g).is_one_pass);
    for (int u = pass.first_use; u < pass.first_use + pass.uses; ++u) {
      const pass_use& use = plan.use[static_cast<std::size_t>(u)];
      const int axes = s.axes[static_cast<std::size_t>(use.space)];
      const std::vector<table> got =
          run_pass(g, inputs_at(plan, pass, use, use, s.leaves, values), axes);
      const auto place_of = [&](const pass_use& of, int i) {
        return static_cast<std::size_t>(
            plan.output[static_cast<std::size_t>(of.first_output + i)].place);
      };
      for (int at = use.like; at != u; at = plan.use[static_cast<std::size_t>(at)].like) {
        const pass_use& like = plan.use[static_cast<std::size_t>(at)];
        const std::vector<table> other =
            run_pass(g, inputs_at(plan, pass, use, like, s.leaves, values), axes);
        EXPECT_EQ(like.outputs, use.outputs);
        for (int i = 0; i < use.outputs; ++i)
          EXPECT_EQ(other[place_of(like, i)].values, got[place_of(use, i)].values);
      }
      for (int i = 0; i < use.outputs; ++i) {
        const output_place& to = plan.output[static_cast<std::size_t>(use.first_output + i)].to;
        const table& result = got[place_of(use, i)];
        if (to.value >= 0) values[static_cast<std::size_t>(to.value)] = result;
        if (to.target >= 0) targets[static_cast<std::size_t>(to.target)] = result;
      }
    }
  }
  for (int k = 0; k < plan.copies; ++k)
    targets[static_cast<std::size_t>(plan.copy[static_cast<std::size_t>(k)].target)] =
        values[static_cast<std::size_t>(plan.copy[static_cast<std::size_t>(k)].value)];
  return targets;
}

class trees {
 public:
  explicit trees(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  std::unique_ptr<tree> draw(int depth, int arrays, bool along_axes) {
    auto t = std::make_unique<tree>();
    t->kind = static_cast<decltype(t->kind)>(
        depth == 0 ? below(8) == 0 ? tree::scalar : tree::array
                   : tree::difference + below(tree::last_formula - tree::difference + 1));
    if (t->kind <= tree::scalar) {
      t->number = t->kind == tree::scalar ? arrays : below(arrays);
      return t;
    }
    const bool reduces = t->kind == tree::reduce_sum || t->kind == tree::reduce_max;
    if (reduces && along_axes && below(2) == 0) {
      t->axes = 1 + below(3);
      t->keeps_axes = true;
    }
    for (int i = 0; i < (reduces ? 1 : 2); ++i)
      t->operands.push_back(draw(below(depth), arrays, along_axes));
    // Reductions that accompany arrays have as many elements as these; a formula of scalars alone
    // gives one value.
    const bool of_arrays = t->kind >= (along_axes ? tree::first_formula : tree::reduce_sum);
    while (of_arrays && t->operands[0]->rank() == 0)
      t->operands[0] = draw(below(depth), arrays, along_axes);
    return t;
  }
  table numbers(int rows, int columns) {
    table t{rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) t.values.push_back(below(21) - 10);
    return t;
  }

 private:
  std::mt19937 engine_;
};

void compare(statement_of_trees& s, const std::vector<table>& arrays, unsigned seed) {
  s.trace_all(arrays);
  const std::vector<table> got = run_all_passes(s);
  for (std::size_t i = 0; i < s.expressions.size(); ++i) {
    const table want = statement_of_trees::value_of(*s.expressions[i], arrays);
    for (int row = 0; row < want.rows; ++row)
      for (int column = 0; column < want.columns; ++column)
        ASSERT_EQ(got[i].at(row, column), want.at(row, column))
            << "seed " << seed << ", expression " << i;
  }
}

TEST(split, an_expression_is_what_its_passes_give) {
  for (unsigned seed = 0; seed < 4000; ++seed) {
    trees random(seed);
    const std::vector<table> arrays{random.numbers(3, 4), random.numbers(1, 4),
                                    random.numbers(3, 1), random.numbers(1, 1)};
    statement_of_trees s;
    s.expressions.push_back(random.draw(1 + random.below(5), 3, true));
    compare(s, arrays, seed);
  }
}

// Expressions of one shape, so that reductions and arrays share an index space.
TEST(split, several_expressions_are_what_their_passes_give) {
  for (unsigned seed = 0; seed < 4000; ++seed) {
    trees random(seed);
    const std::vector<table> arrays{random.numbers(3, 4), random.numbers(3, 4),
                                    random.numbers(1, 1)};
    statement_of_trees s;
    for (int i = 0; i < 1 + random.below(4); ++i)
      s.expressions.push_back(random.draw(1 + random.below(4), 2, false));
    compare(s, arrays, seed);
  }
}

struct pass_counts {
  int passes, uses, values;
  std::vector<int> inputs;  // of each pass
};
template <class F>
pass_counts count_passes(const F& f) {
  graph g;
  tracer t{&g};
  f(g, t);
  g.operands = t.operands;
  const auto plan = pass_splitter(g).make_schedule();
  pass_counts counts{plan.passes, plan.uses, plan.values, {}};
  for (int p = 0; p < plan.passes; ++p)
    counts.inputs.push_back(plan.pass[static_cast<std::size_t>(p)].inputs);
  return counts;
}
symbol<dtype::float32> leaf(tracer& t) {
  return statement_of_trees::operand_symbol<dtype::float32>(op::load, t);
}
// A reduction of elements(), in an index space of its own.
template <class Reduction, class Elements>
auto reduced(tracer& t, const Elements& elements) {
  t.g->open_space(t.operands, true, 0);
  const auto r = Reduction::trace(t, elements());
  t.g->spaces[t.g->space - 1].outputs.push_back(r.id);
  t.g->close_space(t.operands);
  return r;
}
template <class Reduction>
auto of_leaf(tracer& t) {
  return reduced<Reduction>(t, [&] { return leaf(t); });
}
template <class Reduction>
auto of_product(tracer& t) {
  return reduced<Reduction>(t, [&] {
    const auto a = leaf(t);
    return apply<op::multiply>(a, leaf(t));
  });
}
template <class... Result>
void to_scalars(graph& g, const Result&... r) {
  (g.outputs.push_back(r.id), ...);
  g.scalar_outputs = (1u << sizeof...(r)) - 1;
}

// max(x) of two arrays is one program, which runs twice only if the arrays differ.
TEST(split, equal_reductions_share_a_program) {
  const pass_counts softmax = count_passes([&](graph& g, tracer& t) {
    const auto above = apply<op::exp>(apply<op::subtract>(leaf(t), of_leaf<max_function>(t)));
    const auto below = reduced<sum_function>(
        t, [&] { return apply<op::exp>(apply<op::subtract>(leaf(t), of_leaf<max_function>(t))); });
    g.outputs.push_back(apply<op::divide>(above, below).id);
  });
  EXPECT_EQ(std::tuple(softmax.passes, softmax.uses, softmax.values), std::tuple(3, 4, 3));
  EXPECT_EQ(softmax.inputs, (std::vector{1, 2, 3}));
  const pass_counts quotient = count_passes([&](graph& g, tracer& t) {
    to_scalars(g, apply<op::divide>(of_leaf<max_function>(t), of_leaf<max_function>(t)));
  });
  EXPECT_EQ(std::tuple(quotient.passes, quotient.uses, quotient.values), std::tuple(2, 3, 2));
  EXPECT_EQ(quotient.inputs, (std::vector{2, 2}));
}

// The places at which a pass reads arrays: as many as there probably are different arrays.
TEST(split, parts_share_the_places_of_arrays_that_are_probably_the_same) {
  const auto inputs = [](const auto& f) { return count_passes(f).inputs; };
  // Least and greatest element, of one array. Mean and maximum, of two.
  EXPECT_EQ(inputs([](graph& g, tracer& t) {
              const auto least = of_leaf<min_function>(t);
              to_scalars(g, least, of_leaf<max_function>(t));
            }),
            std::vector{1});
  EXPECT_EQ(inputs([](graph& g, tracer& t) {
              const auto a = of_leaf<sum_function>(t);
              const auto b = of_leaf<max_function>(t), c = of_leaf<sum_function>(t);
              to_scalars(g, a, b, c, of_leaf<max_function>(t));
            }),
            std::vector{2});
  // A covariance and its variances, in any order.
  for (int first = 0; first < 3; ++first)
    EXPECT_EQ(inputs([&](graph& g, tracer& t) {
                int of_both = 0, of_a = 0, of_b = 0;
                for (int k = 0; k < 3; ++k)
                  if (k == first) of_both = of_product<sum_function>(t).id;
                  else (of_a == 0 ? of_a : of_b) = of_leaf<sum_function>(t).id;
                for (const int r : {of_both, of_a, of_b}) g.outputs.push_back(r);
                g.outputs.push_back(of_leaf<max_function>(t).id);
                g.outputs.push_back(of_leaf<max_function>(t).id);
                g.scalar_outputs = 31;
              }),
              std::vector{2});
  // It is not clear which of the product's arrays these are.
  EXPECT_EQ(inputs([](graph& g, tracer& t) {
              const auto product = of_product<sum_function>(t);
              const auto least = of_leaf<min_function>(t);
              to_scalars(g, product, least, of_leaf<max_function>(t));
            }),
            std::vector{4});
  EXPECT_EQ(inputs([](graph& g, tracer& t) {
              const auto a = of_product<sum_function>(t), b = of_product<sum_function>(t);
              const auto c = of_leaf<sum_function>(t);
              to_scalars(g, a, b, c, of_leaf<sum_function>(t));
            }),
            std::vector{6});
  // No more arrays than a thread's registers hold.
  EXPECT_EQ(inputs([](graph& g, tracer& t) {
              for (int k = 0; k < 17; ++k) g.outputs.push_back(of_leaf<sum_function>(t).id);
              g.scalar_outputs = (1u << 17) - 1;
            }),
            (std::vector{16, 1}));
}

}  // namespace
