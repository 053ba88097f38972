// A tool for NVTX: a library that NVTX_INJECTION64_PATH names. It records ranges and their
// payloads.
#include <nvtx3/nvToolsExtPayload.h>

#include <cstring>
#include <map>
#include <mutex>

#include "recorded.hpp"

namespace {

struct domain {
  std::string name;
  std::vector<std::vector<nvtxPayloadSchemaEntry_t>> schemas;
  std::vector<std::vector<std::string>>
      fields;  // copies of the schemas' names, which the program may free
};

std::mutex mutex;
std::vector<recorded_range> ranges;
thread_local std::vector<std::size_t> open;

// NVTX's own numbers begin above this one.
constexpr std::uint64_t first_schema = 1u << 24;

domain& domain_of(nvtxDomainHandle_t handle) { return *reinterpret_cast<domain*>(handle); }

nvtxDomainHandle_t create(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new domain{name, {}, {}});
}

std::uint64_t add_schema(nvtxDomainHandle_t of, const nvtxPayloadSchemaAttr_t* schema) {
  const std::lock_guard lock(mutex);
  domain& d = domain_of(of);
  d.schemas.emplace_back(schema->entries, schema->entries + schema->numEntries);
  d.fields.emplace_back();
  for (const nvtxPayloadSchemaEntry_t& e : d.schemas.back()) d.fields.back().emplace_back(e.name);
  return first_schema + d.schemas.size() - 1;
}

int push(nvtxDomainHandle_t in, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(mutex);
  const domain& d = domain_of(in);
  recorded_range r;
  r.domain = d.name;
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) r.message = event->message.ascii;
  r.depth = static_cast<int>(open.size());
  if (event->payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    const auto* const given = reinterpret_cast<const nvtxPayloadData_t*>(
        static_cast<std::uintptr_t>(event->payload.ullValue));
    for (int k = 0; k < event->reserved0; ++k) {
      const std::size_t schema = given[k].schemaId - first_schema;
      for (std::size_t i = 0; i < d.fields.at(schema).size(); ++i) {
        const nvtxPayloadSchemaEntry_t& e = d.schemas[schema][i];
        if (e.type != NVTX_PAYLOAD_ENTRY_TYPE_INT64 ||
            e.offset + sizeof(std::int64_t) > given[k].size)
          continue;
        std::int64_t value = 0;
        std::memcpy(&value, static_cast<const unsigned char*>(given[k].payload) + e.offset,
                    sizeof value);
        r.payload.emplace_back(d.fields[schema][i], value);
      }
    }
  }
  open.push_back(ranges.size());
  ranges.push_back(std::move(r));
  return static_cast<int>(open.size()) - 1;
}
int pop(nvtxDomainHandle_t) {
  const std::lock_guard lock(mutex);
  if (open.empty()) return NVTX_NO_PUSH_POP_TRACKING;
  ranges[open.back()].is_closed = true;
  open.pop_back();
  return static_cast<int>(open.size());
}

template <class Function>
NvtxFunctionPointer as_pointer(Function f) {
  return reinterpret_cast<NvtxFunctionPointer>(f);
}

}  // namespace

extern "C" {

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0)
    return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = as_pointer(&create);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = as_pointer(&push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = as_pointer(&pop);
  return 1;
}

// Exported explicitly: its parameter's type is hidden by NVTX, and the function would be hidden
// with it.
__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  if (module->moduleId == NVTX_EXT_PAYLOAD_MODULEID)
    module->segments->functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
        reinterpret_cast<std::intptr_t>(&add_schema);
  return 1;
}

const std::vector<recorded_range>* recorded_ranges() { return &ranges; }
}
