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
    if (!ledger->peak_op) {
        snprintf(memory->peak_op, sizeof(memory->peak_op), "the start of the step");
        return;
    }
    snprintf(memory->peak_op, sizeof(memory->peak_op), "%s in %s (%s)", ledger->peak_op,
             site_path(context, ledger->peak_site, path, sizeof(path)),
             phase_name((Phase)ledger->peak_phase));
}

Status profile_count_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                          const Machine *machine, CostTable *table, ProfileMemory *memory) {
    StepTimes ignored;
    cost_table_start(table, machine);
    table->only_traffic = true; // what the first step leaves in the caches, the second finds there
    Status status = profile_step(model, optimizer, x, labels, &ignored);
    table->only_traffic = false;
    ledger_reset_peak(context_current()->ledger);
    if (!status) status = profile_step(model, optimizer, x, labels, &ignored);
    cost_table_stop(table);
    if (!status) status = table->status;
    if (status) return status;
    describe_peak(context_current(), memory);
    memory->saved_bytes = 0;
    for (int i = 0; i < table->count; i++) memory->saved_bytes += table->rows[i].saved_bytes;
    return status;
}

// ---- the profile's layers --------------------------------------------------------------------
static void add_phase(ProfilePhase *phase, const OpCost *cost, const uint64_t *level_bytes,
                      int64_t ops) {
    cost_add(&phase->cost, *cost);
    for (int i = 0; i < MACHINE_MAX_LEVELS; i++) phase->level_bytes[i] += level_bytes[i];
    phase->ops += ops;
}

static void take_row(ProfileLayer *layer, const CostRow *row) {
    for (int p = 0; p < PHASE_COUNT; p++) {
        if (row->calls[p] == 0) continue;
        ReportPhase phase = profile_report_phase((Phase)p);
        bool part = phase == REPORT_BACKWARD_INPUT || phase == REPORT_BACKWARD_WEIGHT;
        const ReportPhase to[3] = {phase, REPORT_STEP, REPORT_BACKWARD};
        for (int k = 0; k < (part ? 3 : 2); k++)
            add_phase(&layer->phase[to[k]], &row->cost[p], row->level_bytes[p], row->calls[p]);
    }
    layer->saved_bytes = row->saved_bytes;
    layer->input = row->has_forward ? row->input : (Shape){.ndim = -1};
    layer->output = row->has_forward ? row->output : (Shape){.ndim = -1};
}

static int64_t parameters_of(const Layer *model, const void *owner) {
    if (model == owner) return layer_own_parameter_count(model);
    for (int i = 0; i < model->n_children; i++) {
        int64_t found = parameters_of(model->children[i], owner);
        if (found >= 0) return found;
    }
    return -1; // not in this subtree
}

static void take_site(ProfileLayer *layer, int site, const Layer *model) {
    const Context *context = context_current();
    site_path(context, site, layer->path, sizeof(layer->path));
    const Site *s = site >= 0 ? &context->sites[site] : NULL;
    snprintf(layer->type, sizeof(layer->type), "%s", s ? s->type : "");
    int64_t parameters = s ? parameters_of(model, s->owner) : 0;
    layer->parameters = parameters > 0 ? parameters : 0;
}

