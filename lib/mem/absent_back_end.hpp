// Stands for a kind of devices that this build of the library leaves out.
#pragma once

#include "mem/back_end.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

/// Errors can name the devices and say why there is none. No other function is ever called.
class absent_back_end final : public back_end {
 public:
  constexpr absent_back_end(const back_end_traits& called, backend number, const char* why)
      : back_end(called, nullptr, number), why_(why) {}

  int device_count() override { return 0; }
  std::string why_no_device() override { return why_; }

  const device_properties& properties(int) override { fail(); }
  memory_usage usage(int) override { fail(); }
  void* allocate(std::size_t, int, void*) override { fail(); }
  void release(void*, int, void*) noexcept override {}
  void copy(void*, const void*, std::size_t, direction, int, void*) override { fail(); }
  void set_zero(void*, std::size_t, int, void*) override { fail(); }
  void fill(void*, const void*, std::size_t, std::int64_t, int, void*) override { fail(); }

 private:
  [[noreturn]] void fail() const { raise<device_error>(why_); }

  const char* const why_;
};

}  // namespace dsl::detail
