#include "invocation.hpp"

#include <algorithm>
#include <cstring>
#include <list>

#include <dsl/exec/plan/operand.hpp>
#include <dsl/mem/marker.hpp>

#include "ensemble_result.hpp"
#include "exported.hpp"

namespace dsl::python {

namespace {

constexpr std::int32_t cuda_type = 2, managed_type = 13;
bool is_on_gpu(const dlpack::device& d) {
  return d.device_type == cuda_type || d.device_type == managed_type;
}

std::string argument_name(std::size_t i) { return "argument " + std::to_string(i + 1); }

dsl::detail::operand operand_of(const detail::elements& e, const detail::parameter& p) {
  dsl::detail::operand o;
  set_array(o, p.type, p.formula_rank(), e.owner, e.data, e.extents, e.strides);
  return o;
}

void make_row_major(int rank, const std::int64_t* extents, detail::elements& to) {
  std::int64_t step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    to.extents[d] = extents[d];
    to.strides[d] = step;
    step *= extents[d];
  }
}

// Drops the first `left_out` axes.
dsl::detail::mapping mapping_of(const detail::elements& e, int rank, int left_out = 0) {
  dsl::detail::mapping m;
  m.rank = rank - left_out;
  std::copy_n(e.extents + left_out, m.rank, m.extents);
  std::copy_n(e.strides + left_out, m.rank, m.strides);
  return m;
}

}  // namespace

// The first array on a GPU determines the stream.
void invocation::choose_stream(array_library& library, const dlpack::device& where) {
  if (!is_on_gpu(where) || stream_.is_chosen()) return;
  array_library::native_stream native{nullptr, {}};
  if (library.current_stream(where, native)) stream_owner_ = &library;
  else native.handle = dsl::stream::current(device(backend::cuda, where.device_id)).native();
  stream_.choose(kept_stream(where, std::move(native)));
  guard_.emplace(*stream_.get());
}

passed invocation::read(nb::handle x) {
  passed p{x, &class_of(x), {}, {}};
  if (p.of->is != type_class::array) return p;
  array_library& library = *p.of->library;
  const auto order = library.asks_for_stream();
  if (order == array_library::order::before) {
    const dlpack::device where = library.where(x);
    choose_stream(library, where);
    p.array = library.read(x, is_on_gpu(where) ? stream_.number() : 0);
  } else {
    p.array = library.read(x, order == array_library::order::behind ? -1 : 0);
    const dlpack::device where = p.array.tensor.device;
    choose_stream(library, where);
    if (is_on_gpu(where) && stream_owner_ != &library)  // it runs on another library's stream
      p.array = library.read(x, stream_.number());
  }
  p.elements = dsl::detail::read_dlpack(p.array.tensor);
  if (library_ == nullptr) {
    library_ = &library;
    first_array_ = x;
    device_ = p.array.tensor.device;
  }
  return p;
}

void invocation::read_arguments(const nb::args& given, std::size_t first) {
  passed_.reserve(given.size() - first);
  for (std::size_t i = first; i < given.size(); ++i) {
    const nb::handle x = given[i];
    try {
      passed_.push_back(read(x));
    } catch (const dsl::value_error&) {  // a dtype that dsl lacks
      all_.refuse(
          nb::borrow<nb::object>(given)[nb::slice(nb::int_(first), nb::none(), nb::none())]);
    } catch (nb::python_error& e) {
      if (!e.matches(PyExc_BufferError) || is_dtype(dtype_name(x))) throw;
      all_.refuse(
          nb::borrow<nb::object>(given)[nb::slice(nb::int_(first), nb::none(), nb::none())]);
    }
  }
}

device invocation::home() const {
  for (const passed& p : passed_)
    if (p.of->is == type_class::array) return p.elements.where;
  const device now = device::current();
  return now.kind == backend::sim ? now : device(backend::host);
}

// `rank` is the formula's; missing leading extents are 1.
void invocation::bind(const passed& from, const std::string& role, int rank, bool is_written,
                      detail::elements& to) const {
  const auto& [data, type, mapping, where] = from.elements;
  const auto size = static_cast<std::size_t>(size_of(type));
  if (reinterpret_cast<std::uintptr_t>(data) % size != 0 && dsl::detail::element_count(mapping) > 0)
    raise(PyExc_ValueError,
          all_.name() + ": " + role + " lies at an address that is no multiple of " +
              std::to_string(size) + " bytes, the size of its elements: pass a copy");
  to.data = data;
  const int more = rank - mapping.rank;
  std::fill_n(to.extents, more, 1);
  std::fill_n(to.strides, more, 0);
  std::copy_n(mapping.extents, mapping.rank, to.extents + more);
  std::copy_n(mapping.strides, mapping.rank, to.strides + more);
  to.owner = dsl::detail::borrow(data, mapping, size, &where, is_written, {},
                                 dsl::detail::address_check::trusted);
}

