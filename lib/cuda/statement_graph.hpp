// A statement of several kernels and calls of libraries, as one CUDA graph.
#pragma once

#include "cuda/calls.hpp"
#include "exec/run/executor.hpp"

namespace dsl::detail::cuda {

class captured_statement final : public statement_graph {
 public:
  explicit captured_statement(int gpu) : gpu_(gpu) {}
  /// Queued launches still run: the runtime keeps the graph until then.
  ~captured_statement() override;
  bool record(const stream& on, const std::function<void()>& queue) override;
  void launch(const stream& on) override;

 private:
  const int gpu_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace dsl::detail::cuda
