// test_budget_recompute.c -- the choice of layers to run again so that a step fits, compared with
// every other set of them and with real steps. test_recompute_nets.c tests recomputing itself.
#include "layers/containers.h"
#include "layers/recurrent.h"
#include "profiler/advice/budget.h"
#include "profiler/measure/profile.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// ---- models ------------------------------------------------------------------------------------
enum { WIDTH = 6, CLASSES = 3, MOST_BLOCKS = 6 };

static Layer *block_new(int64_t inner, bool norm) {
    Layer *block = sequential_new();
    layer_append(block, linear_new(WIDTH, inner, true));
    layer_append(block, gelu_new());
    if (norm) layer_append(block, batch_norm1d_new(inner, batch_norm_defaults()));
    layer_append(block, dropout_new(0.2f));
    layer_append(block, linear_new(inner, WIDTH, true));
    return block;
}

// A model of `blocks` blocks of different widths, and a classifier.
static Layer *model_new(int blocks, RandomState *random) {
    context_seed(3);
    Layer *model = sequential_new();
    for (int i = 0; i < blocks; i++)
        layer_append(model, block_new(4 + random_next_below(random, 60), i % 2 == 0));
    layer_append(model, linear_new(WIDTH, CLASSES, true));
    return model;
}

typedef struct Trial {
    Layer *model;
    Tensor *x, *labels;
    BudgetTask task;
    OptimizerConfig config;
} Trial;

static Trial trial_of(Layer *model, int64_t batch, OptimizerKind kind) {
    Trial trial = {.model = model, .config = optimizer_defaults(kind)};
    int64_t labels[64] = {0};
    trial.x = tensor_normal_new(SHAPE(batch, WIDTH), 0.0f, 1.0f);
    trial.labels = tensor_from_labels_new(SHAPE(batch), labels);
    trial.task = (BudgetTask){.model = model, .x = trial.x, .labels = trial.labels};
    return trial;
}

static Trial trial_new(int seed) {
    RandomState random = {.seed = 70 + (uint64_t)seed};
    int blocks = 1 + (int)random_next_below(&random, MOST_BLOCKS);
    int64_t batch = 2 + random_next_below(&random, 40);
    return trial_of(model_new(blocks, &random), batch, (OptimizerKind)(seed % OPTIMIZER_COUNT));
}

static void trial_free(Trial *trial) {
    tensor_free(trial->x);
    tensor_free(trial->labels);
    layer_free(trial->model);
    expect_no_error();
    ck_assert_int_eq(expect_live_bytes(), 0);
}

static RecomputeChoice choose(const Trial *trial, int64_t bytes) {
    RecomputeChoice choice;
    Status status = budget_recompute(&trial->task, trial->config, bytes, &choice);
    ck_assert_msg(!status, "%s", error_message());
    return choice;
}

// A real step with the current marks: predicted = measured.
static Profile run(const Trial *trial) {
    Profile profile;
    ProfileOptions options = {.warmup = 2, .iterations = 1, .accumulate = trial->task.accumulate};
    ck_assert_msg(!profile_training(trial->model, trial->config, trial->x, trial->labels, options,
                                    &profile),
                  "%s", error_message());
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    return profile;
}

static int64_t peak_of(const Trial *trial, uint64_t *flops) {
    Profile profile = run(trial);
    int64_t peak = profile.measured.peak.total;
    *flops = op_cost_total_flops(profile.totals[REPORT_STEP].cost);
    profile_free(&profile);
    return peak;
}

static void mark_set(Layer *model, unsigned set) {
    for (int i = 0; i < model->n_children; i++) layer_recompute(model->children[i], set >> i & 1);
}

static unsigned marked_set(const Layer *model) {
    unsigned set = 0;
    for (int i = 0; i < model->n_children; i++) set |= (unsigned)model->children[i]->recompute << i;
    return set;
}

// ---- against every set -------------------------------------------------------------------------
typedef struct Sets { // all sets of blocks, with their real steps
    int64_t peak[1 << MOST_BLOCKS];
    uint64_t flops[1 << MOST_BLOCKS];
    unsigned count;
} Sets;

static void try_all(const Trial *trial, Sets *sets) {
    sets->count = 1u << (trial->model->n_children - 1);
    for (unsigned set = 0; set < sets->count; set++) {
        mark_set(trial->model, set);
        sets->peak[set] = peak_of(trial, &sets->flops[set]);
    }
}

static int64_t least_of(const Sets *sets) {
    int64_t least = INT64_MAX;
    for (unsigned set = 0; set < sets->count; set++)
        if (sets->peak[set] < least) least = sets->peak[set];
    return least;
}

static uint64_t fewest_flops(const Sets *sets, int64_t bytes) {
    uint64_t fewest = UINT64_MAX;
    for (unsigned set = 0; set < sets->count; set++)
        if (sets->peak[set] <= bytes && sets->flops[set] < fewest) fewest = sets->flops[set];
    return fewest;
}

