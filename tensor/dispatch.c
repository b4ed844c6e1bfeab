// dispatch.c -- runs one op: check, infer, allocate, execute, record, observe. This is the hot path
// of the engine; `make bench` measures its cost (row "dispatch").
#include <string.h>

#include "tensor/given.h"
#include "tensor/handle.h"
#include "tensor/ops.h"
#include "tensor/shadow.h"

enum { DENSE_MAX = 8 }; // a call with more inputs gets no contiguous copies: it refuses views

// ---- checks ----------------------------------------------------------------------------------
static bool signature_matches(const DTypeSignature *signature, const OpCall *call) {
    for (int i = 0; i < call->n_in; i++) {
        int k = i < signature->n_in ? i : signature->n_in - 1;
        if (call->in[i] && call->in[i]->dtype != signature->in[k]) return false;
    }
    return true;
}

static Status check_dtypes(const OpCall *call) {
    const Op *op = call->op;
    int n;
    const DTypeSignature *first = op_dtypes(op, &n);
    for (int s = 0; s < n; s++)
        if (signature_matches(&first[s], call)) return STATUS_OK;
    for (int i = 0; i < call->n_in; i++) {
        DType wanted = (DType)first->in[i < first->n_in ? i : first->n_in - 1];
        if (call->in[i] && call->in[i]->dtype != wanted)
            return op_error(call, STATUS_DTYPE, "input %d is %s. HINT: it takes %s", i,
                            dtype_name(call->in[i]->dtype), dtype_name(wanted));
    }
    return op_error(
        call, STATUS_DTYPE,
        "this combination of element types is not supported. HINT: see the op's dtypes");
}

static Status bad_input(const OpCall *call, int i) {
    const Tensor *t = call->in[i];
    if (!t)
        return op_error(call, STATUS_INVALID_ARGUMENT, "input %d is NULL. HINT: it is not optional",
                        i);
    if (t->flags & TENSOR_UNSAVED)
        return op_error(call, STATUS_STATE,
                        "backward reads input %d, which was not saved. HINT: declare it in the "
                        "op's `saves`",
                        i);
    return op_error(call, STATUS_STATE, "input %d has been freed. HINT: tensor_keep it", i);
}

// Only float32 results have gradients, whatever they were computed from.
static inline bool wants_gradient(const Recorder *recorder, const Tensor *t) {
    bool recorded = t->origin && t->origin->recorder == recorder;
    return (t->flags & TENSOR_LEAF_GRAD) || (recorded && t->dtype == DTYPE_FLOAT32);
}

// Whether a preset output would lose its own gradient, or its graph.
static bool writes_into_graph(const Recorder *recorder, const OpCall *call) {
    for (int i = 0; recorder && i < OP_MAX_OUTPUTS; i++)
        if (call->out[i] && wants_gradient(recorder, call->out[i])) return true;
    return false;
}

// Whether it writes one of these inputs in place. An op without a gradient, such as a step, counts
// as a whole; an op with one may change inputs outside the graph, such as running statistics.
static bool writes_one_of(const OpCall *call, uint64_t inputs) {
    const Op *op = call->op;
    if (!op->mutates || !inputs) return false;
    if (!op->backward) return true;
    while (inputs)
        if (op->mutates(call, bit_take(&inputs))) return true;
    return false;
}

static uint64_t views_among(const OpCall *call) {
    uint64_t views = 0;
    for (int i = 0; i < call->n_in && i < 64; i++)
        if (call->in[i] && !(call->in[i]->flags & TENSOR_CONTIGUOUS)) views |= (uint64_t)1 << i;
    return views;
}

