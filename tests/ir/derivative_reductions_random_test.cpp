// Derivatives of random formulas with reductions and neighbours, as data: of arrays of a few
// elements and scalars, evaluated in long double, against differences and each other.
#include "wide_evaluator.hpp"

#include <dsl/ir/tangent.hpp>
#include <dsl/lang/variance.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

namespace {

using dsl::boundary;
using dsl::dtype;
using dsl::op;
using namespace dsl::detail;
using wide::number;
using wide::real;
using elements = std::vector<real>;

/// The element that a path leads to from element i of n, or -1 if it is zero.
std::int64_t end_of(const neighbour_path& path, std::int64_t i, std::int64_t n) {
  for (int s = 0; s < path.count; ++s) {
    i -= path.step[s].distance;
    switch (path.step[s].beyond) {
      case boundary::zero:
        if (i < 0 || i >= n) return -1;
        break;
      case boundary::clamp: i = std::clamp<std::int64_t>(i, 0, n - 1); break;
      case boundary::wrap: i = (i % n + n) % n; break;
      default:
        while (n > 1 && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * (n - 1) - i;
        if (n == 1) i = 0;
    }
  }
  return i;
}

/// The values of a graph's nodes up to `end`, n of each; one that all elements share is repeated.
std::vector<elements> evaluated(const graph& g, int end, std::size_t n,
                                const std::vector<elements>& operands) {
  std::vector<elements> values;
  for (int id = 0; id < end; ++id) {
    const node& at = g[id];
    elements made(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto read = [&](std::int64_t k) {
        const elements& of = operands[static_cast<std::size_t>(at.field(0))];
        return k < 0 ? 0 : of[of.size() == 1 ? 0 : static_cast<std::size_t>(k)];
      };
      const auto here = static_cast<std::int64_t>(i), count = static_cast<std::int64_t>(n);
      switch (at.code) {
        case op::load:
        case op::load_scalar: made[i] = read(here); break;
        case op::neighbour: {
          const neighbour_path path = path_of(g, id);
          const std::int64_t there = end_of(path, here, count);
          made[i] = path.base == op::index ? static_cast<real>(there) : read(there);
          break;
        }
        case op::inside: made[i] = end_of(path_of(g, id), here, count) >= 0; break;
        case op::index: made[i] = static_cast<real>(i); break;
        case op::count: made[i] = static_cast<real>(n); break;
        case op::constant: made[i] = wide::constant(at).real(); break;
        case op::step: break;
        case op::convert: made[i] = values[static_cast<std::size_t>(at.field(0))][i]; break;
        case op::reduced: {
          const traced_reduction& f = g.reduction_at(at.field(0));
          const graph& combine = g.rule_at(f.rule).combine;
          real sum = values[static_cast<std::size_t>(f.values[0])][0];
          for (std::size_t k = 1; k < n; ++k) {
            std::vector<number> both;
            for (int c = 0; c < combine.size(); ++c)
              if (combine[c].code == op::value)
                both.emplace_back(combine[c].word.bits == 0
                                      ? sum
                                      : values[static_cast<std::size_t>(f.values[0])][k]);
              else wide::evaluate(combine, c + 1, {}, both);
            sum = both[static_cast<std::size_t>(combine.outputs[0])].real();
          }
          made[i] = sum;
          break;
        }
        default: {
          number x[3];
          for (int k = 0; k < dsl::info(at.code).arity; ++k)
            x[k] = values[static_cast<std::size_t>(at.field(k))][i];
          made[i] = wide::row(dsl::info(at.code).name, x, false).real();
        }
      }
    }
    values.push_back(made);
  }
  return values;
}

/// A random formula of two arrays and a scalar with both sweeps.
class random_formula {
 public:
  static constexpr int inputs = 3;

  random_formula(unsigned seed, std::size_t n) : size_(n), engine_(seed), values_(0) {
    g.notes_literals = true;
    g.reads_rows_again = true;
    g.open_space(0, false, 0);
    for (int k = 0; k < inputs; ++k) usable_.push_back(add_operand(k < 2));
    usable_.push_back(constant_term(&g, dtype::float64, 0.75).id);
    const std::size_t nodes = usable_.size() + 3 + static_cast<std::size_t>(draw(12));
    for (int tries = 0; usable_.size() < nodes && tries < 300; ++tries) add();
    outputs = {usable_.back(), usable_[usable_.size() - 1 - static_cast<std::size_t>(draw(3))]};
    size = g.size();
    differentiate();
  }

  graph g;
  int size = 0;
  std::vector<int> outputs;
  std::vector<elements> operands;
  std::vector<int> directions, weights;  // Numbers of operands.
  std::vector<term> back, forward;
  bool refused() const { return g.refused_derivative != no_derivative::exists; }

 private:
  int draw(int below) { return static_cast<int>(engine_() % static_cast<unsigned>(below)); }
  int add_operand(bool is_array) {
    const auto slot = static_cast<int>(operands.size());
    elements drawn(is_array ? size_ : 1);
    for (real& x : drawn) x = std::uniform_real_distribution<double>(-2, 2)(engine_);
    operands.push_back(drawn);
    g.note_rank(slot, is_array ? 1 : 0);
    return g.add(is_array ? op::load : op::load_scalar, dtype::float64, fields(slot));
  }
  int draw_node() {
    const int back =
        std::min(draw(static_cast<int>(usable_.size())), draw(static_cast<int>(usable_.size())));
    return usable_[usable_.size() - 1 - static_cast<std::size_t>(back)];
  }
  // Adds a row of the table, a reduction or neighbours. If it is not moderate, nothing uses it.
  void add() {
    using namespace terms;
    const int id = draw_node();
    const term x{&g, id}, y{&g, draw_node()};
    const dsl::symbol<dtype::float64> s{&g, id};
    tracer t{&g};
    int made = -1;
    const int kind = draw(18);
    const bool is_element = node_origins<graph>(g)[id].kind == origin::element;
    // The product and the extrema of one value that all elements share are refused.
    if (kind >= 10 && kind != 13 && kind != 14 && !is_element) return;
    switch (kind) {
      case 0: made = (x + y).id; break;
      case 1: made = (x * y).id; break;
      case 2: made = (x / y).id; break;
      case 3: made = sin(x).id; break;
      case 4: made = exp(tanh(x)).id; break;
      case 5: made = where(x < y, x * x, atan(y)).id; break;
      case 6: made = max(x, y).id; break;
      case 7: made = (x - y).id; break;
      case 8: made = sum_function::trace(t, s).id; break;
      case 9: made = mean_function::trace(t, s).id; break;
      case 10: made = max_function::trace(t, s).id; break;
      case 11: made = min_function::trace(t, s).id; break;
      case 12: made = prod_function::trace(t, s).id; break;
      case 13: made = norm_function<norm_order::euclidean>::trace(t, s).id; break;
      case 14: made = var_function::trace(t, s).id; break;
      default: {
        path_step by;
        by.beyond = static_cast<boundary>(draw(4));
        by.distance = draw(2) == 0 ? 1 + draw(2) : -1 - draw(2);
        // NaN, as the page says.
        if (by.beyond == boundary::reflect && size_ == 2 && std::abs(by.distance) == 2) return;
        made = graph_shift(g, by).of(id);
      }
    }
    values_ = evaluated(g, g.size(), size_, operands);
    const elements& at = values_[static_cast<std::size_t>(made)];
    const bool is_moderate =
        std::all_of(at.begin(), at.end(), [](real v) { return std::abs(v) < 1e3L; });
    const bool is_norm_of_zeros = kind == 13 && at[0] < 1e-4L;
    if (is_moderate && !is_norm_of_zeros) usable_.push_back(made);
  }
  void differentiate() {
    derivative_inputs given(g);
    sequence<term> changes;
    const node_origins<graph> origins(g);
    for (int k = 0; k < inputs; ++k) {
      given.add(usable_[static_cast<std::size_t>(k)]);
      directions.push_back(static_cast<int>(operands.size()));
      changes.push_back(term{&g, add_operand(k < 2)});
    }
    std::vector<int> seeds;
    for (const int id : outputs) {
      weights.push_back(static_cast<int>(operands.size()));
      seeds.push_back(add_operand(origins[id].kind == origin::element));
    }
    adjoint_sweep adjoint(g, given, size, true);
    for (std::size_t k = 0; k < seeds.size(); ++k) adjoint.seed(outputs[k], {&g, seeds[k]});
    adjoint.run();
    for (int k = 0; k < inputs; ++k) back.push_back(adjoint.of(k));
    tangent_sweep tangent(g, given, size);
    tangent.run(changes);
    for (const int id : outputs) forward.push_back(tangent.of(id));
  }

  std::size_t size_;
  std::mt19937 engine_;
  std::vector<int> usable_;
  std::vector<elements> values_;
};

/// The sum of outputs by their weights; one that all elements share counts once.
real loss(const random_formula& f, const std::vector<elements>& values,
          const std::vector<int>& nodes) {
  real sum = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (nodes[k] < 0) continue;
    const elements& w = f.operands[static_cast<std::size_t>(f.weights[k])];
    for (std::size_t i = 0; i < w.size(); ++i)
      sum += w[i] * values[static_cast<std::size_t>(nodes[k])][i];
  }
  return sum;
}

TEST(random_derivatives, of_reductions_and_neighbours) {
  int compared = 0, skipped = 0, refused = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const std::size_t n = 1 + seed % 6;
    const random_formula f(seed, n);
    if (f.refused()) {
      ++refused;
      continue;
    }
    const auto values = evaluated(f.g, f.g.size(), n, f.operands);
    real along = 0, size = 1;
    for (std::size_t k = 0; k < random_formula::inputs; ++k) {
      const elements& direction = f.operands[static_cast<std::size_t>(f.directions[k])];
      for (std::size_t i = 0; i < direction.size(); ++i) {
        const real got =
            f.back[k].is_zero() ? 0 : values[static_cast<std::size_t>(f.back[k].id)][i];
        along += direction[i] * got;
        size += std::abs(direction[i] * got);
        const auto slope = [&](real h) {
          const auto moved = [&](real by) {
            auto operands = f.operands;
            operands[k][i] += by;
            return loss(f, evaluated(f.g, f.size, n, operands), f.outputs);
          };
          return (moved(-2 * h) - moved(2 * h) + 8 * (moved(h) - moved(-h))) / (12 * h);
        };
        const real fine = slope(3.7e-5L), coarse = slope(1e-4L);
        if (!(std::abs(fine - coarse) <= 1e-9L * (1 + std::abs(fine)))) {
          ++skipped;
          continue;
        }
        ++compared;
        ASSERT_LE(std::abs(got - fine), 1e-8L * (1 + std::abs(fine)))
            << "formula " << seed << ", input " << k << ", element " << i << ": " << got << ", not "
            << fine;
      }
    }
    std::vector<int> changes;
    for (const term& x : f.forward) changes.push_back(x.is_zero() ? -1 : x.id);
    const real forward = loss(f, values, changes);
    if (!std::isfinite(along) || !std::isfinite(forward)) continue;  // At a pole.
    ASSERT_LE(std::abs(along - forward), 1e-11L * (size + std::abs(forward)))
        << "formula " << seed << ": backwards " << along << ", forwards " << forward;
  }
  std::printf("%d derivatives compared, %d near kinks and poles skipped, %d formulas refused\n",
              compared, skipped, refused);
  EXPECT_LT(skipped * 20, compared);
  EXPECT_LT(refused, 20);
}

}  // namespace
