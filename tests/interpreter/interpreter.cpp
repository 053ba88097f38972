#include "interpreter.hpp"

#include "node_code.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace interpreter {

using namespace dsl::detail;

namespace {

constexpr int block = 256;  // the same as the host's
constexpr std::size_t column_bytes = block * sizeof(complex_value<double>);

const node_code* code_of(const signature& s) {
  static const auto all = [] {
    std::vector<node_code> made;
    for (const auto add :
         {add_code_of_8_bits, add_code_of_16_bits, add_code_of_32_bits, add_code_of_64_bits,
          add_code_of_float, add_code_of_double, add_code_of_complex})
      add(made);
    std::unordered_map<std::uint64_t, node_code> by_key;
    for (const node_code& c : made)
      if (!by_key.emplace(c.key, c).second) throw std::runtime_error("two codes for one operation");
    return by_key;
  }();
  const auto found = all.find(s.key());
  if (found == all.end()) {
    std::string text = std::string("no code for ") + dsl::info(s.code).name + " of";
    for (int i = 0; i < s.arity; ++i) text += std::string(" ") + dsl::name(s.operand[i]);
    throw std::runtime_error(text + ", which gives " + dsl::name(s.result));
  }
  return &found->second;
}

std::size_t value_bytes(dtype type) {
  return static_cast<std::size_t>(dsl::size_of(value_dtype(type)));
}

constexpr int padded(int count) { return (count + 63) / 64 * 64; }

void run_code(const node_code& code, form how, int count, const void* const* in, void* out) {
  if (how == form::scalar) {
    code.scalar(count, in, out);
  } else {
    void* const to[] = {out};
    code.block[static_cast<int>(how) - 1](padded(count), 1, 0, in, to, nullptr);
  }
}

void fill(void* column, int count, const void* value, std::size_t size) {
  for (int i = 0; i < padded(count); ++i)
    std::memcpy(static_cast<unsigned char*>(column) + static_cast<std::size_t>(i) * size, value,
                size);
}

// Memory for columns, reused between runs.
unsigned char* memory_for(std::size_t columns) {
  thread_local std::vector<unsigned char> memory;
  const std::size_t bytes = columns * column_bytes + 64;
  if (memory.size() < bytes) memory.resize(bytes);
  return memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
}

}  // namespace

struct executable::column {
  dtype type;
  std::size_t number;
  const node_code* store;  // stores to memory; null if values are stored unconverted
};

struct executable::step {
  op code;
  dtype type;
  std::uint64_t payload;
  std::size_t result, operand[3];
  const node_code* run;
};

const std::vector<form>& forms() {
  static const std::vector<form> all = [] {
    std::vector<form> found{form::scalar, form::sse2};
#if DSL_DETAIL_X86_LEVELS
    if (DSL_DETAIL_HAS_V3) found.push_back(form::avx2);
    if (DSL_DETAIL_HAS_V4) found.push_back(form::avx512);
#endif
    return found;
  }();
  return all;
}

executable::~executable() = default;
executable::executable(executable&&) noexcept = default;

executable::executable(const program_view& p) {
  std::vector<std::size_t> columns[dsl::dtype_count];  // of each dtype's slots
  const auto column_of = [&columns](reference r) {
    return columns[static_cast<int>(r.type())].at(static_cast<std::size_t>(r.slot()));
  };
  for (int i = 0; i < p.nodes; ++i) {
    const head h{p.heads[i]};
    step s{h.code(), h.type(), p.payloads[i], columns_++, {}, nullptr};
    signature of{s.code, s.type, operand_count(s.code), {}};
    for (int k = 0; k < of.arity; ++k) {
      const reference r = reference::of(s.payload, k);
      s.operand[k] = column_of(r);
      of.operand[k] = r.type();
    }
    if (of.arity > 0) s.run = code_of(compiled_signature(of));
    else if (s.code == op::load || s.code == op::load_scalar)
      s.run = value_dtype(s.type) == s.type ? nullptr : code_of({op::load, s.type, 0, {}});
    else if (s.code != op::constant && s.code != op::value)
      throw std::runtime_error(std::string("cannot interpret ") + dsl::info(s.code).name);
    auto& slots = columns[static_cast<int>(s.type)];
    if (slots.size() != static_cast<std::size_t>(h.slot()))
      throw std::runtime_error("slots are not numbered in order");
    slots.push_back(s.result);
    steps_.push_back(s);
  }
  for (int i = 0; i < p.output_count; ++i) {
    const reference r = p.output(i);
    const dtype value = value_dtype(r.type());
    outputs_.push_back(
        {r.type(), column_of(r),
         value == r.type() ? nullptr : code_of({op::positive, r.type(), 1, {value}})});
  }
}

void executable::run(form how, int count, const void* const* operands, void* const* outputs) const {
  for (int first = 0; first < count; first += block)
    run_block(how, first, std::min(block, count - first), operands, outputs);
}

void executable::run_block(form how, int first, int count, const void* const* operands,
                           void* const* outputs) const {
  unsigned char* const memory = memory_for(columns_ + 1);
  const auto at = [memory](std::size_t column) { return memory + column * column_bytes; };
  void* const elements = at(columns_);
  for (const step& s : steps_) {
    void* const to = at(s.result);
    const auto number = static_cast<std::size_t>(s.payload);
    const auto size = static_cast<std::size_t>(dsl::size_of(s.type));
    if (s.code == op::load || s.code == op::load_scalar) {
      void* const column = s.run == nullptr ? to : elements;
      const auto* const from = static_cast<const unsigned char*>(operands[number]) +
                               (s.code == op::load ? static_cast<std::size_t>(first) * size : 0);
      fill(column, count, from, size);  // also pads the block behind the last element
      if (s.code == op::load) std::memcpy(column, from, static_cast<std::size_t>(count) * size);
      const void* const in[] = {column};
      if (s.run != nullptr) run_code(*s.run, how, count, in, to);
    } else if (s.code == op::value) {
      fill(to, count, operands[number], value_bytes(s.type));
    } else if (s.code == op::constant) {
      fill(to, count, &s.payload,
           value_bytes(s.type));  // little-endian; complex128 is two float64
    } else {
      const void* const in[] = {at(s.operand[0]), at(s.operand[1]), at(s.operand[2])};
      run_code(*s.run, how, count, in, to);
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const column& c = outputs_[i];
    const auto size = static_cast<std::size_t>(dsl::size_of(c.type));
    const void* from = at(c.number);
    if (c.store != nullptr) {
      const void* const in[] = {from};
      run_code(*c.store, how, count, in, elements);
      from = elements;
    }
    std::memcpy(static_cast<unsigned char*>(outputs[i]) + static_cast<std::size_t>(first) * size,
                from, static_cast<std::size_t>(count) * size);
  }
}

}  // namespace interpreter
