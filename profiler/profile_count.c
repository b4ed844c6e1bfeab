// profile_count.c -- counts of a step, as it ran and as a dry run predicts it, layer by layer.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/profile_parts.h"
#include "tensor/memory.h"

static const char *const phase_names[REPORT_COUNT] = {"forward",        "backward",
                                                      "backward_input", "backward_weight",
                                                      "optimizer",      "step"};

const char *report_phase_name(ReportPhase phase) {
    return (unsigned)phase < REPORT_COUNT ? phase_names[phase] : "?";
}

ReportPhase profile_report_phase(Phase phase) {
    static const ReportPhase of[PHASE_COUNT] = {REPORT_FORWARD, REPORT_BACKWARD,
                                                REPORT_BACKWARD_INPUT, REPORT_BACKWARD_WEIGHT,
                                                REPORT_OPTIMIZER};
    return of[phase];
}

double profile_intensity(OpCost cost) {
    uint64_t bytes = cost.bytes_read + cost.bytes_written;
    return bytes ? (double)op_cost_total_flops(cost) / (double)bytes : (double)NAN;
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
                          ProfileMemory *memory) {
    StepTimes ignored;
    step_record_start(record, machine);
    record->only_traffic = true; // what the first step leaves in the caches, the second finds there
    Status status = work_step(work, &ignored);
    record->only_traffic = false;
    ledger_reset_peak(context_current()->ledger);
    memory->start = context_current()->ledger->live;
    if (!status) status = work_step(work, &ignored);
    step_record_stop(record);
    if (!status) status = record->status;
    if (status) return status;
    describe_peak(context_current(), memory);
    memory->saved_bytes = 0;
    for (int i = 0; i < record->n_saved; i++) memory->saved_bytes += record->saved_bytes[i];
    return status;
}

// ---- the profile's layers --------------------------------------------------------------------
static int64_t parameters_of(const Layer *model, const void *owner) {
    if (model == owner) return layer_own_parameter_count(model);
    for (int i = 0; i < model->n_children; i++) {
        int64_t found = parameters_of(model->children[i], owner);
        if (found >= 0) return found;
    }
    return -1; // not in this subtree
}

static ProfileLayer layer_of_site(int site, const StepRecord *record, const Layer *model) {
    const Context *context = context_current();
    ProfileLayer layer = {.input = {.ndim = -1}, .output = {.ndim = -1}};
    site_path(context, site, layer.path, sizeof(layer.path));
    const Site *s = site >= 0 ? &context->sites[site] : NULL;
    snprintf(layer.type, sizeof(layer.type), "%s", s ? s->type : "");
    int64_t parameters = s ? parameters_of(model, s->owner) : 0;
    layer.parameters = parameters > 0 ? parameters : 0;
    layer.saved_bytes = site + 1 < record->n_saved ? record->saved_bytes[site + 1] : 0;
    return layer;
}

static void add_op(ProfilePhase *phase, const OpRecord *op) {
    cost_add(&phase->cost, op->cost);
    level_bytes_add(phase->level_bytes, op->level_bytes);
    phase->ops++;
}

// To its phase, to the step, and from the parts of backward to backward.
static void add_to_phases(ProfilePhase phases[REPORT_COUNT], const OpRecord *op) {
    ReportPhase phase = profile_report_phase(op->phase);
    add_op(&phases[phase], op);
    add_op(&phases[REPORT_STEP], op);
    if (phase == REPORT_BACKWARD_INPUT || phase == REPORT_BACKWARD_WEIGHT)
        add_op(&phases[REPORT_BACKWARD], op);
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

// A layer for each site that ran an op, in the order of their first; layer_of is by site + 1.
static Status take_layers(Profile *profile, const StepRecord *record, const Layer *model,
                          int *layer_of) {
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
            profile->layers[profile->n_layers++] = layer_of_site(op->site, record, model);
        take_op(profile, op, layer);
    }
    return STATUS_OK;
}

