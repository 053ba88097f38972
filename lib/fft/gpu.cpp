// Transforms on a GPU, by cuFFT.
#include <cufft.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

#include "cuda/calls.hpp"
#include "exec/run/copy.hpp"
#include "fft/recent.hpp"
#include "fft/transform.hpp"
#include "mem/mapping.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace {

void check(cufftResult status, const char* call) {
  if (status == CUFFT_SUCCESS) return;
  const std::string what = std::string(call) + ": cuFFT's status " + std::to_string(status);
  if (status == CUFFT_ALLOC_FAILED) raise<memory_error>(what);
  raise<cuda_error>(what);
}

constexpr int most_axes = 3;  // of one call of cuFFT

// How elements lie, in cuFFT's terms: element (i, j, k) of number b is element
// b * next + ((i * embed[1] + j) * embed[2] + k) * step.
struct embedded {
  long long embed[most_axes] = {}, step = 1, next = 1;
  bool operator==(const embedded&) const = default;
};

// All that a plan depends on.
struct plan_key {
  int gpu = 0, axes = 0;
  cufftType type{};
  long long points[most_axes] = {}, count = 1;
  embedded in, out;
  bool operator==(const plan_key&) const = default;
};

class cufft_plan {
 public:
  explicit cufft_plan(const plan_key& key) : gpu_(key.gpu) {
    check(cufftCreate(&handle_), "cufftCreate");
    // The memory that it works in is the pool's, ordered by the stream.
    check(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
    plan_key k = key;
    const cufftResult made =
        cufftMakePlanMany64(handle_, k.axes, k.points, k.in.embed, k.in.step, k.in.next,
                            k.out.embed, k.out.step, k.out.next, k.type, k.count, &bytes_);
    if (made != CUFFT_SUCCESS) cufftDestroy(handle_);
    check(made, "cufftMakePlanMany64");
  }
  ~cufft_plan() {
    const cuda::current_device_quietly current(gpu_);
    cufftDestroy(handle_);
  }
  cufft_plan(const cufft_plan&) = delete;

  /// Bytes that it works in.
  std::size_t bytes() const { return bytes_; }
  void run(const plan_key& key, void* in, void* out, bool inverse, void* memory, const stream& on) {
    const std::lock_guard lock(mutex_);
    check(cufftSetStream(handle_, cuda::native(on.native())), "cufftSetStream");
    if (bytes_ > 0) check(cufftSetWorkArea(handle_, memory), "cufftSetWorkArea");
    const int way = inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    check(call(key.type, in, out, way), "cufftExec");
  }

 private:
  cufftResult call(cufftType type, void* in, void* out, int way) const {
    auto* const c = static_cast<cufftComplex*>(in);
    auto* const z = static_cast<cufftDoubleComplex*>(in);
    switch (type) {
      case CUFFT_C2C: return cufftExecC2C(handle_, c, static_cast<cufftComplex*>(out), way);
      case CUFFT_Z2Z: return cufftExecZ2Z(handle_, z, static_cast<cufftDoubleComplex*>(out), way);
      case CUFFT_R2C:
        return cufftExecR2C(handle_, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out));
      case CUFFT_D2Z:
        return cufftExecD2Z(handle_, static_cast<cufftDoubleReal*>(in),
                            static_cast<cufftDoubleComplex*>(out));
      case CUFFT_C2R: return cufftExecC2R(handle_, c, static_cast<cufftReal*>(out));
      default: return cufftExecZ2D(handle_, z, static_cast<cufftDoubleReal*>(out));
    }
  }

  int gpu_;
  cufftHandle handle_ = 0;
  std::size_t bytes_ = 0;
  std::mutex mutex_;
};

cufftType type_of(const transform_task& task) {
  const bool wide = real_of(task.out.type) == dtype::float64;
  if (kind_of(task.in.type) == kind::real) return wide ? CUFFT_D2Z : CUFFT_R2C;
  if (kind_of(task.out.type) == kind::real) return wide ? CUFFT_Z2D : CUFFT_C2R;
  return wide ? CUFFT_Z2Z : CUFFT_C2C;
}

// Whether cuFFT's terms can say how the axes lie: each one at a multiple of the next one's stride.
bool embeds(embedded& made, const operand& o, const transform_axes& axes) {
  const int last = axes.count - 1;
  made.step = o.strides[axes.axis[last]];
  for (int i = last; i > 0; --i) {
    const std::int64_t inner = o.strides[axes.axis[i]], outer = o.strides[axes.axis[i - 1]];
    if (outer % inner != 0 || outer / inner < o.extents[axes.axis[i]]) return false;
    made.embed[i] = outer / inner;
  }
  made.embed[0] = o.extents[axes.axis[0]];
  return true;
}

std::shared_ptr<cufft_plan> kept_plan(const plan_key& key) {
  constexpr std::size_t most = 64;
  // Never destroyed: at the end of the program the driver may be gone.
  static recent<plan_key, cufft_plan>& all = *new recent<plan_key, cufft_plan>(most);
  return all.get(key, [&] { return std::make_shared<cufft_plan>(key); });
}

