// mystery_model.c -- the network of a mystery, and the planted causes. mystery.c measures it.
#include "exercises/lab/mystery_model.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "layers/layer.h"
#include "profiler/base/system.h"
#include "tensor/context.h"
#include "tensor/math.h"
#include "tensor/memory.h"

// ---- what may be wrong inside recall -----------------------------------------------------------
enum { SCRATCH_BYTES = 8 << 20 };

// Maps a new scratch buffer each time and unmaps it, so that every page costs a page fault.
static void take_fresh_memory(const OpCall *call) {
    (void)call;
    const size_t bytes = SCRATCH_BYTES, page = (size_t)sysconf(_SC_PAGESIZE);
    char *scratch = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (scratch == MAP_FAILED) return;
    madvise(scratch, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += page) *(volatile char *)(scratch + i) = 1;
    munmap(scratch, bytes);
}

// Counts the numbers above each of some thresholds, with a counter for each part of the work. The
// counters are side by side in one cache line.
enum { PARTS = 2, THRESHOLDS = 24 };
typedef struct Counting {
    const float *x;
    int64_t n;
    _Alignas(64) atomic_llong above[PARTS];
} Counting;

static void count_above(void *argument, int64_t begin, int64_t end) {
    Counting *counting = argument;
    for (int64_t part = begin; part < end; part++)
        for (int t = 0; t < THRESHOLDS; t++)
            for (int64_t i = part * counting->n / PARTS; i < (part + 1) * counting->n / PARTS; i++)
                atomic_fetch_add_explicit(&counting->above[part], counting->x[i] > 0.1f * (float)t,
                                          memory_order_relaxed);
}

static void count_side_by_side(const OpCall *call) {
    Counting counting = {.x = call_in(call, 0), .n = call_numel(call)};
    cpu_parallel((OpWork){.items = PARTS, .cost = 1e9, .together = 1}, count_above, &counting);
}

// Each part of the work waits for its turn by sleeping repeatedly.
static void sleep_and_look(void *argument, int64_t begin, int64_t end) {
    (void)argument, (void)begin, (void)end;
    for (int i = 0; i < 4; i++) nanosleep(&(struct timespec){.tv_nsec = 250000}, NULL);
}
static void wait_asleep(const OpCall *call) {
    (void)call;
    cpu_parallel((OpWork){.items = PARTS, .cost = 1e9, .together = 1}, sleep_and_look, NULL);
}

static void (*const planted[CAUSE_COUNT + 1])(const OpCall *call) = {
    [CAUSE_PAGE_FAULTS] = take_fresh_memory,
    [CAUSE_FALSE_SHARING] = count_side_by_side,
    [CAUSE_SLEEPING_THREADS] = wait_asleep,
};

// ---- recall: x plus the mean of what it has kept ------------------------------------------------
static Status recall_infer(OpCall *call) {
    const Shape *x = &call->in[0]->shape, *kept = &call->in[1]->shape;
    if (x->ndim == 2 && kept->ndim == 2 && kept->dims[0] > 0 && kept->dims[1] == x->dims[1])
        return op_output_like(call, 0, call->in[0]);
    char text[2][SHAPE_TEXT];
    return error_set(STATUS_SHAPE, "recall of %s and %s. HINT: x (b, n), kept (r, n)",
                     shape_text(*x, text[0]), shape_text(*kept, text[1]));
}

static OpCost recall_cost(const OpCall *call) {
    uint64_t x = (uint64_t)call->in[0]->numel, kept = (uint64_t)call->in[1]->numel;
    return (OpCost){.elementwise_flops = kept + x + (uint64_t)call->in[0]->shape.dims[1],
                    .bytes_read = sizeof(float) * (x + kept),
                    .bytes_written = sizeof(float) * x};
}

