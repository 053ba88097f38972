// Derivatives of a thousand random formulas, as data: the sweeps' graphs are evaluated in long
// double (wide_evaluator.hpp), and compared with differences and with each other.
#include "../table_rows.hpp"
#include "wide_evaluator.hpp"

#include <dsl/ir/cost.hpp>
#include <dsl/ir/tangent.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

namespace {

using dsl::dtype;
using dsl::op;
using namespace dsl::detail;
using wide::number;
using wide::real;

constexpr op rows_with_derivatives[] = {
#define DSL_DERIVATIVE(name, ...) op::name,
#include <dsl/ir/ops.inc>
};

/// A random formula. It is made node by node. One is drawn again if, at a point, its value is not
/// between 10^-4 and 10^4, or if it differs by more than 10^-2, or is not finite, where an operand
/// differs by 10^-6: at a jump, a pole or an end of its domain.
class random_formula {
 public:
  static constexpr int points = 2;

  explicit random_formula(unsigned seed) : engine_(seed) {
    mixes_dtypes_ = seed % 5 == 4;
    is_complex_ = seed % 2 == 1;
    const int inputs = 1 + draw(4);
    for (int i = 0; i < inputs; ++i) inputs_.push_back(add_operand(draw_type()));
    usable_ = inputs_;
    for (int i = 0; i < 2; ++i) add_constant();
    const std::size_t leaves = usable_.size(),
                      nodes = leaves + 5 + static_cast<std::size_t>(draw(36));
    for (int tries = 0; usable_.size() < nodes && tries < 1000; ++tries) add_row();
    const int count = 1 + draw(3);
    for (std::size_t k = usable_.size();
         k > leaves && outputs.size() < static_cast<std::size_t>(count);
         k -= 1 + static_cast<std::size_t>(draw(3)))
      outputs.push_back(usable_[k - 1]);
    size = g.size();
  }

  graph g;
  std::vector<int> outputs;
  int size = 0;  // Without what is added to differentiate it.
  const std::vector<int>& inputs() const { return inputs_; }
  /// The operands' values at a point, by number.
  const std::vector<number>& operands(int point) const { return operands_[point]; }
  const std::vector<number>& values(int point) const { return values_[point]; }
  bool mixes_dtypes() const { return mixes_dtypes_; }

  int draw(int below) { return static_cast<int>(engine_() % static_cast<unsigned>(below)); }
  real draw_real(real low, real high) {
    return std::uniform_real_distribution<double>(static_cast<double>(low),
                                                  static_cast<double>(high))(engine_);
  }
  /// Adds an operand with random values.
  int add_operand(dtype type) {
    const int id = g.add(op::load, type, {static_cast<std::uint64_t>(operands_[0].size())});
    for (int p = 0; p < points; ++p) {
      const bool is_complex = dsl::kind_of(type) == dsl::kind::complex;
      operands_[p].emplace_back(draw_real(-3, 3), is_complex ? draw_real(-3, 3) : 0);
    }
    evaluate_all();
    return id;
  }