// A transform as calls of cuFFT and copies, one after another, with their plans and their memory.
class calls_and_copies final : public gpu_transform {
 public:
  calls_and_copies(const transform_task& task, const stream& on) : on_(on) {
    const cuda::current_device current(on.where().index);
    add(task);
    if (bytes_ > 0) workspace_ = buffer_ref::allocate(bytes_, on.where());
  }
  void run() override {
    const cuda::current_device current(on_.where().index);
    for (const auto& step : steps_) step();
  }

 private:
  void add(const transform_task& task) {
    if (add_calls(task)) return;
    if (task.axes.count == 1) return add_transposed(task);
    transform_task one = task;
    for (int i = 0; i < task.axes.count; ++i) {
      one.axes = {1, {task.axes.axis[i]}, {task.axes.points[i]}};
      add(one);
      one.in = one.out;
    }
  }
  bool add_calls(const transform_task& task);
  void add_transposed(const transform_task& task);
  void add_call(const plan_key& key, const transform_task& task, std::int64_t to_in,
                std::int64_t to_out) {
    const std::shared_ptr<cufft_plan> made = kept_plan(key);
    bytes_ = std::max(bytes_, made->bytes());
    const auto at = [](const operand& o, std::int64_t elements) {
      return reinterpret_cast<char*>(o.word[0]) + elements * size_of(o.type);
    };
    steps_.push_back(
        [this, key, made, in = at(task.in, to_in), out = at(task.out, to_out),
         inverse = task.inverse] { made->run(key, in, out, inverse, workspace_.data(), on_); });
  }
  void add_copy(const operand& from, const operand& to) {
    steps_.push_back([from, to] { copy_elements(from, to); });
  }

  stream on_;
  std::vector<std::function<void()>> steps_;
  std::size_t bytes_ = 0;
  buffer_ref workspace_;  // Shared by all calls.
  std::deque<buffer_ref> temporaries_;
};

// Adds few calls that do the task, if there are such.
bool calls_and_copies::add_calls(const transform_task& task) {
  if (task.axes.count > most_axes) return false;
  plan_key key;
  key.gpu = on_.where().index;
  key.axes = task.axes.count;
  key.type = type_of(task);
  std::copy_n(task.axes.points, task.axes.count, key.points);
  if (!embeds(key.in, task.in, task.axes) || !embeds(key.out, task.out, task.axes)) return false;
  std::vector<batch_dimension> batch = batch_of(task);
  if (batch.empty()) batch.push_back({1, 1, 1});
  // One call does the largest dimension; each position along the others is a call.
  std::iter_swap(batch.begin(),
                 std::max_element(batch.begin(), batch.end(),
                                  [](const auto& a, const auto& b) { return a.count < b.count; }));
  constexpr std::int64_t few = 16;
  std::int64_t calls = 1;
  for (std::size_t d = 1; d < batch.size(); ++d)
    if ((calls *= batch[d].count) > few) return false;
  key.count = batch[0].count;
  key.in.next = batch[0].next_in;
  key.out.next = batch[0].next_out;
  for (std::int64_t i = 0; i < calls; ++i) {
    std::int64_t to_in = 0, to_out = 0, rest = i;
    for (std::size_t d = 1; d < batch.size(); ++d) {
      to_in += rest % batch[d].count * batch[d].next_in;
      to_out += rest % batch[d].count * batch[d].next_out;
      rest /= batch[d].count;
    }
    add_call(key, task, to_in, to_out);
  }
  return true;
}

// The same elements in new memory in which an axis is the last one.
operand temporary_with_last(const operand& o, int axis, device where, buffer_ref& memory) {
  std::int64_t extents[max_rank];
  std::copy_n(o.extents, o.rank, extents);
  std::rotate(extents + axis, extents + axis + 1, extents + o.rank);
  operand made = temporary_like(o, extents, where, memory);
  std::rotate(made.extents + axis, made.extents + o.rank - 1, made.extents + o.rank);
  std::rotate(made.strides + axis, made.strides + o.rank - 1, made.strides + o.rank);
  return made;
}

// By transposed copies of both, or of one if both are of one dtype.
void calls_and_copies::add_transposed(const transform_task& task) {
  const int axis = task.axes.axis[0];
  const device where = on_.where();
  transform_task rows = task;
  rows.in = temporary_with_last(task.in, axis, where, temporaries_.emplace_back());
  rows.out = task.in.type == task.out.type
                 ? rows.in
                 : temporary_with_last(task.out, axis, where, temporaries_.emplace_back());
  add_copy(task.in, rows.in);
  add_calls(rows);
  add_copy(rows.out, task.out);
}

}  // namespace

std::unique_ptr<gpu_transform> transform_for_gpu(const transform_task& task, const stream& on) {
  return std::make_unique<calls_and_copies>(task, on);
}

}  // namespace dsl::detail
