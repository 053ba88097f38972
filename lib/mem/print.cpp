// Arrays as text, exactly as NumPy 2 prints them with its default options. The less obvious of its
// rules: all numbers of an array have the same format, with the fewest digits that distinguish each
// number from its neighbouring floating point numbers, but at most 8 after the point; an exponent
// is used if the largest number is too large, the smallest too small, or their ratio exceeds 1000.
#include <dsl/mem/print.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "mem/mapping.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

constexpr int most_digits = 8, line_width = 75, threshold = 1000, edge = 3;

// ---- A single number.

// The magnitudes from which numbers are printed with an exponent, in an array and alone: 10 to the
// number of digits that the dtype holds reliably, except for double.
template <class T> struct real_traits;
template <> struct real_traits<double> {
  static constexpr double exponent_from = 1e8, exponent_from_alone = 1e16;
};
template <> struct real_traits<float> {
  static constexpr double exponent_from = 1e6, exponent_from_alone = 1e6;
};
template <> struct real_traits<half> {
  static constexpr double exponent_from = 1e3, exponent_from_alone = 1e3;
};
template <> struct real_traits<bfloat16> {
  static constexpr double exponent_from = 1e2, exponent_from_alone = 1e2;
};

double to_double(double x) { return x; }
double to_double(float x) { return static_cast<double>(x); }
double to_double(half x) { return static_cast<double>(static_cast<float>(x)); }
double to_double(bfloat16 x) { return static_cast<double>(static_cast<float>(x)); }

std::string formatted(const char* format, int digits, double x) {
  char line[400];  // 309 digits before the point and up to 8 after it
  std::snprintf(line, sizeof line, format, digits, x);
  return line;
}

// The fewest digits that reproduce x when read back, as d.ddde+dd, for a finite magnitude.
template <class T>
std::string shortest(T x) {
  char line[32];
  *std::to_chars(line, line + sizeof line - 1, x, std::chars_format::scientific).ptr = '\0';
  return line;
}
template <class T>
  requires(sizeof(T) == 2)
std::string shortest(T x) {
  // A slightly larger candidate is tried too: the gap above a power of two is twice the gap below.
  for (int digits = 0;; ++digits)
    for (const double candidate : {to_double(x), to_double(x) * (1 + 0x1p-12)})
      if (const std::string line = formatted("%.*e", digits, candidate);
          T(std::strtof(line.c_str(), nullptr)).bits == x.bits)
        return line;
}

// The parts of a decimal number. The point is always printed; `exponent` has its sign and at least
// two digits.
struct decimal { std::string whole, fraction, exponent; };

decimal parts_of(const std::string& line) {
  const std::size_t e = std::min(line.find('e'), line.size()), point = std::min(line.find('.'), e);
  decimal d{line.substr(0, point), point < e ? line.substr(point + 1, e - point - 1) : "",
            e < line.size() ? line.substr(e + 1) : ""};
  d.fraction.erase(d.fraction.find_last_not_of('0') + 1);
  return d;
}

// The fewest digits, of which at most `most` (-1: no limit) follow the point. A number that needs
// more is rounded from its exact value, as by printf.
template <class T>
decimal scientific(T magnitude, int most) {
  const decimal d = parts_of(shortest(magnitude));
  return most >= 0 && static_cast<int>(d.fraction.size()) > most
             ? parts_of(formatted("%.*e", most, to_double(magnitude)))
             : d;
}
template <class T>
decimal positional(T magnitude, int most) {
  const decimal s = parts_of(shortest(magnitude));
  const int exponent = std::atoi(s.exponent.c_str()), digits = static_cast<int>(s.fraction.size());
  if (most >= 0 && digits - exponent > most)
    return parts_of(formatted("%.*f", most, to_double(magnitude)));
  std::string all = s.whole + s.fraction;
  if (exponent < 0)
    return {"0", std::string(static_cast<std::size_t>(-exponent - 1), '0') + all, ""};
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (all.size() < whole) all.append(whole - all.size(), '0');
  return {all.substr(0, whole), all.substr(whole), ""};
}

// ---- Numbers of an array: a writer first sees all numbers that are printed, then writes each.

template <class T>
class real_writer {
 public:
  explicit real_writer(bool always_signed = false) : plus_(always_signed) {}

  void learn(const std::vector<T>& numbers) {
    double least = INFINITY, most = 0;
    for (const T number : numbers) {
      const double magnitude = std::fabs(to_double(number));
      if (!std::isfinite(magnitude) || magnitude == 0) continue;
      least = std::min(least, magnitude);
      most = std::max(most, magnitude);
    }
    exponential_ = most >= real_traits<T>::exponent_from || least < to_double(T(0.0001)) ||
                   to_double(T(most / least)) > 1000;
    bool finite = true, minus_infinity = false;
    for (const T number : numbers) {
      const double x = to_double(number);
      if (!std::isfinite(x)) {
        finite = false;
        minus_infinity = minus_infinity || x < 0;
        continue;
      }
      const decimal d = digits_of(x);
      whole_ = std::max(whole_, sign_of(x).size() + d.whole.size());
      fraction_ = std::max(fraction_, d.fraction.size());
      exponent_ = std::max(exponent_, d.exponent.size());
    }
    right_ = exponential_ ? fraction_ + 1 + exponent_ : fraction_;
    const std::size_t room = plus_ || minus_infinity ? 4 : 3;  // "-inf", "nan"
    if (!finite && room > right_ + 1) whole_ = std::max(whole_, room - right_ - 1);
  }

