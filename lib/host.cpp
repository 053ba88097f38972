#include <dsl/exec/host.hpp>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace dsl::detail {

int simd_level() {
  static const int level = [] {
#if DSL_DETAIL_X86_LEVELS
    const int best = __builtin_cpu_supports("x86-64-v4") ? 2 : __builtin_cpu_supports("x86-64-v3") ? 1 : 0;
#else
    const int best = 0;
#endif
    const char* most = std::getenv("DSL_SIMD");
    return most != nullptr ? std::clamp(std::atoi(most), 0, best) : best;
  }();
  return level;
}

namespace {

constexpr int blocks_per_chunk = 64;  // 16,384 elements: one task
constexpr std::size_t value_bytes = 16;
constexpr std::size_t column_bytes = host_block * value_bytes;

// Moves `count` elements between a strided operand and a packed column.
template <class Move>
void along(const geometry& g, const walk& w, std::int64_t first, int count, const Move& move) {
  const std::int64_t inner = g.extents[g.rank - 1], step = w.strides[g.rank - 1];
  for (int done = 0; done < count;) {
    std::int64_t rest = (first + done) / inner, offset = (first + done) % inner * step;
    const int run = static_cast<int>(std::min<std::int64_t>(count - done, inner - (first + done) % inner));
    for (int d = g.rank - 2; d >= 0; --d) offset += rest % g.extents[d] * w.strides[d], rest /= g.extents[d];
    move(done, offset, step, run);
    done += run;
  }
}

void gather(unsigned char* column, const operand& o, const geometry& g, const walk& w, std::int64_t first, int count) {
  const auto size = static_cast<std::size_t>(size_of(o.type));
  along(g, w, first, count, [&](int at, std::int64_t offset, std::int64_t step, int run) {
    if (o.kind == operand_kind::index) {
      for (int i = 0; i < run; ++i)
        reinterpret_cast<std::int64_t*>(column)[at + i] = static_cast<std::int64_t>(o.word[0]) + offset + i * step;
      return;
    }
    const auto* from = reinterpret_cast<const unsigned char*>(o.word[0]) + offset * static_cast<std::int64_t>(size);
    if (step == 1) std::memcpy(column + static_cast<std::size_t>(at) * size, from, static_cast<std::size_t>(run) * size);
    else
      for (int i = 0; i < run; ++i)
        std::memcpy(column + static_cast<std::size_t>(at + i) * size, from + i * step * static_cast<std::int64_t>(size), size);
  });
}

void scatter(const unsigned char* column, const operand& o, const geometry& g, const walk& w, std::int64_t first, int count) {
  const auto size = static_cast<std::size_t>(size_of(o.type));
  along(g, w, first, count, [&](int at, std::int64_t offset, std::int64_t step, int run) {
    auto* to = reinterpret_cast<unsigned char*>(o.word[0]) + offset * static_cast<std::int64_t>(size);
    if (step == 1) std::memcpy(to, column + static_cast<std::size_t>(at) * size, static_cast<std::size_t>(run) * size);
    else
      for (int i = 0; i < run; ++i)
        std::memcpy(to + i * step * static_cast<std::int64_t>(size), column + static_cast<std::size_t>(at + i) * size, size);
  });
}

// The reductions' values after a chunk.
struct partial { alignas(value_bytes) unsigned char value[max_operands][value_bytes]; };

class chunk_runner {
 public:
  explicit chunk_runner(const host_job& job)
      : job_(job), columns_(static_cast<unsigned char*>(std::aligned_alloc(64, column_bytes * static_cast<std::size_t>(job.inputs + job.outputs)))) {
    if (columns_ == nullptr) throw std::bad_alloc();
    std::memset(columns_.get(), 0, column_bytes * static_cast<std::size_t>(job.inputs + job.outputs));
    for (int k = 0; k < job.inputs; ++k) {
      const operand& o = job.operands[k];
      if (o.kind == operand_kind::value) std::memcpy(column(k), o.word, sizeof o.word);
      in_[k] = o.kind == operand_kind::fetched ? reinterpret_cast<const void*>(o.word[0]) : column(k);
    }
  }

  /// Elements first .. first + count, into `to` where there are reductions.
  void run(std::int64_t first, std::int64_t count, partial& to) {
    bool fresh = true;
    do {
      const int valid = static_cast<int>(std::min<std::int64_t>(count, host_block));
      partial mine;
      run_block(first, valid, fresh ? to : mine);
      if (!fresh) combine(to, mine);
      fresh = false;
      first += valid, count -= valid;
    } while (count > 0);
  }