static Status take_memory(Profile *profile, const StepRecord *record, const int *layer_of,
                          int n_sites) {
    profile->memory_events = memory_new((size_t)record->n_memory * sizeof(ProfileMemoryEvent));
    if (!profile->memory_events) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < record->n_memory; i++) {
        int site = record->memory[i].site;
        int layer = site + 1 < n_sites ? layer_of[site + 1] : -1;
        profile->memory_events[i] = (ProfileMemoryEvent){record->memory[i], layer};
    }
    profile->n_memory_events = record->n_memory;
    return STATUS_OK;
}

static void take_uncounted(Profile *profile) {
    bool seen[OP_COUNT] = {false};
    for (int64_t i = 0; i < profile->n_ops; i++) {
        const Op *op = profile->ops[i].record.op;
        if (op->cost || seen[op->id]) continue;
        seen[op->id] = true;
        profile->uncounted[profile->n_uncounted++] = op->name;
    }
}

Status profile_take_counts(Profile *profile, const StepRecord *record, const Layer *model) {
    int n_sites = context_current()->n_sites + 1;
    int *layer_of = memory_new((size_t)n_sites * sizeof(int));
    if (!layer_of) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < n_sites; i++) layer_of[i] = -1;
    Status status = take_layers(profile, record, model, layer_of);
    if (!status) status = take_memory(profile, record, layer_of, n_sites);
    if (!status) take_uncounted(profile);
    memory_free(layer_of);
    return status;
}

// ---- predicted = executed --------------------------------------------------------------------
typedef struct CountName {
    const char *name;
    size_t offset; // in OpCost, a uint64_t
} CountName;

static const CountName counts[] = {
    {"macs", offsetof(OpCost, macs)},
    {"bias_flops", offsetof(OpCost, bias_flops)},
    {"elementwise_flops", offsetof(OpCost, elementwise_flops)},
    {"transcendental_flops", offsetof(OpCost, transcendental_flops)},
    {"bytes_read", offsetof(OpCost, bytes_read)},
    {"bytes_written", offsetof(OpCost, bytes_written)},
};

static uint64_t count_at(const OpCost *cost, const CountName *count) {
    return *(const uint64_t *)(const void *)((const char *)cost + count->offset);
}

static void differ(Profile *profile, const char *where, const char *phase, const char *what,
                   int64_t predicted, int64_t executed) {
    if (!profile->reconciled) return; // the first difference is the one to look at
    profile->reconciled = false;
    snprintf(profile->difference, sizeof(profile->difference),
             "%s %s: %s: predicted %lld, executed %lld", where, phase, what, (long long)predicted,
             (long long)executed);
}

static const ProfileLayer *layer_by_path(const Profile *profile, const char *path) {
    for (int i = 0; i < profile->n_layers; i++)
        if (strcmp(profile->layers[i].path, path) == 0) return &profile->layers[i];
    return NULL;
}

static void compare_layer(Profile *profile, const ProfileLayer *executed,
                          const ProfileLayer *predicted) {
    if (!predicted) {
        differ(profile, executed->path, "step", "ops", 0, executed->phase[REPORT_STEP].ops);
        return;
    }
    for (int p = 0; p < REPORT_COUNT; p++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            uint64_t a = count_at(&predicted->phase[p].cost, &counts[c]);
            uint64_t b = count_at(&executed->phase[p].cost, &counts[c]);
            if (a != b)
                differ(profile, executed->path, report_phase_name((ReportPhase)p), counts[c].name,
                       (int64_t)a, (int64_t)b);
        }
    if (predicted->saved_bytes != executed->saved_bytes)
        differ(profile, executed->path, "forward", "saved_bytes", predicted->saved_bytes,
               executed->saved_bytes);
}

