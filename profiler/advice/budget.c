// budget.c -- searches for the largest batch by dry runs, and runs it to verify. Not here: running
// a step (profile_count.c), predicting it (profile_predict.c).
#include "profiler/advice/budget.h"

#include <math.h>

#include "profiler/advice/budget_parts.h"
#include "profiler/base/system.h"
#include "tensor/given.h"
#include "tensor/memory.h"

// ---- dry runs --------------------------------------------------------------------------------
static Status check(const BudgetTask *task) {
    if (error_pending()) return error_status();
    if (!task->model || !task->x)
        return error_set(STATUS_INVALID_ARGUMENT, "budget: %s is NULL",
                         task->model ? "x" : "the model");
    if (task->kind != PROFILE_TRAINING && task->kind != PROFILE_INFERENCE)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "budget: a step of kind %d. HINT: PROFILE_TRAINING or PROFILE_INFERENCE",
                         (int)task->kind);
    if (task->accumulate < 0 || task->accumulate > PROFILE_MOST_BATCHES)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "budget: the gradients of %lld batches are to add up. HINT: 1 to %d",
                         (long long)task->accumulate, PROFILE_MOST_BATCHES);
    if (task->x->shape.ndim == 0)
        return error_set(STATUS_SHAPE, "budget: x is one number. HINT: its first dimension is the "
                                       "batch; one sample of 784 is (1, 784)");
    return STATUS_OK;
}

void budget_plan_end(Plan *plan) {
    tensor_free(plan->work.labels);
    dry_run_end(plan->context);
}

Status budget_check_bytes(int64_t bytes) {
    if (error_pending() || (bytes >= 0 && bytes >> BUDGET_MOST_POWER == 0) ||
        bytes == (int64_t)1 << BUDGET_MOST_POWER)
        return error_status();
    return error_set(STATUS_INVALID_ARGUMENT, "budget: %lld bytes. HINT: 0 to 2^60, an exbibyte",
                     (long long)bytes);
}

// The labels' shape for a batch of this size.
static Shape labels_shape(const BudgetTask *task, int64_t batch) {
    Shape shape = task->labels ? task->labels->shape : SHAPE(batch);
    if (shape.ndim > 0) shape.dims[0] = batch;
    return shape;
}
static DType labels_dtype(const BudgetTask *task) {
    return task->labels ? (DType)task->labels->dtype : DTYPE_INT64;
}

static Work work_of(const BudgetTask *task) {
    return (Work){.kind = task->kind,
                  .source = task->source,
                  .model = task->model,
                  .x = (Tensor *)task->x,
                  .loss = task->loss,
                  .accumulate = task->accumulate};
}

Status budget_plan_begin(const BudgetTask *task, Plan *plan) {
    *plan = (Plan){.work = work_of(task)};
    Status status = check(task);
    if (status) return status;
    Shape labels = labels_shape(task, task->x->shape.dims[0]);
    plan->context = dry_run_begin(task->model);
    bool trains = task->kind == PROFILE_TRAINING;
    if (plan->context && trains) plan->work.labels = tensor_new(labels, labels_dtype(task));
    if (plan->context && !error_pending()) return STATUS_OK;
    budget_plan_end(plan);
    return error_status();
}

// ---- the search ------------------------------------------------------------------------------
enum { GUESSES = 8 }; // interpolations before bisection

static const int64_t most_bytes = (int64_t)1 << BUDGET_MOST_POWER;

typedef struct Point {
    int64_t batch, bytes;
} Point;

typedef struct Search {
    const Plan *plan;
    OptimizerConfig config;
    int64_t bytes; // the budget
    int runs;
    Point fits, before; // the largest batch known to fit, and the one before it
    Point exceeds;      // the smallest batch known not to fit; batch 0: none yet
    int64_t least;      // fewest samples that the model takes
} Search;

// A batch whose bytes overflow 64 bits does not fit.
static Status try_batch(Search *search, int64_t batch) {
    const Work *work = &search->plan->work;
    ProfileMemory memory;
    Status status = profile_predict_peak(work, search->config, SHAPE_SCALAR,
                                         batch - work->x->shape.dims[0], &memory);
    if (status && status != STATUS_OVERFLOW) return status;
    if (status) error_clear();
    Point point = {batch, status ? INT64_MAX : memory.peak.total};
    search->runs++;
    if (point.bytes > search->bytes) {
        search->exceeds = point;
    } else {
        search->before = search->fits;
        search->fits = point;
    }
    return STATUS_OK;
}