static void check_choice(const Trial *trial, const Sets *sets, int64_t bytes) {
    RecomputeChoice choice = choose(trial, bytes);
    unsigned set = marked_set(trial->model);
    ck_assert_int_eq(choice.plain_bytes, sets->peak[0]);
    ck_assert_uint_eq(choice.plain_flops, sets->flops[0]);
    ck_assert_int_eq(choice.refused, 0);
    ck_assert_int_eq(choice.layers, __builtin_popcount(set));
    ck_assert_int_eq(choice.peak_bytes, sets->peak[set]);
    ck_assert_uint_eq(choice.flops, sets->flops[set]);
    ck_assert_msg(choice.fits == (bytes >= least_of(sets)), "%lld B: fits is %d", (long long)bytes,
                  choice.fits);
    ck_assert(choice.fits == (choice.peak_bytes <= bytes));
    if (!choice.fits) ck_assert_int_eq(choice.peak_bytes, least_of(sets));
    int64_t room = choice.fits ? bytes : least_of(sets);
    for (unsigned i = 0; i + 1 < (unsigned)trial->model->n_children; i++)
        ck_assert_msg(!(set >> i & 1) || sets->peak[set & ~(1u << i)] > room,
                      "block %u could be spared", i);
    // Not promised, but true here: recomputed FLOPs are at most a tenth above the least.
    ck_assert_uint_le(10 * (choice.flops - sets->flops[0]),
                      11 * (fewest_flops(sets, room) - sets->flops[0]));
}

START_TEST(a_choice_fits_as_a_real_step_does_and_none_of_it_could_be_spared) {
    Trial trial = trial_new(_i);
    static Sets sets;
    try_all(&trial, &sets);
    int64_t least = least_of(&sets), most = sets.peak[0];
    check_choice(&trial, &sets, 0);
    check_choice(&trial, &sets, least - 1);
    for (int i = 0; i <= 8; i++) check_choice(&trial, &sets, least + i * (most - least) / 8);
    check_choice(&trial, &sets, most + 1);
    ck_assert_uint_eq(marked_set(trial.model), 0); // nothing needs recomputing
    trial_free(&trial);
}
END_TEST

// ---- layers that cannot be run again -----------------------------------------------------------
static Tensor *write_input(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *y = layer_forward(self->children[0], in[0]);
    no_grad_begin();
    tensor_fill(in[0], 1.0f);
    no_grad_end();
    return y;
}
static const LayerType writer_type = {.name = "Writer",
                                      .size = sizeof(Layer),
                                      .forward = write_input};
static Tensor *copy_input(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return tensor_mul_scalar(in[0], 1.0f);
}
static const LayerType copy_type = {.name = "Copy", .size = sizeof(Layer), .forward = copy_input};

// The layer writes into its input, so only its inside can be run again; the others can.
START_TEST(a_layer_that_cannot_be_run_again_is_left_out_and_told) {
    Layer *model = sequential_new(), *writer = layer_new(&writer_type), *inside = sequential_new();
    layer_append(model, block_new(50, false));
    layer_append(model, layer_new(&copy_type));
    layer_add_child(writer, "inside", inside);
    layer_append(inside, layer_new(&copy_type));
    layer_append(inside, block_new(40, false));
    layer_append(model, writer);
    layer_append(model, block_new(30, false));
    layer_append(model, linear_new(WIDTH, CLASSES, true));
    Trial trial = trial_of(model, 20, OPTIMIZER_SGD);
    RecomputeChoice choice = choose(&trial, 0);
    ck_assert_int_ge(choice.refused, 1);
    ck_assert(!writer->recompute && choice.peak_bytes < choice.plain_bytes);
    choice = choose(&trial, choice.peak_bytes);
    ck_assert(choice.fits);
    uint64_t flops;
    ck_assert_int_eq(peak_of(&trial, &flops), choice.peak_bytes);
    trial_free(&trial);
}
END_TEST

// Each LSTM keeps far more than its input and has no children: only the LSTM itself can be marked.
START_TEST(a_layer_without_children_may_be_worth_it) {
    Layer *model = sequential_new();
    layer_append(model, lstm_new(WIDTH, 40, recurrent_defaults()));
    layer_append(model, lstm_new(40, 40, recurrent_defaults()));
    layer_append(model, lstm_new(40, WIDTH, recurrent_defaults()));
    Trial trial = trial_of(model, 4, OPTIMIZER_SGD);
    tensor_free(trial.x);
    tensor_free(trial.labels);
    trial.x = tensor_normal_new(SHAPE(4, 9, WIDTH), 0.0f, 1.0f);
    trial.labels = tensor_zeros_new(SHAPE(4, 9, WIDTH));
    trial.task =
        (BudgetTask){.model = model, .x = trial.x, .labels = trial.labels, .loss = loss_mse};
    RecomputeChoice choice = choose(&trial, 0);
    ck_assert(choice.layers > 0 && choice.peak_bytes < choice.plain_bytes);
    trial_free(&trial);
}
END_TEST

