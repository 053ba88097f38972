// The files in print/prelude/ hold one entry for each function, or for one function of several
// dtypes: a line "% name : kinds", then its text. In the names and texts of an entry for dtypes
//
//   $t  the dtype's name    $T  its value type
//   $u, $U  the same of the unsigned integer of its size     $W  the type in which integers wrap
//   $w  its bits            $l, $L  an integer's least and greatest value    $E  greatest + 1
//   $B, $S  unsigned and signed integers with a real number's bits      $D  its significand's bits
//   $f  the suffix of its literals      $m  its greatest finite number
//   $r, $P  dtype and type of a complex number's parts     $e, $e64  see `exp_is_finite_to`
//   $Xp, $Xn  beyond and below which a complex number is scaled
//
// The kind "once" has no dtype.
#include "opencl/print/prelude.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <dsl/ir/bits.hpp>
#include <dsl/ir/logarithm.hpp>

#include "opencl/print/types.hpp"

namespace dsl::detail::opencl {

namespace {

namespace coefficients {
#include "ir/special.inc"
}  // namespace coefficients

using replacements = std::vector<std::pair<std::string, std::string>>;

std::string replaced(std::string text, const replacements& all) {
  for (const auto& [from, to] : all)
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

std::string hexadecimal(double x, const char* suffix) {
  char line[48];
  std::snprintf(line, sizeof line, "%a%s", x, suffix);
  return line;
}

void add_integer(dtype type, replacements& to) {
  const int bits = 8 * size_of(type);
  const bool is_signed = info(type).is_signed;
  const dtype unsigned_type = integer_dtype(static_cast<std::size_t>(size_of(type)), false);
  const std::uint64_t greatest = ~std::uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  to.push_back({"$E", hexadecimal(math::power_of_two<double>(bits - (is_signed ? 1 : 0)), "")});
  to.push_back({"$u", name(unsigned_type)});
  to.push_back({"$U", value_type(unsigned_type)});
  to.push_back({"$W", bits == 64 ? "ulong" : "uint"});
  to.push_back({"$L", literal_text(type, {greatest})});
  to.push_back({"$l", literal_text(type, {is_signed ? ~greatest : 0})});
}

void add_real(dtype type, replacements& to) {
  const bool is_float = type == dtype::float32, is_short = size_of(type) == 2;
  to.push_back({"$B", is_short ? "ushort" : is_float ? "uint" : "ulong"});
  to.push_back({"$S", is_short ? "short" : is_float ? "int" : "long"});
  to.push_back({"$D", is_float ? "23" : "52"});
  const double most = type == dtype::float16    ? math::largest<dtype::float16>
                      : type == dtype::bfloat16 ? math::largest<dtype::bfloat16>
                      : is_float                ? math::largest<dtype::float32>
                                                : math::largest<dtype::float64>;
  to.push_back({"$m", hexadecimal(most, type == dtype::float64 ? "" : "f")});
}

void add_complex(dtype type, replacements& to) {
  const bool is_float = type == dtype::complex64;
  const char* const suffix = is_float ? "f" : "";
  to.push_back({"$Xp", hexadecimal(is_float ? 0x1p125 : 0x1p1021, suffix)});
  to.push_back({"$Xn", hexadecimal(is_float ? 0x1p-101 : 0x1p-968, suffix)});
  to.push_back({"$e64", std::string("6235149080811616882909238708.9284697448") + suffix});
  to.push_back({"$e", std::string(is_float ? "88.0" : "709.0") + suffix});
  to.push_back({"$r", name(real_of(type))});
  to.push_back({"$P", value_type(real_of(type))});
}

replacements replacements_for(dtype type) {
  replacements all;
  if (kind_of(type) == kind::integer) add_integer(type, all);
  if (kind_of(type) == kind::real) add_real(type, all);
  if (kind_of(type) == kind::complex) add_complex(type, all);
  all.push_back({"$f", type == dtype::float64 || type == dtype::complex128 ? "" : "f"});
  all.push_back({"$w", std::to_string(8 * size_of(type))});
  all.push_back({"$t", name(type)});
  all.push_back({"$T", value_type(type)});
  return all;
}

bool is_of_kind(dtype type, std::string_view kinds) {
  const auto has = [kinds](std::string_view word) {
    return (" " + std::string(kinds) + " ").find(" " + std::string(word) + " ") !=
           std::string::npos;
  };
  switch (kind_of(type)) {
    case kind::boolean: return has("bool");
    case kind::integer: return has("integer") || has(info(type).is_signed ? "signed" : "unsigned");
    case kind::real: return has(size_of(type) == 2 ? "short" : "real");
    case kind::complex: return has("complex");
  }
  return false;
}

class function_table {
 public:
  function_table() {
    static constexpr const char* files[] = {
#include "opencl/print/prelude/integers.inc"
        ,
#include "opencl/print/prelude/reals.inc"
        ,
#include "opencl/print/prelude/complex.inc"
        ,
#include "opencl/print/prelude/special.inc"
        ,
#include "opencl/print/prelude/random.inc"
        ,
#include "opencl/print/prelude/memory.inc"
    };
    for (const char* file : files) add_file(file);
    using namespace coefficients;
    add_array("erfinv_central", erfinv_central);
    add_array("erfinv_tail", erfinv_tail);
    add_array("i0_series", i0_series);
    add_array("i1_series", i1_series);
    add_array("i0_asymptotic", i0_asymptotic);
    add_array("i1_asymptotic", i1_asymptotic);
    add_array("log_terms", math::log_terms);
  }
  const std::string* find(std::string_view name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? nullptr : &found->second;
  }

 private:
  // A comment before an entry belongs to it.
  void add_file(std::string_view file) {
    std::string header, body, comment;
    const auto finish = [&] {
      if (!header.empty()) add_entry(header, body);
    };
    for (std::size_t at = 0; at < file.size();) {
      const std::size_t end = std::min(file.find('\n', at), file.size());
      const std::string line(file.substr(at, end - at));
      at = end + 1;
      if (line.rfind("% ", 0) == 0) {
        finish();
        header = line.substr(2);
        body = std::exchange(comment, "");
      } else if (line.rfind("//", 0) == 0) {
        comment += line + "\n";
      } else if (!line.empty()) {
        body += std::exchange(comment, "") + line + "\n";
      }
    }
    finish();
  }
  void add_entry(const std::string& header, const std::string& body) {
    const std::size_t colon = header.find(" : ");
    const std::string name = header.substr(0, colon), kinds = header.substr(colon + 3);
    if (kinds == "once") {
      all_.emplace(name, body);
      return;
    }
    for (int t = 0; t < dtype_count; ++t) {
      const auto type = static_cast<dtype>(t);
      if (!is_of_kind(type, kinds)) continue;
      const replacements words = replacements_for(type);
      all_.emplace(replaced(name, words), replaced(body, words));
    }
  }
  template <std::size_t N> void add_array(const char* name, const double (&values)[N]) {
    std::string text = std::string("__constant double ") + name + "[] = {\n";
    for (const double v : values) text += "    " + hexadecimal(v, "") + ",\n";
    all_.emplace(name, text + "};\n");
  }

  std::map<std::string, std::string, std::less<>> all_;
};

const function_table& table() {
  static const function_table made;
  return made;
}

bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Adds the functions whose names stand in a text, in the order of their first use.
void add_functions(std::string_view text, bool divides_in_double,
                   std::set<std::string, std::less<>>& known, std::string& to) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_in_name(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_in_name(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    at = end;
    const std::string* body = table().find(name);
    if (body == nullptr || !known.emplace(name).second) continue;
    if (divides_in_double)
      if (const std::string* const other = table().find(std::string(name) + " in double"))
        body = other;
    add_functions(*body, divides_in_double, known, to);
    to += *body + "\n";
  }
}

}  // namespace

bool has_function(std::string_view name) { return table().find(name) != nullptr; }

std::string functions_for(std::string_view text, bool divides_in_double) {
  std::set<std::string, std::less<>> known;
  std::string all;
  add_functions(text, divides_in_double, known, all);
  return all;
}

}  // namespace dsl::detail::opencl
