#include <algorithm>
#include <cstring>

#include "exec/scan/scan_work.hpp"
#include "host/columns.hpp"
#include "host/host.hpp"
#include "host/threads.hpp"

namespace dsl::detail {

namespace {

constexpr std::int64_t chunk_elements = 1 << 16;

host_memory zeros(std::size_t bytes) {
  host_memory memory = allocate_host_memory(bytes);
  std::memset(memory.get(), 0, bytes);
  return memory;
}

// Evaluates up to host_block elements at a time, and writes their results to the target.
class block_of_elements {
 public:
  block_of_elements(const scan_code& code, const operand* operands, const geometry& g)
      : code_(code),
        target_(operands[code.inputs]),
        space_(g),
        inputs_(operands, code.inputs, g, code.view),
        columns_(allocate_columns(2)) {}

  const unsigned char* evaluate(std::int64_t first, std::int64_t count) {
    inputs_.read(first, static_cast<int>(count));
    void* const out[] = {columns_.get()};
    loop_of_level(code_.host->elements)(padded_block(static_cast<int>(count)), 1, 0, inputs_.at(),
                                        out, nullptr);
    return columns_.get();
  }

  /// Buffer for the results of the elements that were evaluated last, before `write`.
  unsigned char* results() const { return columns_.get() + column_bytes; }
  void write(std::int64_t count) const {
    scatter(results(), target_, space_, space_.layouts[code_.inputs], inputs_.place(), count);
  }
  /// The target of these results if it is contiguous; otherwise null.
  unsigned char* in_place(std::int64_t count) const {
    return lies_at(target_, space_, space_.layouts[code_.inputs], inputs_.place(), count);
  }

 private:
  const scan_code& code_;
  const operand& target_;
  const geometry& space_;
  input_columns inputs_;
  host_memory columns_;
};

// Runs `count` tasks on `elements` elements in total. The last phase finds the data that the first
// phase has read in the same core's cache.
template <class Tasks>
void for_tasks(std::int64_t count, std::int64_t elements, const Tasks& tasks) {
  constexpr double nanoseconds_of_element = 0.5;
  on_threads(count, nanoseconds_of_element * static_cast<double>(elements), tasks);
}

// The total of consecutive values of `bytes` bytes each. Values are combined one after another in
// groups of 16, the groups again in groups of 16 and so on, so that chains of combinations stay
// short for any number of values.
class running_total {
 public:
  explicit running_total(std::size_t bytes) : bytes_(bytes), memory_(zeros(bytes * (levels + 1))) {}

  /// The latest group's total, which the caller may change before it calls `added`; and whether
  /// that group is empty.
  unsigned char* latest() const { return level(0); }
  bool is_new() const { return count_ % scan_run == 0; }
  template <class Join>
  void added(const Join& join) {
    ++count_;
    std::int64_t groups = count_;
    for (int k = 0; k + 1 < levels && groups % scan_run == 0; ++k) {
      groups /= scan_run;
      if (k + 2 == levels ? groups == 1 : groups % scan_run == 1)
        std::memcpy(level(k + 1), level(k), bytes_);
      else join(level(k + 1), level(k));
    }
  }
  template <class Join>
  void add(const void* values, const Join& join) {
    if (is_new()) std::memcpy(latest(), values, bytes_);
    else join(latest(), values);
    added(join);
  }
  /// The total of all values in levels `first` and above, after the value at `before` (or null).
  /// Null if there are none. Valid until the next call.
  template <class Join>
  const unsigned char* all(const void* before, const Join& join, int first = 0) const {
    unsigned char* const sum = memory_.get() + bytes_ * levels;
    bool any = before != nullptr;
    if (any) std::memcpy(sum, before, bytes_);
    for (int k = levels - 1; k >= first; --k) {
      if (!holds(k)) continue;
      if (any) join(sum, level(k));
      else std::memcpy(sum, level(k), bytes_);
      any = true;
    }
    return any ? sum : nullptr;
  }

