// Lists a pass's operations, and how its operands are accessed.
#include <algorithm>
#include <map>

#include "exec/explain/explain.hpp"
#include "exec/plan/layout.hpp"
#include "exec/run/executor.hpp"

namespace dsl::detail {

std::string target_names::of(const operand& target, int number) const {
  operand read = target;
  read.kind = target.rank == 0 ? operand_kind::device_scalar : operand_kind::array;
  if (const std::string letter = operands_->of(read); letter[0] != '?') return letter;
  return count_ > 1 ? std::string("out").append(std::to_string(number + 1)) : "out";
}

namespace {

constexpr std::size_t unlimited = std::size_t{1} << 20;

// Lists operations in the order in which they can run, each after those that it reads.
class lister : public formula_speller {
 public:
  // `before` is the number of operations that are already listed.
  lister(const pass_view& pass, const operand* operands, const operand_names& names, int before)
      : formula_speller(pass, operands, names, unlimited),
        operands_(operands),
        names_(names),
        before_(before) {}

  /// Lists a node and those it reads. Returns its number, or -1 for an operand or a number.
  int visit(bool of_results, int node) {
    node = simplified(of_results, node);
    if (node < 0 || is_leaf(of_results, node)) return -1;
    if (const auto found = numbers_.find({of_results, node}); found != numbers_.end())
      return found->second;
    listed_operation made;
    for (const auto& [results, from] : inputs_of(of_results, node)) {
      if (const int number = visit(results, from); number >= 0) add_once(made.from, number);
      else if (const std::string leaf = name_of_leaf(results, from); !leaf.empty())
        add_once(made.reads, leaf);
    }
    for (const int number : made.from) ++operations[static_cast<std::size_t>(number)].uses;
    operation(of_results, node);
    made.text = take();
    text_.clear();
    made.type = name((of_results ? named().results() : named().elements()).at(node).type());
    operations.push_back(std::move(made));
    return numbers_[{of_results, node}] = static_cast<int>(operations.size()) - 1;
  }
  /// As `visit`; a target that is an operand or a number itself becomes an operation that copies
  /// it.
  int visit_target(int i) {
    const bool of_results = target_word{named().pass().targets[i]}.is_result();
    const int node = simplified(of_results, node_of_target(i));
    if (const int number = visit(of_results, node); number >= 0) return number;
    listed_operation made;
    if (const std::string leaf = name_of_leaf(of_results, node); !leaf.empty())
      made.reads.push_back(leaf);
    this->node(of_results, node);
    made.text = take();
    text_.clear();
    made.type = name(named().pass().type(i));
    operations.push_back(std::move(made));
    return static_cast<int>(operations.size()) - 1;
  }

  std::vector<listed_operation> operations;

 protected:
  std::string shortcut(bool of_results, int node) const override {
    const auto found = numbers_.find({of_results, node});
    return found == numbers_.end()
               ? std::string()
               : std::string("%").append(std::to_string(before_ + found->second + 1));
  }

 private:
  // A choice between a node and itself is this node.
  int simplified(bool of_results, int node) const {
    const indexed_program& p = of_results ? named().results() : named().elements();
    while (node >= 0 && p.code(node) == op::where && p.operand(node, 1) == p.operand(node, 2))
      node = p.operand(node, 1);
    return node;
  }
  template <class T>
  static void add_once(std::vector<T>& to, const T& value) {
    if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
  }
  std::vector<std::pair<bool, int>> inputs_of(bool of_results, int node) const {
    if (of_results)
      if (const named_reduction known = named().reduction_of(node); !known.name.empty()) {
        std::vector<std::pair<bool, int>> of{{false, known.of}};
        if (known.ddof >= 0) of.push_back({true, known.ddof});
        return of;
      }
    const indexed_program& p = of_results ? named().results() : named().elements();
    std::vector<std::pair<bool, int>> all;
    if (p.code(node) == op::result) {
      for (int i = 0; i < node; ++i)
        if (p.is_argument_of(i, node)) all.push_back({of_results, p.operand(i, 0)});
      return all;
    }
    for (int k = 0; k < operand_count(p.code(node)); ++k)
      all.push_back({of_results, p.operand(node, k)});
    return all;
  }
  std::string name_of_leaf(bool of_results, int node) const {
    const indexed_program& p = of_results ? named().results() : named().elements();
    if (p.code(node) == op::convert) node = p.operand(node, 0);
    if (p.code(node) > op::load_scalar || p.code(node) == op::value) return {};
    const operand& o = operands_[operand_read(p.view(), node)];
    if (o.kind == operand_kind::position) return {};
    return name_of_operand(o, names_);
  }

 public:
  static std::string name_of_operand(const operand& o, const operand_names& names) {
    if (o.source == nullptr) return names.of(o);
    formula_speller value(*o.source->pass, o.source->operands, names, unlimited);
    value.value(*o.source);
    return value.take();
  }