  std::string operator()(T number) const {
    const double x = to_double(number);
    if (!std::isfinite(x)) {
      const std::string name = std::isnan(x) ? (plus_ ? "+nan" : "nan") : sign_of(x) + "inf";
      return std::string(whole_ + right_ + 1 - name.size(), ' ') + name;
    }
    decimal d = digits_of(x);
    // Digits that only other numbers need are this number's exact digits.
    if (exponential_ && d.fraction.size() < fraction_)
      d = parts_of(formatted("%.*e", static_cast<int>(fraction_), std::fabs(x)));
    d.fraction.resize(fraction_, exponential_ ? '0' : ' ');
    const std::string whole = sign_of(x) + d.whole;
    std::string line = std::string(whole_ - whole.size(), ' ') + whole + '.' + d.fraction;
    if (!exponential_) return line;
    return line + 'e' + d.exponent.insert(1, exponent_ - d.exponent.size(), '0');
  }

 private:
  std::string sign_of(double x) const { return std::signbit(x) ? "-" : plus_ ? "+" : ""; }
  decimal digits_of(double x) const {
    const T magnitude(std::fabs(x));
    return exponential_ ? scientific(magnitude, most_digits) : positional(magnitude, most_digits);
  }

  bool plus_, exponential_ = false;
  // Widths in characters; `whole_` includes the sign, `exponent_` its own sign.
  std::size_t whole_ = 0, fraction_ = 0, exponent_ = 0, right_ = 0;
};

template <class T>
class complex_writer {
 public:
  void learn(const std::vector<complex_value<T>>& numbers) {
    std::vector<T> re, im;
    for (const auto z : numbers) {
      re.push_back(z.re);
      im.push_back(z.im);
    }
    re_.learn(re);
    im_.learn(im);
  }
  std::string operator()(complex_value<T> z) const {
    std::string im = im_(z.im);
    im.insert(im.find_last_not_of(' ') + 1, 1, 'j');
    return re_(z.re) + im;
  }

 private:
  real_writer<T> re_, im_{true};
};

template <class T>
class integer_writer {
 public:
  void learn(const std::vector<T>& numbers) {
    for (const T n : numbers) width_ = std::max(width_, std::to_string(n).size());
  }
  std::string operator()(T n) const {
    const std::string digits = std::to_string(n);
    return std::string(width_ - digits.size(), ' ') + digits;
  }

 private:
  std::size_t width_ = 0;
};

struct boolean_writer {
  void learn(const std::vector<bool>&) {}
  std::string operator()(bool b) const { return b ? " True" : "False"; }
};

template <class T> struct writer_of { using type = integer_writer<T>; };
template <> struct writer_of<bool> { using type = boolean_writer; };
template <class T>
  requires requires { real_traits<T>::exponent_from; }
struct writer_of<T> {
  using type = real_writer<T>;
};
template <class T> struct writer_of<complex_value<T>> { using type = complex_writer<T>; };

// ---- A number that stands alone, with as many digits as it needs.

template <class T>
std::string alone(T n) {
  if constexpr (std::is_same_v<T, bool>) {
    return n ? "True" : "False";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(n);
  } else {
    const double x = to_double(n), size = std::fabs(x);
    const std::string sign = std::signbit(x) ? "-" : "";
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return sign + "inf";
    const T magnitude(size);
    if (size == 0 || (size >= 1e-4 && size < real_traits<T>::exponent_from_alone)) {
      const decimal d = positional(magnitude, -1);
      return sign + d.whole + '.' + (d.fraction.empty() ? "0" : d.fraction);
    }
    const decimal d = scientific(magnitude, -1);
    return sign + d.whole + (d.fraction.empty() ? "" : "." + d.fraction) + 'e' + d.exponent;
  }
}
template <class T>
std::string alone(complex_value<T> z) {
  const auto part = [](T x) {
    std::string s = alone(x);
    if (s.size() > 2 && s.compare(s.size() - 2, 2, ".0") == 0) s.resize(s.size() - 2);
    return s;
  };
  std::string im = part(z.im) + 'j';
  if (z.re == 0 && !std::signbit(z.re)) return im;
  return '(' + part(z.re) + (im[0] == '-' ? "" : "+") + im + ')';
}

// ---- All elements, in brackets.

// Calls visit(place) for each element from `axis` on, in row-major order.
template <class Visit>
void for_each_place(const mapping& m, int axis, std::int64_t place, const Visit& visit) {
  if (axis == m.rank) return visit(place);
  for (std::int64_t i = 0; i < m.extents[axis]; ++i)
    for_each_place(m, axis + 1, place + i * m.strides[axis], visit);
}

// The elements that are printed: the ends of a long array's axes.
struct excerpt {
  mapping whole, shown;  // `shown` is packed
  bool shortened = false;
};

