#include "exec/plan/reduction_names.hpp"

namespace dsl::detail {

named_pass::named_pass(const pass_view& p)
    : pass_(&p),
      elements_(p.elements),
      results_(p.results),
      names_(static_cast<std::size_t>(p.results.nodes)) {
  for (int at = 0; at < p.name_words;) {
    const name_head head = name_head::read(p.names + at);
    at += name_head::size;
    named_reduction& made = names_[static_cast<std::size_t>(results_.node_of(head.result()))];
    made = {"", elements_.node_of(head.of()), results_.node_of(head.ddof())};
    for (const int end = at + head.words(); at < end; ++at)
      for (std::uint64_t left = p.names[at]; left != 0; left >>= 8)
        made.name += static_cast<char>(left & 0xff);
  }
}

named_reduction named_pass::reduction_of(int node) const {
  named_reduction made = names_[static_cast<std::size_t>(node)];
  if (made.name.empty() && results_.code(node) == op::reduced) {
    const int first = pass_->firsts[results_.field(node, 0)];
    made = {"reduce", elements_.output(first), -1};
  }
  return made;
}

}  // namespace dsl::detail
