#include "exec/processes/process_halos.hpp"

#include <algorithm>

#include "exec/plan/layout.hpp"
#include "exec/run/copy.hpp"

namespace dsl::detail {

std::optional<row_reach> reach_of(const bound_pass& pass) {
  const program_view& program = pass.code().pass.view.elements;
  const geometry& g = pass.space();
  const int outermost = g.shape_rank - 1;
  row_reach reach;
  bool ends = false;
  for (int i = 0; i < program.nodes; ++i) {
    const op code = head{program.heads[i]}.code();
    if (!is_placed(code)) continue;
    if (code == op::coordinate) return {};
    const neighbour_path path = path_of(program, i);
    if (path.base != op::load) return {};
    std::int64_t before = 0, behind = 0;
    for (int s = 0; s < path.count; ++s) {
      path_step step = path.step[s];
      if (step.slot >= 0) {
        const operand& given = pass.operands()[step.slot];
        step.axis = given.axis;
        step.beyond = given.beyond;
        step.distance = given.distance;
      }
      if (step.axis != outermost) continue;
      const std::int64_t distance = least_distance(step.beyond, step.distance, g.shape[0]);
      (distance > 0 ? before : behind) += std::abs(distance);
      if (step.ends_inside) continue;  // Values read beyond an end are not used.
      (step.beyond == boundary::wrap ? reach.wraps : ends) = true;
    }
    reach.before = std::max(reach.before, before);
    reach.behind = std::max(reach.behind, behind);
  }
  if (reach.wraps && ends) return {};
  return reach;
}

bool edge_rows::are_enough(const local_operands& mine, const row_reach& reach) {
  std::int64_t end = 0;
  return std::all_of(mine.rows().begin(), mine.rows().end(), [&](const index_range& r) {
    const bool follow = r.first == std::exchange(end, r.end);
    // Rows mirrored at an end are not counted from the end itself, so the last of them is one
    // further in.
    return follow && r.count() > reach.before + reach.behind;
  });
}

namespace {

std::int64_t elements_a_row(const operand& o) {
  std::int64_t n = 1;
  for (int d = 1; d < o.rank; ++d) n *= o.extents[d];
  return n;
}
std::size_t bytes_of_rows(const operand& o, std::int64_t rows) {
  return static_cast<std::size_t>(rows * elements_a_row(o) * size_of(o.type));
}
// The rows of an array from `first` on, `rows` of them.
operand rows_of(operand o, std::int64_t first, std::int64_t rows) {
  o.word[0] += static_cast<std::uint64_t>(first * o.strides[0] * size_of(o.type));
  o.extents[0] = rows;
  return o;
}
bool are_same(const operand& a, const operand& b) {
  return a.memory == b.memory && a.word[0] == b.word[0] && a.type == b.type &&
         std::equal(a.extents, a.extents + a.rank, b.extents) &&
         std::equal(a.strides, a.strides + a.rank, b.strides);
}

}  // namespace

edge_rows::edge_rows(const process_mesh& mesh, const bound_pass& pass, const local_operands& mine,
                     const row_reach& reach)
    : mesh_(mesh), pass_(pass), own_(mine.data()), reach_(reach) {
  const std::int64_t own = mine.own_rows().count();
  first_ = {
      reach.wraps || mesh.rank() > 0, inner() + reach.before, 0, reach.before, reach.before, 0};
  last_ = {reach.wraps || mesh.rank() + 1 < mesh.size(),
           inner() + reach.behind,
           own - inner(),
           0,
           reach.behind,
           own - reach.behind};
  for (edge* const e : {&first_, &last_})
    if (e->is_inner) fill(*e);
  exchange();
}

void edge_rows::fill(edge& e) {
  const int inputs = pass_.code().inputs;
  for (int k = 0; k < inputs + pass_.code().outputs(); ++k) {
    operand o = own_[k];
    const bool by_rows =
        k >= inputs || varies_by_rows(pass_.operands()[k], pass_.space().shape_rank);
    const auto same = std::find_if(
        own_, own_ + k, [&](const operand& other) { return by_rows && are_same(other, o); });
    if (by_rows) o.extents[0] = e.rows;
    if (by_rows && o.memory == nullptr) {
      o.word[0] += static_cast<std::uint64_t>((e.first - e.place) * o.strides[0]);
    } else if (by_rows && k < inputs && same != own_ + k) {
      const operand& there = e.operands[static_cast<std::size_t>(same - own_)];
      o.memory = there.memory;
      o.word[0] = there.word[0];
      std::copy_n(there.strides, o.rank, o.strides);
    } else if (by_rows) {
      o = temporary_for(o, e.memory.emplace_back(), false);
      if (k < inputs) {
        copy_elements(rows_of(own_[k], e.first, inner()), rows_of(o, e.place, inner()));
        e.read.push_back(o);
      }
    }
    e.operands.push_back(o);
  }
}

void edge_rows::exchange() {
  const int rank = mesh_.rank(), size = mesh_.size(), previous = (rank + size - 1) % size,
            next = (rank + 1) % size;
  const auto add = [](std::vector<process_message>& to, const edge& e, std::int64_t from,
                      std::int64_t rows, int peer) {
    for (const operand& o : e.read)
      if (rows > 0)
        to.push_back({reinterpret_cast<unsigned char*>(rows_of(o, from, rows).word[0]),
                      bytes_of_rows(o, rows), peer});
  };
  // With two processes, each is the other's previous and next one: the order of the messages tells
  // them apart.
  std::vector<process_message> sent, received;
  add(sent, last_, reach_.behind, reach_.before, next);
  add(sent, first_, reach_.before, reach_.behind, previous);
  add(received, first_, 0, reach_.before, previous);
  add(received, last_, inner(), reach_.behind, next);
  mesh_.exchange(sent, received);
}

void edge_rows::run(const edge& e) const {
  if (!e.is_inner || e.results == 0) return;
  const int inputs = pass_.code().inputs;
  bound_pass(pass_.code(), e.operands.data(), {}).run();
  for (int k = inputs; k < inputs + pass_.code().outputs(); ++k)
    copy_elements(rows_of(e.operands[static_cast<std::size_t>(k)], reach_.before, e.results),
                  rows_of(own_[k], e.stored, e.results));
}

}  // namespace dsl::detail
