// The examples of docs/random.md do what is said of them.
#include "../on_device.hpp"

#include <dsl/ode.hpp>
#include <dsl/random.hpp>

#include <set>

#include <docs/random/in-a-functor.inc>

namespace {

struct random_doc : on_device {};
ON_EVERY_DEVICE(random_doc);

TEST_P(random_doc, pi) {
#include <docs/random/random-numbers.inc>
  EXPECT_NEAR(pi, 3.14159265, 0.004);
}

TEST_P(random_doc, in_a_functor) {
  const std::int64_t n = 20'000;
  const dsl::random::key k{42};
#include <docs/random/in-a-functor-2.inc>
  EXPECT_NEAR(dsl::mean(counts).value(), 4, 0.05);
  EXPECT_NEAR(dsl::var(counts).value(), 4, 0.15);
}

TEST_P(random_doc, examples) {
  const std::int64_t n = 20'000;
  const dsl::random::key k{42};
  {
#include <docs/random/the-same-numbers.inc>
    EXPECT_EQ(corner.copy_to_host(),
              all(dsl::slice(990, dsl::end), dsl::slice(990, dsl::end)).copy_to_host());
    const auto order =
        dsl::eval(dsl::take(dsl::eval(dsl::arange<int>(50)), dsl::random::permutation(k, 50)))
            .copy_to_host();
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 50u);
  }
  {
#include <docs/random/loops.inc>
    EXPECT_NEAR(spread, 100, 4);
  }
  {
#include <docs/random/stochastic-differential-equations.inc>
    EXPECT_NEAR(mean, 1, 0.01);
    EXPECT_NEAR(variance, 0.0625, 0.003);
  }
}

}  // namespace
