// Errors at run time for typical mistakes of Python and NumPy users: they state both shapes, and
// what to write.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <dsl/dsl.hpp>
#include <dsl/scan.hpp>

namespace {

template <class Error, class Run>
std::string message(const Run& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  } catch (const dsl::error& e) {
    return std::string("another class of error: ") + e.what();
  }
  return "nothing was thrown";
}

class messages : public testing::Test { dsl::device_guard guard_{dsl::device("host")}; };

TEST_F(messages, shapes_and_axes) {
  dsl::array<float> x = dsl::ones<float>(3), four = dsl::ones<float>(4);
  dsl::array<float, 2> m = dsl::ones<float>(3, 4), turned = dsl::ones<float>(4, 3),
                       small = dsl::ones<float>(2, 2);
  const std::string aligned =
      ": axes are aligned on the right, and dsl::expand_dims(x, -1) adds one there";
  EXPECT_EQ(message<dsl::shape_error>([&] { m = m + x; }),
            "shapes do not broadcast: (3, 4), (3) in a + b" + aligned);
  EXPECT_EQ(message<dsl::shape_error>([&] { m = m + turned; }),
            "shapes do not broadcast: (3, 4), (4, 3) in a + b");
  EXPECT_EQ(message<dsl::shape_error>([&] { small = m + 1; }),
            "an expression of shape (3, 4) cannot be assigned to shape (2, 2): a + 1");
  EXPECT_EQ(message<dsl::shape_error>([&] { dsl::reshape(x, 2, 2); }),
            "cannot reshape (3) to (2, 2): the numbers of elements differ");
  EXPECT_EQ(message<dsl::shape_error>([&] { dsl::eval(dsl::dot(x, four)); }),
            "dot of shapes (3) and (4): it multiplies element with element and stretches neither");
  const std::string axes = ": axes are 0 to 1, or -2 to -1 from the end";
  EXPECT_EQ(message<dsl::shape_error>([&] { dsl::sum(m, dsl::axis(-3)); }),
            "a reduction of shape (3, 4): there is no axis -3" + axes);
  EXPECT_EQ(message<dsl::shape_error>([&] { dsl::sum(m + four, dsl::axis(2)); }),
            "a reduction of shape (3, 4): there is no axis 2" + axes);
  EXPECT_EQ(message<dsl::shape_error>([&] { dsl::sum(m, dsl::axis(1, -1)); }),
            "a reduction of shape (3, 4): axis -1 is given twice");
  EXPECT_EQ(message<dsl::shape_error>([&] { dsl::flip(m, 2); }),
            "flip of shape (3, 4): there is no axis 2" + axes);
  EXPECT_EQ(message<dsl::index_error>([&] { m(1, 4) = 0; }),
            "index 4 is out of range for axis 1 of extent 4, in shape (3, 4)");
  EXPECT_EQ(message<dsl::index_error>([&] { m(-4); }),
            "index -4 is out of range for axis 0 of extent 3, in shape (3, 4)");
  EXPECT_EQ(message<dsl::shape_error>([&] { x.copy_from_host(std::vector<float>(2)); }),
            "copy_from_host: 2 elements were given for 3");
}

// Integer division, which throws nothing and divides as in C++.
TEST_F(messages, parts_of_a_whole) {
  const dsl::array<float> x = dsl::to_device(std::vector<float>{0, 1, 0.25f, 2});
  dsl::scalar<double> as_written = dsl::count_nonzero(x > 0.5f) / x.size();
  EXPECT_EQ(as_written.value(), 0);
#include <docs/errors/mistakes-that-python-and-numpy-users-make.inc>
  EXPECT_EQ(p.value(), 0.5);
  EXPECT_EQ(q.value(), 0.5);
}

TEST_F(messages, devices_and_memory) {
  dsl::array<float> x = dsl::ones<float>(3), never;
  EXPECT_EQ(message<dsl::memory_error>([&] { x = never + 1; }),
            "an operand without memory, never assigned or moved from, in a + 1");
  EXPECT_EQ(message<dsl::device_error>([&] {
              const dsl::device_guard other(dsl::device("sim"));
              dsl::array<float> y = dsl::ones<float>(3);
              x = x + y;
            }),
            "operands on different devices, host and sim, in a + b");
}

// `auto e = a + b` is a formula: of the elements that there are when it is evaluated, in the memory
// that the arrays had.
TEST_F(messages, formulas_of_arrays_that_changed) {
  const std::string changed =
      "a formula that was made before one of its arrays was given other memory (moved to, or x = "
      "dsl::eval(...)): make ";
  const std::string again = " again after that, or dsl::eval it before";
  dsl::array<float> x = dsl::ones<float>(3), y = dsl::ones<float>(3), out = dsl::zeros<float>(3);
  const auto sum = x + y;
  x = 2 * x;  // writes the elements
  out = sum;
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(3, 3));
  x = dsl::full<float>(5.0f, 3);  // new memory
  EXPECT_EQ(message<dsl::memory_error>([&] { out = sum; }), changed + "a + b" + again);
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(3, 3));
  out = x + y;
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(3, 6));

  dsl::scalar<float> s = 2.0f;
  const auto scaled = x * s;
  s = 3.0f;
  out = scaled;
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(3, 15));
  s = dsl::eval(dsl::sum(y));
  EXPECT_EQ(message<dsl::memory_error>([&] { out = scaled; }), changed + "a * b" + again);
  EXPECT_EQ(message<dsl::memory_error>([&] {
              dsl::iterate(2, dsl::vectorize([](auto u, auto rate) { return u + rate; }),
                           dsl::state(out), scaled);
            }).substr(0, changed.size()),
            changed);
  EXPECT_EQ(message<dsl::memory_error>([&] {
              const auto running = dsl::cumsum(y);
              y = dsl::zeros<float>(3);
              out = running;
            }).substr(0, changed.size()),
            changed);
}

TEST_F(messages, memory_that_a_formula_keeps) {
  dsl::array<float> out = dsl::zeros<float>(3);
  const auto of_local = [] {
    dsl::array<float> local = dsl::ones<float>(3);
    return local + 1;
  }();
  out = of_local;
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(3, 2));

  dsl::array<float> p = dsl::ones<float>(3), q = dsl::full<float>(4.0f, 3);
  const auto difference = q - p;
  std::swap(p, q);
  out = difference;
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(3, 3));

  dsl::view<float> old = p.view();  // the view refers to the memory, whichever array owns it
  p = dsl::zeros<float>(3);
  out = old + 1;
  EXPECT_EQ(out.copy_to_host(), std::vector<float>(3, 5));
}

}  // namespace