int invocation::rank_of(const detail::parameter& p) const {
  if (!p.has_any_rank()) return p.rank;
  return broadcast_rank + (p.rank == detail::parameter::rows_of_any_rank ? 1 : 0);
}

// Two arrays that do not broadcast together, each described as its argument; empty if all
// broadcast. `among`: a text that names both of their shapes, or null.
std::string invocation::misfits(const char* among) const {
  const auto is_of = [among](const dsl::detail::mapping& m) {
    std::string shape;
    for (int d = 0; d < m.rank; ++d) shape += (d == 0 ? "" : ", ") + std::to_string(m.extents[d]);
    return among == nullptr || std::strstr(among, ("(" + shape + ")").c_str()) != nullptr;
  };
  for (std::size_t i = 0; i < passed_.size(); ++i) {
    for (std::size_t j = i + 1; j < passed_.size(); ++j) {
      if (passed_[i].of->is != type_class::array || passed_[j].of->is != type_class::array)
        continue;
      const dsl::detail::mapping &a = passed_[i].elements.elements,
                                 &b = passed_[j].elements.elements;
      bool fit = true;
      for (int d = 1; d <= std::min(a.rank, b.rank); ++d) {
        const std::int64_t n = a.extents[a.rank - d], m = b.extents[b.rank - d];
        fit = fit && (n == m || n == 1 || m == 1);
      }
      if (!fit && is_of(a) && is_of(b))
        return argument_name(i) + " has shape " + text_of(passed_[i].object, "shape") + ", " +
               argument_name(j) + " " + text_of(passed_[j].object, "shape");
    }
  }
  return {};
}

// The shapes of all arrays.
std::string invocation::shapes() const {
  std::string text;
  for (std::size_t i = 0; i < passed_.size(); ++i)
    if (passed_[i].of->is == type_class::array)
      text += (text.empty() ? "" : ", ") + argument_name(i) + (text.empty() ? " has shape " : " ") +
              text_of(passed_[i].object, "shape");
  return text;
}

// Determines the rank if it differs from call to call: that to which the arrays broadcast.
void invocation::find_rank() {
  const auto has_any = [](const detail::parameter& p) { return p.has_any_rank(); };
  if (!std::any_of(signature_->parameters.begin(), signature_->parameters.end(), has_any)) return;
  std::fill_n(shape_, max_rank, 1);
  if (const std::string two = misfits(nullptr); !two.empty())
    raise(PyExc_ValueError, all_.name() + ": shapes do not broadcast: " + two);
  for (const passed& p : passed_) {
    if (p.of->is != type_class::array) continue;
    const dsl::detail::mapping& m = p.elements.elements;
    broadcast_rank = std::max(broadcast_rank, m.rank);
    for (int d = 1; d <= m.rank; ++d) {
      std::int64_t& mine = shape_[max_rank - d];
      const std::int64_t extent = m.extents[m.rank - d];
      if (mine == 1) mine = extent;
    }
  }
  if (all_.kind() == detail::function_kind::ensemble && broadcast_rank == max_rank)
    raise(PyExc_ValueError,
          all_.name() +
              ": arrays of 8 dimensions: an ensemble's have at most 7, because saved "
              "values have one more");
}

void invocation::bind_arguments() {
  for (std::size_t i = 0; i < passed_.size(); ++i) {
    const detail::parameter& p = signature_->parameters[i];
    detail::argument& to = arguments[i];
    if (passed_[i].of->is == type_class::array) {
      bind(passed_[i], argument_name(i), p.formula_rank(), false, to.memory);
      continue;
    }
    write_number(passed_[i].object, p.type, to.bits);
    if (p.kind == detail::parameter_kind::number) continue;
    const auto size = static_cast<std::size_t>(size_of(p.type));
    to.memory.owner = dsl::detail::buffer_ref::allocate(size, home());
    to.memory.data = to.memory.owner.data();
    dsl::detail::fill(to.memory.owner, to.memory.data, to.bits, size, 1);
  }
}

