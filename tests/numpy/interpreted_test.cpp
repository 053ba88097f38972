// NumPy's values for every row of the op table and every dtype, interpreted in every form that a
// back end has.
#include "../interpreter/language.hpp"
#include "../table_rows.hpp"
#include "reference.hpp"

namespace {

using interpreter::form;
using numpy_values::section;

std::string operands_of(const section& s) {
  std::string text = "operands";
  for (const dsl::dtype t : s.types) text += std::string(" ") + dsl::name(t);
  return text;
}

TEST(interpreted_numpy, every_row_and_dtype_in_every_form) {
  int rows = 0;
  for (const section& of : numpy_values::all_sections())
    for (const form how : interpreter::forms()) {
      const section s = of;
      SCOPED_TRACE(operands_of(s) + ", " + name(how));
      const auto width = static_cast<std::size_t>(dsl::size_of(s.types[0]));
      const std::size_t count = s.operands[0].size() / width;
      for (const dsl::op code : all_rows) {
        if (!numpy_values::takes(code, s.types.data(), s.types.size())) continue;
        interpreter::traced formula;
        interpreter::value x[3]{};
        const void* in[3]{};
        for (std::size_t k = 0; k < s.types.size(); ++k) {
          x[k] = formula.operand(dsl::op::load, s.types[k], static_cast<int>(k));
          in[k] = s.operands[k].data();
        }
        const interpreter::value result = formula.apply(code, x);
        const auto program = formula.program({result});
        stored::bytes got(count * static_cast<std::size_t>(dsl::size_of(result.type.type)));
        void* const out[] = {got.data()};
        interpreter::executable(interpreter::view_of(program))
            .run(how, static_cast<int>(count), in, out);
        numpy_values::expect_equal(s, code, result.type.type, got, false);
        ++rows;
      }
      numpy_values::expect_complete(s);
    }
  EXPECT_GT(rows, 2000);
}

}  // namespace