 private:
  std::map<std::pair<bool, int>, int> numbers_;
  const operand* operands_;
  const operand_names& names_;
  int before_;
};

std::string shape_and_type(const operand& o, const std::int64_t* extents, int rank) {
  return name(o.type) + (rank == 0 ? std::string() : " " + spell_shape(extents, rank));
}

std::string times_of(std::int64_t n, const char* what) { return std::to_string(n) + what; }

bool is_shifted_inwards(const geometry& g, const operand& o) {
  return o.kind == operand_kind::neighbour && dimension_of_axis(g, o, o.axis) == g.rank - 1;
}

// The reason why an array is not read or written in whole vectors.
std::string why_not_wide(const geometry& g, const operand& o, const operand_layout& w,
                         std::int64_t vector) {
  const std::int64_t inner = w.strides[g.rank - 1], size = size_of(o.type);
  if (is_shifted_inwards(g, o)) return "shifted along the innermost dimension";
  if (inner < 0)
    return inner == -1 ? "reversed" : "reversed, " + times_of(-inner, " elements apart");
  if (inner > 1) return "strided, " + times_of(inner, " elements apart");
  if (const std::int64_t beyond =
          static_cast<std::int64_t>(o.word[0] % static_cast<std::uint64_t>(vector));
      beyond != 0)
    return "misaligned, " + times_of(beyond, " bytes beyond a multiple of ") +
           std::to_string(vector);
  for (int d = 0; d + 1 < g.rank; ++d)
    if (w.strides[d] * size % vector != 0)
      return "misaligned rows, " + times_of(w.strides[d] * size, " bytes apart, no multiple of ") +
             std::to_string(vector);
  return "";
}

std::string how_reached(const geometry& g, const operand& o, const operand_layout& w, int lanes) {
  if (o.kind == operand_kind::device_scalar) return "one value in device memory";
  if (o.kind == operand_kind::result) return "what a reduction leaves";
  if (o.kind == operand_kind::index) return "positions, computed";
  if (o.kind == operand_kind::address) return "gathered, element by element at computed places";
  if (g.rank == 0 ||
      std::all_of(w.strides, w.strides + g.rank, [](std::int64_t s) { return s == 0; }))
    return g.elements > 1 ? "broadcast: one element for all" : "one element";
  if (w.strides[g.rank - 1] == 0 && g.extents[g.rank - 1] > 1)
    return "broadcast along the innermost dimension, read once for " + std::to_string(lanes) +
           " elements";
  const std::int64_t vector =
      std::min<std::int64_t>(16, static_cast<std::int64_t>(size_of(o.type)) * lanes);
  const bool on_host = g.where.kind == backend::host;
  const bool is_behind_leads = g.leads.lanes > 0 && w.how == access::wide;
  const std::string why =
      is_behind_leads || (on_host && w.strides[g.rank - 1] == 1 && !is_shifted_inwards(g, o))
          ? std::string()
      : g.leads.lanes > 0 && w.strides[g.rank - 1] == 1
          ? "its rows begin elsewhere in a vector than those of others"
          : why_not_wide(g, o, w, vector);
  if (w.how == access::row && !on_host) return "the same in all rows: passed on in shared memory";
  if (w.how == access::tiled && !on_host)
    return "lies along the second dimension: by tiles in shared memory where there is room";
  if (!why.empty()) return "element by element: " + why;
  std::string how = on_host ? "contiguous" : "vectors of " + std::to_string(vector) + " bytes";
  const bool keeps_columns = g.kept != 0 && is_kept(g, g.rank - 1);
  if (is_behind_leads)
    how += keeps_columns ? " of rows that begin anywhere"
                         : ", but for elements at the ends of rows, which begin anywhere";
  if (vector < 16 && !on_host)
    how += ", as a wider operand limits a thread to " + std::to_string(lanes) + " elements";
  if (std::find(w.strides, w.strides + g.rank, 0) != w.strides + g.rank) how = "broadcast, " + how;
  return how;
}

// The number of different neighbours of an operand that are read, or the place of the only one.
std::string spell_neighbours(const program_view& p, const operand& o, int number) {
  if (o.kind == operand_kind::neighbour) return "; neighbours at " + std::to_string(o.distance);
  int count = 0;
  for (int i = 0; i < p.nodes; ++i)
    count += head{p.heads[i]}.code() == op::neighbour &&
                     operand_read(p, i) == static_cast<std::uint64_t>(number)
                 ? 1
                 : 0;
  return count == 0 ? ""
                    : "; " + std::to_string(count) + (count == 1 ? " neighbour" : " neighbours");
}

}  // namespace

explained_kernel list_pass(const pass_view& pass, const operand* operands, int inputs, int outputs,
                           const geometry& g, int lanes, const operand_names& names,
                           const target_names& targets, int before) {
  explained_kernel k;
  lister list(pass, operands, names, before);
  for (int i = 0; i < outputs; ++i) {
    const operand& o = operands[inputs + i];
    if (o.discarded) continue;
    const std::string of = o.source != nullptr ? lister::name_of_operand(o, names)
                                               : targets.of(o, o.number >= 0 ? o.number : i);
    const int number = list.visit_target(i);
    list.operations[static_cast<std::size_t>(number)].gives.push_back(of);
    formula_speller formula(pass, operands, names, 400);
    if (o.kind == operand_kind::result)
      formula.reduced_along(o.reduced, o.rank == 0 ? g.shape_rank : o.rank);
    formula.target(i);
    const std::string right = formula.take();
    k.formula +=
        (k.formula.empty() ? "" : "; ") + (o.source != nullptr ? right : of + " = " + right);
  }
  k.operations = std::move(list.operations);
  for (listed_operation& o : k.operations)
    for (int& from : o.from) from += before;
  k.operands = list_operands(operands, inputs, outputs, g, lanes, names, targets, pass.elements);
  return k;
}

std::vector<listed_operand> list_operands(const operand* operands, int inputs, int outputs,
                                          const geometry& g, int lanes, const operand_names& names,
                                          const target_names& targets, const program_view& reads) {
  std::vector<listed_operand> all;
  for (int i = 0; i < inputs + outputs; ++i) {
    const operand& o = operands[i];
    if (o.kind == operand_kind::value || o.kind == operand_kind::step ||
        o.kind == operand_kind::position || o.discarded)
      continue;
    const bool is_written = i >= inputs;
    if (!is_written && o.kind != operand_kind::neighbour && first_of_array(operands, i) != i)
      continue;
    const std::string name = is_written && o.source == nullptr
                                 ? targets.of(o, o.number >= 0 ? o.number : i - inputs)
                                 : lister::name_of_operand(o, names);
    std::string how = how_reached(g, o, g.layouts[i], lanes);
    if (!is_written) how += spell_neighbours(reads, o, i);
    all.push_back({name, shape_and_type(o, o.extents, o.rank), how, is_written});
  }
  return all;
}

std::string spell_path(const char* path, const pass_view& pass, const geometry& g,
                       const operand* operands, int inputs, int count, const operand_names& names) {
  const std::string is = path;
  if (g.linear) return is + ": every array is contiguous along one dimension";
  const auto name_of = [&](int k) {
    const operand& o = operands[k];
    return k >= inputs && o.source == nullptr ? std::string("the target")
                                              : lister::name_of_operand(o, names);
  };
  const auto first = [&](const auto& is_so) {
    for (int k = 0; k < count; ++k)
      if (has_elements(operands[k]) && is_so(operands[k], g.layouts[k])) return k;
    return -1;
  };
  if (g.kept != 0)
    return is + ": reduced along some axes, of " + std::to_string(g.rank) +
           " dimensions that are left";
  std::string why;
  const auto because = [&](int k, const char* what) {
    if (k >= 0) why += (why.empty() ? ": " : ", ") + name_of(k) + what;
  };
  for (int k = 0; k < inputs && why.empty(); ++k)
    if ((pass.neighbours.operands >> k & 1) != 0) because(k, " is shifted");
  because(first([&](const operand& o, const operand_layout& w) {
            return o.kind == operand_kind::array &&
                   std::find(w.strides, w.strides + g.rank, 0) != w.strides + g.rank;
          }),
          " is broadcast");
  because(first([&](const operand&, const operand_layout& w) {
            return std::abs(w.strides[g.rank - 1]) > 1;
          }),
          g.rank > 1 ? " lies along another dimension or is strided" : " is strided");
  because(
      first([&](const operand&, const operand_layout& w) { return w.strides[g.rank - 1] == -1; }),
      " is reversed");
  if (why.empty() && g.rank > 1)
    because(first([&](const operand&, const operand_layout& w) {
              return w.strides[g.rank - 2] != g.extents[g.rank - 1];
            }),
            " has gaps between its rows");
  return is + why;
}

std::string spell_plan(const plan& p) {
  std::string s(executor::of(p.where).describe_launch(p));
  if (p.shared_bytes > 0) s += ", " + std::to_string(p.shared_bytes) + " bytes of shared memory";
  if (p.registers > 0) s += ", " + std::to_string(p.registers) + " registers";
  if (p.registers > 0 && p.blocks_per_multiprocessor > 0) {
    const int threads = properties(p.where).threads_per_multiprocessor;
    s += ", " + std::to_string(p.blocks_per_multiprocessor) + " blocks an SM (" +
         std::to_string(100 * std::min(threads, p.blocks_per_multiprocessor * p.block) / threads) +
         " % of its threads)";
  }
  return s;
}

std::string spell_device(device where) {
  const std::string named(where.name());
  return where.kind == backend::sim ? named : named + " (" + properties(where).name + ")";
}

}  // namespace dsl::detail
