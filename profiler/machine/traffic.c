// traffic.c -- finds the operands an op touches, and the level of memory they come from (reuse.h).
#include "profiler/machine/traffic.h"

#include "tensor/context.h"
#include "tensor/given.h"
#include "tensor/memory.h"

// ---- sums ------------------------------------------------------------------------------------
static void add_level(LevelTraffic *to, const LevelTraffic *more) {
    to->read += more->read;
    to->written += more->written;
    to->allocated += more->allocated;
}

void traffic_add(Traffic *to, const Traffic *more) {
    if (!GIVEN(to) || !GIVEN(more)) return;
    for (int team = 0; team < TEAM_COUNT; team++) {
        for (int i = 0; i < MACHINE_MAX_LEVELS; i++)
            add_level(&to->level[team][i], &more->level[team][i]);
        to->slow[team].roots += more->slow[team].roots;
        to->slow[team].divisions += more->slow[team].divisions;
    }
    to->flops_alone += more->flops_alone;
    to->handoffs += more->handoffs;
}

void traffic_add_op(Traffic *to, const OpTraffic *op, const OpCost *cost) {
    if (!GIVEN(to) || !GIVEN(op) || !GIVEN(cost)) return;
    for (int i = 0; i < MACHINE_MAX_LEVELS; i++) add_level(&to->level[op->team][i], &op->level[i]);
    to->slow[op->team].roots += op->slow.roots;
    to->slow[op->team].divisions += op->slow.divisions;
    to->handoffs += op->handoffs;
    if (op->team == TEAM_ONE) to->flops_alone += op_cost_total_flops(*cost);
}

uint64_t traffic_bytes(const Traffic *traffic, int level) {
    if (!GIVEN(traffic)) return 0;
    uint64_t bytes = 0;
    for (int team = 0; team < TEAM_COUNT; team++)
        bytes += traffic->level[team][level].read + traffic->level[team][level].written;
    return bytes;
}

// ---- teams -----------------------------------------------------------------------------------
// A user's kernel that does not tell how it divides its work counts as run by all threads, and so
// does one on a card. An op on the meta device counts as if it ran on the host.
static void find_team(const OpCall *call, OpTouched *touched) {
    const Op *op = call->op;
    const Tensor *t = call->n_out ? call->out[0] : call->n_in ? call->in[0] : NULL;
    bool known = op->id || op->row || op->work || op->handoffs;
    bool card = t && t->device->has_data && !t->device->on_host;
    touched->team = TEAM_ALL;
    if (!t || card || !known || context_current()->threads < 2) return;
    touched->handoffs = op_handoffs(call);
    if (touched->handoffs == 0) touched->team = TEAM_ONE;
}

// ---- what is touched -------------------------------------------------------------------------
// True if the op writes to this storage: an element-wise op may work in place.
static bool is_output(const OpCall *call, const Storage *storage) {
    for (int i = 0; i < call->n_out; i++)
        if (call->out[i]->storage == storage) return true;
    return false;
}

// True if the op reads what it mutates. Assign and fill get the tensor that they overwrite as an
// input, but read only the other inputs.
static bool reads_what_it_mutates(const OpCall *call, const OpCost *cost) {
    uint64_t others = 0;
    if (!call->op->mutates) return false;
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i] && !call->op->mutates(call, i))
            others += (uint64_t)tensor_distinct_bytes(call->in[i]);
    return cost->bytes_read > others;
}

static Touch touch_of(const Tensor *t, uint64_t most) {
    const Storage *storage = t->storage;
    uint64_t bytes = (uint64_t)tensor_distinct_bytes(t);
    if (most > 0 && bytes > most) bytes = most; // only some rows of a table
    return (Touch){.block = storage->data ? (uintptr_t)storage->data : (uintptr_t)storage,
                   .bytes = bytes,
                   .near = !t->device->has_data};
}

OpTouched traffic_touched(const OpCall *call, const OpCost *cost, Touch *touches) {
    if (!GIVEN(call) || !GIVEN(cost) || !GIVEN(touches)) return (OpTouched){0};
    OpTouched op = {.slow = op_slow(call)};
    find_team(call, &op);
    bool reads_mutated = reads_what_it_mutates(call, cost);
    uint64_t all = cost->bytes_read + cost->bytes_written;
    uint64_t in_place = 0; // in-place operands count once
    for (int i = 0; i < call->n_in; i++) {
        const Tensor *t = call->in[i];
        if (!t) continue;
        bool mutated = call->op->mutates && call->op->mutates(call, i);
        Touch touch = touch_of(t, all);
        touch.read = !mutated || reads_mutated;
        touch.written = mutated || is_output(call, t->storage);
        if (touch.read && touch.written) in_place += touch.bytes;
        touches[op.n_touches++] = touch;
    }
    for (int i = 0; i < call->n_out; i++) {
        Touch touch = touch_of(call->out[i], all);
        touch.read = i == 0 && call->adds;
        touch.written = true;
        if (touch.read) in_place += touch.bytes;
        touches[op.n_touches++] = touch;
    }
    if (in_place > cost->bytes_written) in_place = cost->bytes_written;
    op.under_way = cost->macs > 0 ? 0 : all - in_place;
    return op;
}