// Checks that every input is present, alive and on one device; finds those that need gradients.
static Status check_inputs(Context *context, OpCall *call, bool *dense) {
    const Op *op = call->op;
    int least = op->n_inputs ? op->n_inputs : op->least_inputs;
    if (call->n_in < least || (op->n_inputs && call->n_in > least))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "takes %s %d inputs, got %d. HINT: see its descriptor",
                        op->n_inputs ? "exactly" : "at least", least, call->n_in);
    const Recorder *recorder = context->no_grad ? NULL : context->recorder;
    Device *device = NULL;
    uint64_t needs = 0;
    unsigned flags = TENSOR_CONTIGUOUS, other_types = 0;
    for (int i = 0; i < call->n_in; i++) {
        const Tensor *t = call->in[i];
        if (!t && i < 32 && (op->optional >> i & 1)) continue;
        if (!t || (t->flags & TENSOR_UNSAVED) || !t->storage) return bad_input(call, i);
        flags &= t->flags;
        other_types |= t->dtype ^ DTYPE_FLOAT32;
        if (device && t->device != device)
            return op_error(
                call, STATUS_DEVICE,
                "inputs are on %s and %s. HINT: context_set_device before they are made",
                device->name, t->device->name);
        device = t->device;
        bool wanted = recorder && wants_gradient(recorder, t);
        if (wanted && i < 64)
            needs |= (uint64_t)1 << i;
        else if (wanted && op->backward)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "only the first 64 inputs can have gradients. HINT: join them in "
                            "groups");
    }
    if (call->n_in == 0 || !call->in[0])
        return op_error(
            call, STATUS_INVALID_ARGUMENT,
            "the first input is absent, which says where it runs. HINT: it is not NULL");
    if (call->adds && (!(op->flags & OP_ADDS) || !call->out[0]))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "it does not add, or there is no output to add to. HINT: OP_ADDS");
    call->needs_grad = op->backward ? needs : 0;
    *dense = (flags & TENSOR_CONTIGUOUS) || (op->flags & (OP_STRIDED | OP_VIEW));
    if ((needs && call->out[0]) || writes_one_of(call, needs) || writes_into_graph(recorder, call))
        return op_error(call, STATUS_STATE,
                        "writes in place what needs a gradient. HINT: put it "
                        "between no_grad_begin and no_grad_end");
    if (!*dense && (call->n_in > DENSE_MAX || writes_one_of(call, views_among(call))))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "needs contiguous inputs. HINT: tensor_contiguous copies a view");
    bool plain = !other_types && (!op->dtypes || op->whole); // the usual case
    return plain ? STATUS_OK : check_dtypes(call);
}

// Copies strided inputs, for kernels that walk memory straight. The copy is an op of its own.
static Status make_dense(const OpCall *call, Tensor *copies[DENSE_MAX]) {
    Status status = STATUS_OK;
    for (int i = 0; i < call->n_in; i++) {
        copies[i] = call->in[i] ? tensor_contiguous(call->in[i]) : NULL;
        if (call->in[i] && !copies[i]) status = error_status();
    }
    return status;
}

// ---- outputs ---------------------------------------------------------------------------------
static Status allocate_outputs(OpCall *call) {
    for (int i = 0; i < call->n_out; i++) {
        Tensor *out = call->out[i];
        if (!out)
            return op_error(call, STATUS_STATE,
                            "infer makes no output %d, but a later one. HINT: count from 0", i);
        if (out->storage) continue;
        if (call->op->flags & OP_VIEW)
            out->storage = storage_retain(call->in[0]->storage);
        else if (handle_allocate(out, MEM_ACTIVATION))
            return STATUS_OUT_OF_MEMORY;
    }
    return STATUS_OK;
}

static void bump_versions(const OpCall *call, unsigned preset) {
    const Op *op = call->op;
    for (int i = 0; preset >> i; i++)
        if (preset >> i & 1) call->out[i]->storage->version++;
    if (!op->mutates) return;
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i] && op->mutates(call, i)) call->in[i]->storage->version++;
}

static Status undo(OpCall *call, unsigned preset, Status status) {
    for (int i = 0; i < OP_MAX_OUTPUTS; i++) {
        if (call->out[i] && !(preset >> i & 1)) tensor_release(call->out[i]);
        call->out[i] = NULL;
    }
    return status;
}