 private:
  static constexpr int levels = 6;
  unsigned char* level(int k) const { return memory_.get() + bytes_ * static_cast<std::size_t>(k); }
  bool holds(int k) const {
    const std::int64_t groups = count_ >> (4 * k);
    return k + 1 == levels ? groups > 0 : groups % scan_run != 0;
  }

  std::size_t bytes_;
  host_memory memory_;
  std::int64_t count_ = 0;
};
static_assert(scan_run == 1 << 4);

// Rows are consecutive; chunks of elements may begin anywhere in a row.
void scan_rows_on_host(const scan_code& code, const operand* operands, const scan_space& s,
                       const scan_parameters& parameters) {
  const std::int64_t elements = s.space.elements,
                     chunks = (elements + chunk_elements - 1) / chunk_elements;
  const auto value_size = static_cast<std::size_t>(code.value_bytes),
             target_size = static_cast<std::size_t>(size_of(code.target));
  const auto segment_size = static_cast<std::size_t>(code.host->segment_bytes);
  const host_memory segments = zeros(segment_size * static_cast<std::size_t>(chunks)),
                    none = zeros(segment_size);
  const auto before = [&](std::int64_t chunk) {
    return segments.get() + segment_size * static_cast<std::size_t>(chunk);
  };
  const auto scan_chunk = [&](block_of_elements& block, std::int64_t chunk, bool last) {
    const std::int64_t end = std::min(elements, (chunk + 1) * chunk_elements);
    const host_memory total = zeros(segment_size);  // of the last row of a block
    running_total blocks(segment_size);
    for (std::int64_t first = chunk * chunk_elements; first < end; first += host_block) {
      const std::int64_t count = std::min<std::int64_t>(host_block, end - first);
      const unsigned char *const x = block.evaluate(first, count), *earlier = none.get();
      if (last && first % s.row != 0) earlier = blocks.all(before(chunk), code.host->join);
      unsigned char *const in_place = last ? block.in_place(count) : nullptr,
                           *const results = in_place ? in_place : block.results();
      for (std::int64_t done = 0; done < count;) {
        const std::int64_t at = (first + done) % s.row, run = std::min(count - done, s.row - at);
        unsigned char* const y =
            last ? results + static_cast<std::size_t>(done) * target_size : nullptr;
        code.host->row(parameters, x + static_cast<std::size_t>(done) * value_size, run, at == 0,
                       earlier, total.get(), y);
        done += run;
      }
      blocks.add(total.get(), code.host->join);
      if (last && in_place == nullptr) block.write(count);
    }
    if (!last) std::memcpy(before(chunk), blocks.all(nullptr, code.host->join), segment_size);
  };
  const auto pass = [&](std::int64_t count, bool last) {
    for_tasks(count, elements, [&](std::int64_t begin, std::int64_t end) {
      block_of_elements block(code, operands, s.space);
      for (std::int64_t c = begin; c != end; ++c) scan_chunk(block, c, last);
    });
  };
  if (chunks > 1) {
    pass(chunks - 1, false);
    // Replaces the total of each chunk by the total of the chunks before it.
    running_total all(segment_size);
    const host_memory total = zeros(segment_size);
    for (std::int64_t c = 0; c < chunks; ++c) {
      std::memcpy(total.get(), before(c), segment_size);
      const unsigned char* const earlier = all.all(nullptr, code.host->join);
      std::memcpy(before(c), c == 0 ? none.get() : earlier, segment_size);
      all.add(total.get(), code.host->join);
    }
  }
  pass(chunks, true);
}

// Scans columns side by side, up to host_block columns in a strip. Narrow strips are evaluated many
// rows at a time.
void scan_columns_on_host(const scan_code& code, const operand* operands, const scan_space& s,
                          const scan_parameters& parameters) {
  const std::int64_t across = s.space.extents[s.space.rank - 1], rows = s.row,
                     outer = s.space.elements / across / rows;
  const std::int64_t strips = (across + host_block - 1) / host_block,
                     width = std::min<std::int64_t>(across, host_block);
  const std::int64_t at_once = strips == 1 ? host_block / width : 1;
  constexpr std::int64_t enough = 64;  // strips, for any number of threads
  const std::int64_t chunk_rows =
      outer * strips >= enough ? rows : std::max(at_once, chunk_elements / width);
  const std::int64_t chunks = (rows + chunk_rows - 1) / chunk_rows;
  const auto value_size = static_cast<std::size_t>(code.value_bytes),
             target_size = static_cast<std::size_t>(size_of(code.target));
  const std::size_t strip_bytes = value_size * static_cast<std::size_t>(width);
  const host_memory values = zeros(strip_bytes * static_cast<std::size_t>(outer * strips * chunks));
  const auto before = [&](std::int64_t column_strip, std::int64_t chunk) {
    return values.get() + strip_bytes * static_cast<std::size_t>(column_strip * chunks + chunk);
  };

  const auto columns_of = [&](std::int64_t column_strip) {
    return std::min<std::int64_t>(host_block, across - column_strip % strips * host_block);
  };
  const auto joining = [&](std::int64_t column_strip) {
    return [&code, count = columns_of(column_strip)](void* to, const void* from) {
      code.host->join_values(to, from, count);
    };
  };
  const auto pass = [&](bool last) {
    for_tasks(
        outer * strips * chunks, s.space.elements,
        [&](std::int64_t first_task, std::int64_t last_task) {
          block_of_elements block(code, operands, s.space);
          for (std::int64_t task = first_task; task != last_task; ++task) {
            const std::int64_t column_strip = task / chunks, chunk = task % chunks,
                               column = column_strip % strips * host_block;
            const std::int64_t end = std::min(rows, (chunk + 1) * chunk_rows),
                               count = columns_of(column_strip);
            const auto join = joining(column_strip);
            running_total values(strip_bytes);
            const unsigned char *const before_chunk = last && chunk > 0
                                                          ? before(column_strip, chunk)
                                                          : nullptr,
                                       *earlier = nullptr;
            for (std::int64_t row = chunk * chunk_rows; row < end; row += at_once) {
              const std::int64_t together = std::min(at_once, end - row),
                                 at = (column_strip / strips * rows + row) * across + column;
              const unsigned char* const x = block.evaluate(at, together * count);
              for (std::int64_t k = 0; k < together; ++k) {
                const auto done = static_cast<std::size_t>(k * count);
                unsigned char* const y = last ? block.results() + done * target_size : nullptr;
                if (last && values.is_new()) earlier = values.all(before_chunk, join, 1);
                code.host->columns(parameters, x + done * value_size, count, row + k == 0, earlier,
                                   values.is_new(), values.latest(), y);
                values.added(join);
              }
              if (last) block.write(together * count);
            }
            if (!last)
              std::memcpy(before(column_strip, chunk), values.all(nullptr, join), strip_bytes);
          }
        });
  };
  if (chunks > 1) {
    pass(false);
    // Replaces the total of each chunk by the total of the chunks before it.
    for_tasks(outer * strips, outer * across * chunks, [&](std::int64_t begin, std::int64_t end) {
      const host_memory total = zeros(strip_bytes);
      for (std::int64_t column_strip = begin; column_strip != end; ++column_strip) {
        const auto join = joining(column_strip);
        running_total all(strip_bytes);
        for (std::int64_t c = 0; c < chunks; ++c) {
          std::memcpy(total.get(), before(column_strip, c), strip_bytes);
          if (c > 0) std::memcpy(before(column_strip, c), all.all(nullptr, join), strip_bytes);
          all.add(total.get(), join);
        }
      }
    });
  }
  pass(true);
}

}  // namespace

void scan_on_host(const scan_work& w) {
  const auto scan = w.ordered().columns ? &scan_columns_on_host : &scan_rows_on_host;
  scan(w.code(), w.operands(), w.ordered(), w.parameters());
}

}  // namespace dsl::detail