// At every moment of a step, live bytes are a + b * batch with a, b >= 0. Their maximum, the peak,
// is therefore convex and piecewise linear. A straight line between two points lies above the peak,
// so that an interpolated batch fits; the line is exact if both points lie on one piece. And k
// times the batch takes at most k times the bytes, which keeps a guess from overflowing.
static int64_t next_batch(const Search *search) {
    const Point *fits = &search->fits, *exceeds = &search->exceeds;
    int64_t most, step;
    if (exceeds->batch) {
        most = exceeds->batch - fits->batch - 1;
        step = most - most / 2;
    } else {
        most = fits->batch * (2 * most_bytes / fits->bytes - 1);
        step = fits->batch;
    }
    const Point *other = exceeds->bytes < INT64_MAX ? exceeds : &search->before;
    double rise = (double)(other->bytes - fits->bytes), run = (double)(other->batch - fits->batch);
    if (search->runs < GUESSES && rise / run > 0.0) {
        double steps = (double)(search->bytes - fits->bytes) * run / rise;
        step = steps < (double)most ? (int64_t)steps : most;
    }
    return fits->batch + (step < 1 ? 1 : step > most ? most : step);
}

// Tries one sample, then two: a batch norm refuses to train on one value per channel.
static Status try_least(Search *search) {
    Status status = try_batch(search, search->least = 1);
    bool refused = status == STATUS_INVALID_ARGUMENT || status == STATUS_SHAPE;
    if (!refused || search->plan->work.x->shape.dims[0] < 2) return status;
    error_clear();
    search->fits.batch = 1; // so that the search begins at 2
    return try_batch(search, search->least = 2);
}

static Status search_batch(Search *search) {
    Status status = try_least(search);
    while (!status && search->exceeds.batch != search->fits.batch + 1)
        status = try_batch(search, next_batch(search));
    return status;
}

// ---- a real run ------------------------------------------------------------------------------
static Status has_data(const Layer *model, bool *all) {
    ParameterList list;
    Status status = layer_parameters(model, &list);
    if (status) return status;
    *all = true;
    for (int i = 0; i < list.count; i++) *all = *all && list.items[i].tensor->device->has_data;
    parameter_list_free(&list);
    return STATUS_OK;
}

// Uniform numbers in [0, 1); zeros for integers, since 0 is a valid index and label everywhere.
static Tensor *batch_new(Shape shape, DType dtype, MemoryCategory category) {
    Tensor *t = tensor_new_as(shape, dtype, category);
    if (!t) return NULL;
    if (dtype == DTYPE_FLOAT32) {
        if (!tensor_fill_uniform(t, 0.0f, 1.0f)) return t;
    } else {
        size_t bytes = (size_t)tensor_bytes(t);
        void *zeros = memory_new(bytes);
        Status status = zeros ? device_from_host(t->device, t->storage->data, zeros, bytes)
                              : STATUS_OUT_OF_MEMORY;
        memory_free(zeros);
        if (!status) return t;
    }
    tensor_free(t);
    return NULL;
}

static Status real_work_begin(Work *work, const BudgetTask *task, int64_t batch,
                              OptimizerConfig config) {
    const Tensor *like = task->x;
    Shape shape = like->shape;
    shape.dims[0] = batch;
    work->x = batch_new(shape, (DType)like->dtype, like->storage->category);
    if (work->x && work->kind == PROFILE_TRAINING)
        work->labels = batch_new(labels_shape(task, batch), labels_dtype(task), MEM_DATA);
    if (error_pending()) return error_status();
    if ((like->flags & TENSOR_LEAF_GRAD) && tensor_requires_grad(work->x, true))
        return error_status();
    config.learning_rate = 0.0f; // weights stay as they are
    return work_begin(work, config, SHAPE_SCALAR);
}

// A learning rate of 0 keeps the weights, but 0 x NaN is NaN: refuses a loss that is not finite.
static Status check_loss(const Work *work) {
    no_grad_begin();
    Scope *scope = scope_open();
    Tensor *loss = work_loss(work, layer_forward(work->model, work->x));
    double value = loss ? tensor_item(loss) : (double)NAN;
    scope_close(scope);
    no_grad_end();
    if (error_pending()) return error_status();
    return isfinite(value) ? STATUS_OK : STATUS_NON_FINITE;
}