// y (b,n) = x (b,n) + mean over r of kept (r,n)
KERNEL static Status recall_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), *kept = call_in(call, 1);
    float *y = call_out(call, 0);
    int64_t b = call->in[0]->shape.dims[0], n = call->in[0]->shape.dims[1];
    int64_t r = call->in[1]->shape.dims[0];
    (void)begin, (void)end;
    if (planted[call->params.flags]) planted[call->params.flags](call);
    if (b == 0) return STATUS_OK;
    memset(y, 0, sizeof(float) * (size_t)n);
    for (int64_t k = 0; k < r; k++)
        for (int64_t j = 0; j < n; j++) y[j] += kept[k * n + j];
    for (int64_t j = 0; j < n; j++) y[j] /= (float)r;
    for (int64_t i = b - 1; i >= 0; i--) // the first row holds the mean until the end
        for (int64_t j = 0; j < n; j++) y[i * n + j] = x[i * n + j] + y[j];
    return STATUS_OK;
}

static Status recall_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    const OpParams once = {.value = {1.0f}};
    (void)saved;
    return OP_INTO(&grad_in[0], op_mul_scalar, &once, grad_out[0]);
}

static const OpStory recall_story = {.formula = "y = x + mean of what is kept",
                                     .out = "y",
                                     .in = {"x", "kept"}};
static const Op op_recall = {.name = "recall",
                             .n_inputs = 2,
                             .infer = recall_infer,
                             .story = &recall_story,
                             .cost = recall_cost,
                             .backward = recall_backward,
                             .kernel = recall_cpu};

typedef struct Recall {
    Layer layer;
    Cause cause;
    int next; // index of a kept block: each step reads another
} Recall;

static Tensor *recall_forward(Layer *self, Tensor *const in[], int n_in) {
    Recall *recall = (Recall *)self;
    OpParams params = {.flags = (uint32_t)recall->cause};
    (void)n_in;
    recall->next = (recall->next + 1) % self->n_buffers;
    return OP_RUN(op_recall, &params, in[0], self->buffers[recall->next].tensor);
}

static const LayerType recall_type = {.name = "Recall",
                                      .size = sizeof(Recall),
                                      .forward = recall_forward};

// If one recall layer is cold, both read equally much, but the cold one keeps so many blocks that
// none is still in a cache when its turn comes again.
enum { ROWS = 64, BLOCK = 2 << 20 };
static int64_t cold_blocks(int64_t cache) { return 2 + 2 * cache / BLOCK; }

static Layer *recall_new(int64_t features, Cause cause, int64_t rows, int64_t blocks) {
    Recall *self = (Recall *)layer_new(&recall_type);
    for (int64_t i = 0; self && i < blocks; i++) {
        char name[32];
        snprintf(name, sizeof name, "kept%lld", (long long)i);
        Tensor *kept = tensor_uniform_new(SHAPE(rows, features), 0.0f, 1.0f);
        if (!layer_add_buffer(&self->layer, name, kept)) continue;
        layer_free(&self->layer);
        self = NULL;
    }
    if (!self) return NULL;
    self->cause = cause;
    return &self->layer;
}

// ---- what a seed plants ------------------------------------------------------------------------
static int among(Draw *draw, int a, int b) { return draw_between(draw, 0, 1) ? a : b; }

// Seven successive seeds share an order of the causes.
static Cause draw_cause(int64_t seed) {
    Cause order[CAUSE_COUNT] = {CAUSE_STARVED_LOADER};
    DrawKey key = {.secret = "", .student = "", .seed = (uint64_t)((seed - 1) / CAUSE_COUNT)};
    Draw draw = draw_begin(key, "16", "causes", 0);
    for (int i = 0; i < CAUSE_COUNT; i++) {
        int k = (int)draw_between(&draw, 0, i);
        order[i] = order[k];
        order[k] = (Cause)i;
    }
    return order[(seed - 1) % CAUSE_COUNT];
}

enum { BATCH = 32 };

