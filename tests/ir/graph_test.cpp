// Graphs and programs are constants, so they are tested at compile time.
#include <gtest/gtest.h>

#include "../rk4.hpp"

using namespace dsl;
using dsl::detail::graph;

namespace {

template <dtype D, bool Weak = false>
constexpr symbol<D, Weak> operand(graph& g, int number) {
  return {&g, g.add(op::load, D, {static_cast<std::uint64_t>(number)})};
}

// Number of times that an operation occurs in the program of a formula of two float operands.
template <class F>
struct two_floats {
  static constexpr graph run() {
    graph g;
    g.outputs.push_back(F{}(operand<dtype::float32>(g, 0), operand<dtype::float32>(g, 1)).id);
    return g;
  }
};
template <class F>
constexpr detail::program_view view_of(F) {
  return detail::program_of<two_floats<F>>::view();
}
constexpr int count(const detail::program_view& p, op code) {
  int n = 0;
  for (int i = 0; i < p.nodes; ++i) n += detail::head{p.heads[i]}.code() == code ? 1 : 0;
  return n;
}

constexpr auto same_twice = view_of([](auto a, auto b) { return (a + b) * (b + a); });
static_assert(count(same_twice, op::add) == 1 && count(same_twice, op::multiply) == 1 &&
              same_twice.nodes == 4);

constexpr auto dead = view_of([](auto a, auto b) {
  auto unused = exp(a) * b;
  (void)unused;
  return a + 1;
});
static_assert(count(dead, op::exp) == 0 && count(dead, op::load) == 1 && dead.nodes == 3);

// A real number's imaginary part is a constant, and operations on constants fold.
constexpr auto folded = view_of([](auto a, auto) { return a * (imag(a) + 2); });
static_assert(count(folded, op::add) == 0 && count(folded, op::constant) == 1 && folded.nodes == 3);

// Operations that constant expressions forbid are left to the back end: division by zero, overflow,
// NaN, results outside an integer's range.
static_assert(count(view_of([](auto a, auto) { return a + (-0.25f / imag(a)); }), op::divide) == 1);
static_assert(count(view_of([](auto a, auto) { return a + imag(a) / imag(a); }), op::divide) == 1);
static_assert(count(view_of([](auto a, auto) { return a + reciprocal(imag(a)); }),
                    op::reciprocal) == 1);
static_assert(count(view_of([](auto a, auto) { return a + (imag(a) + 3e38f) * 10.0f; }),
                    op::multiply) == 1);
static_assert(count(view_of([](auto a, auto) { return a + (imag(a) + INFINITY) * 0; }),
                    op::multiply) == 1);
static_assert(count(view_of([](auto a, auto) {
                      return cast<float>(cast<std::uint8_t>(imag(a) - 1.5f)) + a;
                    }),
                    op::convert) == 2);
static_assert(count(view_of([](auto a, auto) {
                      return cast<float>(cast<int>(imag(a) + 1e20f)) + a;
                    }),
                    op::convert) == 2);
static_assert(count(view_of([](auto a, auto) {
                      return a + cast<float>(cast<double>(imag(a)) + 1e300);
                    }),
                    op::convert) == 1);
static_assert(count(view_of([](auto a, auto) {
                      return a + cast<float>(cast<std::uint8_t>(imag(a) + 255.5f));
                    }),
                    op::convert) == 0);
static_assert(count(view_of([](auto a, auto) {
                      return a + real(1 / (imag(a) + std::complex<float>(0, 0)));
                    }),
                    op::divide) == 1);

// Simplifications that are exact for every operand, NaN, infinities and signed zeros included.
static_assert(view_of([](auto a, auto) { return a * 1; }).nodes == 1);
static_assert(view_of([](auto a, auto) { return a / 1; }).nodes == 1);
static_assert(view_of([](auto a, auto) { return a - 0; }).nodes == 1);
static_assert(view_of([](auto a, auto) { return -(-a); }).nodes == 1);
static_assert(view_of([](auto a, auto) { return +a; }).nodes == 1);
static_assert(count(view_of([](auto a, auto) { return a / 4; }), op::multiply) == 1);
static_assert(count(view_of([](auto a, auto) { return pow(a, 2); }), op::pow) == 0);
static_assert(view_of([](auto a, auto) { return conj(a) + real(a); }).nodes == 2);
// The product with the opposite sign already exists, and is reused.
static_assert(count(view_of([](auto a, auto b) { return a * b + exp(b * -a); }), op::multiply) ==
              1);
// Not exact, so not simplified: NaN - NaN, 0 * inf, -0 + 0, a division that rounds.
static_assert(count(view_of([](auto a, auto) { return a - a; }), op::subtract) == 1);
static_assert(count(view_of([](auto a, auto) { return a * 0; }), op::multiply) == 1);
static_assert(count(view_of([](auto a, auto) { return a + 0; }), op::add) == 1);
static_assert(count(view_of([](auto a, auto) { return a / 3; }), op::divide) == 1);
static_assert(count(view_of([](auto a, auto) { return a / a; }), op::divide) == 1);

struct integer_identities {
  static constexpr graph run() {
    graph g;
    const auto i = operand<dtype::int32>(g, 0);
    for (const auto zero : {i - i, i * 0}) g.outputs.push_back(zero.id);
    g.outputs.push_back((i + 0).id);
    g.outputs.push_back((~~i).id);
    return g;
  }
};
static_assert(count(detail::program_of<integer_identities>::view(), op::constant) == 1);
static_assert(detail::program_of<integer_identities>::view().nodes == 2);

// Literals are weak, and constants fold in the dtype of the operation that they take part in.
constexpr auto third = view_of([](auto a, auto) { return a * (1.0 / 3); });
static_assert(detail::head{third.heads[1]}.type() == dtype::float32);
static_assert(detail::from_bits<float>(third.payloads[1]) == static_cast<float>(1.0 / 3));

// The RK4 step: every product of the textbook formula occurs once.
struct rk4_trace {
  static constexpr graph run() {
    graph g;
    const symbol<dtype::complex64> F = operand<dtype::complex64>(g, 0),
                                   G = operand<dtype::complex64>(g, 1);
    const symbol<dtype::complex64> d{&g, g.add(op::load_scalar, dtype::complex64, {2})};
    const symbol<dtype::float32, true> h{&g, g.add(op::value, dtype::float32, {3})};
    const auto [Fn, Gn] = rk4_fields(F, G, d, h);
    g.outputs.push_back(Fn.id);
    g.outputs.push_back(Gn.id);
    return g;
  }
};
constexpr auto rk4 = detail::program_of<rk4_trace>::view();
constexpr bool every_node_once(const detail::program_view& p) {
  for (int i = 0; i < p.nodes; ++i)
    for (int k = 0; k < i; ++k)
      if (p.payloads[i] == p.payloads[k] && (p.heads[i] & 0xfff) == (p.heads[k] & 0xfff))
        return false;
  return true;
}
static_assert(every_node_once(rk4));
static_assert(rk4.nodes < 100 && count(rk4, op::load) == 2 && count(rk4, op::load_scalar) == 1);
static_assert(count(rk4, op::conj) == 5);  // of d once, of F in each of the four stages
constexpr auto rk4_cost =
    detail::cost_of(detail::pass_of<rk4_trace>::view(), [](std::uint64_t k) { return k; });
static_assert(rk4_cost.load_bytes == 16 && rk4_cost.store_bytes == 16);

// A thousand distinct nodes compile within the compilers' default limits.
constexpr auto thousand = view_of([](auto a, auto b) {
  for (int i = 0; i < 250; ++i) {
    a = a * b + a;
    b = b - a * a;
  }
  return a + b;
});
static_assert(thousand.nodes == 4 * 250 + 3);

TEST(graph, the_assertions_above_compiled) { EXPECT_EQ(thousand.nodes, 1003); }

}  // namespace