// ---- where it was ----------------------------------------------------------------------------
// Bytes of operands by level, later distributed as the op's own count of bytes.
typedef struct Found {
    const Machine *machine;
    OpTraffic *op;
    int first, last; // range of levels with bytes
} Found;

static void add_found(Found *found, int level, Touch touch, uint64_t bytes) {
    const LevelTraffic more = {.read = touch.read ? bytes : 0,
                               .written = touch.written ? bytes : 0,
                               .allocated = touch.written && !touch.read ? bytes : 0};
    add_level(&found->op->level[level], &more);
    if (level < found->first) found->first = level;
    if (level > found->last) found->last = level;
}

// If the team changed between one thread and all, only a share of the operand is near.
static void add_part(Found *found, int level, bool others, Touch touch, uint64_t bytes) {
    int threads = found->machine->threads;
    uint64_t near = bytes;
    if (others && threads > 1) {
        int shared = machine_shared_level(found->machine);
        if (level < shared) near = bytes / (uint64_t)threads;
        if (near < bytes) add_found(found, shared, touch, bytes - near);
    }
    add_found(found, level, touch, near);
}

static void find_operand(Found *found, Reuse *reuse, const OpTouched *op, Touch touch) {
    ReusePlace was = reuse_touch(reuse, touch.block, op->team, touch.bytes);
    if (was.again) return;
    int last = found->machine->n_levels - 1;
    int level = was.seen ? was.level : touch.near ? 0 : last;
    int least =
        machine_level(found->machine, op->team, op->under_way ? op->under_way : touch.bytes);
    int next = level < last ? level + 1 : last; // holds the rest
    bool others = was.seen && was.team != op->team;
    uint64_t farther = was.farther < touch.bytes ? was.farther : touch.bytes;
    if (touch.bytes > farther)
        add_part(found, level > least ? level : least, others, touch, touch.bytes - farther);
    if (farther) add_part(found, next > least ? next : least, others, touch, farther);
}

// all * part / total, without the division in the plain case: most ops have all at one level.
static uint64_t part_of(uint64_t all, uint64_t part, uint64_t total) {
    if (part == 0 || part == total) return part ? all : 0;
    return (uint64_t)((double)all * (double)part / (double)total);
}

// Returns a share, at most what is left.
static uint64_t share(uint64_t all, uint64_t part, uint64_t total, uint64_t *left) {
    uint64_t given = part_of(all, part, total);
    if (given > *left) given = *left; // beyond 2^53 a quotient may round up
    *left -= given;
    return given;
}

void traffic_find(Reuse *reuse, const OpTouched *op, const Touch *touches, const OpCost *cost,
                  OpTraffic *traffic) {
    if (!GIVEN(reuse) || !GIVEN(op) || !GIVEN(cost) || !GIVEN(traffic)) return;
    const Machine *machine = reuse_machine(reuse);
    *traffic = (OpTraffic){.slow = op->slow, .handoffs = op->handoffs, .team = op->team};
    Found found = {.machine = machine, .op = traffic, .first = machine->n_levels};
    for (int i = 0; i < op->n_touches; i++)
        if (touches[i].bytes > 0) find_operand(&found, reuse, op, touches[i]);
    reuse_end_op(reuse);
    LevelTraffic total = {0};
    uint64_t reads = cost->bytes_read, writes = cost->bytes_written;
    for (int i = found.first; i <= found.last; i++) add_level(&total, &traffic->level[i]);
    for (int i = found.first; i <= found.last; i++) {
        LevelTraffic *level = &traffic->level[i];
        const LevelTraffic here = *level;
        level->read = share(cost->bytes_read, here.read, total.read, &reads);
        level->written = share(cost->bytes_written, here.written, total.written, &writes);
        level->allocated = part_of(level->written, here.allocated, here.written);
    }
    LevelTraffic *last = &traffic->level[machine->n_levels - 1];
    last->read += reads; // remainders of rounding, and kernels without operands
    last->written += writes;
}

Status traffic_of_call(Reuse *reuse, const OpCall *call, const OpCost *cost, OpTraffic *traffic) {
    if (!GIVEN(reuse) || !GIVEN(call) || !GIVEN(cost) || !GIVEN(traffic))
        return STATUS_INVALID_ARGUMENT;
    enum { FEW = 16 };
    Touch few[FEW], *touches = few;
    size_t n = (size_t)(call->n_in + call->n_out);
    if (n > FEW) touches = memory_new(n * sizeof(Touch));
    if (!touches) return STATUS_OUT_OF_MEMORY;
    OpTouched op = traffic_touched(call, cost, touches);
    traffic_find(reuse, &op, touches, cost, traffic);
    if (n > FEW) memory_free(touches);
    return STATUS_OK;
}