// Without a planted cause fc1 and fc2 take about equally long. Weights, gradients and optimizer
// state fit a cache of 32 MB.
MysteryPlan mystery_plan(int64_t seed) {
    DrawKey key = {.secret = "", .student = "", .seed = (uint64_t)seed};
    Draw draw = draw_begin(key, "16", "network", 0);
    MysteryPlan plan = {.cause = draw_cause(seed), .batch = BATCH, .inputs = 784, .classes = 10};
    plan.hidden[0] = 64 * draw_between(&draw, 7, 9);
    plan.hidden[1] = 64 * draw_between(&draw, 5, 7);
    plan.place = among(&draw, PLACE_RECALL1, PLACE_RECALL2);
    if (plan.cause == CAUSE_STARVED_LOADER) plan.place = PLACE_LOADER;
    if (plan.cause == CAUSE_COLD_CACHE) plan.batch = 8;
    if (plan.cause == CAUSE_HEAVY_OPTIMIZER) {
        plan.place = PLACE_OPTIMIZER;
        plan.batch = 1;
        plan.hidden[0] = 1024;
    }
    if (plan.cause == CAUSE_OUT_OF_PROPORTION) {
        plan.place = among(&draw, PLACE_FC1, PLACE_FC3);
        if (plan.place == PLACE_FC1) plan.inputs = 48 * 48;
        if (plan.place == PLACE_FC3) plan.classes = 3584;
    }
    return plan;
}

// ---- the program -------------------------------------------------------------------------------
static Status add(Layer *model, int place, Layer *layer) {
    return layer_add_child(model, place_words[place], layer);
}

static Layer *model_new(const MysteryPlan *plan, int64_t cache) {
    Layer *model = sequential_new();
    int64_t in = plan->inputs;
    bool much = plan->cause == CAUSE_COLD_CACHE;
    for (int i = 0; i < 2 && model; i++) { // a block has three places
        int64_t out = plan->hidden[i];
        int recall = PLACE_RECALL1 + 3 * i;
        bool here = recall == plan->place;
        int64_t rows = much ? BLOCK / (int64_t)sizeof(float) / out : ROWS;
        add(model, PLACE_FC1 + 3 * i, linear_new(in, out, true));
        add(model, PLACE_RELU1 + 3 * i, relu_new());
        add(model, recall,
            recall_new(out, here ? plan->cause : CAUSE_COUNT, rows,
                       here && much ? cold_blocks(cache) : 1));
        in = out;
    }
    if (model) add(model, PLACE_FC3, linear_new(in, plan->classes, true));
    if (!error_pending()) return model;
    layer_free(model);
    return NULL;
}

// Blank images, since their content changes no time. A loader that starves its step reads images 16
// times as wide and high as the model needs, without a thread that prefetches them.
static Status make_loader(const MysteryPlan *plan, MysteryProgram *program) {
    bool starved = plan->cause == CAUSE_STARVED_LOADER;
    Dataset *images = &program->images;
    int64_t side = starved ? 16 * 28 : 28;
    images->count = 2 * plan->batch;
    images->rows = images->columns = side;
    images->classes = (int)plan->classes;
    images->images = memory_new((size_t)(images->count * side * side));
    images->labels = memory_new((size_t)images->count);
    if (!images->images || !images->labels) return error_status();
    LoaderOptions options = {.batch = plan->batch, .shuffle = true, .prefetch = starved ? 0 : 2};
    program->loader = loader_new(images, options);
    return error_status();
}

static const int64_t first_class[BATCH];

Status mystery_program_make(const MysteryPlan *plan, int64_t cache, MysteryProgram *program) {
    *program = (MysteryProgram){.model = NULL};
    int64_t bytes = (cold_blocks(cache) + 1) * BLOCK;
    if (plan->cause == CAUSE_COLD_CACHE && !system_has_memory(bytes))
        return error_set(STATUS_OUT_OF_MEMORY,
                         "mystery: what this machine's caches do not hold takes %lld MB, which are "
                         "not free. HINT: another seed",
                         (long long)(bytes / 1000000));
    program->model = model_new(plan, cache);
    program->x = tensor_uniform_new(SHAPE(plan->batch, plan->inputs), 0.0f, 1.0f);
    program->labels = tensor_from_labels_new(SHAPE(plan->batch), first_class);
    return error_pending() ? error_status() : make_loader(plan, program);
}

void mystery_program_free(MysteryProgram *program) {
    loader_free(program->loader);
    dataset_free(&program->images);
    tensor_free(program->labels);
    tensor_free(program->x);
    layer_free(program->model);
    *program = (MysteryProgram){.model = NULL};
}