excerpt excerpt_of(const mapping& whole) {
  excerpt e{whole, whole, element_count(whole) > threshold};
  for (int d = 0; d < whole.rank && e.shortened; ++d)
    e.shown.extents[d] = std::min<std::int64_t>(whole.extents[d], 2 * edge);
  e.shown = row_major(e.shown);
  return e;
}

// Copies the printed elements to packed host memory: the block that starts at `to`, and the
// corresponding block at the other end of each shortened axis from `axis` on.
void copy_shown(const excerpt& e, int axis, mapping from, mapping to, std::size_t size,
                const buffer_ref& owner, const void* origin, unsigned char* packed) {
  while (axis < from.rank && e.whole.extents[axis] == e.shown.extents[axis]) ++axis;
  if (axis < from.rank) {
    from.extents[axis] = to.extents[axis] = edge;
    copy_shown(e, axis + 1, from, to, size, owner, origin, packed);
    from.offset += (e.whole.extents[axis] - edge) * from.strides[axis];
    to.offset += edge * to.strides[axis];
    return copy_shown(e, axis + 1, from, to, size, owner, origin, packed);
  }
  std::vector<unsigned char> block(static_cast<std::size_t>(element_count(from)) * size);
  download(owner, origin, from, size, block.data());
  const unsigned char* next = block.data();
  for_each_place(to, 0, to.offset, [&](std::int64_t place) {
    std::memcpy(packed + static_cast<std::size_t>(place) * size, next, size);
    next += size;
  });
}

template <class T>
class printer {
 public:
  printer(const excerpt& e, const std::vector<T>& numbers) : e_(e), numbers_(numbers) {
    write_.learn(numbers);
  }

  // Writes the block from `axis` on.
  void block(int axis, std::int64_t place) {
    const std::int64_t shown = e_.shown.extents[axis], stride = e_.shown.strides[axis];
    const bool shortened = e_.shown.extents[axis] != e_.whole.extents[axis],
               innermost = axis + 1 == e_.whole.rank;
    out_ += '[';
    const std::size_t indent = static_cast<std::size_t>(axis) + 1;
    // The innermost lines leave room for the closing brackets.
    width_ = line_width - static_cast<std::size_t>(e_.whole.rank);
    column_ = indent;
    const auto separate = [&](std::int64_t i) {
      if (i == 0) return;
      if (innermost) {
        out_ += ' ';
        ++column_;
      } else {
        out_.append(static_cast<std::size_t>(e_.whole.rank - axis - 1), '\n');
        out_.append(indent, ' ');
      }
    };
    for (std::int64_t i = 0; i < shown; ++i) {
      separate(i);
      if (shortened && i == edge) {
        if (innermost) word("...", indent);
        else out_ += "...";
        separate(i);
      }
      if (innermost) word(write_(numbers_[static_cast<std::size_t>(place + i * stride)]), indent);
      else block(axis + 1, place + i * stride);
    }
    out_ += ']';
  }
  std::string take() { return std::move(out_); }

 private:
  void word(const std::string& w, std::size_t indent) {
    if (column_ > indent && column_ + w.size() > width_) {
      out_.erase(out_.find_last_not_of(' ') + 1);
      out_ += '\n';
      out_.append(indent, ' ');
      column_ = indent;
    }
    out_ += w;
    column_ += w.size();
  }

  const excerpt& e_;
  const std::vector<T>& numbers_;
  typename writer_of<T>::type write_;
  std::string out_;
  std::size_t column_ = 0, width_ = 0;
};

template <class T>
std::string print(const excerpt& e, const unsigned char* bytes) {
  std::vector<T> numbers;
  for (std::int64_t i = 0; i < element_count(e.shown); ++i) {
    T n;
    std::memcpy(&n, bytes + static_cast<std::size_t>(i) * sizeof n, sizeof n);
    numbers.push_back(n);
  }
  if (e.whole.rank == 0) return alone(static_cast<T>(numbers[0]));
  printer<T> p(e, numbers);
  p.block(0, 0);
  return p.take();
}

using print_function = std::string (*)(const excerpt&, const unsigned char*);
template <int... D>
std::string print_as(dtype type, const excerpt& e, const unsigned char* bytes,
                     std::integer_sequence<int, D...>) {
  static constexpr print_function functions[] = {&print<memory_t<static_cast<dtype>(D)>>...};
  return functions[static_cast<int>(type)](e, bytes);
}

}  // namespace

text to_text(dtype type, const buffer_ref& owner, const void* origin, const mapping& elements) {
  require_memory(owner, "printing");
  if (element_count(elements) == 0) return text("[]");
  const excerpt e = excerpt_of(elements);
  const auto size = static_cast<std::size_t>(size_of(type));
  std::vector<unsigned char> bytes(static_cast<std::size_t>(element_count(e.shown)) * size);
  copy_shown(e, 0, e.whole, e.shown, size, owner, origin, bytes.data());
  return text(
      print_as(type, e, bytes.data(), std::make_integer_sequence<int, dtype_count>{}).c_str());
}

}  // namespace dsl::detail