// Layer by layer, so that the difference names one; then all ops, and the peak.
static void reconcile(Profile *profile, const Profile *predicted) {
    profile->reconciled = true;
    if (predicted->n_layers != profile->n_layers)
        differ(profile, "model", "step", "call sites", predicted->n_layers, profile->n_layers);
    for (int i = 0; i < profile->n_layers; i++)
        compare_layer(profile, &profile->layers[i],
                      layer_by_path(predicted, profile->layers[i].path));
    if (predicted->n_ops != profile->n_ops)
        differ(profile, "model", "step", "ops", predicted->n_ops, profile->n_ops);
    const MemoryUse *a = &profile->predicted.peak, *b = &profile->measured.peak;
    for (int c = 0; c < MEM_COUNT; c++)
        if (a->category[c] != b->category[c])
            differ(profile, "memory at the peak", memory_category_name((MemoryCategory)c), "bytes",
                   a->category[c], b->category[c]);
}

// ---- the dry run -----------------------------------------------------------------------------
// The same work over a resident batch that is larger by `more` samples, in the dry context.
static Status dry_work_begin(const Work *like, OptimizerConfig config, Shape out, int64_t more,
                             Work *work) {
    *work = (Work){.kind = like->kind, .model = like->model};
    Shape shape = tensor_shape(like->x);
    if (out.ndim > 0 && shape.ndim > 0 && out.dims[0] == shape.dims[0]) out.dims[0] += more;
    if (shape.ndim > 0) shape.dims[0] += more;
    work->x = tensor_new_as(shape, (DType)like->x->dtype, like->x->storage->category);
    if (!work->x) return error_status();
    if ((like->x->flags & TENSOR_LEAF_GRAD) && tensor_requires_grad(work->x, true))
        return error_status();
    if (like->labels) {
        Shape rows = tensor_shape(like->labels);
        rows.dims[0] += more;
        work->labels =
            tensor_new_as(rows, (DType)like->labels->dtype, like->labels->storage->category);
        if (!work->labels) return error_status();
    }
    return work_begin(work, config, out);
}

static void dry_work_end(Work *work) {
    work_end(work);
    tensor_free(work->x);
    tensor_free(work->labels);
}

static Status dry_step(const Work *like, OptimizerConfig config, Shape out, int64_t more,
                       ProfileMemory *memory, Profile *to_reconcile) {
    Context *context = dry_run_begin(like->model);
    if (!context) return error_status();
    Work work;
    StepRecord record = {0};
    Profile predicted = {0};
    Status status = dry_work_begin(like, config, out, more, &work);
    if (!status) status = profile_count_step(&work, NULL, &record, memory);
    if (!status && to_reconcile) status = profile_take_counts(&predicted, &record, work.model);
    if (!status && to_reconcile) reconcile(to_reconcile, &predicted);
    profile_free(&predicted);
    step_record_free(&record);
    dry_work_end(&work);
    dry_run_end(context);
    return status;
}

Status profile_predict_peak(const Work *work, OptimizerConfig config, Shape out, int64_t more,
                            ProfileMemory *memory) {
    return dry_step(work, config, out, more, memory, NULL);
}

static Status dry_inference(const Work *like, int64_t *bytes) {
    ProfileMemory memory;
    Work work = *like;
    work.kind = PROFILE_INFERENCE; // which has no labels
    work.labels = NULL;
    Status status = profile_predict_peak(&work, (OptimizerConfig){0}, SHAPE_SCALAR, 0, &memory);
    if (!status) *bytes = memory.peak.total;
    return status;
}

Status profile_predict(const Work *work, OptimizerConfig config, Shape out, Profile *profile) {
    ProfileMemory larger;
    Status status = dry_step(work, config, out, 0, &profile->predicted, profile);
    if (!status) status = profile_predict_peak(work, config, out, 1, &larger);
    if (status) return status;
    profile->bytes_per_sample = larger.peak.total - profile->predicted.peak.total;
    layer_train(work->model, false);
    status = dry_inference(work, &profile->inference_bytes);
    layer_train(work->model, work->kind != PROFILE_INFERENCE);
    return status;
}
