// Printing, to the byte as NumPy: tests/data/printing.py makes the cases.
#include "../on_device.hpp"

#include <complex>
#include <cstring>
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

template <class T> T from_number(double x) { return static_cast<T>(x); }
template <> dsl::half from_number(double x) { return static_cast<float>(x); }

// std::vector<bool> has no elements to point at.
template <class T> using storage = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

template <class T> void set(storage<T>& element, const std::string& hexadecimal, std::size_t part = 0) {
  const std::size_t size = hexadecimal.size() / 2;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(std::stoi(hexadecimal.substr(2 * i, 2), nullptr, 16));
    std::memcpy(reinterpret_cast<unsigned char*>(&element) + part * size + size - 1 - i, &byte, 1);
  }
}

template <class T> std::vector<storage<T>> elements_of(const numpy_case& c) {
  std::size_t n = 1;
  for (const auto extent : c.shape) n *= static_cast<std::size_t>(extent);
  std::vector<storage<T>> elements(n);
  std::istringstream words(c.elements);
  std::string word;
  if (c.elements.starts_with("arange")) {
    double start = 0, step = 0;
    words >> word >> start >> step;
    for (std::size_t i = 0; i < n; ++i)
      elements[i] = static_cast<storage<T>>(from_number<T>(start + step * static_cast<double>(i)));
    return elements;
  }
  for (auto& element : elements) {
    words >> word;
    const std::size_t comma = word.find(',');
    set<T>(element, word.substr(0, comma));
    if (comma != word.npos) set<T>(element, word.substr(comma + 1), 1);
  }
  return elements;
}

template <class T, int Rank> void check(const numpy_case& c) {
  dsl::extents<Rank> sizes{};
  for (std::size_t d = 0; d < c.shape.size(); ++d) sizes[d] = c.shape[d];
  const auto elements = elements_of<T>(c);
  dsl::array<T, Rank> x(sizes);
  dsl::detail::upload(x.view().owner(), x.data(), elements.data(), elements.size() * sizeof(T));
  EXPECT_EQ(printed(x), c.text) << c.dtype << ": " << c.elements.substr(0, 200);
}

template <class T> bool check_if(const char* dtype, const numpy_case& c) {
  if (c.dtype != dtype) return false;
  switch (c.shape.size()) {
    case 0: check<T, 0>(c); break;
    case 1: check<T, 1>(c); break;
    case 2: check<T, 2>(c); break;
    case 3: check<T, 3>(c); break;
    case 4: check<T, 4>(c); break;
    case 5: check<T, 5>(c); break;
    case 6: check<T, 6>(c); break;
    case 8: check<T, 8>(c); break;
    default: return false;
  }
  return true;
}

template <class... T> bool check_any(const numpy_case& c) { return (check_if<T>(dsl::name(dsl::dtype_v<T>), c) || ...); }

TEST_P(print, to_the_byte_as_numpy) {
  const auto cases = numpy_cases();
  EXPECT_GT(cases.size(), 200u);
  for (const auto& c : cases)
    EXPECT_TRUE((check_any<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                           std::uint32_t, std::uint64_t, dsl::half, float, double, std::complex<float>, std::complex<double>>(c)))
        << c.dtype;
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

// As what they evaluate to.
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