Status profile_take_counts(Profile *profile, const CostTable *table, const Layer *model) {
    profile->layers = memory_new((size_t)table->count * sizeof(ProfileLayer));
    if (!profile->layers) return STATUS_OUT_OF_MEMORY;
    profile->n_layers = table->count;
    for (int i = 0; i < table->count; i++) {
        ProfileLayer *layer = &profile->layers[i];
        take_site(layer, table->rows[i].site, model);
        take_row(layer, &table->rows[i]);
        for (int p = 0; p < REPORT_COUNT; p++)
            add_phase(&profile->totals[p], &layer->phase[p].cost, layer->phase[p].level_bytes,
                      layer->phase[p].ops);
    }
    for (int op = 0; op < OP_COUNT; op++)
        if (table->uncounted_ops[op])
            profile->uncounted[profile->n_uncounted++] = op_by_id(op)->name;
    return STATUS_OK;
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

static const CostRow *row_by_path(const CostTable *table, const char *path) {
    char other[96];
    for (int i = 0; i < table->count; i++)
        if (strcmp(site_path(context_current(), table->rows[i].site, other, sizeof(other)), path) ==
            0)
            return &table->rows[i];
    return NULL;
}

static void compare_layer(Profile *profile, const ProfileLayer *executed, const CostRow *row) {
    ProfileLayer predicted = {0};
    if (row) take_row(&predicted, row);
    for (int p = 0; p < REPORT_COUNT; p++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            uint64_t a = count_at(&predicted.phase[p].cost, &counts[c]);
            uint64_t b = count_at(&executed->phase[p].cost, &counts[c]);
            if (a != b)
                differ(profile, executed->path, report_phase_name((ReportPhase)p), counts[c].name,
                       (int64_t)a, (int64_t)b);
        }
    if (predicted.saved_bytes != executed->saved_bytes)
        differ(profile, executed->path, "forward", "saved_bytes", predicted.saved_bytes,
               executed->saved_bytes);
}

void profile_reconcile(Profile *profile, const CostTable *table) {
    profile->reconciled = true;
    if (table->count != profile->n_layers)
        differ(profile, "model", "step", "call sites", table->count, profile->n_layers);
    for (int i = 0; i < profile->n_layers; i++)
        compare_layer(profile, &profile->layers[i], row_by_path(table, profile->layers[i].path));
    const MemoryUse *a = &profile->predicted.peak, *b = &profile->measured.peak;
    for (int c = 0; c < MEM_COUNT; c++)
        if (a->category[c] != b->category[c])
            differ(profile, "memory at the peak", memory_category_name((MemoryCategory)c), "bytes",
                   a->category[c], b->category[c]);
}

// ---- the dry run -----------------------------------------------------------------------------
typedef struct DryBatch { // the resident batch of a dry run
    Tensor *x, *labels;
} DryBatch;

static Status dry_batch_new(const Tensor *x, const Tensor *labels, int64_t more, DryBatch *batch) {
    Shape shape = tensor_shape(x), rows = tensor_shape(labels);
    shape.dims[0] += more;
    rows.dims[0] += more;
    batch->x = tensor_new_as(shape, (DType)x->dtype, x->storage->category);
    if (batch->x && (x->flags & TENSOR_LEAF_GRAD) && tensor_requires_grad(batch->x, true))
        return error_status();
    batch->labels = tensor_new_as(rows, (DType)labels->dtype, labels->storage->category);
    return batch->labels ? STATUS_OK : error_status();
}

static void dry_batch_free(DryBatch *batch) {
    tensor_free(batch->x);
    tensor_free(batch->labels);
}

// Counts a step in a dry run, over a batch that is larger by `more` samples.
static Status dry_step(Layer *model, OptimizerConfig config, const Tensor *x, const Tensor *labels,
                       int64_t more, ProfileMemory *memory, Profile *to_reconcile) {
    Context *context = dry_run_begin(model);
    if (!context) return error_status();
    DryBatch batch = {0};
    CostTable table = {0};
    Optimizer *optimizer = NULL;
    Status status = dry_batch_new(x, labels, more, &batch);
    if (!status) optimizer = optimizer_new(model, config);
    if (!status && !optimizer) status = error_status();
    if (!status)
        status = profile_count_step(model, optimizer, batch.x, batch.labels, NULL, &table, memory);
    if (!status && to_reconcile) profile_reconcile(to_reconcile, &table);
    cost_table_free(&table);
    optimizer_free(optimizer);
    dry_batch_free(&batch);
    dry_run_end(context);
    return status;
}

static Status dry_inference(Layer *model, const Tensor *x, const Tensor *labels, int64_t *bytes) {
    Context *context = dry_run_begin(model);
    if (!context) return error_status();
    DryBatch batch = {0};
    Status status = dry_batch_new(x, labels, 0, &batch);
    if (!status) {
        tensor_free(batch.labels); // inference has none
        batch.labels = NULL;
        ledger_reset_peak(context->ledger);
        no_grad_begin();
        Scope *scope = scope_open();
        layer_forward(model, batch.x);
        scope_close(scope);
        no_grad_end();
        status = error_status();
        *bytes = context->ledger->peak.total;
    }
    dry_batch_free(&batch);
    dry_run_end(context);
    return status;
}

Status profile_predict(Layer *model, OptimizerConfig optimizer, const Tensor *x,
                       const Tensor *labels, Profile *profile) {
    ProfileMemory larger;
    Status status = dry_step(model, optimizer, x, labels, 0, &profile->predicted, profile);
    if (!status) status = dry_step(model, optimizer, x, labels, 1, &larger, NULL);
    if (status) return status;
    profile->bytes_per_sample = larger.peak.total - profile->predicted.peak.total;
    layer_train(model, false);
    status = dry_inference(model, x, labels, &profile->inference_bytes);
    layer_train(model, true);
    return status;
}
