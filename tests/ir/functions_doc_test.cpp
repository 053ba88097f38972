// docs/functions.md has a line for each row of the op table, with the table's contents.
#include <gtest/gtest.h>

#include <dsl/ir/op.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace {

std::string call_of(const dsl::op_info& row) {
  const std::string name = row.token != nullptr ? row.token : row.name;
  std::string call;
  if (row.token != nullptr) {
    call = row.arity == 1 ? name + "a" : "a " + name + " b";
    for (std::size_t at = 0; (at = call.find('|', at)) != std::string::npos; at += 2)
      call.insert(at, "\\");  // an unescaped | would end the cell
  } else {
    call = name + (row.arity == 1 ? "(a)" : row.arity == 2 ? "(a, b)" : "(a, b, c)");
  }
  return "`" + call + "`";
}

std::string domain_of(const dsl::op_info& row) {
  switch (row.domain) {
    case dsl::op_domain::integer: return "integers";
    case dsl::op_domain::bits: return "integers, bool";
    case dsl::op_domain::ordered: return "all but complex";
    case dsl::op_domain::numeric: return "all but bool";
    case dsl::op_domain::any: return "all";
  }
  return "?";
}

std::string result_of(const dsl::op_info& row) {
  switch (row.result) {
    case dsl::op_result::boolean: return "bool";
    case dsl::op_result::int32: return "int32";
    case dsl::op_result::complex: return "complex";
    default: break;
  }
  std::string dtype = "common";
  if (row.operands == dsl::op_operands::widened) dtype = "common, bool as int8";
  if (row.operands == dsl::op_operands::floating || row.operands == dsl::op_operands::scaled)
    dtype = "floating";
  return dtype + (row.result == dsl::op_result::real ? ", real" : "");
}

std::set<std::string> lines_of_the_tables() {
  std::ifstream page(std::filesystem::path(__FILE__).parent_path() / "../../docs/functions.md");
  std::set<std::string> lines;
  for (std::string line; std::getline(page, line);)
    if (line.rfind("| `", 0) == 0) lines.insert(line);
  return lines;
}
bool has_line(const std::set<std::string>& lines, const std::string& beginning) {
  const auto at = lines.lower_bound(beginning);
  return at != lines.end() && at->rfind(beginning, 0) == 0;
}
std::string numpy_of(const std::string& name) { return name.empty() ? "" : "`" + name + "`"; }

}  // namespace

TEST(functions_page, has_every_row) {
  const auto lines = lines_of_the_tables();
  const dsl::op_info rows[] = {
#define DSL_OPERATOR(name, ...) info(dsl::op::name),
#define DSL_FUNCTION(name, ...) info(dsl::op::name),
#include <dsl/ir/ops.inc>
  };
  std::size_t pairs = 0;
  for (const dsl::op_info& row : rows) {
    const std::string line = "| " + call_of(row) + " | " + numpy_of(row.numpy) + " | " +
                             domain_of(row) + " | " + result_of(row) + " |";
    EXPECT_TRUE(has_line(lines, line)) << "docs/functions.md should have a line that begins with\n"
                                       << line;
  }
#define DSL_PAIR(name, numpy, first, second)                                                  \
  ++pairs;                                                                                    \
  EXPECT_TRUE(has_line(lines, "| `" #name "(a)` | " + numpy_of(numpy) + (*numpy ? " " : "") + \
                                  "| `" #first "(a)` | `" #second "(a)` |"))                  \
      << #name;
#include <dsl/ir/ops.inc>
  EXPECT_EQ(lines.size(), std::size(rows) + pairs)
      << "docs/functions.md has a line for something that is not in the table";
}
