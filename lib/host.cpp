#include "host.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "strided.hpp"

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

// The reductions' values after a chunk.
struct partial { alignas(value_bytes) unsigned char value[max_operands][value_bytes]; };

class chunk_runner {
 public:
  explicit chunk_runner(const host_job& job)
      : job_(job), columns_(static_cast<unsigned char*>(std::aligned_alloc(64, column_bytes * columns(job)))) {
    if (columns_ == nullptr) throw std::bad_alloc();
    std::memset(columns_.get(), 0, column_bytes * columns(job));
    for (int k = 0; k < job.code.inputs; ++k) {
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
    for (int i = 0; i < job_.code.view.output_count; ++i) a[i] = to.value[i], b[i] = from.value[i];
    job_.code.host.combine(a, b);
  }

 private:
  static std::size_t columns(const host_job& j) { return static_cast<std::size_t>(j.code.inputs + j.code.view.output_count); }
  unsigned char* column(int k) const { return columns_.get() + column_bytes * static_cast<std::size_t>(k); }

  void run_block(std::int64_t first, int valid, partial& to) {
    const geometry& g = job_.space;
    const int padded = std::max(64, (valid + 63) / 64 * 64);
    const bool direct = g.linear && valid == padded;
    void* out[max_operands];
    for (int k = 0; k < job_.code.inputs; ++k) {
      const operand& o = job_.operands[k];
      const auto size = static_cast<std::size_t>(size_of(o.type));
      if (o.kind == operand_kind::array && direct) {
        in_[k] = reinterpret_cast<const unsigned char*>(o.word[0]) + static_cast<std::size_t>(first) * size;
      } else if (o.kind <= operand_kind::index && valid > 0) {
        gather(column(k), o, g, g.walks[k], first, valid);
        // What follows the end repeats the last element, so that no function sees what the formula would not.
        for (int l = valid; l < padded; ++l)
          std::memcpy(column(k) + static_cast<std::size_t>(l) * size, column(k) + static_cast<std::size_t>(valid - 1) * size, size);
        in_[k] = column(k);
      }
    }
    for (int i = 0; i < job_.code.view.output_count; ++i) {
      const operand& o = job_.operands[job_.code.inputs + i];
      if (o.kind == operand_kind::result) out[i] = to.value[i];
      else if (direct) out[i] = reinterpret_cast<unsigned char*>(o.word[0]) + static_cast<std::size_t>(first) * static_cast<std::size_t>(size_of(o.type));
      else out[i] = column(job_.code.inputs + i);
    }
    job_.code.host.block[simd_level()](padded, valid, in_, out);
    for (int i = 0; i < job_.code.view.output_count; ++i) {
      const int k = job_.code.inputs + i;
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
  const std::int64_t elements = job.space.elements, chunk = std::int64_t{host_block} * blocks_per_chunk;
  const std::int64_t chunks = std::max<std::int64_t>(1, (elements + chunk - 1) / chunk);
  const bool reducing = job.code.reduces;
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
  for (int i = 0; i < job.code.view.output_count; ++i) {
    const operand& o = job.operands[job.code.inputs + i];
    if (o.kind != operand_kind::result) continue;
    job.code.host.store(i, reinterpret_cast<void*>(o.word[0]), partials[0].value[i]);
    if (job.recorded != nullptr && job.recorded[i] != 0) job.code.host.store(i, reinterpret_cast<void*>(job.recorded[i]), partials[0].value[i]);
  }
}

}  // namespace dsl::detail
