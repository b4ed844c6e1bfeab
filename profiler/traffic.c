// traffic.c -- finds operands by the stamps that earlier ops left on their storages.
#include "profiler/traffic.h"

#include "tensor/context.h"

// ---- sums ------------------------------------------------------------------------------------
static void add_level(LevelTraffic *to, const LevelTraffic *more) {
    to->read += more->read;
    to->written += more->written;
    to->allocated += more->allocated;
}

void traffic_add(Traffic *to, const Traffic *more) {
    for (int team = 0; team < TEAM_COUNT; team++) {
        for (int i = 0; i < MACHINE_MAX_LEVELS; i++)
            add_level(&to->level[team][i], &more->level[team][i]);
        add_level(&to->other[team], &more->other[team]);
        to->slow[team].roots += more->slow[team].roots;
        to->slow[team].divisions += more->slow[team].divisions;
    }
    to->flops_alone += more->flops_alone;
}

void traffic_add_op(Traffic *to, const OpTraffic *op, const OpCost *cost) {
    for (int i = 0; i < MACHINE_MAX_LEVELS; i++) add_level(&to->level[op->team][i], &op->level[i]);
    add_level(&to->other[op->team], &op->other);
    to->slow[op->team].roots += op->slow.roots;
    to->slow[op->team].divisions += op->slow.divisions;
    if (op->team == TEAM_ONE) to->flops_alone += op_cost_total_flops(*cost);
}

uint64_t traffic_bytes(const Traffic *traffic, int level) {
    uint64_t bytes = 0;
    for (int team = 0; team < TEAM_COUNT; team++)
        bytes += traffic->level[team][level].read + traffic->level[team][level].written;
    return bytes;
}

// ---- teams -----------------------------------------------------------------------------------
// Whose threads a PROFILE_KERNEL has, which has no operands, is not known: all that there are.
static bool on_host(const OpCall *call) {
    const Tensor *t = call->n_out ? call->out[0] : call->n_in ? call->in[0] : NULL;
    return t && t->device->on_host && t->device->has_data;
}

Team team_of_call(const OpCall *call, int64_t handed) {
    return handed > 0 || context_current()->threads < 2 || !on_host(call) ? TEAM_ALL : TEAM_ONE;
}

// ---- where operands were ---------------------------------------------------------------------
// By level, what operands hold; then shared out as the op's own count of bytes.
typedef struct Found {
    const Machine *machine;
    OpTraffic *op;
    int first, last; // levels that have any
    bool reads_mutated;
} Found;

typedef struct Way { // which ways the bytes of an operand go
    bool read, written;
} Way;

static LevelTraffic moved(Way way, uint64_t bytes) {
    return (LevelTraffic){.read = way.read ? bytes : 0,
                          .written = way.written ? bytes : 0,
                          .allocated = way.written && !way.read ? bytes : 0};
}

static void add_found(Found *found, int level, Way way, uint64_t bytes) {
    const LevelTraffic more = moved(way, bytes);
    add_level(&found->op->level[level], &more);
    if (level < found->first) found->first = level;
    if (level > found->last) found->last = level;
}

// Touched by one thread and now by all, or the other way: a share of it lies near.
static void find_operand(Found *found, uint64_t distance, Team before, Way way, uint64_t bytes) {
    int level = machine_level(found->machine, found->op->team, distance);
    int threads = found->machine->threads;
    uint64_t near = bytes;
    if (before != found->op->team && threads > 1) {
        int shared = machine_shared_level(found->machine);
        if (level < shared) near = bytes / (uint64_t)threads;
        if (near < bytes) {
            const LevelTraffic other = moved(way, bytes - near);
            add_level(&found->op->other, &other);
            add_found(found, shared, way, bytes - near);
        }
    }
    add_found(found, level, way, near);
}

// An element-wise op may write where it reads.
static bool is_output(const OpCall *call, const Storage *storage) {
    for (int i = 0; i < call->n_out; i++)
        if (call->out[i]->storage == storage) return true;
    return false;
}

// Does it read what it mutates? An assign and a fill are given what they overwrite: all that they
// read are the others.
static bool reads_what_it_mutates(const OpCall *call, const OpCost *cost) {
    uint64_t others = 0;
    if (!call->op->mutates) return false;
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i] && !call->op->mutates(call, i))
            others += (uint64_t)tensor_distinct_bytes(call->in[i]);
    return cost->bytes_read > others;
}

static Way way_of(const Found *found, const OpCall *call, int operand) {
    if (operand >= call->n_in) return (Way){operand == call->n_in && call->adds, true};
    bool mutated = call->op->mutates && call->op->mutates(call, operand);
    return (Way){!mutated || found->reads_mutated,
                 mutated || is_output(call, call->in[operand]->storage)};
}

