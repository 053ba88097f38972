#include "printed_device.hpp"

#include <cstdio>

#include "exec/run/executor.hpp"
#include "exec/tasks/library_task.hpp"
#include "mem/buffer.hpp"
#include "mem/machine_memory.hpp"
#include "open_cl.hpp"

namespace printed_device {

namespace {

using namespace dsl::detail;

int run_passes = 0;

const executor& of_host() { return executor::of(dsl::device(dsl::backend::host)); }

// Runs a pass in copies of the memory of its operands.
void run_pass(const bound_pass& pass) {
  std::map<const void*, std::size_t> blocks;
  const int count = pass.code().inputs + pass.code().outputs();
  for (int k = 0; k < count; ++k)
    if (const buffer* const b = pass.operands()[k].memory; b != nullptr && b->bytes > 0)
      blocks[b->data] = b->bytes;
  // A flag or a history may lie in the memory of an operand.
  const auto add = [&blocks](const void* address, std::size_t size) {
    for (const auto& [begin, bytes] : blocks) {
      const auto at = reinterpret_cast<std::uintptr_t>(address),
                 first = reinterpret_cast<std::uintptr_t>(begin);
      if (at >= first && at < first + bytes) return;
    }
    blocks[address] = size;
  };
  if (pass.now().stop != nullptr) add(pass.now().stop, 1);
  for (int i = 0; pass.now().recorded != nullptr && i < pass.code().outputs(); ++i)
    if (pass.now().recorded[i] != 0)
      add(reinterpret_cast<const void*>(pass.now().recorded[i]),
          static_cast<std::size_t>(dsl::size_of(pass.code().pass.view.type(i))));
  open_cl::device::first()->run(pass, blocks);
  ++run_passes;
}

class printed_executor final : public executor {
 public:
  void order_reduced(geometry& g, const operand* operands, int inputs, int count,
                     const pass_view& pass) const override {
    of_host().order_reduced(g, operands, inputs, count, pass);
  }
  std::string describe_launch(const dsl::plan& p) const override {
    return of_host().describe_launch(p);
  }
  void plan(const work& w) const override { of_host().plan(w); }
  void run(const work& w, const dsl::stream& on) const override {
    if (w.kind() == work_kind::pass) run_pass(static_cast<const bound_pass&>(w));
    else of_host().run(w, on);
  }
  void run(const library_task& task, const dsl::stream& on) const override {
    of_host().run(task, on);
  }
  // Each step is a pass.
  loop_support supports(const loop&) const override { return {}; }
};

class devices final : public machine_memory {
 public:
  explicit devices(kernel_services* runs) : machine_memory("host-opencl", runs, {}) {}
  const dsl::device_properties& properties(int) override {
    static const dsl::device_properties known = dsl::properties("host");
    return known;
  }
};

}  // namespace

bool add() {
  static const bool added = [] {
    if (open_cl::device::first() == nullptr) return false;
    static printed_executor runs;
    back_end::add(*new devices(&runs));  // never destroyed: arrays may outlive static objects
    return true;
  }();
  return added;
}
int passes() { return run_passes; }

}  // namespace printed_device