static Status count_real_step(Work *work, const BudgetTask *task, OptimizerConfig config,
                              int64_t bystanders, Budget *budget) {
    ProfileMemory memory;
    StepTimes times[2];
    StepRecord record = {0};
    Status status = real_work_begin(work, task, budget->batch, config);
    if (!status && work->kind == PROFILE_TRAINING) status = check_loss(work);
    if (!status) status = profile_count_step(work, NULL, &record, &memory, times);
    if (!status) budget->measured_bytes = memory.peak.total - bystanders;
    step_record_free(&record);
    work_end(work);
    tensor_free(work->x);
    tensor_free(work->labels);
    return status;
}

static Status measure(const BudgetTask *task, OptimizerConfig config, Budget *budget) {
    Context *context = context_current();
    Layer *model = task->model;
    const Tensor *like = task->x;
    bool another = task->source.model_new != NULL;
    Work work = work_of(task);
    work.x = NULL; // the work does not use the caller's batch
    MemoryUse others;
    bool runs;
    Status status = has_data(model, &runs);
    if (!status) status = work_bystanders(&work, &others);
    if (status || !runs || !like->device->has_data) return status;
    int64_t own = another ? 0 : context->ledger->live.total - others.total;
    if (like->device->on_host && !system_has_memory(budget->peak_bytes - own)) return STATUS_OK;
    LayerModes modes;
    status = layer_modes_save(model, &modes);
    if (status) return status;
    Device *device = context->device;
    RandomState random = context->random;
    context->device = like->device;
    if (another) work.model = task->source.model_new(task->source.argument, budget->batch);
    if (work.model && another) work_bystanders(&work, &others); // count the task's own model, too
    if (work.model && !error_pending()) {
        layer_train(work.model, work.kind != PROFILE_INFERENCE);
        status = count_real_step(&work, task, config, others.total, budget);
    }
    if (!status) status = error_status();
    if (another) layer_free(work.model);
    ledger_trim(context->ledger); // nobody else needs blocks of this size
    context->device = device;
    context->random = random;
    layer_modes_restore(model, &modes);
    return status;
}

// Too little memory or a non-finite loss leaves the batch unverified, which is not an error.
static Status verify_batch(const BudgetTask *task, OptimizerConfig config, Budget *budget) {
    Status status = measure(task, config, budget);
    if (status != STATUS_OUT_OF_MEMORY && status != STATUS_NON_FINITE) return status;
    error_clear();
    return STATUS_OK;
}

// ---- interface -------------------------------------------------------------------------------
Status budget_largest_batch(const BudgetTask *task, OptimizerConfig optimizer, int64_t bytes,
                            bool verify, Budget *budget) {
    if (!GIVEN(task) || !GIVEN(budget)) return STATUS_INVALID_ARGUMENT;
    if (budget_check_bytes(bytes)) return error_status();
    Plan plan;
    Status status = budget_plan_begin(task, &plan);
    if (status) return status;
    Search search = {
        .plan = &plan, .config = optimizer, .bytes = bytes, .exceeds.bytes = INT64_MAX};
    status = search_batch(&search);
    budget_plan_end(&plan);
    if (status) return status;
    Budget found = {.batch = search.fits.batch < search.least ? 0 : search.fits.batch,
                    .least = search.least,
                    .peak_bytes = search.fits.bytes,
                    .next_bytes = search.exceeds.bytes,
                    .measured_bytes = -1};
    if (verify && found.batch > 0) status = verify_batch(task, optimizer, &found);
    if (!status) *budget = found;
    return status;
}

Status budget_by_optimizer(const BudgetTask *task, int64_t peak[OPTIMIZER_COUNT]) {
    if (!GIVEN(task) || !GIVEN(peak)) return STATUS_INVALID_ARGUMENT;
    Plan plan;
    Status status = budget_plan_begin(task, &plan);
    if (status) return status;
    ProfileMemory memory[OPTIMIZER_COUNT];
    for (int k = 0; k < OPTIMIZER_COUNT && !status; k++)
        status = profile_predict_peak(&plan.work, optimizer_defaults((OptimizerKind)k),
                                      SHAPE_SCALAR, 0, &memory[k]);
    budget_plan_end(&plan);
    for (int k = 0; k < OPTIMIZER_COUNT && !status; k++) peak[k] = memory[k].peak.total;
    return status;
}
