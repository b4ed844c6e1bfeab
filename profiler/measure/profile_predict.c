// profile_predict.c -- predicts a step's costs by a dry run, and compares them with the executed
// step. Not here: counting a step (profile_count.c).
#include <stdio.h>
#include <string.h>

#include "profiler/measure/profile_parts.h"
#include "tensor/shadow.h"

// ---- predicted = executed --------------------------------------------------------------------
static void differ(Profile *profile, const char *where, const char *phase, const char *what,
                   int64_t predicted, int64_t executed) {
    if (!profile->reconciled) return; // keep only the first difference
    profile->reconciled = false;
    snprintf(profile->difference, sizeof(profile->difference),
             "%s %s: %s: predicted %lld, executed %lld", where, phase, what, (long long)predicted,
             (long long)executed);
}

// Sums of other counts differ only with those.
static void compare_fields(Profile *profile, const char *where, const char *phase, FieldScope scope,
                           const void *predicted, const void *executed) {
    for (const ProfileField *field = profile_fields(scope); field->key; field++) {
        if (!(field->uses & FIELD_COMPARED) || field->derived) continue;
        int64_t a = profile_field_count(field, predicted);
        int64_t b = profile_field_count(field, executed);
        if (a != b) differ(profile, where, phase, field->key, a, b);
    }
}

// Finds a layer by path, first at the same place, because several layers may share a path.
static const ProfileLayer *layer_by_path(const Profile *profile, int place, const char *path) {
    if (place < profile->n_layers && strcmp(profile->layers[place].path, path) == 0)
        return &profile->layers[place];
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
        compare_fields(profile, executed->path, report_phase_name((ReportPhase)p), FIELDS_PHASE,
                       &predicted->phase[p], &executed->phase[p]);
    compare_fields(profile, executed->path, "forward", FIELDS_LAYER, predicted, executed);
}

// Compares layer by layer, so that the difference names one; then all ops, and the peak.
static void reconcile(Profile *profile, const Profile *predicted) {
    profile->reconciled = true;
    if (predicted->n_layers != profile->n_layers)
        differ(profile, "model", "step", "call sites", predicted->n_layers, profile->n_layers);
    for (int i = 0; i < profile->n_layers; i++)
        compare_layer(profile, &profile->layers[i],
                      layer_by_path(predicted, i, profile->layers[i].path));
    if (predicted->n_ops != profile->n_ops)
        differ(profile, "model", "step", "ops", predicted->n_ops, profile->n_ops);
    compare_fields(profile, "memory", "at the peak", FIELDS_USE, &predicted->predicted.peak,
                   &profile->measured.peak);
}

// ---- the dry run -----------------------------------------------------------------------------
// A batch with `more` more samples. With 0 it is a shadow of the batch itself, with its strides and
// its buffer, because layers copy a strided batch and count a shared buffer once.
static Tensor *dry_batch_new(Tensor *like, int64_t more) {
    Shape shape = like->shape;
    if (more == 0) return tensor_retain(shadow_count(like));
    if (shape.ndim > 0) shape.dims[0] += more;
    return tensor_new_as(shape, (DType)like->dtype, like->storage->category);
}

// Creates the same work in the dry context, over a resident batch with `more` more samples.
static Status dry_work_begin(const Work *like, OptimizerConfig config, Shape out, int64_t more,
                             Work *work) {
    *work = (Work){.kind = like->kind,
                   .model = layer_here(like->model),
                   .loss = like->loss,
                   .accumulate = like->accumulate};
    if (!work->model) return error_status();
    int64_t marked;
    if (like->plain) profile_unmark(work->model);
    if (like->marks && layer_recompute_matching(work->model, like->marks, &marked))
        return error_status();
    layer_train(work->model, work->kind != PROFILE_INFERENCE);
    const Shape *shape = &like->x->shape;
    if (out.ndim > 0 && shape->ndim > 0 && out.dims[0] == shape->dims[0]) out.dims[0] += more;
    work->x = dry_batch_new(like->x, more);
    if (!work->x) return error_status();
    if ((like->x->flags & TENSOR_LEAF_GRAD) && tensor_requires_grad(work->x, true))
        return error_status();
    if (like->labels == like->x) // an autoencoder: its input is its target
        work->labels = tensor_retain(work->x);
    else if (like->labels)
        work->labels = dry_batch_new(like->labels, more);
    return error_pending() ? error_status() : work_begin(work, config, out);
}

static void dry_work_end(Work *work) {
    work_end(work);
    tensor_free(work->x);
    tensor_free(work->labels);
}

// A model for another batch, in a separate context that lives as long as its dry run.
typedef struct Another {
    Context *context;
    Layer *model;
} Another;

static void another_end(Another *another) {
    if (!another->context) return;
    context_push(another->context); // its storages are returned there
    layer_free(another->model);
    context_pop();
    context_free(another->context);
}

static Status another_begin(const Work *like, int64_t more, Another *another) {
    *another = (Another){0};
    if (more == 0 || !like->source.model_new || like->x->shape.ndim == 0) return STATUS_OK;
    Precision precision = context_current()->precision;
    another->context = context_new();
    if (!another->context) return error_status();
    context_push(another->context);
    context_set_device(device_meta());
    context_set_precision(precision);
    another->model = like->source.model_new(like->source.argument, like->x->shape.dims[0] + more);
    context_pop();
    if (!another->model) another_end(another);
    return error_status();
}

