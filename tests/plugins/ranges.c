// ranges.c -- an NVTX tool as a profiler is one, loaded by NVTX itself if NVTX_INJECTION64_PATH
// names it: keeps the names of the ranges that were pushed, and their depth.
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RANGES = 1000, NAME = 64 };
static char names[MOST_RANGES][NAME];
static int count, depth;

// For the test, found by dlsym. NULL: there were fewer.
const char *ranges_name(int index);
const char *ranges_name(int index) { return index < count ? names[index] : NULL; }
int ranges_depth(void); // number pushed and not yet popped
int ranges_depth(void) { return depth; }

static nvtxDomainHandle_t create(const char *name) {
    return strcmp(name, "ridgepoint") == 0 ? (nvtxDomainHandle_t)&names : NULL;
}

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes) {
    if (domain == (nvtxDomainHandle_t)&names && count < MOST_RANGES)
        snprintf(names[count++], NAME, "%s", attributes->message.ascii);
    return depth++;
}

static int pop(nvtxDomainHandle_t domain) {
    (void)domain;
    return --depth;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    unsigned size;
    NvtxFunctionTable table;
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