// ---- the kernel ------------------------------------------------------------------------------
// Temporary memory lives as long as its kernel.
static Status run_with_workspace(Context *context, Device *device, OpCall *call) {
    Device *target = context->target ? context->target : device;
    int64_t bytes = target->workspace(target, call); // bytes of float32
    if (!device->has_data) bytes = bytes / 4 * precision_bytes(context->precision);
    Storage *storage = bytes ? storage_new(device, bytes, MEM_WORKSPACE) : NULL;
    if (bytes && !storage) return STATUS_OUT_OF_MEMORY;
    call->workspace = storage ? storage->data : NULL;
    Status status = device->has_data ? device->run(device, call) : STATUS_OK;
    call->workspace = NULL;
    storage_release(storage);
    return status;
}

static Status run_kernel(Context *context, OpCall *call) {
    Device *device = call->n_out ? call->out[0]->device : call->in[0]->device;
    if (call->op->flags & OP_WORKSPACE) return run_with_workspace(context, device, call);
    return device->has_data ? device->run(device, call) : STATUS_OK;
}

Status op_run_again(const OpCall *call) {
    if (!GIVEN(call)) return STATUS_INVALID_ARGUMENT;
    OpCall again = *call;
    return run_kernel(context_current(), &again);
}

// ---- the op ----------------------------------------------------------------------------------
static Status execute(Context *context, OpCall *call, unsigned preset) {
    const Op *op = call->op;
    if (!op->infer || !op->name)
        return op_error(call, STATUS_NOT_IMPLEMENTED,
                        "has no infer, or no name. HINT: a descriptor has both");
    Status status = op->infer(call);
    if (status) return status;
    const char *outer = context->running;
    context->running = op->name;
    status = allocate_outputs(call);
    if (!status && !(op->flags & OP_VIEW)) {
        if (op->flags & OP_RANDOM) {
            call->params.seed = context->random.seed;
            call->params.offset = random_reserve(&context->random, call->params.count);
        }
        status = run_kernel(context, call);
        if (!status) bump_versions(call, preset);
    }
    context->running = outer;
    if (!status && call->needs_grad && call->n_out)
        status = context->recorder->record(context->recorder, call);
    return status;
}

static Status observe_and_execute(Context *context, OpCall *call, unsigned preset) {
    for (Observer *o = context->observers; o; o = o->next)
        if (o->op_begin) o->op_begin(o, call);
    Status status = execute(context, call, preset);
    if (status && !context->error.status)
        op_error(call, status, "failed, and does not say why. HINT: op_error before a status");
    if (status) undo(call, preset, status);
    for (Observer *o = context->observers; o; o = o->next)
        if (o->op_end) o->op_end(o, call);
    return status;
}

Status op_dispatch(OpCall *call) {
    if (!GIVEN(call)) return STATUS_INVALID_ARGUMENT;
    Context *context = context_current();
    unsigned preset = 0; // bit i: output i is preset, to be written into
    for (int i = 0; i < OP_MAX_OUTPUTS; i++) preset |= call->out[i] ? 1u << i : 0;
    if (!call->in && call->n_in > 0)
        return undo(call, preset,
                    error_set(STATUS_INVALID_ARGUMENT,
                              "%s: there are no inputs. HINT: an array of tensors",
                              call->op->name));
    if (context->shadows && shadow_has_strangers(call)) return shadow_dispatch(call);
    if (context->error.status) return undo(call, preset, context->error.status);
    bool dense = true;
    Tensor *copies[DENSE_MAX], **given = call->in;
    Status status = check_inputs(context, call, &dense);
    if (status) return undo(call, preset, status);
    if (!dense) {
        status = make_dense(call, copies);
        call->in = copies;
    }
    if (!status) status = observe_and_execute(context, call, preset);
    call->in = given;
    for (int i = 0; !dense && i < call->n_in; i++) // the tape keeps the copies it needs
        if (copies[i] && copies[i] != given[i]) tensor_release(copies[i]);
    return status ? undo(call, preset, status) : STATUS_OK;
}