void invocation::bind_outputs() {
  const std::size_t expected = signature_->variables > 0
                                   ? static_cast<std::size_t>(signature_->variables)
                                   : signature_->results.size();
  made_.resize(signature_->results.size());
  if (!out_.is_valid() || out_.is_none()) return;
  const bool is_tuple = nb::isinstance<nb::tuple>(out_) || nb::isinstance<nb::list>(out_);
  if (is_tuple ? nb::len(out_) != expected : expected != 1)
    raise(PyExc_TypeError, all_.name() + ": out= is " +
                               (expected == 1 ? "one array"
                                              : "a tuple of " + std::to_string(expected) +
                                                    " arrays, or of None where one is to be made"));
  outputs_.reserve(expected);  // so that pointers to their strides stay valid
  for (std::size_t i = 0; i < expected; ++i) {
    const nb::object x = is_tuple ? nb::borrow(out_)[i] : nb::borrow(out_);
    if (x.is_none()) continue;
    const detail::parameter& p = signature_->results[i];
    const std::string role = expected == 1 ? "out=" : "out=[" + std::to_string(i) + "]";
    outputs_.push_back(read(x));
    const passed& given = outputs_.back();
    if (given.of->is != type_class::array || given.elements.type != p.type ||
        given.elements.elements.rank != rank_of(p))
      raise(PyExc_TypeError,
            all_.name() + ": " + role + " is to be " + spell({p.kind, p.type, rank_of(p)}));
    if (!given.of->library->is_writable())
      raise(PyExc_ValueError, all_.name() + ": arrays of " + given.of->library->name() +
                                  " cannot be written: leave out= away");
    if (p.has_any_rank() && !std::equal(shape_ + max_rank - broadcast_rank, shape_ + max_rank,
                                        given.elements.elements.extents))
      raise(PyExc_ValueError, all_.name() + ": " + role + " has shape " + text_of(x, "shape") +
                                  ", which is not that of the arguments");
    if (given.array.is_read_only)
      raise(PyExc_ValueError, all_.name() + ": " + role + " may only be read");
    bind(given, role, p.formula_rank(), true, results[i]);
    made_[i] = x;
  }
}

void invocation::make_result(int number, int rank, const std::int64_t* extents) {
  const nb::gil_scoped_acquire lock;
  const detail::parameter& result = signature_->results[static_cast<std::size_t>(number)];
  const dtype type = result.type;
  const int left_out = rank - rank_of(result);
  detail::elements& to = results[number];
  array_library& library = library_ != nullptr ? *library_ : numpy_library();
  if (nb::object made = library.make(type, rank - left_out, extents + left_out, device_);
      made.is_valid()) {
    // Nothing else uses the new array yet, so no ordering is needed.
    const array_argument fresh = library.read(made, is_on_gpu(device_) ? -1 : 0);
    passed p{made, nullptr, {}, dsl::detail::read_dlpack(fresh.tensor)};
    p.elements.where = home();
    bind(p, "a result", rank, true, to);
    made_[static_cast<std::size_t>(number)] = std::move(made);
    return;
  }
  make_row_major(rank, extents, to);
  const std::int64_t count = dsl::detail::element_count(extents, rank, size_of(type));
  to.owner =
      dsl::detail::buffer_ref::allocate(static_cast<std::size_t>(count * size_of(type)), home());
  to.data = to.owner.data();
}

// The state of a loop or an ensemble is stored in its results, from the first step on.
void invocation::bind_variables() {
  for (int k = 0; k < signature_->variables; ++k) {
    const detail::elements& from = arguments[signature_->first_variable() + k].memory;
    if (!results[k].owner)
      make_result(k, signature_->results[static_cast<std::size_t>(k)].formula_rank(), from.extents);
    else require_apart(k);
  }
}

// Memory that a loop or an ensemble writes must not be read as the first value of another variable,
// or as a parameter.
void invocation::require_apart(int variable) const {
  const auto k = static_cast<std::size_t>(variable),
             own = k + static_cast<std::size_t>(signature_->first_variable());
  const dsl::detail::operand mine = operand_of(results[variable], signature_->results[k]);
  for (std::size_t i = 0; i < signature_->parameters.size(); ++i) {
    const detail::parameter& p = signature_->parameters[i];
    if (i == own || !arguments[i].memory.owner ||
        arguments[i].memory.owner.where() != results[variable].owner.where())
      continue;
    if (may_share_elements(mine, operand_of(arguments[i].memory, p)))
      raise(PyExc_ValueError, all_.name() + ": out=[" + std::to_string(k) +
                                  "] shares memory with " + argument_name(i));
  }
}

