// Loops of single elements on the host: the lanes of vectors are elements, and take new ones as
// theirs end.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "exec/ensemble/ensemble_work.hpp"
#include "exec/plan/layout.hpp"
#include "host/columns.hpp"
#include "host/host.hpp"
#include "host/threads.hpp"

namespace dsl::detail {

namespace {

constexpr int lanes = 64;

// A column of a value for each lane, of each variable.
class columns_of_variables {
 public:
  explicit columns_of_variables(const ensemble_code& code)
      : code_(code),
        memory_(allocate_host_memory(column_bytes_ * static_cast<std::size_t>(code.variables))) {
    std::memset(memory_.get(), 0, column_bytes_ * static_cast<std::size_t>(code.variables));
  }
  unsigned char* of(int variable) const {
    return memory_.get() + column_bytes_ * static_cast<std::size_t>(variable);
  }
  unsigned char* at(int variable, int lane) const { return of(variable) + lane * size(variable); }
  std::int64_t size(int variable) const { return size_of(code_.types[variable]); }
  template <class T> T& value(int variable, int lane) const {
    return reinterpret_cast<T*>(of(variable))[lane];
  }

 private:
  static constexpr std::size_t column_bytes_ = lanes * 16;  // of the widest dtype
  const ensemble_code& code_;
  host_memory memory_;
};

// The elements of a range, which one thread runs.
class element_lanes {
 public:
  element_lanes(const ensemble_work& w, std::int64_t begin, std::int64_t end)
      : w_(w), code_(w.code()), columns_(code_), fresh_(code_), next_(begin), end_(end) {
    for (int k = 0; k < code_.scalars; ++k) {
      const operand& o = w.scalars()[k];
      scalars_.push_back(o.kind == operand_kind::device_scalar
                             ? reinterpret_cast<const void*>(o.word[0])
                             : static_cast<const void*>(o.word));
    }
  }

  void run() {
    refill();
    while (running_ > 0) {
      int array = 0, kind = 0;
      for (int k = 0; k < code_.phases; ++k) {
        const ensemble_phase& phase = code_.phase[k];
        if (phase.runs_while < 0) {
          run_phase(phase, k, array, kind);
        } else {
          while (any(phase.runs_while)) run_phase(phase, k, array, kind);
        }
        for (int s = 0; s < phase.kinds; ++s) array += phase.stored[s].count;
        kind += phase.kinds;
      }
      refill();
    }
  }

 private:
  void evaluate(const ensemble_phase& phase, int number, const columns_of_variables& on) const {
    const void* in[most_operands];
    void* out[max_image_words];
    for (int v = 0; v < code_.variables; ++v) in[v] = on.of(v);
    for (int k = 0; k < code_.scalars; ++k)
      in[code_.variables + k] = scalars_[static_cast<std::size_t>(k)];
    for (int i = 0; i < phase.pass.target_count; ++i) out[i] = on.of(phase.set[i]);
    loop_of_level(code_.host->phase[number]->block)(lanes, 1, 0, in, out, nullptr);
  }
  // Reads what the rows number that a phase set, of the first `count` lanes.
  void find_rows(const ensemble_phase& phase, const columns_of_variables& on,
                 const std::int64_t* elements, int count) const {
    const ensemble_request& r = w_.request();
    if (code_.entry_row >= 0 && phase.sets(code_.entry_row)) {
      const auto entry = [&r](std::int64_t k) {
        return k >= 0 && k < r.entry_count() ? r.entries()[k]
                                             : std::numeric_limits<double>::quiet_NaN();
      };
      for (int l = 0; l < count; ++l) {
        const std::int64_t row = on.value<std::int32_t>(code_.entry_row, l);
        on.value<double>(code_.entry_value, l) = entry(row);
        on.value<double>(code_.entry_following, l) = entry(row + 1);
      }
    }
    int array = 0;
    for (int kind = 0; kind < code_.read_kinds; ++kind) {
      const ensemble_row_kind& read = code_.read[kind];
      const int to = phase.sets(read.row) ? count : 0;
      for (int l = 0; l < to; ++l) {
        const std::int64_t row = on.value<std::int32_t>(read.row, l);
        if (row < 0 || row >= r.rows[kind]) continue;
        for (int i = 0; i < read.count; ++i) {
          const std::int64_t size = on.size(read.values[i]);
          std::memcpy(on.at(read.values[i], l),
                      reinterpret_cast<const unsigned char*>(w_.read()[array + i].word[0]) +
                          (row * r.elements + elements[l]) * size,
                      static_cast<std::size_t>(size));
        }
      }
      array += read.count;
    }
  }
  // array, kind: the numbers of the first array, and kind, of rows that the phase stores.
  void run_phase(const ensemble_phase& phase, int number, int array, int kind) {
    evaluate(phase, number + 1, columns_);
    for (int s = 0; s < phase.kinds; ++s) {
      const ensemble_row_kind& stored = phase.stored[s];
      for (int l = 0; l < lanes; ++l) {
        const std::int64_t row = columns_.value<std::int32_t>(stored.row, l);
        if (!runs_[l] || !columns_.value<bool>(stored.flag, l) ||
            row >= w_.request().rows[code_.read_kinds + kind + s])
          continue;
        for (int i = 0; i < stored.count; ++i)
          store(w_.stored()[array + i], stored.values[i], l,
                row * w_.request().elements + element_[l]);
      }
      array += stored.count;
    }
    find_rows(phase, columns_, element_, lanes);
  }
  // A lane that has no element keeps its last values, and any flag among them.
  bool any(int flag) const {
    for (int l = 0; l < lanes; ++l)
      if (runs_[l] && columns_.value<bool>(flag, l)) return true;
    return false;
  }
  void store(const operand& to, int variable, int lane, std::int64_t at) const {
    const std::int64_t size = columns_.size(variable);
    std::memcpy(reinterpret_cast<unsigned char*>(to.word[0]) + at * size,
                columns_.at(variable, lane), static_cast<std::size_t>(size));
  }

