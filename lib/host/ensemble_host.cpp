// Loops of single elements on the host: the lanes of vectors are elements, and take new ones as
// theirs end. An element for which a phase has to run again and again, as the search for a root
// does, leaves its lane, and goes on together with others for which it has to.
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

// Copies a value, of a size that dtypes have.
void copy_value(unsigned char* to, const unsigned char* from, std::int64_t size) {
  switch (size) {
    case 1: *to = *from; return;
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    default: std::memcpy(to, from, static_cast<std::size_t>(size));
  }
}

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
  /// Copies a lane of other columns.
  void take(int lane, const columns_of_variables& from, int from_lane) const {
    for (int v = 0; v < code_.variables; ++v)
      copy_value(at(v, lane), from.at(v, from_lane), size(v));
  }

 private:
  static constexpr std::size_t column_bytes_ = lanes * 16;  // of the widest dtype
  const ensemble_code& code_;
  host_memory memory_;
};

// Elements in lanes.
struct element_lanes {
  explicit element_lanes(const ensemble_code& code) : columns(code) {}
  columns_of_variables columns;
  std::int64_t element[lanes] = {};
  bool runs[lanes] = {};  // A lane that has no element keeps its last values.

  // Whether a flag is set in a lane that runs.
  bool has(int flag, int lane) const { return runs[lane] && columns.value<bool>(flag, lane); }
  bool any(int flag) const {
    for (int l = 0; l < lanes; ++l)
      if (has(flag, l)) return true;
    return false;
  }
  void take(int lane, const element_lanes& from, int from_lane) {
    columns.take(lane, from.columns, from_lane);
    element[lane] = from.element[from_lane];
    runs[lane] = true;
  }
};

// The elements of a range, which one thread runs.
class element_range {
 public:
  element_range(const ensemble_work& w, std::int64_t begin, std::int64_t end)
      : w_(w),
        code_(w.code()),
        all_(code_),
        waiting_(code_),
        fresh_(code_),
        next_(begin),
        end_(end) {
    for (int k = 0; k < code_.scalars; ++k) {
      const operand& o = w.scalars()[k];
      scalars_.push_back(o.kind == operand_kind::device_scalar
                             ? reinterpret_cast<const void*>(o.word[0])
                             : static_cast<const void*>(o.word));
    }
    while (repeated_ < code_.phases && code_.phase[repeated_].runs_while < 0) ++repeated_;
  }

  void run() {
    refill();
    while (running_ > 0 || waiting_count_ > 0) {
      run_phases(0, repeated_, all_);
      set_aside();
      if (running_ > 0) run_phases(repeated_, code_.phases, all_);
      // The last ones are fewer.
      if (waiting_count_ == lanes || running_ == 0) finish_round();
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
          copy_value(on.at(read.values[i], l),
                     reinterpret_cast<const unsigned char*>(w_.read()[array + i].word[0]) +
                         (row * r.elements + elements[l]) * size,
                     size);
        }
      }
      array += read.count;
    }
  }
  void run_phases(int begin, int end, const element_lanes& on) const {
    int array = 0, kind = 0;
    for (int k = 0; k < end; ++k) {
      const ensemble_phase& phase = code_.phase[k];
      if (k >= begin && phase.runs_while < 0) run_phase(phase, k, array, kind, on);
      else if (k >= begin)
        while (on.any(phase.runs_while)) run_phase(phase, k, array, kind, on);
      for (int s = 0; s < phase.kinds; ++s) array += phase.stored[s].count;
      kind += phase.kinds;
    }
  }
  // array, kind: the numbers of the first array, and kind, of rows that the phase stores.
  void run_phase(const ensemble_phase& phase, int number, int array, int kind,
                 const element_lanes& on) const {
    evaluate(phase, number + 1, on.columns);
    for (int s = 0; s < phase.kinds; ++s) {
      const ensemble_row_kind& stored = phase.stored[s];
      for (int l = 0; l < lanes; ++l) {
        const std::int64_t row = on.columns.value<std::int32_t>(stored.row, l);
        if (!on.has(stored.flag, l) || row >= w_.request().rows[code_.read_kinds + kind + s])
          continue;
        for (int i = 0; i < stored.count; ++i)
          store(w_.stored()[array + i], stored.values[i], on, l,
                row * w_.request().elements + on.element[l]);
      }
      array += stored.count;
    }
    find_rows(phase, on.columns, on.element, lanes);
  }

  // Whether a phase has to run again and again in a lane.
  bool repeats(int lane) const {
    for (int k = repeated_; k < code_.phases; ++k)
      if (const int flag = code_.phase[k].runs_while; flag >= 0 && all_.has(flag, lane))
        return true;
    return false;
  }
  // Moves the elements of such lanes to those that wait for the rest of their round.
  void set_aside() {
    if (finished_ < finished_count_) return;  // Their places are not free yet.
    for (int l = 0; l < lanes && waiting_count_ < lanes; ++l) {
      if (!repeats(l)) continue;
      waiting_.take(waiting_count_++, all_, l);
      all_.runs[l] = false;
      --running_;
    }
  }
  void finish_round() {
    run_phases(repeated_, code_.phases, waiting_);
    finished_count_ = waiting_count_;
    finished_ = waiting_count_ = 0;
  }
  static void store(const operand& to, int variable, const element_lanes& on, int lane,
                    std::int64_t at) {
    const std::int64_t size = on.columns.size(variable);
    copy_value(reinterpret_cast<unsigned char*>(to.word[0]) + at * size,
               on.columns.at(variable, lane), size);
  }

  // Stores what has ended, and gives its lanes new elements.
  void refill() {
    for (int l = 0; l < lanes; ++l) {
      if (all_.has(code_.running, l)) continue;
      if (all_.runs[l]) {
        keep(l);
        --running_;
      }
      all_.runs[l] = take(l);
      if (all_.runs[l]) ++running_;
    }
  }
  void keep(int lane) const {
    for (int k = 0; k < code_.kept_count; ++k)
      store(w_.kept()[k], code_.kept[k], all_, lane, all_.element[lane]);
  }
  bool take(int lane) {
    while (take_one(lane)) {
      if (all_.columns.value<bool>(code_.running, lane)) return true;
      keep(lane);
    }
    return false;
  }
  // Whether there was one that has finished its round, or a new one.
  bool take_one(int lane) {
    if (finished_ < finished_count_) {
      waiting_.runs[finished_] = false;
      all_.take(lane, waiting_, finished_++);
      return true;
    }
    if (taken_ == ready_ && !start_more()) return false;
    all_.columns.take(lane, fresh_, taken_);
    all_.element[lane] = next_ - ready_ + taken_++;
    return true;
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
  // waiting_: elements for which a phase has to run again and again, then those of them that have
  // finished their round, from finished_ on.
  element_lanes all_, waiting_;
  columns_of_variables fresh_;
  std::vector<const void*> scalars_;
  std::int64_t next_, end_;
  int ready_ = 0, taken_ = 0, running_ = 0;
  int repeated_ = 0;  // The first phase that runs again and again.
  int waiting_count_ = 0, finished_ = 0, finished_count_ = 0;
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
               element_range(w, begin * range, std::min(r.elements, end * range)).run();
             });
}

}  // namespace dsl::detail