 private:
  dtype draw_type() {
    const bool wide = !mixes_dtypes_ || draw(2) == 0;
    if (is_complex_ && draw(2) == 0) return wide ? dtype::complex128 : dtype::complex64;
    return wide ? dtype::float64 : draw(2) == 0 ? dtype::float32 : dtype::float16;
  }
  void add_constant() {
    usable_.push_back(constant_term(&g, dtype::float64, (draw(8) - 3.5) / 2).id);
    evaluate_all();
  }
  void evaluate_all() {
    for (int p = 0; p < points; ++p) wide::evaluate(g, g.size(), operands_[p], values_[p]);
  }
  // An earlier node, more often a late one.
  term draw_term() {
    const int back =
        std::min(draw(static_cast<int>(usable_.size())), draw(static_cast<int>(usable_.size())));
    return {&g, usable_[usable_.size() - 1 - static_cast<std::size_t>(back)]};
  }
  term draw_real_term() {
    const term x = draw_term();
    return !x.is_complex() ? x : draw(2) == 0 ? terms::real(x) : terms::imag(x);
  }
  bool is_smooth(const node& n) const {
    if (n.code < op::add) return true;  // Not a row.
    for (const auto& values : values_) {
      number x[3];
      bool is_complex = false;
      const int arity = dsl::info(n.code).arity;
      for (int k = 0; k < arity; ++k) {
        x[k] = values[static_cast<std::size_t>(n.field(k))];
        is_complex = is_complex || dsl::kind_of(g[n.field(k)].type) == dsl::kind::complex;
      }
      const number value = wide::row(dsl::info(n.code).name, x, is_complex);
      for (int k = 0; k < arity; ++k) {
        if (!may_have_derivative(g[n.field(k)].type)) continue;
        const number there = x[k];
        for (const number by : {number(1), number(-1), number(0, 1), number(0, -1)}) {
          if (by.imag() != 0 && dsl::kind_of(g[n.field(k)].type) != dsl::kind::complex) continue;
          x[k] = there + real(1e-6) * by;
          if (!(std::abs(wide::row(dsl::info(n.code).name, x, is_complex) - value) < real(1e-2)))
            return false;
        }
        x[k] = there;
      }
    }
    return true;
  }
  // Nodes of a row that is refused stay, and nothing uses them.
  void add_row() {
    const op code = rows_with_derivatives[draw(static_cast<int>(std::size(rows_with_derivatives)))];
    const int before = g.size();
    term x[3];
    dsl::weak_dtype types[3]{};
    for (int k = 0; k < dsl::info(code).arity; ++k) {
      if (code == op::where && k == 0) {
        const term a = draw_real_term(), b = draw_real_term();
        x[k] = draw(2) == 0 ? a < b : a >= b;
      } else if (code == op::ldexp && k == 1) {
        x[k] = constant_term(&g, dtype::int32, draw(7) - 3);
      } else {
        x[k] = draw_term();
      }
      types[k] = {x[k].type()};
    }
    if (!dsl::resolve(code, types[0], types[1], types[2]).valid) return;
    const term made = operate(code, x[0], x[1], x[2]);
    evaluate_all();
    for (const auto& values : values_)
      for (int i = std::min(before, made.id); i <= made.id; ++i) {
        const real size = std::abs(values[static_cast<std::size_t>(i)]);
        const bool is_moderate = size > real(1e-4) && size < real(1e4);
        if (i >= before || i == made.id)
          if (may_have_derivative(g[i].type) && !is_moderate) return;
      }
    if (made.id >= before && is_smooth(g[made.id])) usable_.push_back(made.id);
  }

  std::mt19937 engine_;
  bool mixes_dtypes_ = false, is_complex_ = false;
  std::vector<int> inputs_, usable_;
  std::vector<number> operands_[points], values_[points];

 public:
};

std::vector<number> evaluated(const random_formula& f, const std::vector<number>& operands,
                              int end) {
  std::vector<number> values;
  wide::evaluate(f.g, end, operands, values);
  return values;
}

int flops_of_nodes(const graph& g, const std::vector<int>& nodes) {
  sequence<int> roots, reductions;
  for (const int id : nodes) roots.push_back(id);
  frozen_programs p;
  freeze(g, roots, reductions, p);
  return flops_of(
      program_view{&p.heads[0], &p.payloads[0], p.heads.size(), &p.outputs[0], p.outputs.size()});
}

/// A formula with both sweeps: weights of its outputs give weights of its inputs, changes of its
/// inputs changes of its outputs.
struct differentiated {
  random_formula f;
  std::vector<int> weights, directions;  // Operands' numbers.
  std::vector<term> back, forward;       // Of each input, of each output.

