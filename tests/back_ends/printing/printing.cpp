#include "printing.hpp"

#include <cstdio>

#include "exec/plan/text.hpp"
#include "exec/rows/rows.hpp"
#include "exec/run/executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "mem/stream.hpp"
#include "mem/text.hpp"
#include "opencl/print/kernel_text.hpp"

namespace printing {

namespace {

using namespace dsl::detail;

std::ostringstream out;
std::string text;

// Memory, streams and events are numbers; nothing is read or written.
constexpr std::uintptr_t memory_end = std::uintptr_t{1} << 40;
std::uintptr_t last_memory = 0, last_stream = 0, last_event = 0;
void* as_pointer(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
std::uintptr_t number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
std::string stream_name(void* stream) {
  return stream == nullptr ? "the default stream" : "stream " + std::to_string(number_of(stream));
}

// A device that can do everything, with groups of 256 work-items.
constexpr opencl::abilities able{.has_double = true,
                                 .largest_work_group = 256,
                                 .local_memory = std::size_t{48} << 10,
                                 .parameter_bytes = 4096,
                                 .takes_lanes = false,
                                 .rounds_divide_and_sqrt = true};

class executor final : public dsl::detail::executor {
 public:
  void order_reduced(geometry& g, const operand*, int, int count, const pass_view&) const override {
    if (g.kept != 0) order_for_rows(g, count);
  }
  std::string describe_launch(const dsl::plan&) const override { return "printed"; }

  // Rows are their phases, which are passes.
  void plan(const work& w) const override {
    if (w.kind() == work_kind::pass) return static_cast<const bound_pass&>(w).set_plan({});
    rows_of(w).set_plan({});
  }
  void run(const work& w, const dsl::stream& on) const override {
    if (w.kind() == work_kind::pass) return print(static_cast<const bound_pass&>(w), on);
    for (int p = 0; p < rows_of(w).count(); ++p) print(rows_of(w).phases()[p], on);
  }
  void run(const library_task& task, const dsl::stream&) const override {
    out << (std::holds_alternative<scatter_task>(task.is) ? "scatter\n" : "sort\n");
  }

  // A loop's steps are passes, one by one or in a graph.
  loop_support supports(const loop&) const override {
    loop_support graphs{};
    graphs.graphs = true;
    return graphs;
  }
  std::unique_ptr<kernel_graph> make_graph(const dsl::stream&) const override {
    return std::make_unique<graph>();
  }

 private:
  static const row_chain& rows_of(const work& w) {
    if (w.kind() != work_kind::rows) raise<dsl::device_error>("print: not a pass");
    return static_cast<const row_chain&>(w);
  }
  static void print(const bound_pass& pass, const dsl::stream& on) {
    const opencl::kernel_text kernels = opencl::print_pass(pass, able);
    text = kernels.text;
    const opencl::kernel_launches all = opencl::launches_of(pass, able);
    if (all.scratch_bytes > 0) out << all.scratch_bytes << " bytes for partial results\n";
    for (const opencl::kernel_launch& each : all.launches)
      out << "launch " << (each.number == 0 ? kernels.name : kernels.finish) << " on "
          << stream_name(stream_state::of(on).native) << ": "
          << spell_pass(pass.code().pass.view, pass.operands()) << ", " << each.work_items
          << " work-items, " << each.arguments.size() << " arguments\n";
  }
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
  std::string calls = out.str();
  out.str("");
  return calls;
}
std::string last_text() { return text; }

void add_devices() {
  static devices& made = *new devices;  // never destroyed: arrays may outlive static objects
  back_end::add(made);
}

}  // namespace printing
