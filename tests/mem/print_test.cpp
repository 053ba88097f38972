// Printing equals NumPy's byte for byte; tests/data/printing.py makes the cases.
#include "../on_device.hpp"
#include "../stored_values.hpp"

#include <complex>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

struct print : on_device {};
ON_EVERY_DEVICE(print);

template <class X> std::string printed(const X& x) {
  std::ostringstream line;
  line << x;
  return line.str();
}

struct numpy_case {
  std::string dtype, elements, text;
  std::vector<std::int64_t> shape;
};

std::vector<numpy_case> numpy_cases() {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "../data/printing.txt");
  std::vector<numpy_case> cases;
  for (std::string line; std::getline(file, line);) {
    numpy_case c;
    std::istringstream head(line);
    std::size_t rank = 0;
    head >> c.dtype >> rank;
    c.shape.resize(rank);
    for (auto& extent : c.shape) head >> extent;
    std::getline(file, c.elements);
    std::getline(file, line);
    for (int left = std::stoi(line); left > 0; --left) {
      std::getline(file, line);
      c.text += line + (left > 1 ? "\n" : "");
    }
    cases.push_back(c);
  }
  return cases;
}

template <class T> void append(stored::bytes& to, double x) {
  const T value = static_cast<T>(x);
  const auto* const first = reinterpret_cast<const unsigned char*>(&value);
  to.insert(to.end(), first, first + sizeof value);
}

stored::bytes elements_of(const numpy_case& c, dsl::dtype type, std::int64_t n) {
  std::istringstream words(c.elements);
  if (!c.elements.starts_with("arange")) return stored::read_values(words, type);
  std::string word;
  double start = 0, step = 0;
  words >> word >> start >> step;
  stored::bytes elements;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = start + step * static_cast<double>(i);
    switch (type) {
      case dsl::dtype::boolean: append<bool>(elements, x); break;
      case dsl::dtype::complex128:
        append<double>(elements, x);
        append<double>(elements, 0);
        break;
      case dsl::dtype::int32: append<std::int32_t>(elements, x); break;
      case dsl::dtype::int64: append<std::int64_t>(elements, x); break;
      case dsl::dtype::float32: append<float>(elements, x); break;
      case dsl::dtype::float64: append<double>(elements, x); break;
      default: throw std::runtime_error("no arange of " + c.dtype);
    }
  }
  return elements;
}

// Printing dispatches on dtype and rank at run time.
TEST_P(print, to_the_byte_as_numpy) {
  const auto cases = numpy_cases();
  EXPECT_GT(cases.size(), 200u);
  for (const auto& c : cases) {
    const dsl::dtype type = stored::dtype_named(c.dtype);
    dsl::detail::mapping all{static_cast<int>(c.shape.size()), {}, {}, 0};
    std::int64_t n = 1;
    for (std::size_t d = c.shape.size(); d-- > 0; n *= c.shape[d]) {
      all.extents[d] = c.shape[d];
      all.strides[d] = n;
    }
    const stored::bytes elements = elements_of(c, type, n);
    ASSERT_EQ(static_cast<std::int64_t>(elements.size()), n * dsl::size_of(type))
        << c.dtype << ": " << c.elements.substr(0, 200);
    const auto memory = dsl::to_device(elements);
    EXPECT_EQ(dsl::detail::to_text(type, memory.view().owner(), memory.data(), all), c.text)
        << c.dtype << ": " << c.elements.substr(0, 200);
  }
}

TEST_P(print, what_a_stream_is_given) {
  EXPECT_EQ(printed(dsl::array<int, 3>(dsl::reshape(dsl::arange<int>(8), 2, 2, 2))),
            "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(printed(dsl::to_device(std::vector<std::complex<float>>{{1, 2}, {0, -1}})),
            "[1.+2.j 0.-1.j]");
  EXPECT_EQ(printed(dsl::full<bool>(true, 2)), "[ True  True]");
  EXPECT_EQ(printed(dsl::full<std::uint8_t>(255, 2)), "[255 255]");
}

TEST_P(print, views_as_copies_of_them) {
  dsl::array<float, 3> x = dsl::reshape(dsl::arange<float>(7 * 9 * 20), 7, 9, 20) / 8;
  const auto check = [](const auto& view) { EXPECT_EQ(printed(view), printed(dsl::eval(view))); };
  check(dsl::transpose(x));
  check(dsl::flip(x));
  check(x(dsl::slice(dsl::end, dsl::end, -2), 3));
  check(dsl::diagonal(x));
  check(dsl::broadcast_to(x(1, dsl::slice(0, 1)), 100, 9, 20));
}

// Expressions print as their values.
TEST_P(print, expressions) {
  const auto x = dsl::to_device(std::vector<float>{1, 2, 3});
  EXPECT_EQ(printed(x + 1), "[2. 3. 4.]");
  EXPECT_EQ(printed(dsl::sum(x)), "6.0");
  EXPECT_EQ(printed(dsl::scalar<float>(1) + x(1)), "3.0");
  EXPECT_EQ(printed(x / dsl::sum(x)), "[0.16666667 0.33333334 0.5       ]");
  EXPECT_EQ(printed(dsl::shift(x, 1)), "[0. 1. 2.]");
  EXPECT_EQ(printed(dsl::index(0, 2, 2)), "[[0 0]\n [1 1]]");
  EXPECT_EQ(printed(dsl::arange<int>(0) + 1), "[]");
  EXPECT_THROW(printed(dsl::array<float>() + 1), dsl::memory_error);
  EXPECT_EQ(printed(dsl::device::current().name()).find(GetParam()), 0);
}

TEST_P(print, single_values) {
  const auto x = dsl::to_device(std::vector<double>{0.1, 2});
  EXPECT_EQ(printed(x(0)), "0.1");
  EXPECT_EQ(printed(dsl::scalar<float>(0.1f)), "0.1");
  EXPECT_EQ(printed(dsl::array<float, 0>(dsl::extents<0>{})() = 2), "2.0");
  EXPECT_EQ(printed(dsl::scalar<dsl::bfloat16>(dsl::bfloat16(1.0f / 3))), "0.334");
  EXPECT_EQ(printed(dsl::array<int>()), "[]");
  EXPECT_THROW(printed(dsl::view<int, 1>()), dsl::memory_error);
}

}  // namespace
