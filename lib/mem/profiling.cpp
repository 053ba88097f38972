#include "mem/profiling.hpp"

#if defined(DSL_DETAIL_NVTX)
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>

#include "mem/text.hpp"
#endif

namespace dsl::detail {

#if defined(DSL_DETAIL_NVTX)

namespace {

struct range_payload { std::int64_t elements, steps, bytes, flops; };

// NVTX is header-only: it asks the dynamic linker for the tool that NVTX_INJECTION64_PATH names, and without one gives no domain.
struct nvtx_domain {
  nvtxDomainHandle_t handle = nvtxDomainCreateA("dsl");
  std::uint64_t schema = handle != nullptr ? add_schema() : 0;  // 0 where the tool takes no payloads

 private:
  std::uint64_t add_schema() const {
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
    nvtxPayloadSchemaAttr_t schema_of_work{};
    schema_of_work.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                               NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                               NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    schema_of_work.name = "dsl work";
    schema_of_work.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    schema_of_work.entries = entries;
    schema_of_work.numEntries = sizeof entries / sizeof entries[0];
    schema_of_work.payloadStaticSize = sizeof(range_payload);
    return nvtxPayloadSchemaRegister(handle, &schema_of_work);
  }
};
const nvtx_domain& domain() {
  static const nvtx_domain made;
  return made;
}

// "rk4_step (100 steps, 1048576 elements, 1.68 GB, 2.1 Gflop): a + b * c": tables cut what is long, so the formula comes last.
std::string spell_work(const profiled_work& w) {
  std::string s = w.name + " (";
  if (w.steps != 1) s += std::to_string(w.steps) + " steps, ";
  if (w.elements > 0) s += std::to_string(w.elements) + (w.elements == 1 ? " element, " : " elements, ");
  s += spell_bytes(static_cast<double>(w.bytes));
  if (w.flops > 0) s += ", " + spell_amount(static_cast<double>(w.flops), "flop");
  s += ")";
  return w.formula.empty() ? s : s + ": " + w.formula;
}

}  // namespace

bool is_profiled() noexcept { return domain().handle != nullptr; }

void profiled_range::begin(const profiled_work& work) {
  const std::string message = spell_work(work);
  const range_payload numbers{work.elements, work.steps, work.bytes, work.flops};
  const nvtxPayloadData_t payload[] = {{domain().schema, sizeof numbers, &numbers}};
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message.c_str();
  if (payload[0].schemaId != 0) {
    NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE(event, payload)
  }
  nvtxDomainRangePushEx(domain().handle, &event);
}
void profiled_range::end() noexcept { nvtxDomainRangePop(domain().handle); }

#else

bool is_profiled() noexcept { return false; }
void profiled_range::begin(const profiled_work&) {}
void profiled_range::end() noexcept {}

#endif

}  // namespace dsl::detail
