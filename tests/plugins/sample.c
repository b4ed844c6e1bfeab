// sample.c -- a plug-in without CUDA, opened by test_plugin.c. SAMPLE_PLUGIN selects its behaviour:
// "other": like one of another build; "refuses": finds no GPU; else it opens.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/plugin.h"

static bool behaves(const char *how) {
    const char *asked = getenv("SAMPLE_PLUGIN");
    return asked && strcmp(asked, how) == 0;
}

uint64_t ridgepoint_plugin_abi(void);
uint64_t ridgepoint_plugin_abi(void) { return plugin_abi() + behaves("other"); }

Status ridgepoint_plugin_open(const PluginHost *host, Device **device, char *about, size_t size);
Status ridgepoint_plugin_open(const PluginHost *host, Device **device, char *about, size_t size) {
    static Device sample = {.name = "cuda"};
    char where[64];
    if (behaves("other")) abort(); // must not be called
    host->where(where, sizeof where);
    if (behaves("refuses"))
        return host->error_set(STATUS_DEVICE, "cuda: nothing in %s. HINT: look elsewhere", where);
    snprintf(about, size, "a sample with %d threads", host->threads());
    *device = &sample;
    return STATUS_OK;
}
