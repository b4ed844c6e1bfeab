// profile_count.c -- counts of a step by layer, for a real step or a dry run.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/map.h"
#include "profiler/measure/profile_parts.h"
#include "tensor/given.h"
#include "tensor/memory.h"

static const char *const phase_names[REPORT_COUNT] = {
    "forward", "backward", "backward_input", "backward_weight", "recompute", "optimizer", "step"};

const char *report_phase_name(ReportPhase phase) {
    return (unsigned)phase < REPORT_COUNT ? phase_names[phase] : "?";
}

ReportPhase profile_report_phase(Phase phase) {
    static const ReportPhase of[PHASE_COUNT] = {REPORT_FORWARD,        REPORT_BACKWARD,
                                                REPORT_BACKWARD_INPUT, REPORT_BACKWARD_WEIGHT,
                                                REPORT_RECOMPUTE,      REPORT_OPTIMIZER};
    return of[phase];
}

double profile_intensity(OpCost cost) {
    uint64_t bytes = cost.bytes_read + cost.bytes_written;
    return bytes ? (double)op_cost_total_flops(cost) / (double)bytes : (double)NAN;
}

double profile_flops_per_parameter(const Profile *profile) {
    if (!GIVEN(profile)) return (double)NAN;
    double flops = (double)op_cost_total_flops(profile->totals[REPORT_FORWARD].cost);
    bool none = profile->parameters < 1 || profile->units < 1;
    return none ? (double)NAN : flops / (double)profile->parameters / (double)profile->units;
}

// ---- one counted step ------------------------------------------------------------------------
static void describe_peak(const Context *context, ProfileMemory *memory) {
    const Ledger *ledger = context->ledger;
    char path[96];
    memory->peak = ledger->peak;
    if (ledger->peak.total == memory->start.total) {
        snprintf(memory->peak_op, sizeof(memory->peak_op), "the start of the step");
        return;
    }
    snprintf(memory->peak_op, sizeof(memory->peak_op), "%s in %s (%s)",
             ledger->peak_op ? ledger->peak_op : "between ops",
             site_path(context, ledger->peak_site, path, sizeof(path)),
             phase_name((Phase)ledger->peak_phase));
}

Status profile_count_step(const Work *work, const Machine *machine, StepRecord *record,
                          ProfileMemory *memory, StepTimes times[2]) {
    step_record_start(record, machine);
    record->only_traffic = true; // the second step finds the cache state of the first
    Status status = work_step(work, &times[0]);
    record->only_traffic = false;
    ledger_reset_peak(context_current()->ledger);
    memory->start = context_current()->ledger->live;
    if (!status) status = work_step(work, &times[1]);
    step_record_stop(record);
    if (!status) status = record->status;
    if (status) return status;
    describe_peak(context_current(), memory);
    memory->saved_bytes = 0;
    for (int i = 0; i < record->n_saved; i++) { // per batch: the next one keeps as much again
        record->saved_bytes[i] /= work_batches(work);
        memory->saved_bytes += record->saved_bytes[i];
    }
    return status;
}

// ---- the profile's layers --------------------------------------------------------------------
static ProfileLayer layer_of_site(int site, const StepRecord *record) {
    const Context *context = context_current();
    ProfileLayer layer = {.input = {.ndim = -1}, .output = {.ndim = -1}};
    site_path(context, site, layer.path, sizeof(layer.path));
    const Site *s = site >= 0 ? &context->sites[site] : NULL;
    snprintf(layer.type, sizeof(layer.type), "%s", s ? s->type : "");
    layer.saved_bytes = site + 1 < record->n_saved ? record->saved_bytes[site + 1] : 0;
    return layer;
}

static void add_op(ProfilePhase *phase, const OpRecord *op) {
    cost_add(&phase->cost, op->cost);
    traffic_add_op(&phase->traffic, &op->traffic, &op->cost);
    phase->ops++;
}

// Adds an op to its phase, to the step, and for parts of backward to backward.
static void add_to_phases(ProfilePhase phases[REPORT_COUNT], const OpRecord *op) {
    ReportPhase phase = profile_report_phase(op->phase);
    add_op(&phases[phase], op);
    add_op(&phases[REPORT_STEP], op);
    if (report_part_of_backward(phase)) add_op(&phases[REPORT_BACKWARD], op);
}

static void take_op(Profile *profile, const OpRecord *op, int layer) {
    ProfileLayer *to = &profile->layers[layer];
    profile->ops[profile->n_ops++] = (ProfileOp){.record = *op, .layer = layer};
    add_to_phases(to->phase, op);
    add_to_phases(profile->totals, op);
    if (op->phase != PHASE_FORWARD || op->out.ndim < 0) return;
    if (to->input.ndim < 0) to->input = op->in[0];
    to->output = op->out;
}

