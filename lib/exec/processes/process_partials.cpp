#include "exec/processes/process_partials.hpp"

#include <algorithm>

namespace dsl::detail {

namespace {

// All that decides a pass's form, in words that are equal in all processes. For an address, this is
// its distance from the memory's begin, which is aligned alike in all processes.
std::vector<std::int64_t> words_of(const bound_pass& pass) {
  const program_code& code = pass.code();
  const launch& fixed = pass.fixed();
  std::vector<std::int64_t> words{
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&code)), fixed.block, fixed.grid};
  for (const operand* o = pass.operands(); o != pass.operands() + code.inputs + code.outputs();
       ++o) {
    words.insert(words.end(),
                 {static_cast<std::int64_t>(o->kind), static_cast<std::int64_t>(o->type), o->rank});
    words.insert(words.end(), o->extents, o->extents + o->rank);
    words.insert(words.end(), o->strides, o->strides + o->rank);
    if (o->memory != nullptr)
      words.push_back(static_cast<std::int64_t>(o->word[0] -
                                                reinterpret_cast<std::uintptr_t>(o->memory->data)));
    if (!is_divided(*o)) continue;
    const std::vector<std::int64_t>& ends = o->memory->part->ends();
    words.insert(words.end(), ends.begin(), ends.end());
  }
  return words;
}

}  // namespace

const std::vector<partials_form>& known_forms::of(const bound_pass& pass,
                                                  const partials_form& own) {
  std::vector<std::int64_t> words = words_of(pass);
  const auto found =
      std::find_if(known_.begin(), known_.end(), [&](const known& k) { return k.pass == words; });
  if (found != known_.end()) return found->forms;
  const auto processes = static_cast<std::size_t>(mesh_.size());
  std::vector<partials_form> forms(processes);
  forms[static_cast<std::size_t>(mesh_.rank())] = own;
  mesh_.group().all_gather(forms.data(),
                           std::vector<std::size_t>(processes, sizeof(partials_form)).data());
  known& place = known_.size() < most ? known_.emplace_back() : known_[next_++ % most];
  place = {std::move(words), std::move(forms)};
  return place.forms;
}

}  // namespace dsl::detail