namespace {

// Copies the first values to the state, unless they are there already.
void copy_variable(const detail::elements& from, const detail::elements& to,
                   const detail::parameter& p) {
  const auto source = mapping_of(from, p.formula_rank()), target = mapping_of(to, p.formula_rank());
  bool same = from.data == to.data;
  for (int d = 0; d < source.rank; ++d)
    same = same && source.extents[d] == target.extents[d] && source.strides[d] == target.strides[d];
  if (!same)
    dsl::detail::copy(to.owner, to.data, target, from.owner, from.data, source,
                      static_cast<std::size_t>(size_of(p.type)));
}

}  // namespace

// Keeps inputs until the kernels are done, if their library may otherwise reuse their memory
// earlier.
void invocation::keep_inputs() const {
  struct kept {
    dsl::detail::marker done;
    nb::object keeper;
  };
  static std::list<kept>& all = *new std::list<kept>;
  while (!all.empty() && all.front().done.is_reached()) all.pop_front();
  if (!stream_.is_chosen()) return;
  for (const std::vector<passed>* const some : {&passed_, &outputs_})
    for (const passed& p : *some)
      if (p.of->is == type_class::array && is_on_gpu(p.array.tensor.device) &&
          !(p.of->library == stream_owner_ && p.of->library->frees_in_order()))
        all.push_back({dsl::detail::marker(*stream_.get()), p.array.keeper});
}

nb::object invocation::result(std::size_t number) {
  if (made_[number].is_valid()) return made_[number];
  const detail::parameter& p = signature_->results[number];
  const nb::object memory = nb::cast(
      exported{results[number].owner, p.type,
               mapping_of(results[number], p.formula_rank(), p.formula_rank() - rank_of(p))});
  return (library_ != nullptr ? *library_ : numpy_library()).adopt(memory, first_array_);
}

nb::object invocation::results_from(std::size_t first, std::size_t end) {
  nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(end - first)));
  for (std::size_t k = first; k < end; ++k)
    PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(k - first), result(k).release().ptr());
  return all;
}

nb::object invocation::one_or_tuple(std::size_t first, std::size_t end) {
  return end - first == 1 ? result(first) : results_from(first, end);
}

nb::object invocation::returned() {
  const auto states = static_cast<std::size_t>(signature_->variables),
             all = signature_->results.size();
  if (signature_->kind == detail::function_kind::kernel) return one_or_tuple(0, all);
  const nb::object state = one_or_tuple(0, states);
  if (signature_->kind == detail::function_kind::loop)
    return nb::make_tuple(state, one_or_tuple(states, all));
  const std::size_t rows = states + 4, event_times = rows + states;
  return nb::make_tuple(state, make_ensemble_result(result(states), result(states + 1),
                                                    result(states + 2), result(states + 3),
                                                    results_from(rows, saves ? event_times : rows),
                                                    results_from(event_times, all)));
}

nb::object invocation::run(const nb::args& given, const nb::kwargs& options) {
  if (!options.empty()) read_options(options);
  const std::size_t first = all_.kind() == detail::function_kind::loop ? 1 : 0;
  if (given.size() < first)
    raise(PyExc_TypeError, all_.name() + " takes the number of steps first");
  if (first == 1) steps = whole_number(given[0], "the number of steps");
  read_arguments(given, first);
  signature_ = &all_.choose(passed_.data(), passed_.size());
  find_rank();
  bind_arguments();
  bind_outputs();
  bind_variables();
  read_times();
  try {
    const nb::gil_scoped_release without_lock;
    for (int k = 0; k < signature_->variables; ++k)
      copy_variable(arguments[signature_->first_variable() + k].memory, results[k],
                    signature_->results[static_cast<std::size_t>(k)]);
    signature_->run(*this, signature_->function);
  } catch (const shape_error& e) {  // about the formula's operands, which have no names in Python
    const char* const what = std::strstr(e.what(), "do not broadcast");
    const std::string two = what != nullptr ? misfits(what) : std::string();
    if (!two.empty()) raise(PyExc_ValueError, all_.name() + ": shapes do not broadcast: " + two);
    const bool is_of_shapes = std::strstr(e.what(), "shape") != nullptr;
    raise(PyExc_ValueError, all_.name() + ": " + e.what() + (is_of_shapes ? "; " + shapes() : ""));
  }
  keep_inputs();
  return returned();
}

}  // namespace dsl::python
