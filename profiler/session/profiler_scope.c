// profiler_scope.c -- implements PROFILE_SCOPE and PROFILE_KERNEL: a user's call site and op,
// announced to observers. Without observers they do nothing.
#include "profiler/session/profiler.h"
#include "tensor/given.h"

ProfileScope profile_scope_begin(const char *name) {
    ProfileScope scope = {.once = true};
    if (!context_current()->observers || !name) return scope;
    scope.entered = true;
    scope.previous = site_enter(0, name, "scope"); // scopes differ only by name
    return scope;
}

void profile_scope_end(ProfileScope *scope) {
    if (!GIVEN(scope)) return;
    if (scope->entered) site_leave(scope->previous);
}

// ---- kernels ---------------------------------------------------------------------------------
OpCost profile_kernel_cost(const OpCall *call) {
    if (!GIVEN(call)) return (OpCost){0};
    return (OpCost){.elementwise_flops = (uint64_t)call->params.shape.dims[0],
                    .bytes_read = (uint64_t)call->params.shape.dims[1]};
}

static bool countable(const Op *op, uint64_t flops, uint64_t bytes) {
    if (flops <= INT64_MAX && bytes <= INT64_MAX) return true;
    error_set(STATUS_OVERFLOW,
              "%s: a kernel of %llu FLOPs and %llu bytes. HINT: an expression that overflowed or "
              "is negative? Multiply as (uint64_t), or as double",
              op->name, (unsigned long long)flops, (unsigned long long)bytes);
    return false;
}

// The user's code runs even with an error pending, as it would without the macro.
ProfileKernel profile_kernel_begin(const Op *op, uint64_t flops, uint64_t bytes) {
    Context *context = context_current();
    ProfileKernel kernel = {.once = context->device->has_data};
    if (!context->observers || !countable(op, flops, bytes)) return kernel;
    kernel.announced = true;
    kernel.call.op = op;
    kernel.call.params.shape = SHAPE((int64_t)flops, (int64_t)bytes);
    kernel.outer = context->running;
    for (Observer *o = context->observers; o; o = o->next)
        if (o->op_begin) o->op_begin(o, &kernel.call);
    context->running = op->name;
    return kernel;
}

void profile_kernel_end(ProfileKernel *kernel) {
    if (!GIVEN(kernel)) return;
    if (!kernel->announced) return;
    Context *context = context_current();
    context->running = kernel->outer;
    for (Observer *o = context->observers; o; o = o->next)
        if (o->op_end) o->op_end(o, &kernel->call);
}
