#include <dsl/mem/device.hpp>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <vector>

#include "mem/back_end.hpp"
#include "mem/text.hpp"

namespace dsl {

using detail::back_end;

namespace {

std::atomic<bool> has_kernels{false};
thread_local std::optional<device> guarded;

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

// Devices that always exist are listed first. If there is none of the kind that was asked for, the
// reason follows.
std::string valid_names(const std::string& wanted) {
  std::string names, missing;
  for (const bool is_numbered : {false, true})
    for (back_end* const each : back_end::all()) {
      if (each->traits.is_numbered != is_numbered) continue;
      const int count = each->device_count();
      for (int i = 0; i < count; ++i) names += (names.empty() ? "" : ", ") + quoted(each->spell(i));
      if (count == 0 && wanted.starts_with(each->traits.name))
        missing += " (" + each->why_no_device() + ")";
    }
  return names + missing;
}

device from_environment() {
  const char* wanted = std::getenv("DSL_DEVICE");
  if (wanted != nullptr && *wanted != '\0') return device(wanted);
  if (!has_kernels) return backend::host;
  back_end& gpus = back_end::of(backend::cuda);
  if (gpus.device_count() > 0) return backend::cuda;
  if (const std::string why = gpus.device_count_error(); !why.empty())
    detail::raise<device_error>("no GPU can be used: " + why + "; DSL_DEVICE=host does without");
  return backend::host;
}

}  // namespace

device device::named(const char* name) {
  if (name == nullptr)
    detail::raise<device_error>("a null pointer for a device's name; valid are " + valid_names(""));
  for (back_end* const each : back_end::all())
    if (const auto number = each->find(name)) return {each->kind(), *number};
  detail::raise<device_error>("there is no device " + quoted(name) + "; valid are " +
                              valid_names(name));
}

device device::current() {
  if (guarded) return *guarded;
  static const device chosen = [] {
    const device d = from_environment();
    properties(d);
    return d;
  }();
  return chosen;
}

text device::name() const { return text(back_end::of(*this).spell(index).c_str()); }

void device::synchronize() const {
  properties(*this);
  back_end::of(*this).synchronize_device(index);
}

const device_properties& properties(device where) {
  back_end& on = back_end::of(where);
  if (!on.members().empty()) {
    for (const int member : on.members())
      if (member >= back_end::of(where.kind).max_member())
        detail::raise<device_error>("there is no device " +
                                    quoted(back_end::of(where.kind).spell(member)) +
                                    " for the mesh " + quoted(on.spell(where.index)) +
                                    "; valid are " + valid_names(on.traits.name));
    return on.properties(where.index);
  }
  if (on.processes() != nullptr) return on.properties(where.index);
  const int count = on.device_count();
  if (where.index >= 0 && where.index < count) return on.properties(where.index);
  const std::string wanted = "device " + quoted(on.spell(where.index)),
                    valid = "; valid are " + valid_names(on.traits.name);
  if (count == 0)
    detail::raise<device_error>(wanted + " was asked for, but no " +
                                (where.kind == backend::opencl ? "OpenCL device" : "GPU") +
                                " can be used" + valid);
  detail::raise<device_error>("there is no " + wanted + valid);
}

std::vector<device> devices() {
  std::vector<device> all;
  for (back_end* const each : back_end::all())
    for (int i = 0, count = each->device_count(); i < count; ++i) all.emplace_back(each->kind(), i);
  return all;
}

memory_usage memory_usage_of(device where) {
  properties(where);
  return back_end::of(where).usage(where.index);
}

void release_memory(device where) {
  properties(where);
  back_end::of(where).release_memory(where.index);
}

void set_release_threshold(std::size_t bytes, device where) {
  properties(where);
  back_end::of(where).set_release_threshold(where.index, bytes);
}

device_guard::device_guard(device where)
    : previous_(guarded.value_or(where)), had_previous_(guarded.has_value()) {
  properties(where);
  guarded = where;
}
device_guard::~device_guard() {
  if (had_previous_) guarded = previous_;
  else guarded.reset();
}

namespace detail {

bool register_kernels() noexcept { return has_kernels = true; }

}  // namespace detail
}  // namespace dsl
