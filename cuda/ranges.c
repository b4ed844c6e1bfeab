// ranges.c -- a named range around each op, for tools that read NVTX (Nsight Systems, Nsight
// Compute): "fc1/linear/forward". Built if the toolkit has NVTX's headers; it needs no library.
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <string.h>

#include "cuda/cuda.h"

// Gives NULL without a tool: NVTX then has no implementation behind the call.
void cuda_ranges_open(CudaDevice *cuda) { cuda->ranges = nvtxDomainCreateA("ridgepoint"); }

void cuda_range_begin(CudaDevice *cuda, const OpCall *call) {
    char where[128], name[192]; // "fc1, forward"
    cuda->host->where(where, sizeof where);
    const char *phase = strrchr(where, ',');
    int path = phase ? (int)(phase - where) : (int)strlen(where);
    snprintf(name, sizeof name, "%.*s/%s/%s", path, where, call->op->name, phase ? phase + 2 : "");
    nvtxEventAttributes_t attributes = {.version = NVTX_VERSION,
                                        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                        .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                        .message.ascii = name};
    nvtxDomainRangePushEx(cuda->ranges, &attributes);
}

void cuda_range_end(CudaDevice *cuda) { nvtxDomainRangePop(cuda->ranges); }