// Recomputing all layers takes more than recomputing the first alone: a set found before the lowest
// peak fits, and says so.
START_TEST(what_fits_by_fewer_layers_than_all_says_that_it_fits) {
    RecurrentOptions options = recurrent_defaults();
    options.batch_first = true;
    options.layers = 3;
    options.dropout = 0.2f;
    Layer *model = sequential_new();
    layer_append(model, rnn_new(8, 6, options));
    options.layers = 2;
    options.dropout = 0.0f;
    options.bidirectional = true;
    options.bias = false;
    layer_append(model, rnn_new(6, 6, options));
    layer_append(model, relu_new());
    layer_append(model, flatten_new(1, -1));
    layer_append(model, linear_new(84, 4, true));
    Trial trial = trial_of(model, 1, OPTIMIZER_ADAM);
    tensor_free(trial.x);
    trial.x = tensor_normal_new(SHAPE(1, 7, 8), 0.0f, 1.0f);
    trial.task.x = trial.x;
    RecomputeChoice lowest = choose(&trial, 0), choice;
    ck_assert(!lowest.fits && lowest.peak_bytes < lowest.plain_bytes);
    for (int64_t bytes = lowest.peak_bytes; bytes <= lowest.plain_bytes; bytes += 50) {
        uint64_t flops;
        choice = choose(&trial, bytes);
        ck_assert_msg(choice.fits, "%lld B", (long long)bytes);
        ck_assert_int_eq(peak_of(&trial, &flops), choice.peak_bytes);
        ck_assert_int_le(choice.peak_bytes, bytes);
        ck_assert_uint_eq(flops, choice.flops);
    }
    trial_free(&trial);
}
END_TEST

// ---- side effects ------------------------------------------------------------------------------
START_TEST(what_makes_no_sense_is_refused_and_marks_stay) {
    Trial trial = trial_new(3);
    RecomputeChoice choice = {.layers = 77};
    mark_set(trial.model, 1);
    ck_assert_int_eq(budget_recompute(&trial.task, trial.config, -1, &choice),
                     STATUS_INVALID_ARGUMENT);
    error_clear();
    trial.task.accumulate = -1;
    ck_assert_int_eq(budget_recompute(&trial.task, trial.config, 1, &choice),
                     STATUS_INVALID_ARGUMENT);
    error_clear();
    trial.task = (BudgetTask){.x = trial.x};
    ck_assert_int_eq(budget_recompute(&trial.task, trial.config, 1, &choice),
                     STATUS_INVALID_ARGUMENT);
    error_clear();
    Tensor *wrong = tensor_zeros_new(SHAPE(2, WIDTH + 1));
    trial.task = (BudgetTask){.model = trial.model, .x = wrong};
    ck_assert_int_eq(budget_recompute(&trial.task, trial.config, 1, &choice), STATUS_SHAPE);
    error_clear();
    ck_assert_uint_eq(marked_set(trial.model), 1);
    ck_assert_int_eq(choice.layers, 77);
    tensor_free(wrong);
    trial_free(&trial);
}
END_TEST

// Fails the nth allocation (0: none); returns the number of allocations.
static uint64_t choose_with_failure(uint64_t nth) {
    Context *context = context_new();
    context_push(context);
    context_set_threads(1);
    Trial trial = trial_of(model_new(3, &(RandomState){.seed = 4}), 5, OPTIMIZER_ADAM);
    mark_set(trial.model, 8);
    int64_t live = expect_live_bytes();
    RecomputeChoice choice = {.layers = 77};
    uint64_t before = memory_requests();
    memory_fail_at(nth);
    Status status = budget_recompute(&trial.task, trial.config, 0, &choice);
    memory_fail_at(0);
    uint64_t requests = memory_requests() - before;
    ck_assert_int_eq(status, nth > 0 ? STATUS_OUT_OF_MEMORY : STATUS_OK);
    error_clear();
    ck_assert_int_eq(expect_live_bytes(), live);
    if (status) ck_assert_uint_eq(marked_set(trial.model), 8);
    if (status) ck_assert_int_eq(choice.layers, 77);
    if (!status) ck_assert_int_ge(choice.layers, 2);
    trial_free(&trial);
    context_pop();
    context_free(context);
    return requests;
}

START_TEST(any_request_may_fail_and_the_marks_stay) {
    uint64_t all = choose_with_failure(0);
    ck_assert_uint_gt(all, 1000);
    for (uint64_t nth = 1; nth < all; nth += 1 + nth / 60) choose_with_failure(nth);
    for (uint64_t nth = all - 8; nth <= all; nth++) choose_with_failure(nth); // with real marks set
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_choice_fits_as_a_real_step_does_and_none_of_it_could_be_spared, 24},
        {a_layer_that_cannot_be_run_again_is_left_out_and_told, 0},
        {a_layer_without_children_may_be_worth_it, 0},
        {what_fits_by_fewer_layers_than_all_says_that_it_fits, 0},
        {what_makes_no_sense_is_refused_and_marks_stay, 0},
        {any_request_may_fail_and_the_marks_stay, 0},
        {NULL, 0},
    };
    return harness_main("budget_recompute", tests);
}
