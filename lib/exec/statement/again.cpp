#include "exec/statement/again.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "exec/explain/explain.hpp"
#include "mem/buffer.hpp"

namespace dsl::detail {

namespace {

// An operand and the device of its memory. Another buffer may have come to the same address since;
// it is as good, if it is the library's own and on that device.
struct kept_operand {
  operand of;
  device home;
};

/// One statement. Its hash is kept when it runs first, the statement when it runs a second time.
struct place {
  std::uint64_t hash = 0, last_use = 0;
  bool is_refused = false;  // It takes more than one launch.
  const schedule_view* plan = nullptr;
  const program_code* code = nullptr;
  launch fixed{};
  int inputs = 0;
  std::vector<kept_operand> operands{};  // Inputs, then targets.
  std::vector<reduced_space> spaces{};
  std::shared_ptr<ready_statement> ready{};
};

// After the end of the thread's places, when other objects of the thread are destroyed.
thread_local bool are_gone = false;
struct places {
  // Statements of one set have the same lowest bits of their hash.
  static constexpr std::size_t sets = 8, of_set = 4;
  std::array<std::array<place, of_set>, sets> all{};
  std::uint64_t uses = 0;
  ~places() { are_gone = true; }
};
places& of_thread() {
  thread_local places mine;
  return mine;
}
// The place of a statement; else the one of its set that has not been used for longest, emptied.
place& place_of(std::uint64_t hash) {
  places& mine = of_thread();
  auto& set = mine.all[hash / 2 % places::sets];
  auto* found =
      std::find_if(set.begin(), set.end(), [=](const place& p) { return p.hash == hash; });
  if (found == set.end()) {
    found = std::min_element(set.begin(), set.end(), [](const place& a, const place& b) {
      return a.last_use < b.last_use;
    });
    found->hash = 0;
    found->is_refused = false;
    found->ready.reset();
  }
  found->last_use = ++mine.uses;
  return *found;
}

void mix(std::uint64_t& hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 32;
}
std::uint64_t bits_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

bool may_keep(const operand& o) {
  return o.source == nullptr && !o.out_of_date &&
         (o.memory == nullptr || (!o.memory->is_foreign && o.memory->part == nullptr &&
                                  !back_end::is_mesh(o.memory->where)));
}

// 0: a statement that is not kept. Memory that others own may overlap other memory. A statement
// whose inputs have none runs on the current device.
std::uint64_t hash_of(const statement_key& of) {
  std::uint64_t hash = 1;
  bool has_memory = false;
  mix(hash, bits_of(of.code) ^ bits_of(of.plan) << 1);
  const auto add = [&](const operand& o) {
    if (o.kind == operand_kind::value) return may_keep(o);
    mix(hash, o.word[0]);
    mix(hash, o.word[1] ^ bits_of(o.memory));
    for (int d = 0; d < o.rank; ++d)
      mix(hash, static_cast<std::uint64_t>(o.extents[d]) << 32 ^
                    static_cast<std::uint64_t>(o.strides[d]));
    return may_keep(o);
  };
  for (int k = 0; k < of.input_count; ++k) {
    has_memory = has_memory || of.inputs[k].memory != nullptr;
    if (!add(of.inputs[k])) return 0;
  }
  for (int k = 0; k < of.target_count; ++k)
    if (!add(of.targets[k])) return 0;
  return has_memory ? hash | 1 : 0;
}

bool have_equal_bits(const operand& a, const operand& b) {
  return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

// All members but those that `may_keep` fixes, and the bits of a scalar.
bool are_equal(const operand& a, const operand& b) {
  const auto numbers = [](const operand& o) {
    return std::tuple(o.kind, o.type, o.rank, o.memory, o.size, o.counts_steps, o.step_bytes,
                      o.of_same_struct, o.member, o.distance, o.axis, o.beyond, o.reduced,
                      o.discarded, o.number, o.needs_elements);
  };
  return (a.kind == operand_kind::value || have_equal_bits(a, b)) && numbers(a) == numbers(b) &&
         std::equal(a.extents, a.extents + a.rank, b.extents) &&
         std::equal(a.strides, a.strides + a.rank, b.strides);
}

// The scalars among the inputs that have changed. Sets `alike` to whether equal ones are those that
// were equal.
std::vector<changed_scalar> changes(const place& kept, const statement_key& of, bool& alike) {
  std::vector<changed_scalar> all;
  bool any = false;
  for (int k = 0; k < of.input_count; ++k)
    any = any || !have_equal_bits(kept.operands[static_cast<std::size_t>(k)].of, of.inputs[k]);
  for (int k = 0; k < of.input_count && any; ++k) {
    const operand &was = kept.operands[static_cast<std::size_t>(k)].of, &is = of.inputs[k];
    if (is.kind != operand_kind::value) continue;
    for (const auto& [other, now] : all)
      alike = alike &&
              (other.type != was.type || have_equal_bits(other, was) == have_equal_bits(now, is));
    all.push_back({was, is});
  }
  return all;
}

bool are_equal(const reduced_space& a, const reduced_space& b) {
  return a.axes.rank == b.axes.rank && a.axes.axes == b.axes.axes && a.rank == b.rank &&
         a.same_elements == b.same_elements && a.first == b.first && a.second == b.second &&
         a.end == b.end;
}

bool holds(const place& kept, const statement_key& of) {
  const auto is_kept = [](const operand& o, const kept_operand& k) {
    return are_equal(o, k.of) && (o.memory == nullptr || o.memory->where == k.home);
  };
  const auto spaces = static_cast<std::size_t>(of.space_count);
  return kept.plan == of.plan && kept.code == of.code && kept.fixed.block == of.fixed.block &&
         kept.fixed.grid == of.fixed.grid && kept.inputs == of.input_count &&
         kept.operands.size() == static_cast<std::size_t>(of.input_count + of.target_count) &&
         kept.spaces.size() == spaces &&
         std::equal(of.inputs, of.inputs + of.input_count, kept.operands.begin(), is_kept) &&
         std::equal(of.targets, of.targets + of.target_count,
                    kept.operands.begin() + of.input_count, is_kept) &&
         std::equal(of.spaces, of.spaces + spaces, kept.spaces.begin(),
                    [](const auto& a, const auto& b) { return are_equal(a, b); });
}

}  // namespace

lately_run::found lately_run::find(const statement_key& of) {
  if (are_gone || run_notes::wanted()) return {nullptr, false};
  const std::uint64_t hash = hash_of(of);
  if (hash == 0) return {nullptr, false};
  place& kept = place_of(hash);
  if (kept.hash != hash) {
    kept.hash = hash;
    return {nullptr, false};
  }
  if (kept.is_refused) return {nullptr, false};
  if (kept.ready == nullptr || !holds(kept, of)) return {nullptr, true};
  // A caller of this thread's may be waiting for a task of the statement, and run another one.
  if (kept.ready.use_count() > 1) return {nullptr, false};
  bool alike = true;
  const auto changed = changes(kept, of, alike);
  if (!alike) return {nullptr, true};
  if (!changed.empty()) {
    kept.ready->replace(changed.data(), static_cast<int>(changed.size()));
    for (int k = 0; k < of.input_count; ++k) {
      operand& o = kept.operands[static_cast<std::size_t>(k)].of;
      std::copy_n(of.inputs[k].word, 2, o.word);
    }
  }
  return {kept.ready, false};
}

void lately_run::keep(const statement_key& of, std::shared_ptr<ready_statement> ready) {
  const std::uint64_t hash = hash_of(of);
  place& kept = place_of(hash);
  kept.hash = hash;
  kept.is_refused = ready == nullptr;
  kept.ready.reset();
  if (kept.is_refused) return;
  kept.plan = of.plan;
  kept.code = of.code;
  kept.fixed = of.fixed;
  kept.inputs = of.input_count;
  kept.operands.clear();
  const auto add = [&](const operand& o) {
    kept.operands.push_back({o, o.memory != nullptr ? o.memory->where : device(backend::host)});
  };
  std::for_each(of.inputs, of.inputs + of.input_count, add);
  std::for_each(of.targets, of.targets + of.target_count, add);
  kept.spaces.assign(of.spaces, of.spaces + of.space_count);
  kept.ready = std::move(ready);
}

void lately_run::forget() {
  for (auto& set : of_thread().all)
    for (place& p : set) p = {};
}

}  // namespace dsl::detail
