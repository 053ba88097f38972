// The stand-in where the library is built without a CUDA toolkit: there are no devices, so nothing else is ever called.
#include "cuda/cuda.hpp"
#include "exec/text.hpp"

namespace dsl::detail {

namespace {
[[noreturn]] void missing() { raise<device_error>("this build of dsl has no CUDA back end"); }
}  // namespace

namespace cuda {
int device_count() { return 0; }
std::string device_count_error() { return ""; }
std::string why_no_device() { return "this build of dsl has no CUDA back end"; }
device_properties properties(int) { missing(); }
void* create_stream(int) { missing(); }
void destroy_stream(int, void*) noexcept {}
void synchronize_stream(int, void*) { missing(); }
void wait_quietly(int, void*) noexcept {}
void synchronize_device(int) { missing(); }
void wait_for(int, void*, void*) { missing(); }
void* allocate(std::size_t, int, void*) { missing(); }
void release(void*, int, void*) noexcept {}
memory_usage usage(int) { missing(); }
void release_memory(int) { missing(); }
void set_release_threshold(int, std::uint64_t) { missing(); }
void copy(void*, const void*, std::size_t, direction, int, void*) { missing(); }
void set_zero(void*, std::size_t, int, void*) { missing(); }
void fill(void*, const void*, std::size_t, std::int64_t, int, void*) { missing(); }
bool is_cooperative(int) { missing(); }
kernel_attributes attributes(const program_code&, const void*, int, int) { missing(); }
bool is_blocking() { return false; }
void launch_kernel(const kernel_launch&, const stream&) { missing(); }
workspace scratch_of(const stream&, std::size_t) { missing(); }
exchange exchange_of(const stream&, std::size_t, std::int64_t) { missing(); }
kernel_graph::kernel_graph(const stream& on) : on_(on) { missing(); }
kernel_graph::~kernel_graph() = default;
void kernel_graph::add(const kernel_launch&) {}
void kernel_graph::begin() {}
void kernel_graph::end() noexcept {}
void kernel_graph::launch() {}
marker::marker(const stream&) : event_(nullptr) { missing(); }
marker::~marker() = default;
void marker::wait() const {}
bool is_captured(const stream&) { missing(); }
}  // namespace cuda

}  // namespace dsl::detail
