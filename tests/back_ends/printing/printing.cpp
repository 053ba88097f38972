#include "printing.hpp"

#include <cstdio>

#include "exec/by_key/library_task.hpp"
#include "exec/plan/text.hpp"
#include "exec/run/grid_executor.hpp"
#include "mem/stream.hpp"

namespace printing {

namespace {

using namespace dsl::detail;

std::ostringstream out;

// Memory, streams and events are numbers; nothing is read or written.
constexpr std::uintptr_t memory_end = std::uintptr_t{1} << 40;
std::uintptr_t last_memory = 0, last_stream = 0, last_event = 0;
void* as_pointer(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
std::uintptr_t number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
std::string stream_name(void* stream) {
  return stream == nullptr ? "the default stream" : "stream " + std::to_string(number_of(stream));
}

class executor final : public grid_executor {
 public:
  // Uses the simulator's entry points.
  constexpr executor() : grid_executor(kernel_target::sim, true) {}

  kernel_attributes attributes(const kernel_entry&, int, int) const override {
    return {32, 1024, 8, 0, 0};
  }
  bool is_cooperative(int) const override { return true; }
  void launch_kernel(const kernel_launch& k, const dsl::stream& on) const override {
    out << "launch" << (k.cooperative ? " together" : "") << " on "
        << stream_name(stream_state::of(on).native) << ": " << spell_pass(k.pass, k.operands)
        << ", " << k.elements << " elements, grid " << k.grid << ", block " << k.block;
    if (k.shared_bytes > 0) out << ", " << k.shared_bytes << " bytes of shared memory";
    out << "; " << k.inputs + k.outputs << " operands";
    for (int i = 0; i < k.other_count; ++i)
      out << (i == 0 ? ", beside them " : " and ") << k.others[i].bytes << " bytes";
    out << "\n";
  }
  using grid_executor::run;
  void run(const library_task& task, const dsl::stream&) const override {
    out << (std::holds_alternative<scatter_task>(task.is) ? "scatter\n" : "sort\n");
  }
  std::unique_ptr<kernel_graph> make_graph(const dsl::stream&) const override {
    return std::make_unique<graph>();
  }

 private:
  struct graph final : kernel_graph {
    void begin() override { out << "begin a graph\n"; }
    void end() noexcept override { out << "end the graph\n"; }
    void launch() override { out << "launch the graph\n"; }
  };
};

constinit executor runs;

class devices final : public back_end {
 public:
  devices() : back_end({"print", true, true}, &runs) {}

  int device_count() override { return 2; }
  const dsl::device_properties& properties(int) override {
    static const dsl::device_properties known = [] {
      dsl::device_properties d{};
      std::snprintf(d.name, sizeof d.name, "printer");
      d.multiprocessors = 4;
      d.threads_per_multiprocessor = 1024;
      d.registers_per_multiprocessor = 65536;
      d.memory = std::size_t{1} << 30;
      d.l2 = std::size_t{1} << 20;
      d.shared_per_block = std::size_t{48} << 10;
      return d;
    }();
    return known;
  }
  void synchronize_device(int index) override { out << "wait for " << spell(index) << "\n"; }

  dsl::memory_usage usage(int) override {
    return {0, 0, std::size_t{1} << 30, std::size_t{1} << 30};
  }
  void release_memory(int index) override {
    out << "release the memory of " << spell(index) << "\n";
  }
  void set_release_threshold(int, std::size_t bytes) override {
    out << "keep " << bytes << " bytes\n";
  }
  void* allocate(std::size_t bytes, int index, void* stream) override {
    out << "allocate " << bytes << " bytes on " << spell(index) << ", " << stream_name(stream)
        << "\n";
    const std::uintptr_t made = last_memory += 1 << 20;
    last_memory += bytes;
    last_memory -= last_memory % 256;
    return as_pointer(made - made % 256);
  }
  void release(void*, int, void*) noexcept override { out << "free\n"; }
  void copy(void*, const void*, std::size_t bytes, direction way, int, void*) override {
    const char* const ways[] = {"to the device", "to the host", "on the device"};
    out << "copy " << bytes << " bytes " << ways[static_cast<int>(way)] << "\n";
  }
  void set_zero(void*, std::size_t bytes, int, void*) override {
    out << "zero " << bytes << " bytes\n";
  }
  void fill(void*, const void*, std::size_t size, std::int64_t count, int, void*) override {
    out << "fill " << count << " x " << size << " bytes\n";
  }
  std::optional<address_home> find_memory(const void* address) override {
    return number_of(address) < memory_end ? std::optional<address_home>({0, false}) : std::nullopt;
  }

  void* create_stream(int index) override {
    out << "create stream " << ++last_stream << " on " << spell(index) << "\n";
    return as_pointer(last_stream);
  }
  void destroy_stream(int, void* stream) noexcept override {
    out << "destroy " << stream_name(stream) << "\n";
  }
  void synchronize(int, void* stream) override {
    out << "wait for " << stream_name(stream) << "\n";
  }
  void synchronize_quietly(int, void* stream) noexcept override {
    out << "wait for " << stream_name(stream) << "\n";
  }
  void wait_for(int, void* stream, void* other) override {
    out << "order " << stream_name(stream) << " behind " << stream_name(other) << "\n";
  }
  int device_of_stream(void* stream) override { return number_of(stream) < 200 ? 0 : 1; }
  void wait_for_event_on(int, void* stream, void* event) override {
    out << "order " << stream_name(stream) << " behind event " << number_of(event) << "\n";
  }
  void* record_event(int, void* stream) override {
    out << "event " << ++last_event << " in " << stream_name(stream) << "\n";
    return as_pointer(last_event);
  }
  void wait_for_event(void* event) override {
    out << "wait for event " << number_of(event) << "\n";
  }
  void destroy_event(void* event) noexcept override {
    out << "destroy event " << number_of(event) << "\n";
  }
};

}  // namespace

std::string printed() {
  std::string text = out.str();
  out.str("");
  return text;
}

void add_devices() {
  static devices& made = *new devices;  // never destroyed: arrays may outlive static objects
  back_end::add(made);
}

}  // namespace printing
