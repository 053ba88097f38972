#include "programs.hpp"

#include "../interpreter/interpreter.hpp"

#include <algorithm>

namespace reduction {

using namespace dsl::detail;
using dsl::dtype;
using dsl::op;

namespace {

using values = std::vector<literal>;

bool is_short(dtype type) { return type == dtype::float16 || type == dtype::bfloat16; }

/// A program that computes one element's values. Its inputs are C++ scalars; its outputs have the
/// form of intermediate values.
class program_of_values {
 public:
  explicit program_of_values(const program_view& p) : program_of_values(p, rewritten(p)) {}

  /// read(operation, payload) returns the value of a node that reads an input.
  template <class Read>
  values run(interpreter::form how, const Read& read) const {
    values in, out(static_cast<std::size_t>(outputs_));
    for (const auto& [code, payload] : inputs_) in.push_back(read(code, payload));
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const literal& each : in) from.push_back(&each);
    for (literal& each : out) to.push_back(&each);
    code_.run(how, 1, from.data(), to.data());
    return out;
  }

 private:
  struct input {
    op code;
    std::uint64_t payload;
  };
  struct data {
    std::vector<std::uint32_t> heads;
    std::vector<std::uint64_t> payloads, outputs;
    std::vector<input> inputs;
  };
  static data rewritten(const program_view& p) {
    data d;
    int floats = 0;
    for (int i = 0; i < p.nodes; ++i) {
      head h{p.heads[i]};
      std::uint64_t payload = p.payloads[i];
      if (reads_operand(h.code())) {
        d.inputs.push_back({h.code(), payload});
        payload = d.inputs.size() - 1;
        h = head::make(op::value, h.type(), h.slot());
      }
      floats += h.type() == dtype::float32;
      d.heads.push_back(h.word);
      d.payloads.push_back(payload);
    }
    for (int i = 0; i < p.output_count; ++i) {
      reference r = p.output(i);
      if (is_short(r.type())) {  // not rounded, as it would be in memory
        d.heads.push_back(head::make(op::convert, dtype::float32, floats).word);
        d.payloads.push_back(r.word);
        r = reference::make(dtype::float32, floats++);
      }
      d.outputs.push_back(r.word);
    }
    return d;
  }
  program_of_values(const program_view& p, const data& d)
      : code_({d.heads.data(), d.payloads.data(), static_cast<int>(d.heads.size()),
               d.outputs.data(), static_cast<int>(d.outputs.size())}),
        inputs_(d.inputs),
        outputs_(p.output_count) {}

  interpreter::executable code_;
  std::vector<input> inputs_;
  int outputs_;
};

// Each order uses another form, if this machine can run it.
interpreter::form form_of(order how) {
  const auto& all = interpreter::forms();
  return all[static_cast<std::size_t>(how) % all.size()];
}

/// One reduction of a pass, over an element's values from `first` on.
struct rule {
  program_of_values combine;
  values identity;
  int first;

  values reduce(const std::vector<values>& elements, order how) const {
    std::vector<values> x;
    for (const values& each : elements)
      x.emplace_back(each.begin() + first,
                     each.begin() + first + static_cast<std::ptrdiff_t>(identity.size()));
    const auto join = [&](const values& a, const values& b) {
      return combine.run(form_of(how), [&](op, std::uint64_t number) {
        return number < a.size() ? a[number] : b[number - a.size()];
      });
    };
    const std::size_t n = x.size();
    values all = identity;
    switch (how) {
      case order::one_after_another:
        for (const values& each : x) all = join(all, each);
        return all;
      case order::backwards:
        for (std::size_t i = n; i-- > 0;) all = join(all, x[i]);
        return all;
      case order::in_lanes: {
        std::vector<values> lanes(4, identity);
        for (std::size_t i = 0; i < n; ++i) lanes[i % 4] = join(lanes[i % 4], x[i]);
        return join(join(lanes[0], lanes[2]), join(lanes[1], lanes[3]));
      }
      case order::by_halves: {
        std::size_t half = 1;
        while (2 * half < n) half *= 2;
        for (x.resize(2 * half, identity); half > 0; half /= 2)
          for (std::size_t i = 0; i < half; ++i) x[i] = join(x[i], x[i + half]);
        return x[0];
      }
    }
    return all;
  }
};

/// The value of an element in memory.
literal value_at(const bytes& x, std::size_t i, dtype type) {
  const auto size = static_cast<std::size_t>(dsl::size_of(type));
  literal value;
  if (is_short(type)) return {to_bits(static_cast<float>(::stored::real_value(x, i, type)))};
  std::memcpy(&value, x.data() + i * size, size);  // little endian, as all that CUDA runs on
  return value;
}
void append_element(bytes& to, literal value, dtype type) {
  if (type == dtype::float16) value.bits = float_to_half(from_bits<float>(value.bits));
  if (type == dtype::bfloat16) value.bits = float_to_bfloat16(from_bits<float>(value.bits));
  const auto* const first = reinterpret_cast<const unsigned char*>(&value);
  to.insert(to.end(), first, first + dsl::size_of(type));
}

using image = pass_image<max_program_nodes, max_image_words>;
program_view program_at(const image& all, std::size_t p) {
  const auto begin = [&](std::size_t of, std::size_t what) {
    return static_cast<std::size_t>(all.ends[2 * of + what]);
  };
  const auto count = [&](std::size_t what) {
    return static_cast<int>(begin(p + 1, what) - begin(p, what));
  };
  return {&all.heads[begin(p, 0)], &all.payloads[begin(p, 0)], count(0),
          &all.output_words[begin(p, 1)], count(1)};
}

}  // namespace

struct programs::code {
  program_of_values elements, results;
  std::vector<rule> rules;
  dtype type;
  bool needs_elements = false;

  explicit code(const image& all)
      : elements(program_at(all, 0)),
        results(program_at(all, 1)),
        type(program_at(all, 1).output(0).type()) {
    std::size_t word = 0;
    for (std::size_t j = 0; j + 2 < all.programs; ++j) {
      const program_view combine = program_at(all, j + 2);
      rule& r = rules.emplace_back(rule{program_of_values(combine), {}, all.firsts[j]});
      for (int k = 0; k < combine.output_count; ++k, word += 2)
        r.identity.push_back({all.identity_words[word], all.identity_words[word + 1]});
      needs_elements = needs_elements || all.needs_elements[j];
    }
  }
  literal one_of(const operand& x, const std::vector<std::size_t>& places, order how) const {
    const std::size_t n = places.size();
    std::vector<values> each, totals;
    for (std::size_t i = 0; i < n; ++i)
      each.push_back(elements.run(form_of(how), [&](op code, std::uint64_t number) {
        return code == op::index
                   ? literal{i}
                   : value_at(x.elements, places[number == 0 ? i : n - 1 - i], x.type);
      }));
    for (const rule& r : rules) totals.push_back(r.reduce(each, how));
    return results.run(form_of(how), [&](op code, std::uint64_t place) {
      return code == op::count ? literal{n} : totals[place & 0xffff][place >> 16];
    })[0];
  }
};

programs::programs(const graph& g)
    : code_(std::make_shared<const code>(image_of<max_program_nodes>(g))) {}

outcome programs::of(const operand& x, const axes& a, order how) const {
  outcome made{false, code_->type, {}, {}};
  for (const std::vector<std::size_t>& places : groups_of(x.extents, a, made.extents)) {
    if (places.empty() && code_->needs_elements)
      return {.shape_error = true, .type = {}, .extents = {}, .values = {}};
    append_element(made.values, code_->one_of(x, places, how), made.type);
  }
  return made;
}

}  // namespace reduction