  // Stores what has ended, and gives its lanes new elements.
  void refill() {
    for (int l = 0; l < lanes; ++l) {
      if (runs_[l] && columns_.value<bool>(code_.running, l)) continue;
      if (runs_[l]) {
        for (int k = 0; k < code_.kept_count; ++k)
          store(w_.kept()[k], code_.kept[k], l, element_[l]);
        --running_;
      }
      runs_[l] = take(l);
      if (runs_[l]) ++running_;
    }
  }
  bool take(int lane) {
    while (true) {
      if (taken_ == ready_ && !start_more()) return false;
      const int from = taken_++;
      for (int v = 0; v < code_.variables; ++v)
        std::memcpy(columns_.at(v, lane), fresh_.at(v, from),
                    static_cast<std::size_t>(columns_.size(v)));
      element_[lane] = next_ - ready_ + from;
      if (columns_.value<bool>(code_.running, lane)) return true;
      for (int k = 0; k < code_.kept_count; ++k)
        store(w_.kept()[k], code_.kept[k], lane, element_[lane]);
    }
  }
  bool start_more() {
    ready_ = static_cast<int>(std::min<std::int64_t>(lanes, end_ - next_));
    taken_ = 0;
    if (ready_ == 0) return false;
    for (int k = 0; k < code_.given_count; ++k) {
      const int v = code_.given[k];
      std::memcpy(
          fresh_.of(v),
          reinterpret_cast<const unsigned char*>(w_.operands()[k].word[0]) + next_ * fresh_.size(v),
          static_cast<std::size_t>(ready_ * fresh_.size(v)));
    }
    evaluate(code_.start, 0, fresh_);
    std::int64_t elements[lanes];
    for (int l = 0; l < ready_; ++l) elements[l] = next_ + l;
    find_rows(code_.start, fresh_, elements, ready_);
    next_ += ready_;
    return true;
  }

  static constexpr int most_operands = 512;
  const ensemble_work& w_;
  const ensemble_code& code_;
  columns_of_variables columns_, fresh_;
  std::vector<const void*> scalars_;
  std::int64_t next_, end_, element_[lanes] = {};
  int ready_ = 0, taken_ = 0, running_ = 0;
  bool runs_[lanes] = {};
};

}  // namespace

void run_ensemble_on_host(const ensemble_work& w) {
  const ensemble_request& r = w.request();
  // A range has many elements for each lane, so that few lanes wait for the last ones of a range.
  const std::int64_t range = std::clamp<std::int64_t>(r.elements / 64 / lanes * lanes, lanes, 4096);
  constexpr double steps = 10;
  on_threads(pieces(r.elements, range),
             steps * w.code().host->phase[1 + w.code().main]->nanoseconds *
                 static_cast<double>(r.elements),
             [&](std::int64_t begin, std::int64_t end) {
               element_lanes(w, begin * range, std::min(r.elements, end * range)).run();
             });
}

}  // namespace dsl::detail
