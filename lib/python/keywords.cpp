#include "keywords.hpp"

#include <sstream>

namespace dsl::python {

namespace {

template <class T>
std::string text_of_number(T value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::vector<keyword> make_keywords(detail::function_kind kind) {
  std::vector<keyword> all;
  if (kind == detail::function_kind::loop) all = {{"every", "int", "1"}};
  if (kind == detail::function_kind::ensemble) {
    const ode::tolerance standard;
    all = {{"rtol", "float", text_of_number(standard.relative)},
           {"atol", "float", text_of_number(standard.absolute)},
           {"first_step", "float | None", "None"},
           {"largest_step", "float | None", "None"},
           {"most_steps", "int", text_of_number(standard.most_steps)},
           {"save_at", "typing.Any", "None"}};
  }
  all.push_back({"out", "typing.Any", "None"});
  return all;
}

}  // namespace

const std::vector<keyword>& keywords_of(detail::function_kind kind) {
  using enum detail::function_kind;
  static const std::vector<keyword> all[] = {make_keywords(kernel), make_keywords(loop),
                                             make_keywords(ensemble)};
  return all[static_cast<int>(kind)];
}

}  // namespace dsl::python
