// The examples of docs/explain.md do what is said of them.
#include "../on_device.hpp"
#include "../scratch_folder.hpp"

#include <complex>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

using namespace std::complex_literals;

// The output of the examples, on the simulator, where nothing is measured.
struct explain_doc : testing::Test {
  explain_doc() : guard(dsl::backend::sim), before(std::cout.rdbuf(printed.rdbuf())) {}
  ~explain_doc() override { std::cout.rdbuf(before); }
  bool says(const char* what) const { return printed.str().find(what) != std::string::npos; }
  dsl::device_guard guard;
  std::ostringstream printed;
  std::streambuf* before;
  const dsl::array<float> a = dsl::ones<float>(1000), all = dsl::ones<float>(1001);
  const dsl::view<const float> b = all(dsl::slice(1, dsl::end));
  dsl::array<float> y{1000};
};

TEST_F(explain_doc, one_kernel) {
#include <docs/explain/what-will-run.inc>
  EXPECT_TRUE(says("out = exp(a) + 2 * b\none kernel on sim\n"));
  EXPECT_TRUE(says("misaligned, 4 bytes beyond a multiple of 16"));
}

TEST_F(explain_doc, several_kernels) {
  const dsl::array<float> a = dsl::ones<float>(1 << 20);  // more than the simulator's chip holds
  dsl::array<float> y(1 << 20);
#include <docs/explain/several-kernels.inc>
  EXPECT_TRUE(says("out = a / norm(a)\n2 kernels on sim\n"));
  EXPECT_TRUE(says("it needs norm(a), which takes all elements of kernel 1"));
  EXPECT_TRUE(says("path       linear"));  // of the elements, which are in one line
}

TEST_F(explain_doc, as_a_graph) {
  const current_scratch_folder folder;
#include <docs/explain/as-a-graph.inc>
  std::stringstream graph;
  graph << std::ifstream("formula.dot").rdbuf();
  EXPECT_TRUE(graph.str().starts_with("digraph explanation {"));
}

TEST_F(explain_doc, loops) {
  const auto step = dsl::vectorize([](auto phase, auto z, auto rate, auto pull, auto h) {
    auto next = phase + h * (rate + pull * imag(z * exp(-1i * phase)));
    return std::tuple{next, dsl::mean(exp(1i * next))};
  });
  dsl::array<double> phase = dsl::linspace(0.0, 6.0, 1000);
  const auto rate = dsl::ones<double>(1000);
  dsl::scalar<std::complex<double>> z = std::complex<double>(1);
#include <docs/explain/loops-and-scans.inc>
  EXPECT_TRUE(says("\na step on sim, "));
  EXPECT_TRUE(says("mean("));
}

}  // namespace
