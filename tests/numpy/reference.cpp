#include "reference.hpp"

#include "../accuracy/bounds.hpp"

#include <cmath>
#include <complex>
#include <fstream>
#include <limits>

namespace numpy_values {

using namespace stored;

namespace {

std::vector<section> read_file() {
  std::ifstream file(NUMPY_VALUES);
  if (!file) throw std::runtime_error("cannot read " NUMPY_VALUES);
  std::vector<section> all;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text.front() == '#') continue;
    std::istringstream line(text);
    if (all.empty() || all.back().operands.size() == all.back().types.size()) {
      std::string name, type;
      line >> name;
      if (name == "operands") {
        all.emplace_back();
        while (line >> type) all.back().types.push_back(dtype_named(type));
      } else {
        line >> type;
        const dsl::dtype result = dtype_named(type);
        all.back().functions.push_back({name, result, read_values(line, result)});
      }
    } else {
      section& s = all.back();
      s.operands.push_back(read_values(line, s.types[s.operands.size()]));
    }
  }
  return all;
}

// Consecutive numbers of a format, in order: neighbours differ by 1, and so do -0 and 0.
std::int64_t place(const bytes& from, std::size_t i, dsl::dtype type) {
  switch (dsl::size_of(type)) {
    case 2: {
      const auto bits = element_at<std::int16_t>(from, i);
      return bits < 0 ? -1 - (bits & 0x7fff) : bits;
    }
    case 4: {
      const auto bits = element_at<std::int32_t>(from, i);
      return bits < 0 ? -1 - std::int64_t{bits & 0x7fffffff} : bits;
    }
    default: {
      const auto bits = element_at<std::int64_t>(from, i);
      return bits < 0 ? -1 - (bits & 0x7fffffffffffffff) : bits;
    }
  }
}

double epsilon(dsl::dtype type) {
  return type == dsl::dtype::float32 ? std::numeric_limits<float>::epsilon()
                                     : std::numeric_limits<double>::epsilon();
}

// Functions whose zero has no defined sign: IEEE 754 does not order the two zeros, and NumPy's
// dtypes differ.
bool any_zero(dsl::op code) {
  return code == dsl::op::min || code == dsl::op::max || code == dsl::op::fmin ||
         code == dsl::op::fmax || code == dsl::op::clip || code == dsl::op::nextafter;
}

bool real_agrees(const bytes& got, const bytes& want, std::size_t i, dsl::dtype type, dsl::op code,
                 const accuracy::bound& allowed) {
  const double g = real_value(got, i, type), w = real_value(want, i, type);
  if (std::isnan(w)) return std::isnan(g);
  if (std::isinf(w) || w == 0)
    return g == w && (std::signbit(g) == std::signbit(w) || any_zero(code));
  const bool is_float = type == dsl::dtype::float32;
  const double steps = dsl::size_of(type) == 2 ? allowed.float32 != 0 : allowed.ulps(is_float);
  if (std::isnan(g)) return false;
  const std::int64_t off = place(got, i, type) - place(want, i, type);
  return std::abs(static_cast<double>(off)) <= steps ||
         (dsl::size_of(type) > 2 && std::abs(g - w) <= allowed.absolute(is_float));
}

// NaN or infinite parts and the sign of a zero must agree exactly.
bool complex_agrees(const bytes& got, const bytes& want, std::size_t i, dsl::dtype type,
                    double epsilons) {
  const dsl::dtype part = dsl::real_of(type);
  const std::complex<double> g(real_value(got, 2 * i, part), real_value(got, 2 * i + 1, part));
  const std::complex<double> w(real_value(want, 2 * i, part), real_value(want, 2 * i + 1, part));
  const auto other_zero = [](double a, double b) {
    return a == 0 && b == 0 && std::signbit(a) != std::signbit(b);
  };
  if (other_zero(g.real(), w.real()) || other_zero(g.imag(), w.imag())) return false;
  if (g == w) return true;
  if (std::isfinite(w.real()) && std::isfinite(w.imag()))
    return std::abs(g - w) <= epsilons * epsilon(part) * std::abs(w);
  const auto same = [](double a, double b) {
    return std::isnan(b) ? std::isnan(a) : std::isinf(b) ? a == b : std::isfinite(a);
  };
  return same(g.real(), w.real()) && same(g.imag(), w.imag());
}

}  // namespace

const std::vector<section>& all_sections() {
  static const std::vector<section> all = read_file();
  return all;
}

section section_of(const std::vector<dsl::dtype>& types) {
  for (const section& s : all_sections())
    if (s.types == types) return s;
  throw std::runtime_error("functions.txt has no such operands");
}

void expect_equal(const section& s, dsl::op code, dsl::dtype type, const bytes& got, bool on_gpu) {
  const std::string name = dsl::info(code).name;
  const function_values* reference = nullptr;
  for (const function_values& f : s.functions)
    if (f.name == name) reference = &f;
  if (reference == nullptr) {
    ADD_FAILURE() << "functions.txt has no " << name << " of " << dsl::name(s.types.back());
    return;
  }
  reference->compared = true;
  if (reference->type != type) {
    ADD_FAILURE() << name << " of " << dsl::name(s.types.back()) << " is " << dsl::name(type)
                  << ", NumPy's is " << dsl::name(reference->type);
    return;
  }
  ASSERT_EQ(got.size(), reference->values.size()) << name;
  const auto size = static_cast<std::size_t>(dsl::size_of(type));
  const bool of_complex = dsl::kind_of(s.types.back()) == dsl::kind::complex;
  // Some complex operations are not in the tables of bounds: abs and arg are bounded as the real
  // functions of the parts, abs2 as a computation on both.
  const dsl::op measured = !of_complex            ? code
                           : code == dsl::op::abs ? dsl::op::hypot
                           : code == dsl::op::arg ? dsl::op::atan2
                                                  : code;
  const accuracy::bound allowed = measured == dsl::op::abs2 && of_complex
                                      ? accuracy::bound{1, 1}
                                      : accuracy::bound_of(measured, on_gpu);
  const double epsilons =
      code == dsl::op::polar
          ? 2
          : accuracy::complex_bound_of(code);  // polar: two roundings of each part
  int wrong = 0;
  for (std::size_t i = 0; i < got.size() / size; ++i) {
    bool agrees = false;
    switch (dsl::kind_of(type)) {
      case dsl::kind::complex:
        agrees = complex_agrees(got, reference->values, i, type, epsilons);
        break;
      case dsl::kind::real:
        agrees = real_agrees(got, reference->values, i, type, code, allowed);
        break;
      default:
        agrees = std::memcmp(got.data() + i * size, reference->values.data() + i * size, size) == 0;
    }
    if (agrees || ++wrong > 4) continue;
    std::ostringstream call;
    for (std::size_t k = 0; k < s.operands.size(); ++k)
      call << (k == 0 ? "" : ", ") << printed(s.operands[k], i, s.types[k]);
    ADD_FAILURE() << name << '(' << call.str() << ") of " << dsl::name(s.types.back()) << " = "
                  << printed(got, i, type) << ", NumPy has " << printed(reference->values, i, type);
  }
}

void expect_complete(const section& s) {
  for (const function_values& f : s.functions)
    EXPECT_TRUE(f.compared) << f.name << " of " << dsl::name(s.types.back())
                            << " is in functions.txt, but not in the language";
}

}  // namespace numpy_values