// Sets field by field: gcc clears a literal in a loop of its own (`rep stos`), which takes a sixth
// of the time of a small op.
static inline void call_begin(OpCall *call, const Op *op, const OpParams *params,
                              Tensor *const in[], int n_in) {
    static const OpParams none;
    call->op = op;
    call->in = (Tensor **)in;
    call->n_in = n_in;
    for (int i = 0; i < OP_MAX_OUTPUTS; i++) call->out[i] = NULL;
    call->n_out = 0;
    call->adds = false;
    call->needs_grad = 0;
    call->params = *(params ? params : &none);
    call->workspace = NULL;
}

Tensor *op_run(const Op *op, const OpParams *params, Tensor *const in[], int n_in) {
    if (!GIVEN(op)) return NULL;
    OpCall call;
    call_begin(&call, op, params, in, n_in);
    return op_dispatch(&call) ? NULL : call.out[0];
}

// Index of the input whose gradient a backward rule puts in this slot; -1: not such a slot.
static int input_of_slot(const Context *context, Tensor **slot) {
    Tensor **first = context->backward_slots;
    bool within = first && slot >= first && slot < first + context->backward_count;
    return within ? (int)(slot - first) : -1;
}

// Work written to grad_in[i] of a backward rule counts as input or weight gradient, depending on
// in[i]; all other work of a rule counts as plain backward.
static Phase phase_of_slot(const Context *context, const Op *op, Tensor **slot) {
    if (context->phase != PHASE_BACKWARD || (op->flags & OP_UNATTRIBUTED)) return context->phase;
    int input = input_of_slot(context, slot);
    if (input < 0) return context->phase;
    return context->backward_weights >> input & 1 ? PHASE_BACKWARD_WEIGHT : PHASE_BACKWARD_INPUT;
}

static Status run_into(OpCall *call, Tensor **const slots[], int n_slots) {
    Context *context = context_current();
    Phase before = context->phase;
    context->phase = phase_of_slot(context, call->op, slots[0]);
    for (int i = 0; i < n_slots; i++) call->out[i] = *slots[i];
    Status status = op_dispatch(call);
    for (int i = 0; i < n_slots && !status; i++) *slots[i] = call->out[i];
    context->phase = before;
    return status;
}

Status op_run_into_each(Tensor **const slots[], int n_slots, const Op *op, const OpParams *params,
                        Tensor *const in[], int n_in) {
    if (!GIVEN(slots) || !GIVEN(op)) return STATUS_INVALID_ARGUMENT;
    OpCall call;
    call_begin(&call, op, params, in, n_in);
    return run_into(&call, slots, n_slots);
}

Status op_run_into(Tensor **slot, const Op *op, const OpParams *params, Tensor *const in[],
                   int n_in) {
    if (!GIVEN(slot) || !GIVEN(op)) return STATUS_INVALID_ARGUMENT;
    return op_run_into_each(&slot, 1, op, params, in, n_in);
}

Status op_run_adding(Tensor **slot, const Op *op, const OpParams *params, Tensor *const in[],
                     int n_in) {
    if (!GIVEN(slot) || !GIVEN(op)) return STATUS_INVALID_ARGUMENT;
    const Context *context = context_current();
    int input = op->flags & OP_ADDS ? input_of_slot(context, slot) : -1;
    Recorder *recorder = context->recorder;
    Tensor *sum = input >= 0 ? recorder->gradient_so_far(recorder, input) : NULL;
    if (sum) *slot = sum;
    OpCall call;
    call_begin(&call, op, params, in, n_in);
    call.adds = sum != NULL;
    return run_into(&call, &slot, 1);
}