  explicit differentiated(unsigned seed) : f(seed) {
    graph& g = f.g;
    derivative_inputs inputs(g);
    sequence<term> changes;
    std::vector<int> given;
    for (const int id : f.inputs()) {
      inputs.add(id);
      directions.push_back(static_cast<int>(f.operands(0).size()));
      changes.push_back(term{&g, f.add_operand(g[id].type)});
    }
    for (const int id : f.outputs) {
      weights.push_back(static_cast<int>(f.operands(0).size()));
      given.push_back(f.add_operand(g[id].type));
    }
    adjoint_sweep adjoint(g, inputs, f.size, false);
    for (std::size_t k = 0; k < given.size(); ++k) adjoint.seed(f.outputs[k], {&g, given[k]});
    adjoint.run();
    for (int i = 0; i < inputs.count(); ++i) back.push_back(adjoint.of(i));
    tangent_sweep tangent(g, inputs, f.size);
    tangent.run(changes);
    for (const int id : f.outputs) forward.push_back(tangent.of(id));
  }
  bool is_complex_input(std::size_t i) const {
    return dsl::kind_of(f.g[f.inputs()[i]].type) == dsl::kind::complex;
  }
};
number value_of(const term& x, const std::vector<number>& values) {
  return x.is_zero() ? 0 : values[static_cast<std::size_t>(x.id)];
}

/// The derivatives of the outputs along a direction, by differences of fourth order. Empty if two
/// steps differ by more than 10^-9: near a kink, a jump or a pole.
std::vector<number> differences(const differentiated& d, const std::vector<number>& at,
                                const std::vector<number>& along) {
  const std::vector<int>& inputs = d.f.inputs();
  const auto moved = [&](real by) {
    std::vector<number> operands = at;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      operands[static_cast<std::size_t>(d.f.g[inputs[i]].field(0))] += by * along[i];
    return evaluated(d.f, operands, d.f.size);
  };
  const auto slope = [&](real h) {
    const auto a = moved(-2 * h), b = moved(-h), c = moved(h), e = moved(2 * h);
    std::vector<number> made;
    for (const int id : d.f.outputs) {
      const auto k = static_cast<std::size_t>(id);
      made.push_back((a[k] - e[k] + real(8) * (c[k] - b[k])) / (12 * h));
    }
    return made;
  };
  const auto fine = slope(3.7e-5L), coarse = slope(1e-4L);
  for (std::size_t k = 0; k < fine.size(); ++k)
    if (!(std::abs(fine[k] - coarse[k]) <= 1e-9L * (1 + std::abs(fine[k])))) return {};
  return fine;
}

constexpr int formulas = 1000;

TEST(random_derivatives, are_differences_in_both_directions) {
  int compared = 0, skipped = 0;
  for (unsigned seed = 0; seed < formulas; ++seed) {
    differentiated d(seed);
    const random_formula& f = d.f;
    // Constants are rounded to float where the terms are.
    const real within = f.mixes_dtypes() ? 2e-5L : 1e-8L;
    for (int p = 0; p < random_formula::points; ++p) {
      std::vector<number> at = f.operands(p);
      for (std::size_t i = 0; i < f.inputs().size(); ++i)
        for (const number unit : {number(1), number(0, 1)}) {
          if (unit.imag() != 0 && !d.is_complex_input(i)) continue;
          std::vector<number> along(f.inputs().size(), 0);
          along[i] = unit;
          for (std::size_t k = 0; k < along.size(); ++k)
            at[static_cast<std::size_t>(d.directions[k])] = along[k];
          const auto wanted = differences(d, at, along);
          if (wanted.empty()) {
            ++skipped;
            continue;
          }
          ++compared;
          const auto values = evaluated(f, at, f.g.size());
          real weighted = 0, size = 0;
          for (std::size_t k = 0; k < wanted.size(); ++k) {
            const number got = value_of(d.forward[k], values);
            ASSERT_LE(std::abs(got - wanted[k]), within * (1 + std::abs(wanted[k])))
                << "forwards, formula " << seed << ", input " << i << ", output " << k << ": "
                << got << ", not " << wanted[k];
            const number w = at[static_cast<std::size_t>(d.weights[k])];
            weighted += (w * wanted[k]).real();
            size += std::abs(w * wanted[k]);
          }
          const real got = (value_of(d.back[i], values) * unit).real();
          ASSERT_LE(std::abs(got - weighted), within * (1 + size))
              << "backwards, formula " << seed << ", input " << i << ": " << got << ", not "
              << weighted;
        }
    }
  }
  std::printf("%d derivatives compared, %d near kinks and poles skipped\n", compared, skipped);
  EXPECT_LT(skipped * 20, compared);
}

// <J v, w> = <v, J^T w>, to rounding.
TEST(random_derivatives, are_transposed_to_each_other) {
  for (unsigned seed = 0; seed < formulas; ++seed) {
    const differentiated d(seed + formulas);
    for (int p = 0; p < random_formula::points; ++p) {
      const auto& at = d.f.operands(p);
      const auto values = evaluated(d.f, at, d.f.g.size());
      real there = 0, back = 0, size = 0;
      for (std::size_t k = 0; k < d.forward.size(); ++k) {
        const number each =
            value_of(d.forward[k], values) * at[static_cast<std::size_t>(d.weights[k])];
        there += each.real();
        size += std::abs(each);
      }
      for (std::size_t i = 0; i < d.back.size(); ++i) {
        const number each =
            value_of(d.back[i], values) * at[static_cast<std::size_t>(d.directions[i])];
        back += each.real();
        size += std::abs(each);
      }
      ASSERT_LE(std::abs(there - back), (d.f.mixes_dtypes() ? 1e-5L : 1e-12L) * (1 + size))
          << "formula " << seed;
    }
  }
}

// Nominal operations of a gradient, and of what it needs of the formula, by the formula's own.
TEST(random_derivatives, take_few_operations) {
  // The derivative of digamma is no row: of_digamma computes it in 82 operations.
  const auto uses_digamma = [](const random_formula& f) {
    for (int i = 0; i < f.size; ++i)
      if (f.g[i].code == op::digamma) return true;
    return false;
  };
  // A quotient alone takes four times as many operations, and |x| has none.
  constexpr int least = 12;
  std::vector<double> ratios;
  for (unsigned seed = 0; seed < formulas; ++seed) {
    const differentiated d(seed);
    std::vector<int> nodes;
    for (const term& x : d.back)
      if (!x.is_zero()) nodes.push_back(x.id);
    const int own = flops_of_nodes(d.f.g, d.f.outputs);
    if (nodes.empty() || own < least || uses_digamma(d.f)) continue;
    ratios.push_back(static_cast<double>(flops_of_nodes(d.f.g, nodes)) / own);
    EXPECT_LE(ratios.back(), 4) << "formula " << seed;
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("operations of %d gradients by those of their formulas: median %.2f, most %.2f\n",
              static_cast<int>(ratios.size()), ratios[ratios.size() / 2], ratios.back());
  EXPECT_LE(ratios[ratios.size() / 2], 3);
}

TEST(random_derivatives, are_of_every_row) {
  std::vector<int> real_uses(256, 0), complex_uses(256, 0);
  for (unsigned seed = 0; seed < formulas; ++seed) {
    const random_formula f(seed);
    for (int i = 0; i < f.size; ++i) {
      const node& n = f.g[i];
      if (n.code < op::add) continue;
      const bool is_complex = dsl::kind_of(n.type) == dsl::kind::complex ||
                              dsl::kind_of(f.g[n.field(0)].type) == dsl::kind::complex;
      ++(is_complex ? complex_uses : real_uses)[static_cast<std::size_t>(n.code)];
    }
  }
  for (const op code : rows_with_derivatives) {
    if (code == op::positive) continue;  // It makes no node.
    const auto k = static_cast<std::size_t>(code);
    EXPECT_GE(real_uses[k] + complex_uses[k], 5) << dsl::info(code).name;
    dsl::weak_dtype types[] = {{dtype::complex128}, {dtype::complex128}, {dtype::complex128}};
    if (code != op::where && !dsl::resolve(code, types[0], types[1], types[2]).valid) continue;
    EXPECT_GE(complex_uses[k], 5) << dsl::info(code).name;
  }
}

}  // namespace
