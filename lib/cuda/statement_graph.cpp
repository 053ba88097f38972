#include "cuda/statement_graph.hpp"

#include <dsl/mem/stream.hpp>

namespace dsl::detail::cuda {

captured_statement::~captured_statement() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  if (graph_ != nullptr) cudaGraphDestroy(graph_);
}

bool captured_statement::record(const stream& on, const std::function<void()>& queue) {
  const current_device current(gpu_);
  const cudaStream_t stream = native(on.native());
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  bool is_complete = true;
  try {
    queue();
  } catch (const error&) {
    // What cannot be recorded: the steps then run one by one, and throw if that is not the reason.
    is_complete = false;
  } catch (...) {
    cudaStreamEndCapture(stream, &graph_);
    throw;
  }
  is_complete = cudaStreamEndCapture(stream, &graph_) == cudaSuccess && is_complete &&
                cudaGraphInstantiate(&executable_, graph_, 0) == cudaSuccess;
  if (!is_complete) cudaGetLastError();
  return is_complete;
}

void captured_statement::launch(const stream& on) {
  const current_device current(gpu_);
  const cudaStream_t stream = native(on.native());
  check(cudaGraphLaunch(executable_, stream), "launching a graph of a loop's step", stream);
}

}  // namespace dsl::detail::cuda