// What an op that walks all operands side by side has under way: of what is updated in place one
// copy.
static uint64_t bytes_side_by_side(const Found *found, const OpCall *call, const OpCost *cost) {
    uint64_t twice = call->adds ? (uint64_t)tensor_distinct_bytes(call->out[0]) : 0;
    for (int i = 0; i < call->n_in; i++) {
        Way way = call->in[i] ? way_of(found, call, i) : (Way){0};
        if (way.read && way.written) twice += (uint64_t)tensor_distinct_bytes(call->in[i]);
    }
    uint64_t most = cost->bytes_written;
    return cost->bytes_read + cost->bytes_written - (twice < most ? twice : most);
}

// A stamp says when an op was over, and whose it was; that an operand was touched a while before,
// and how long it takes to come around to its end, is its span: of a product, which keeps what it
// reads in blocks, its own bytes.
static void find_operands(Found *found, const OpCall *call, const OpCost *cost) {
    uint64_t *counter = &context_current()->ledger->traffic, start = *counter;
    uint64_t together = bytes_side_by_side(found, call, cost);
    uint64_t all = cost->bytes_read + cost->bytes_written;
    for (int i = 0; i < call->n_in + call->n_out; i++) {
        const Tensor *t = i < call->n_in ? call->in[i] : call->out[i - call->n_in];
        if (!t || t->storage->traffic > start) continue; // absent, or an operand twice
        Way way = way_of(found, call, i);
        uint64_t last = t->storage->traffic, size = (uint64_t)tensor_distinct_bytes(t);
        if (all > 0 && size > all) size = all; // of a table some rows
        uint64_t span = cost->macs > 0 ? size : together;
        // Of what nobody touched nothing is near; on the meta device, whose times are bounds, all.
        uint64_t distance = last ? start - last + span : t->device->has_data ? UINT64_MAX : span;
        find_operand(found, distance, (Team)t->storage->team, way, size);
        *counter += size;
        t->storage->traffic = start + 1; // moved to the end of the op below
    }
    for (int i = 0; i < call->n_in + call->n_out; i++) {
        const Tensor *t = i < call->n_in ? call->in[i] : call->out[i - call->n_in];
        if (!t) continue;
        t->storage->traffic = *counter + 1;
        t->storage->team = (uint8_t)found->op->team;
    }
    *counter += 1; // so that a stamp is never 0, and never the next op's start
}

// all * part / total, without the division where it is plain: most ops have all at one level.
static uint64_t part_of(uint64_t all, uint64_t part, uint64_t total) {
    if (part == 0 || part == total) return part ? all : 0;
    return (uint64_t)((double)all * (double)part / (double)total);
}

// Never more than is left.
static uint64_t share(uint64_t all, uint64_t part, uint64_t total, uint64_t *left) {
    uint64_t given = part_of(all, part, total);
    if (given > *left) given = *left; // beyond 2^53 a quotient may round up
    *left -= given;
    return given;
}

// What was found there counts as `level` of `here` does.
static void share_other(LevelTraffic *other, const LevelTraffic *level, const LevelTraffic *here) {
    other->read = part_of(level->read, other->read, here->read);
    other->written = part_of(level->written, other->written, here->written);
    other->allocated = part_of(level->allocated, other->allocated, here->allocated);
}

void traffic_of_call(const Machine *machine, Team team, const OpCall *call, const OpCost *cost,
                     OpTraffic *traffic) {
    *traffic = (OpTraffic){.slow = op_slow(call), .team = team};
    Found found = {.machine = machine,
                   .op = traffic,
                   .first = machine->n_levels,
                   .reads_mutated = reads_what_it_mutates(call, cost)};
    if (context_current()->ledger) find_operands(&found, call, cost);
    LevelTraffic total = {0};
    uint64_t reads = cost->bytes_read, writes = cost->bytes_written;
    int shared = machine_shared_level(machine);
    for (int i = found.first; i <= found.last; i++) add_level(&total, &traffic->level[i]);
    for (int i = found.first; i <= found.last; i++) {
        LevelTraffic *level = &traffic->level[i];
        const LevelTraffic here = *level;
        level->read = share(cost->bytes_read, here.read, total.read, &reads);
        level->written = share(cost->bytes_written, here.written, total.written, &writes);
        level->allocated = part_of(level->written, here.allocated, here.written);
        if (i == shared) share_other(&traffic->other, level, &here);
    }
    LevelTraffic *last = &traffic->level[machine->n_levels - 1];
    last->read += reads; // what rounding left, and a kernel without operands
    last->written += writes;
}
