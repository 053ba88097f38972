#include "exec/statement/passes.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "mem/back_end.hpp"

namespace dsl::detail {

namespace {

// Removes axes, which have extent 1, from a reduction's result that has kept them.
void drop_axes(operand& o, std::uint32_t axes) {
  int kept = 0;
  for (int d = 0; d < o.rank; ++d) {
    if ((axes >> d & 1) != 0) continue;
    o.extents[kept] = o.extents[d];
    o.strides[kept++] = o.strides[d];
  }
  o.rank = kept;
}

std::uint32_t axes_within(const reduction_axes& a) { return a.axes & ((1u << a.rank) - 1); }

}  // namespace

void check_shapes(const reduced_space* spaces, int count, const operand* leaves) {
  for (const reduced_space* s = spaces; s != spaces + count; ++s)
    if (s->same_elements != nullptr)
      require_same_elements(s->same_elements, leaves + s->first, s->second - s->first,
                            leaves + s->second, s->end - s->second);
}

evaluation::passes::passes(const parts& of)
    : plan_(of.plan),
      codes_(of.codes),
      leaves_(of.leaves),
      spaces_(of.spaces),
      expressions_(of.expressions),
      expression_count_(of.expression_count),
      values_(static_cast<std::size_t>(of.plan.values)),
      targets_(static_cast<std::size_t>(of.targets)),
      stored_as_(static_cast<std::size_t>(of.plan.values), -1) {
  for (int p = 0; p < plan_.passes; ++p) {
    const std::size_t first = passes_.size();
    for (int k = 0; k < plan_.pass[p].uses; ++k) add_use(p, plan_.pass[p].first_use + k, first);
    for (std::size_t i = first; i < passes_.size(); ++i) {
      bind_stand_ins(passes_[i]);
      give_memory_to_values(passes_[i]);
    }
  }
}

int evaluation::passes::leaf_of(int input) const {
  return input < plan_.leaves ? input : plan_.value[input - plan_.leaves].leaf;
}

operand evaluation::passes::operand_of(const bound_input& input) const {
  if (input.input < plan_.leaves) return leaves_[input.input];
  const int value = input.input - plan_.leaves;
  operand o = values_[static_cast<std::size_t>(stored_as_[static_cast<std::size_t>(value)])];
  if (input.drops_axes) drop_axes(o, spaces_[plan_.value[value].space - 1].axes.axes);
  return o;
}

// The operands of a use, at the places of a use that computes the same function.
pass_of_space evaluation::passes::bind_inputs(int number, const pass_use& use,
                                              const pass_use& places) const {
  const scheduled_pass& pass = plan_.pass[number];
  operand unbound;
  unbound.kind = operand_kind::value;
  pass_of_space made{number, use.space,
                     std::vector<operand>(static_cast<std::size_t>(pass.inputs), unbound),
                     std::vector<bool>(static_cast<std::size_t>(pass.inputs)),
                     std::vector<pass_of_space::output>(static_cast<std::size_t>(pass.outputs))};
  for (int i = 0; i < use.inputs; ++i) {
    const auto place = static_cast<std::size_t>(plan_.input[places.first_input + i].place);
    made.inputs[place] = operand_of(plan_.input[use.first_input + i]);
    made.is_bound[place] = true;
  }
  if (codes_[number]->inputs > pass.inputs) made.inputs.push_back(position_operand());
  return made;
}

// Adds a use to one of the passes from `first` on, or as a new one. Where other operands are bound
// to its places, those of another use with the same function may be free.
void evaluation::passes::add_use(int number, int use, std::size_t first) {
  const pass_use& mine = plan_.use[use];
  pass_of_space made = bind_inputs(number, mine, mine);
  check_shapes(made, mine);
  if (is_joined(made, mine, mine, first)) return;
  for (int at = mine.like; at != use && first < passes_.size(); at = plan_.use[at].like)
    if (is_joined(bind_inputs(number, mine, plan_.use[at]), mine, plan_.use[at], first)) return;
  passes_.push_back(std::move(made));
  add_outputs(passes_.back(), mine, mine);
}

bool evaluation::passes::is_joined(const pass_of_space& made, const pass_use& use,
                                   const pass_use& places, std::size_t first) {
  std::size_t same = first;
  while (same < passes_.size() && !are_one(passes_[same], made)) ++same;
  if (same == passes_.size()) return false;
  join(passes_[same], made);
  add_outputs(passes_[same], use, places);
  return true;
}

void evaluation::passes::check_shapes(const pass_of_space& of, const pass_use& use) const {
  // The bound inputs, in the order of the leaves.
  std::vector<operand> inputs;
  for (int i = 0; i < use.inputs; ++i)
    inputs.push_back(of.inputs[static_cast<std::size_t>(plan_.input[use.first_input + i].place)]);
  const auto first_from = [&](int leaf) {
    int i = 0;
    while (i < use.inputs && leaf_of(plan_.input[use.first_input + i].input) < leaf) ++i;
    return i;
  };
  if (use.space > 0) {
    const reduced_space& space = spaces_[use.space - 1];
    if (space.same_elements == nullptr) return;
    const int second = first_from(space.second), end = first_from(space.end);
    require_same_elements(space.same_elements, inputs.data(), second, inputs.data() + second,
                          end - second);
  } else if (const pass_view& pass = codes_[of.number]->pass.view; pass.reduces_beside_arrays()) {
    std::vector<operand_range> ranges;
    std::vector<reduction_axes> results;
    for (const bound_output* o = plan_.output + use.first_output;
         o != plan_.output + use.first_output + use.outputs; ++o)
      if (pass.is_result(o->place)) results.push_back(spaces_[o->to.space - 1].axes);
    for (int i = 0; i < expression_count_; ++i) {
      const int begin = first_from(expressions_[i].first),
                end = first_from(expressions_[i].first + expressions_[i].count);
      if (end > begin) ranges.push_back({begin, end - begin});
    }
    require_one_space(inputs.data(), ranges.data(), static_cast<int>(ranges.size()), results.data(),
                      static_cast<int>(results.size()), pass);
  }
}

// Whether one launch can do both passes: they reduce the same index space along the same axes, and
// inputs that are bound in both are the same operand.
bool evaluation::passes::are_one(const pass_of_space& a, const pass_of_space& b) const {
  if (a.space == 0 || b.space == 0) return false;
  const reduction_axes &of_a = spaces_[a.space - 1].axes, &of_b = spaces_[b.space - 1].axes;
  if (of_a.rank != of_b.rank || axes_within(of_a) != axes_within(of_b) ||
      spaces_[a.space - 1].rank != spaces_[b.space - 1].rank)
    return false;
  for (std::size_t i = 0; i < a.inputs.size(); ++i)
    if (i >= a.is_bound.size() || (a.is_bound[i] && b.is_bound[i]))
      if (!is_one_operand(a.inputs[i], b.inputs[i])) return false;
  if (a.is_bound == b.is_bound) return true;
  const pass_view& pass = codes_[a.number]->pass.view;
  const auto count = static_cast<int>(a.inputs.size());
  std::int64_t shape_of_a[max_rank], shape_of_b[max_rank];
  int rank_of_a, rank_of_b;
  broadcast_shape(shape_of_a, rank_of_a, a.inputs.data(), count, pass);
  broadcast_shape(shape_of_b, rank_of_b, b.inputs.data(), count, pass);
  return rank_of_a == rank_of_b && std::equal(shape_of_a, shape_of_a + rank_of_a, shape_of_b) &&
         common_device(a.inputs.data(), count, pass) == common_device(b.inputs.data(), count, pass);
}

void evaluation::passes::join(pass_of_space& to, const pass_of_space& more) {
  for (std::size_t i = 0; i < to.is_bound.size(); ++i)
    if (!to.is_bound[i] && more.is_bound[i]) {
      to.inputs[i] = more.inputs[i];
      to.is_bound[i] = true;
    }
}

// An operand that some use reads at a place of a pass: all of them are of one kind and dtype.
operand evaluation::passes::any_operand_at(int number, int place) const {
  const bound_input* input = plan_.input + plan_.use[plan_.pass[number].first_use].first_input;
  while (input->place != place) ++input;
  return operand_of(*input);
}

// Binds inputs whose results are discarded, since they are those of other index spaces: to an array
// that the pass reads anyway, or to a single element.
void evaluation::passes::bind_stand_ins(pass_of_space& to) {
  const device where = home_of_operands(to.inputs.data(), static_cast<int>(to.inputs.size()));
  for (std::size_t i = 0; i < to.is_bound.size(); ++i) {
    if (to.is_bound[i]) continue;
    operand o = any_operand_at(to.number, static_cast<int>(i));
    std::size_t like = 0;
    while (like < to.is_bound.size() &&
           !((like < i || to.is_bound[like]) && to.inputs[like].kind == o.kind &&
             to.inputs[like].type == o.type))
      ++like;
    if (like < to.is_bound.size()) {
      to.inputs[i] = to.inputs[like];
      continue;
    }
    o.rank = 0;
    o.source = nullptr;
    if (o.memory != nullptr) {
      constexpr std::uint64_t zeros[2] = {};
      memory_.push_back(buffer_ref::allocate_briefly(sizeof zeros, where));
      fill(memory_.back(), memory_.back().data(), zeros, sizeof zeros, 1);
      o.memory = memory_.back().get();
      o.word[0] = reinterpret_cast<std::uintptr_t>(memory_.back().data());
    }
    to.inputs[i] = o;
  }
}

void evaluation::passes::add_outputs(pass_of_space& of, const pass_use& use,
                                     const pass_use& places) {
  for (int i = 0; i < use.outputs; ++i) {
    const output_place& given = plan_.output[use.first_output + i].to;
    pass_of_space::output& o =
        of.outputs[static_cast<std::size_t>(plan_.output[places.first_output + i].place)];
    o.space = given.space;
    o.needs_elements = o.needs_elements || given.needs_elements;
    if (given.target >= 0) o.targets.push_back(given.target);
    if (given.value < 0) continue;
    if (o.value < 0) o.value = given.value;
    stored_as_[static_cast<std::size_t>(given.value)] = o.value;
    for (int k = 0; k < plan_.copies; ++k)
      if (plan_.copy[k].value == given.value) o.targets.push_back(plan_.copy[k].target);
  }
}

void evaluation::passes::give_memory_to_values(pass_of_space& of) {
  const int inputs = static_cast<int>(of.inputs.size());
  const pass_view& pass = codes_[of.number]->pass.view;
  for (std::size_t i = 0; i < of.outputs.size(); ++i) {
    pass_of_space::output& o = of.outputs[i];
    // A result with several targets is stored as a value, which is copied to them.
    if (o.value < 0 && o.targets.size() > 1) {
      o.value = static_cast<int>(values_.size());
      values_.emplace_back();
    }
    if (o.value < 0) continue;
    geometry g;
    g.where = common_device(of.inputs.data(), inputs, pass);
    broadcast_shape(g.shape, g.shape_rank, of.inputs.data(), inputs, pass);
    operand& v = values_[static_cast<std::size_t>(o.value)];
    v.type = pass.type(static_cast<int>(i));
    v.rank = spaces_[o.space - 1].rank;
    v.source = &sources_.emplace_back(value_source{&pass, of.inputs.data(), static_cast<int>(i),
                                                   spaces_[o.space - 1].axes.axes, g.shape_rank,
                                                   leaves_, plan_.leaves});
    v.kind = v.rank == 0 ? operand_kind::device_scalar : operand_kind::array;
    if (v.rank > 0)
      shape_target(v.extents, v.rank, g, spaces_[o.space - 1].axes.axes, pass, of.inputs.data());
    set_row_major(v.strides, v.extents, v.rank);
    const auto size = static_cast<std::size_t>(size_of(v.type));
    const std::int64_t count = element_count(v.extents, v.rank, size_of(v.type));
    // On a mesh of processes, a value that is reduced along the divided axis is complete in each
    // process.
    const bool is_divided =
        (spaces_[o.space - 1].axes.axes & 1) == 0 && back_end::of(g.where).processes() != nullptr;
    memory_.push_back(
        is_divided ? buffer_ref::allocate(v.extents, v.rank, size, g.where)
                   : buffer_ref::allocate_briefly(static_cast<std::size_t>(count) * size, g.where));
    v.memory = memory_.back().get();
    v.word[0] = reinterpret_cast<std::uintptr_t>(memory_.back().data());
  }
}

bool evaluation::passes::release_unused(const operand* of, int count) {
  const auto uses = [this](const operand& o) {
    return std::any_of(memory_.begin(), memory_.end(),
                       [&o](const buffer_ref& m) { return m.get() == o.memory; });
  };
  if (std::any_of(of, of + count, uses)) return false;
  memory_.clear();
  return true;
}

evaluation::passes::place evaluation::passes::place_of(int target) const {
  for (const pass_of_space& p : passes_)
    for (std::size_t i = 0; i < p.outputs.size(); ++i)
      if (std::find(p.outputs[i].targets.begin(), p.outputs[i].targets.end(), target) !=
          p.outputs[i].targets.end())
        return {&p, i};
  return {&passes_.back(), 0};
}

evaluation::source evaluation::passes::source_of(int target) const {
  const place at = place_of(target);
  const pass_view& pass = codes_[at.pass->number]->pass.view;
  const auto inputs = static_cast<int>(at.pass->inputs.size());
  source s{{},
           pass.is_result(static_cast<int>(at.output))
               ? spaces_[at.pass->outputs[at.output].space - 1].axes.axes
               : 0,
           &pass,
           at.pass->inputs.data()};
  s.space.where = common_device(at.pass->inputs.data(), inputs, pass);
  broadcast_shape(s.space.shape, s.space.shape_rank, at.pass->inputs.data(), inputs, pass);
  return s;
}

operand evaluation::passes::result_operand(const pass_of_space& of, std::size_t output,
                                           const operand& elements) const {
  operand o = elements;
  if (codes_[of.number]->pass.view.is_result(static_cast<int>(output)))
    align_with_axes(o, spaces_[of.outputs[output].space - 1].axes);
  else o.kind = operand_kind::array;  // A target of rank 0 is an array of one element here.
  o.needs_elements = of.outputs[output].needs_elements;
  return o;
}

void evaluation::passes::bind(int target, const operand& elements) {
  const place at = place_of(target);
  operand& bound = targets_[static_cast<std::size_t>(target)] =
      result_operand(*at.pass, at.output, elements);
  bound.number = target;
}

statement evaluation::passes::first(std::size_t count, const launch& fixed) const {
  statement all;
  for (std::size_t n = 0; n < count; ++n) {
    const pass_of_space& p = passes_[n];
    const program_code& code = *codes_[p.number];
    std::vector<operand> operands = p.inputs;
    bool writes_targets = false;
    for (std::size_t i = 0; i < p.outputs.size(); ++i) {
      const pass_of_space::output& o = p.outputs[i];
      writes_targets = writes_targets || !o.targets.empty();
      operand unused;
      unused.kind = operand_kind::result;
      unused.type = code.pass.view.type(static_cast<int>(i));
      unused.discarded = true;
      unused.needs_elements = false;
      operands.push_back(o.value >= 0
                             ? result_operand(p, i, values_[static_cast<std::size_t>(o.value)])
                         : o.targets.empty() ? unused
                                             : targets_[static_cast<std::size_t>(o.targets[0])]);
    }
    all.add(code, operands.data(), writes_targets ? fixed : launch{});
  }
  for (std::size_t n = 0; n < count; ++n) add_copies(passes_[n], all);
  return all;
}

void evaluation::passes::add_copies(const pass_of_space& p, statement& to) const {
  const pass_view& pass = codes_[p.number]->pass.view;
  for (std::size_t i = 0; i < p.outputs.size(); ++i) {
    const pass_of_space::output& o = p.outputs[i];
    if (o.value < 0) continue;
    const operand from = result_operand(p, i, values_[static_cast<std::size_t>(o.value)]);
    for (const int target : o.targets) {
      std::vector<operand> operands = p.inputs;
      operands.push_back(targets_[static_cast<std::size_t>(target)]);
      geometry g;
      lay_out(g, operands.data(), static_cast<int>(p.inputs.size()), 1, 1, pass);  // throws
      to.copy(from, operands.back());
    }
  }
}

}  // namespace dsl::detail
