#include "mem/profiling.hpp"

#if defined(DSL_DETAIL_NVTX)
#include <nvtx3/nvToolsExt.h>
#if defined(DSL_DETAIL_NVTX_PAYLOAD)
#include <nvtx3/nvToolsExtPayload.h>
#endif

#include <cstddef>

#include "mem/text.hpp"
#endif

namespace dsl::detail {

#if defined(DSL_DETAIL_NVTX)

namespace {

struct range_payload { std::int64_t elements, steps, bytes, flops; };

#if defined(DSL_DETAIL_NVTX_PAYLOAD)

// The number under which a tool knows the fields of `range_payload`; 0 if it accepts no payloads.
std::uint64_t add_schema(nvtxDomainHandle_t domain) {
  const auto entry = [](const char* name, const char* description, std::size_t offset) {
    nvtxPayloadSchemaEntry_t e{};
    e.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    e.name = name;
    e.description = description;
    e.offset = offset;
    return e;
  };
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry("elements", "of the index space", offsetof(range_payload, elements)),
      entry("steps", "of the loop", offsetof(range_payload, steps)),
      entry("bytes", "of the operands, read and written", offsetof(range_payload, bytes)),
      entry("flops", "floating point operations", offsetof(range_payload, flops)),
  };
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "dsl work";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = sizeof entries / sizeof entries[0];
  schema.payloadStaticSize = sizeof(range_payload);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

void push_range(nvtxDomainHandle_t domain, nvtxEventAttributes_t& event, std::uint64_t schema,
                const range_payload& numbers) {
  const nvtxPayloadData_t payload[] = {{schema, sizeof numbers, &numbers}};
  if (schema != 0) {
    NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE(event, payload)
  }
  nvtxDomainRangePushEx(domain, &event);
}

#else

std::uint64_t add_schema(nvtxDomainHandle_t) { return 0; }
void push_range(nvtxDomainHandle_t domain, nvtxEventAttributes_t& event, std::uint64_t,
                const range_payload&) {
  nvtxDomainRangePushEx(domain, &event);
}

#endif

// NVTX is header-only: it asks the dynamic linker for the tool that NVTX_INJECTION64_PATH names;
// without a tool the domain is null.
struct nvtx_domain {
  nvtxDomainHandle_t handle = nvtxDomainCreateA("dsl");
  std::uint64_t schema = handle != nullptr ? add_schema(handle) : 0;
};
const nvtx_domain& domain() {
  static const nvtx_domain made;
  return made;
}

// "rk4_step (100 steps, 1048576 elements, 1.68 GB, 2.1 Gflop): a + b * c". Tools truncate long
// names in tables, so the formula comes last.
std::string spell_work(const profiled_work& w) {
  std::string s = w.name + " (";
  if (w.steps != 1) s += std::to_string(w.steps) + " steps, ";
  if (w.elements > 0)
    s += std::to_string(w.elements) + (w.elements == 1 ? " element, " : " elements, ");
  s += spell_bytes(static_cast<double>(w.bytes));
  if (w.flops > 0) s += ", " + spell_amount(static_cast<double>(w.flops), "flop");
  s += ")";
  return w.formula.empty() ? s : s + ": " + w.formula;
}

}  // namespace

bool is_profiled() noexcept { return domain().handle != nullptr; }

void profiled_range::begin(const profiled_work& work) {
  const std::string message = spell_work(work);
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message.c_str();
  push_range(domain().handle, event, domain().schema,
             {work.elements, work.steps, work.bytes, work.flops});
}
void profiled_range::end() noexcept { nvtxDomainRangePop(domain().handle); }

#else

bool is_profiled() noexcept { return false; }
void profiled_range::begin(const profiled_work&) {}
void profiled_range::end() noexcept {}

#endif

}  // namespace dsl::detail