// Makes a layer for each site with ops, in the order of first ops; layer_of: by site + 1.
static Status take_layers(Profile *profile, const StepRecord *record, int *layer_of) {
    int n = 0;
    for (int64_t i = 0; i < record->n_ops; i++) {
        int *layer = &layer_of[record->ops[i].site + 1];
        if (*layer < 0) *layer = n++;
    }
    profile->layers = memory_new((size_t)n * sizeof(ProfileLayer));
    profile->ops = memory_new((size_t)record->n_ops * sizeof(ProfileOp));
    if (!profile->layers || !profile->ops) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < record->n_ops; i++) {
        const OpRecord *op = &record->ops[i];
        int layer = layer_of[op->site + 1];
        if (layer == profile->n_layers)
            profile->layers[profile->n_layers++] = layer_of_site(op->site, record);
        take_op(profile, op, layer);
    }
    return STATUS_OK;
}

typedef struct Owners { // owners of parameters
    Profile *profile;
    Map layers; // the profile's layers, by serial number of the layer that first ran there
    Map seen;   // parameters already assigned
} Owners;

// Turns a number into a key of a map, which compares addresses.
static const void *key_of(uint64_t serial) { return (const void *)(uintptr_t)serial; }

static Status find_layers(Owners *owners, const int *layer_of) {
    const Context *context = context_current();
    for (int i = 0; i < context->n_sites; i++) {
        uint64_t serial = context->sites[i].owner;
        int layer = layer_of[i + 1];
        if (serial == 0 || layer < 0) continue;
        if (map_add(&owners->layers, key_of(serial), &owners->profile->layers[layer], NULL))
            return STATUS_OUT_OF_MEMORY;
    }
    return STATUS_OK;
}

// Counts each parameter once, so that layers sum to the model: at the first call of the first layer
// that holds it, or, if no op ran there, at the enclosing layer. `around` NULL: none.
static Status take_parameters(Owners *owners, const Layer *layer, ProfileLayer *around) {
    ProfileLayer *own = map_find(&owners->layers, key_of(layer->serial));
    Status status = STATUS_OK;
    if (!own) own = around;
    for (int i = 0; i < layer->n_parameters && !status; i++) {
        const Tensor *tensor = layer->parameters[i].tensor;
        bool is_new;
        status = map_add(&owners->seen, tensor, NULL, &is_new);
        if (is_new && own) own->parameters += tensor->numel;
    }
    for (int i = 0; i < layer->n_children && !status; i++)
        status = take_parameters(owners, layer->children[i], own);
    return status;
}

static Status give_parameters(Profile *profile, const Layer *model, const int *layer_of) {
    Owners owners = {.profile = profile};
    ProfileLayer *root = layer_of[0] >= 0 ? &profile->layers[layer_of[0]] : NULL;
    Status status = find_layers(&owners, layer_of);
    if (!status) status = take_parameters(&owners, model, root);
    map_clear(&owners.layers);
    map_clear(&owners.seen);
    return status;
}

static Status take_memory(Profile *profile, const StepRecord *record, const int *layer_of,
                          int n_sites) {
    profile->memory_events = memory_new((size_t)record->n_memory * sizeof(ProfileMemoryEvent));
    if (!profile->memory_events) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < record->n_memory; i++) {
        int site = record->memory[i].site;
        int layer = site + 1 < n_sites ? layer_of[site + 1] : -1;
        profile->memory_events[i] = (ProfileMemoryEvent){record->memory[i], layer};
        profile->allocations += record->memory[i].delta > 0;
    }
    profile->n_memory_events = record->n_memory;
    return STATUS_OK;
}

static void take_uncounted(Profile *profile) {
    for (int64_t i = 0; i < profile->n_ops; i++) {
        const OpRecord *record = &profile->ops[i].record;
        const Op *op = record->op;
        bool known = op_is_counted(op, &record->params);
        for (int k = 0; !known && k < profile->n_uncounted; k++)
            known = strcmp(profile->uncounted[k], op->name) == 0;
        if (!known && profile->n_uncounted < PROFILE_UNCOUNTED)
            profile->uncounted[profile->n_uncounted++] = op->name;
    }
}

Status profile_take_counts(Profile *profile, const StepRecord *record, const Layer *model) {
    int n_sites = context_current()->n_sites + 1;
    int *layer_of = memory_new((size_t)n_sites * sizeof(int));
    if (!layer_of) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < n_sites; i++) layer_of[i] = -1;
    Status status = take_layers(profile, record, layer_of);
    if (!status) status = give_parameters(profile, model, layer_of);
    if (!status) status = take_memory(profile, record, layer_of, n_sites);
    if (!status) take_uncounted(profile);
    memory_free(layer_of);
    return status;
}