  void combine(partial& to, const partial& from) const {
    void* a[max_operands];
    const void* b[max_operands];
    for (int i = 0; i < job_.outputs; ++i) a[i] = to.value[i], b[i] = from.value[i];
    job_.combine(a, b);
  }

 private:
  unsigned char* column(int k) const { return columns_.get() + column_bytes * static_cast<std::size_t>(k); }

  void run_block(std::int64_t first, int valid, partial& to) {
    const geometry& g = *job_.space;
    const int padded = std::max(64, (valid + 63) / 64 * 64);
    const bool direct = g.linear && valid == padded;
    void* out[max_operands];
    for (int k = 0; k < job_.inputs; ++k) {
      const operand& o = job_.operands[k];
      const auto size = static_cast<std::size_t>(size_of(o.type));
      if (o.kind == operand_kind::array && direct) {
        in_[k] = reinterpret_cast<const unsigned char*>(o.word[0]) + static_cast<std::size_t>(first) * size;
      } else if ((o.kind == operand_kind::array || o.kind == operand_kind::index) && valid > 0) {
        gather(column(k), o, g, g.walks[k], first, valid);
        // What follows the end repeats the last element, so that no function sees what the formula would not.
        for (int l = valid; l < padded; ++l)
          std::memcpy(column(k) + static_cast<std::size_t>(l) * size, column(k) + static_cast<std::size_t>(valid - 1) * size, size);
        in_[k] = column(k);
      }
    }
    for (int i = 0; i < job_.outputs; ++i) {
      const operand& o = job_.operands[job_.inputs + i];
      if (o.kind == operand_kind::result) out[i] = to.value[i];
      else if (direct) out[i] = reinterpret_cast<unsigned char*>(o.word[0]) + static_cast<std::size_t>(first) * static_cast<std::size_t>(size_of(o.type));
      else out[i] = column(job_.inputs + i);
    }
    job_.block(padded, valid, in_, out);
    for (int i = 0; i < job_.outputs; ++i) {
      const int k = job_.inputs + i;
      if (job_.operands[k].kind == operand_kind::array && !direct && valid > 0) scatter(column(k), job_.operands[k], g, g.walks[k], first, valid);
    }
  }

  struct free_memory { void operator()(unsigned char* p) const { std::free(p); } };
  const host_job& job_;
  std::unique_ptr<unsigned char, free_memory> columns_;
  const void* in_[max_operands];
};

}  // namespace

void run_on_host(const host_job& job) {
  const std::int64_t elements = job.space->elements, chunk = std::int64_t{host_block} * blocks_per_chunk;
  const std::int64_t chunks = std::max<std::int64_t>(1, (elements + chunk - 1) / chunk);
  const bool reducing = reduces(*job.program);
  std::vector<partial> partials(reducing ? static_cast<std::size_t>(chunks) : 1);
  const auto run = [&](chunk_runner& runner, std::int64_t c) {
    partial unused;
    runner.run(c * chunk, std::min(chunk, elements - c * chunk), reducing ? partials[static_cast<std::size_t>(c)] : unused);
  };
  if (chunks == 1) {
    chunk_runner runner(job);
    run(runner, 0);
  } else {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, chunks), [&](const tbb::blocked_range<std::int64_t>& range) {
      chunk_runner runner(job);
      for (std::int64_t c = range.begin(); c != range.end(); ++c) run(runner, c);
    });
  }
  if (!reducing) return;
  const chunk_runner runner(job);
  for (std::size_t step = 1; step < partials.size(); step *= 2)  // pairwise: the error grows with the logarithm
    for (std::size_t c = 0; c + step < partials.size(); c += 2 * step) runner.combine(partials[c], partials[c + step]);
  for (int i = 0; i < job.outputs; ++i) {
    const operand& o = job.operands[job.inputs + i];
    if (o.kind != operand_kind::result) continue;
    job.store(i, reinterpret_cast<void*>(o.word[0]), partials[0].value[i]);
    if (job.recorded != nullptr && job.recorded[i] != 0) job.store(i, reinterpret_cast<void*>(job.recorded[i]), partials[0].value[i]);
  }
}

}  // namespace dsl::detail
