// As back_ends.cpp, in a build without a CUDA toolkit.
#include "host/back_end.hpp"
#include "mem/text.hpp"
#include "sim/back_end.hpp"

namespace dsl::detail {

namespace {

// Stands for GPUs, so that errors can name them and say why there is none. No other function is
// ever called.
class no_gpus final : public back_end {
 public:
  constexpr no_gpus() : back_end({"cuda", true, true}, nullptr, backend::cuda) {}

  int device_count() override { return 0; }
  std::string why_no_device() override { return missing; }

  const device_properties& properties(int) override { fail(); }
  memory_usage usage(int) override { fail(); }
  void* allocate(std::size_t, int, void*) override { fail(); }
  void release(void*, int, void*) noexcept override {}
  void copy(void*, const void*, std::size_t, direction, int, void*) override { fail(); }
  void set_zero(void*, std::size_t, int, void*) override { fail(); }
  void fill(void*, const void*, std::size_t, std::int64_t, int, void*) override { fail(); }

 private:
  static constexpr const char* missing = "this build of dsl has no CUDA back end";
  [[noreturn]] static void fail() { raise<device_error>(missing); }
};

constinit no_gpus gpus;

}  // namespace

constinit std::atomic<back_end*> back_end::table[max_kinds] = {&gpus, &host, &simulator};

}  // namespace dsl::detail
