#include "cuda/recorded_graph.hpp"

namespace dsl::detail::cuda {

namespace {
thread_local recorded_graph* recording = nullptr;
}  // namespace

recorded_graph* recorded_graph::current() { return recording; }

recorded_graph::recorded_graph(std::vector<int> gpus)
    : gpus_(std::move(gpus)), last_(gpus_.size()), foreign_(gpus_.size()) {
  DSL_CHECK(cudaGraphCreate(&graph_, 0));
}
recorded_graph::~recorded_graph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  cudaGraphDestroy(graph_);
  for (cudaGraph_t each : captured_) cudaGraphDestroy(each);
}

void recorded_graph::begin() {
  recording = this;
  next_ = 0;
}
void recorded_graph::end() noexcept { recording = nullptr; }

void recorded_graph::launch() {
  const current_device on(gpus_[0]);
  if (executable_ == nullptr) {
    cudaGraphExec_t made{};
    DSL_CHECK(cudaGraphInstantiate(&made, graph_, 0));
    executable_ = made;
  }
  queue();
}
void recorded_graph::queue_on(cudaStream_t stream) {
  const auto launch = [&] {
    check(cudaGraphLaunch(executable_, stream), "launching a graph of kernels", stream);
  };
  if (waits_ == nullptr) launch();
  else waits_->queue(stream, static_cast<std::int64_t>(captured_.size()), launch);
  note_launch(gpus_[0], stream, noted_);
}

void recorded_graph::add(const std::function<void(cudaStream_t)>& queue, process_waits& waits) {
  if (executable_ != nullptr) return;
  waits_ = &waits;
  const current_device on(gpus_[0]);
  captured_.push_back(captured(queue));
  const cudaGraphNode_t behind = last_[0];
  DSL_CHECK(cudaGraphAddChildGraphNode(&last_[0], graph_, &behind, behind != nullptr ? 1 : 0,
                                       captured_.back()));
}

// Captures into a graph of its own.
cudaGraph_t recorded_graph::captured(const std::function<void(cudaStream_t)>& queue) const {
  cudaStream_t s{};
  DSL_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaGraph_t made{};
  const auto end = [&] {
    const cudaError_t status = cudaStreamEndCapture(s, &made);
    cudaStreamDestroy(s);
    return status;
  };
  try {
    DSL_CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    queue(s);
  } catch (...) {
    if (end() == cudaSuccess) cudaGraphDestroy(made);
    throw;
  }
  check(end(), "recording into a graph");
  return made;
}

// After the member's last kernel, and after the kernels of others in `before`.
void recorded_graph::add_node(const kernel_launch& k, std::int64_t blocks, std::size_t member,
                              const std::vector<cudaGraphNode_t>& before) {
  cudaKernelNodeParams p{};
  void* arguments[] = {k.range};
  p.func = const_cast<void*>(k.function);
  p.kernelParams = arguments;
  p.gridDim = dim3(static_cast<unsigned>(blocks));
  p.blockDim = dim3(static_cast<unsigned>(k.block));
  p.sharedMemBytes = static_cast<unsigned>(k.shared_bytes);
  cudaError_t status{};
  if (executable_ == nullptr) {
    std::vector<cudaGraphNode_t> behind;
    for (std::size_t m = 0; m < before.size(); ++m)
      if (const cudaGraphNode_t node = m == member ? last_[m] : before[m]; node != nullptr)
        behind.push_back(node);
    status = cudaGraphAddKernelNode(&last_[member], graph_, behind.data(), behind.size(), &p);
    nodes_.push_back(last_[member]);
  } else {
    status = cudaGraphExecKernelNodeSetParams(executable_, nodes_.at(next_++), &p);
  }
  if (status != cudaSuccess)
    raise_failure(status, "launching " + spell_launch(noted_, k.operands_of_pass()));
}

}  // namespace dsl::detail::cuda
