#include "cuda/mesh_kernels.hpp"

#include <dsl/exec/team/arguments.hpp>

#include <algorithm>

#include "cuda/back_end.hpp"
#include "cuda/library_task.hpp"
#include "cuda/mesh.hpp"
#include "cuda/recorded_graph.hpp"
#include "exec/run/parameters.hpp"
#include "exec/run/shares.hpp"
#include "mem/stream.hpp"

namespace dsl::detail {

using namespace cuda;

namespace {

cuda_mesh& mesh_with(int index) {
  return static_cast<cuda_mesh&>(back_end::of({backend::cuda, index}));
}
grid_executor& one_gpu() { return static_cast<grid_executor&>(executor::of(gpus)); }

// Launched on the first member, after the other members' queued work; later work waits for it.
class graph_of_mesh final : public recorded_graph {
 public:
  graph_of_mesh(std::span<const int> members, mesh_stream& on)
      : recorded_graph({members.begin(), members.end()}), on_(on) {}

 private:
  void queue() override {
    on_.queue(1, touches::others, [&](int, cudaStream_t native) { queue_on(native); });
  }
  mesh_stream& on_;
};

// Plans and kernels are those of one GPU as large as all members together. A launch becomes one
// launch for each member that has some of its blocks.
class mesh_executor final : public grid_executor {
 public:
  constexpr mesh_executor() : grid_executor(kernel_target::cuda, true) {}

  std::string why_not_compiled(device where) const override {
    return one_gpu().why_not_compiled(where);
  }
  bool is_cooperative(int index) const override {
    const auto members = mesh_with(index).members();
    return std::all_of(members.begin(), members.end(),
                       [](int gpu) { return one_gpu().is_cooperative(gpu); });
  }
  kernel_attributes attributes(const kernel_entry& kernel, int block, int index) const override {
    return one_gpu().attributes(kernel, block, mesh_with(index).members()[0]);
  }
  void launch_kernel(const kernel_launch& k, const stream& on) const override;
  std::unique_ptr<kernel_graph> make_graph(const stream& on) const override;
  using grid_executor::run;
  void run(const library_task& task, const stream& on) const override;
  bool takes(const library_task& task, device where) const override {
    return cuda::takes(task, properties(where));
  }
};

void mesh_executor::launch_kernel(const kernel_launch& k, const stream& on) const {
  stream_state& state = stream_state::of(on);
  auto& mesh = static_cast<cuda_mesh&>(state.on);
  mesh_stream& s = mesh.stream_of(state.native);
  const grid_shares shares = shares_of(k, mesh);
  const auto first_of = [&](int m) {
    return m == 0 ? 0 : shares.ends[static_cast<std::size_t>(m - 1)];
  };
  const auto blocks_of = [&](int m) {
    return shares.ends[static_cast<std::size_t>(m)] - first_of(m);
  };
  std::uint64_t by = 0;
  int members = 0;
  for (int m = 0; m < s.members(); ++m) {
    if (blocks_of(m) == 0) continue;
    by |= std::uint64_t{1} << m;
    ++members;
  }

  const queued_kernel noted = queued_kernel::of(k);
  if (members > 1 && (k.cooperative || k.looks_back))
    *k.range = mesh.waits().waits_of(k, shares.ends, s);
  else *k.range = {};
  k.range->blocks = static_cast<std::uint32_t>(k.grid);
  k.range->members = members;
  int member = 0;
  const auto prepare = [&](int m) {
    k.range->member = member++;
    k.range->first = static_cast<std::uint32_t>(first_of(m));
    if (k.of_members != nullptr) k.of_members->fill(*k.parameters, m, first_of(m), blocks_of(m));
    if (k.shared_bytes > 0) allow_shared_memory(k.function, k.shared_bytes, s.gpu(m));
    return blocks_of(m);
  };
  const touches what = shares.is_local ? touches::own : touches::others;
  if (recorded_graph* const graph = recorded_graph::current())
    return graph->add(k, by, what, prepare);
  const auto one_at_a_time = hold_if_blocking(nullptr);
  const auto in_order =
      k.cooperative && members > 1 ? mesh.queue_cooperative(s) : std::unique_lock<std::mutex>();
  s.queue(by, what, [&](int m, cudaStream_t native) {
    const std::int64_t blocks = prepare(m);
    if (k.zeroed.bytes > 0) {
      void* const at = static_cast<unsigned char*>(k.zeroed.begin) +
                       static_cast<std::size_t>(m) * k.zeroed.copy_bytes;
      check(cudaMemsetAsync(at, 0, k.zeroed.bytes, native), "a fill with zeros", native);
    }
    queue_kernel(noted, k.operands_of_pass(), k.architectures, s.gpu(m), native,
                 [&] { return launch_blocks(k, blocks, false, native); });
  });
  if (one_at_a_time) {
    mesh.waits().wait_for(s);
    for (int m = 0; m < s.members(); ++m) {
      const current_device current(s.gpu(m));
      if ((by >> m & 1) != 0) wait_for_kernel(noted, k.operands_of_pass(), s.gpu(m), s.native(m));
    }
    mesh.waits().check();
  }
}

// On the first member, which accesses the other members' memory.
void mesh_executor::run(const library_task& task, const stream& on) const {
  const stream_state& state = stream_state::of(on);
  mesh_stream& s = static_cast<cuda_mesh&>(state.on).stream_of(state.native);
  std::size_t bytes = 0;
  {
    const current_device current(s.gpu(0));
    check(size_memory(task, bytes, s.native(0)), "asking for a sort's memory");
  }
  const buffer_ref memory = buffer_ref::allocate(bytes, state.where());
  const queued_kernel k{nullptr, nullptr, elements_of(task), 0, 0};
  s.queue(1, touches::others, [&](int, cudaStream_t native) {
    queue_kernel(k, nullptr, sort_architectures(), s.gpu(0), native,
                 [&] { return launch_task(task, memory.data(), bytes, native); });
  });
}

std::unique_ptr<kernel_graph> mesh_executor::make_graph(const stream& on) const {
  if (is_blocking()) return nullptr;
  const stream_state& state = stream_state::of(on);
  auto& mesh = static_cast<cuda_mesh&>(state.on);
  return std::make_unique<graph_of_mesh>(mesh.members(), mesh.stream_of(state.native));
}

}  // namespace

grid_executor& mesh_kernels() {
  static constinit mesh_executor kernels;
  return kernels;
}

}  // namespace dsl::detail
