// tape.c -- records ops in the order they ran, which is an order in which backward can walk.
#include "autograd/tape.h"

#include <stdatomic.h>
#include <string.h>

#include "tensor/memory.h"

// Tensors name their node by generation and index, so an old name finds nothing, never a wrong
// node. One counter for the process: a context, and its tensors, may move between threads. Only the
// numbers' being different matters, so the order of memory does not; 0 means "on no tape".
static uint32_t next_generation(void) {
    static atomic_uint_least32_t last;
    uint32_t generation = 0;
    while (generation == 0)
        generation = (uint32_t)atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return generation;
}

Tape *tape_current(void) { return (Tape *)context_current()->recorder; }

// ---- what is saved ---------------------------------------------------------------------------
// A storage counts the saves of one tape, the first to save it. Another tape that saves it
// meanwhile (a dry run in the middle of a step) keeps a list of its own; nearly always it is empty.
static SharedSave *find_shared(const Tape *tape, const Storage *storage) {
    for (int i = 0; i < tape->n_shared; i++)
        if (tape->shared[i].storage == storage) return &tape->shared[i];
    return NULL;
}

static Status reserve_shared(Tape *tape) {
    if (tape->n_shared + NODE_SAVES <= tape->shared_capacity) return STATUS_OK;
    int capacity = tape->shared_capacity ? 2 * tape->shared_capacity : 2 * NODE_SAVES;
    SharedSave *shared =
        memory_resize(tape->shared, (size_t)tape->shared_capacity * sizeof(SharedSave),
                      (size_t)capacity * sizeof(SharedSave));
    if (!shared) return STATUS_OUT_OF_MEMORY;
    tape->shared = shared;
    tape->shared_capacity = capacity;
    return STATUS_OK;
}

// How often this tape saves the storage: the place of the count, ready to be raised.
static int *count_to_raise(Tape *tape, Storage *storage) {
    SharedSave *shared = tape->n_shared ? find_shared(tape, storage) : NULL;
    if (shared) return &shared->saves;
    if (storage->saves == 0) storage->saver = tape;
    if (storage->saver == tape) return &storage->saves;
    shared = &tape->shared[tape->n_shared++];
    *shared = (SharedSave){.storage = storage};
    return &shared->saves;
}

// True when that was this tape's last save of it.
static bool lower_count(Tape *tape, Storage *storage) {
    SharedSave *shared = tape->n_shared ? find_shared(tape, storage) : NULL;
    if (shared) {
        if (--shared->saves > 0) return false;
        *shared = tape->shared[--tape->n_shared];
        return true;
    }
    if (--storage->saves > 0) return false;
    storage->saver = NULL;
    return true;
}

static void save(Context *context, Tape *tape, Node *node, Tensor *tensor) {
    tensor_own(tensor);
    Storage *storage = tensor->storage;
    if ((*count_to_raise(tape, storage))++ > 0) return;
    if (storage->category == MEM_ACTIVATION) tape->saved_bytes += storage->bytes;
    for (Observer *o = context->observers; o; o = o->next)
        if (o->saved) o->saved(o, storage, node->site);
}

static void unsave(Tape *tape, Tensor *tensor) {
    Storage *storage = tensor->storage;
    if (lower_count(tape, storage) && storage->category == MEM_ACTIVATION)
        tape->saved_bytes -= storage->bytes;
    tensor_disown(tensor);
}

// ---- nodes -----------------------------------------------------------------------------------
static Status grow(Tape *tape) {
    int capacity = tape->capacity ? 2 * tape->capacity : 64;
    Node *nodes = memory_resize(tape->nodes, (size_t)tape->capacity * sizeof(Node),
                                (size_t)capacity * sizeof(Node));
    if (!nodes) return STATUS_OUT_OF_MEMORY;
    tape->nodes = nodes;
    tape->capacity = capacity;
    return STATUS_OK;
}

static Status record(Recorder *self, OpCall *call) {
    Tape *tape = (Tape *)self;
    if (!memory_request()) return error_set(STATUS_OUT_OF_MEMORY, "tape: no room for a node");
    if (tape->count == tape->capacity && grow(tape)) return STATUS_OUT_OF_MEMORY;
    if (reserve_shared(tape)) return STATUS_OUT_OF_MEMORY;
    Node *node = &tape->nodes[tape->count];
    Context *context = context_current();
    node->many = NULL;
    if (call->n_in > NODE_INPUTS) {
        size_t n = (size_t)call->n_in;
        node->many = memory_new(n * (sizeof(Tensor *) + sizeof(uint32_t)));
        if (!node->many) return STATUS_OUT_OF_MEMORY;
        node->many_versions = (uint32_t *)(void *)(node->many + n);
    }
    node->call = *call;
    node->saved = call->op->saves ? call->op->saves(call) : 0;
    node->site = context->site;
    for (int i = 0; i < OP_MAX_OUTPUTS; i++) node->grad[i] = NULL;
    Tensor **in = node_inputs(node);
    for (int i = 0; i < call->n_in; i++) {
        in[i] = call->in[i];
        if (!in[i]) continue;
        tensor_refer(in[i]);
        if (!(node->saved & SAVE_IN(i))) continue;
        node_versions(node)[i] = in[i]->storage->version;
        save(context, tape, node, in[i]);
    }
    for (int i = 0; i < call->n_out; i++) {
        Tensor *out = call->out[i];
        out->tape_generation = self->generation;
        out->node = (uint32_t)tape->count;
        out->node_output = (uint8_t)i;
        tensor_refer(out);
        if (!(node->saved & SAVE_OUT(i))) continue;
        node->out_version[i] = out->storage->version;
        save(context, tape, node, out);
    }
    tape->count++;
    return STATUS_OK;
}

void tape_drop_node(Tape *tape, Node *node) {
    if (!node->call.op) return; // dropped already
    Tensor **in = node_inputs(node);
    for (int i = 0; i < node->call.n_in; i++) {
        if (in[i] && (node->saved & SAVE_IN(i))) unsave(tape, in[i]);
        if (in[i]) tensor_unrefer(in[i]);
    }
    for (int i = 0; i < node->call.n_out; i++) {
        if (node->saved & SAVE_OUT(i)) unsave(tape, node->call.out[i]);
        if (node->grad[i]) tensor_disown(node->grad[i]);
        node->grad[i] = NULL;
        tensor_unrefer(node->call.out[i]);
    }
    memory_free(node->many);
    node->many = NULL;
    node->call.op = NULL;
}

void tape_clear(Tape *tape) {
    for (int i = tape->count - 1; i >= 0; i--) tape_drop_node(tape, &tape->nodes[i]);
    tape->count = 0;
    tape->recorder.generation = next_generation();
}

static void tape_free(Recorder *self) {
    Tape *tape = (Tape *)self;
    tape_clear(tape);
    memory_free(tape->nodes);
    memory_free(tape->shared);
    memory_free(tape);
}

Status autograd_enable(void) {
    Context *context = context_current();
    if (context->recorder) return STATUS_OK;
    Tape *tape = memory_new(sizeof(Tape));
    if (!tape) return STATUS_OUT_OF_MEMORY;
    tape->recorder =
        (Recorder){.record = record, .free = tape_free, .generation = next_generation()};
    context->recorder = &tape->recorder;
    return STATUS_OK;
}

void autograd_clear(void) {
    Tape *tape = tape_current();
    if (tape) tape_clear(tape);
}

int64_t autograd_saved_bytes(void) {
    Tape *tape = tape_current();
    return tape ? tape->saved_bytes : 0;
}

int autograd_node_count(void) {
    Tape *tape = tape_current();
    return tape ? tape->count : 0;
}