static Status predict_step(const Work *like, OptimizerConfig config, DryStep *step) {
    Context *context = dry_run_begin(like->model);
    if (!context) return error_status();
    Work work;
    StepTimes times[2];
    StepRecord record = {0};
    Status status = dry_work_begin(like, config, step->out, step->more, &work);
    if (!status) status = profile_count_step(&work, NULL, &record, &step->memory, times);
    step->flops = 0;
    for (int64_t i = 0; i < record.n_ops && !status; i++)
        step->flops += op_cost_total_flops(record.ops[i].cost);
    if (!status && step->look) status = step->look(step, &record, work.model);
    step_record_free(&record);
    dry_work_end(&work);
    dry_run_end(context);
    return status;
}

Status profile_predict_step(const Work *like, OptimizerConfig config, DryStep *step) {
    Another another;
    Work work = *like;
    Status status = another_begin(like, step->more, &another);
    if (status) return status;
    if (another.model) work.model = another.model;
    status = predict_step(&work, config, step);
    another_end(&another);
    return status;
}

Status profile_predict_peak(const Work *work, OptimizerConfig config, Shape out, int64_t more,
                            ProfileMemory *memory) {
    DryStep step = {.out = out, .more = more};
    Status status = profile_predict_step(work, config, &step);
    if (!status) *memory = step.memory;
    return status;
}

static Status look_to_reconcile(DryStep *step, const StepRecord *record, const Layer *model) {
    Profile *profile = step->argument, predicted = {.predicted = step->memory};
    Status status = profile_take_counts(&predicted, record, model);
    if (!status) reconcile(profile, &predicted);
    profile_free(&predicted);
    return status;
}

static Status dry_inference(const Work *like, int64_t *bytes) {
    ProfileMemory memory;
    Work work = *like;
    work.kind = PROFILE_INFERENCE; // inference has no labels
    work.labels = NULL;
    Status status = profile_predict_peak(&work, (OptimizerConfig){0}, SHAPE_SCALAR, 0, &memory);
    if (!status) *bytes = memory.peak.total;
    return status;
}

// ---- alternatives to the step ------------------------------------------------------------------
// If layers are marked for recomputation: names them, and predicts the step without marks.
static Status predict_plain(const Work *work, OptimizerConfig config, Shape out,
                            ProfileRecompute *recompute) {
    recompute->layers = profile_marked(work->model, recompute->paths, sizeof(recompute->paths));
    if (recompute->layers == 0 || work->kind == PROFILE_INFERENCE) return STATUS_OK;
    Work plain = *work;
    plain.plain = true;
    DryStep step = {.out = out};
    Status status = profile_predict_step(&plain, config, &step);
    recompute->plain_bytes = step.memory.peak.total;
    recompute->plain_flops = step.flops;
    return status;
}

// Tries to mark all layers of a depth, and keeps the depth that lowers the peak most. Layers that
// cannot run again are no error of the step.
static void predict_marked(const Work *work, OptimizerConfig config, Shape out, Profile *profile) {
    static const char *const depths[] = {"*", "*.*", "*.*.*"};
    ProfileRecompute *recompute = &profile->recompute;
    const ProfileMemory *now = &profile->predicted;
    bool matters = recompute->layers == 0 && 2 * now->saved_bytes > now->peak.total;
    int64_t lowest = now->peak.total - now->peak.total / 10; // otherwise marking does not pay
    for (int i = 0; i < 3 && matters && work->kind != PROFILE_INFERENCE; i++) {
        ProfileMemory memory;
        Work marked = *work;
        marked.marks = depths[i];
        bool fails = profile_predict_peak(&marked, config, out, 0, &memory) != STATUS_OK;
        error_clear();
        if (fails || memory.peak.total > lowest) continue;
        lowest = recompute->pattern_bytes = memory.peak.total;
        snprintf(recompute->pattern, sizeof(recompute->pattern), "%s", depths[i]);
    }
}

// Predicts a larger batch, which tells the peak for any batch. A batch size fixed in the model is
// no error, and an overflow of 64 bits gives no answer.
static Status predict_larger(const Work *work, OptimizerConfig config, Shape out,
                             Profile *profile) {
    ProfileMemory larger;
    Work one = *work;
    one.accumulate = 1;
    int64_t more = work->x->shape.ndim > 0 ? work->x->shape.dims[0] : 0;
    Status status = profile_predict_peak(work, config, out, 1, &larger);
    profile->one_batch = status && status != STATUS_OUT_OF_MEMORY && status != STATUS_IO;
    if (!status) profile->bytes_per_sample = larger.peak.total - profile->predicted.peak.total;
    if (!status && work_batches(work) > 1) {
        status = profile_predict_peak(&one, config, out, more * (work_batches(work) - 1), &larger);
        if (!status) profile->large_batch_bytes = larger.peak.total;
    }
    if (status == STATUS_OUT_OF_MEMORY || status == STATUS_IO) return status;
    error_clear();
    return STATUS_OK;
}

Status profile_predict(const Work *work, OptimizerConfig config, Shape out, Profile *profile) {
    bool ran = work->x->device->has_data; // otherwise there is nothing to compare
    DryStep step = {.out = out, .look = ran ? look_to_reconcile : NULL, .argument = profile};
    Status status = profile_predict_step(work, config, &step);
    profile->predicted = step.memory;
    if (!status) status = predict_plain(work, config, out, &profile->recompute);
    if (!status) status = predict_larger(work, config, out, profile);
    if (!status && ran) predict_marked(work, config, out, profile);
    return status ? status : dry_inference(work, &profile->inference_bytes);
}
