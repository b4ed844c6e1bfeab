// test_profile_own.c -- the memory that counts as a step's own: everything that its model keeps,
// even if others keep it too, and its batch; nothing else. Measured bytes then equal a dry run's.
#include "layers/containers.h"
#include "profiler/advice/budget.h"
#include "profiler/measure/profile.h"
#include "tests/helpers/expect.h"

enum { FEATURES = 6, BATCH = 4, REALS = 4 * FEATURES };

// ---- the model's tensors -----------------------------------------------------------------------
static Tensor *add_buffers(Layer *self, Tensor *const in[], int n_in) {
    Tensor *sum = tensor_mul(in[0], self->parameters[0].tensor);
    (void)n_in;
    for (int i = 0; i < self->n_buffers; i++) sum = tensor_add(sum, self->buffers[i].tensor);
    return sum;
}
static const LayerType keeper_type = {.name = "Keeper",
                                      .size = sizeof(Layer),
                                      .forward = add_buffers};

static Tensor *row_new(void) { return tensor_full_new(SHAPE(FEATURES), 0.5f); }

static Layer *keeper_new(Layer *model, const char *name) {
    Layer *self = layer_new(&keeper_type);
    Tensor *weight = tensor_new_as(SHAPE(FEATURES), DTYPE_FLOAT32, MEM_PARAMETER);
    tensor_fill(weight, 1.0f);
    layer_add_parameter(self, "weight", weight);
    layer_add_child(model, name, self);
    return self;
}

// Each function returns the bytes of data that the model owns, besides its batch.
static int64_t keep_saved(Layer *model) {
    layer_add_buffer(keeper_new(model, "one"), "table", row_new());
    return REALS;
}
static int64_t keep_unsaved(Layer *model) {
    layer_add_unsaved_buffer(keeper_new(model, "one"), "table", row_new());
    return REALS;
}
static int64_t keep_together(Layer *model) { // two layers share a buffer
    Tensor *table = row_new();
    layer_add_buffer(keeper_new(model, "one"), "table", tensor_retain(table));
    layer_add_unsaved_buffer(keeper_new(model, "two"), "table", table);
    return REALS;
}
static int64_t keep_views(Layer *model) { // two views of one larger buffer
    Tensor *whole = tensor_full_new(SHAPE(5, FEATURES), 0.5f);
    Layer *one = keeper_new(model, "one"), *two = keeper_new(model, "two");
    Scope *scope = scope_open();
    layer_add_buffer(one, "row", tensor_keep(tensor_slice(whole, 0, 0, 1, 1)));
    layer_add_buffer(two, "row", tensor_keep(tensor_slice(whole, 0, 4, 5, 1)));
    scope_close(scope);
    tensor_free(whole);
    return 5 * REALS;
}
static int64_t keep_nothing(Layer *model) {
    keeper_new(model, "one");
    return 0;
}

// ---- the batch ---------------------------------------------------------------------------------
typedef struct Given {
    Tensor *x, *labels;
    int64_t bytes; // bytes of the buffers of x and labels
} Given;

static Given give_two(void) {
    return (Given){tensor_full_new(SHAPE(BATCH, FEATURES), 1.0f),
                   tensor_full_new(SHAPE(BATCH, FEATURES), 2.0f), 2 * BATCH * REALS};
}
static Given give_itself(void) { // x is its own target, as in an autoencoder
    Tensor *x = tensor_full_new(SHAPE(BATCH, FEATURES), 1.0f);
    return (Given){x, tensor_retain(x), BATCH * REALS};
}
static Given give_views(void) { // views of a whole data set
    Tensor *all = tensor_full_new(SHAPE(9 * BATCH, FEATURES), 1.0f);
    Scope *scope = scope_open();
    Given given = {tensor_keep(tensor_slice(all, 0, BATCH, 2 * BATCH, 1)),
                   tensor_keep(tensor_slice(all, 0, 0, BATCH, 1)), 9 * BATCH * REALS};
    scope_close(scope);
    tensor_free(all);
    return given;
}

static int64_t (*const keeps[])(Layer *model) = {keep_nothing, keep_saved, keep_unsaved,
                                                 keep_together, keep_views};
static Given (*const gives[])(void) = {give_two, give_itself, give_views};
enum {
    KEEPS = sizeof keeps / sizeof keeps[0],
    GIVES = sizeof gives / sizeof gives[0],
    CASES = KEEPS * GIVES
};

static void expect_own(const Profile *profile, int64_t data) {
    ck_assert_msg(profile->reconciled, "%s", profile->difference);
    ck_assert_int_eq(profile->measured.peak.category[MEM_DATA], data);
    ck_assert_int_eq(profile->measured.start.category[MEM_DATA], data);
    ck_assert_mem_eq(&profile->measured.start, &profile->predicted.start, sizeof(MemoryUse));
}

// Profiles twice: the second time gradients exist before the profile begins.
START_TEST(what_is_kept_and_given_is_the_steps_own) {
    Layer *model = sequential_new();
    Tensor *bystander = tensor_full_new(SHAPE(99), 1.0f);
    int64_t kept = keeps[_i % KEEPS](model);
    Given given = gives[_i / KEEPS]();
    ProfileOptions how = {.warmup = 2, .iterations = 1, .probe_seconds = -1.0, .loss = loss_mse};
    Profile profile;
    expect_no_error();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(profile_training(model, optimizer_defaults(OPTIMIZER_ADAM), given.x,
                                          given.labels, how, &profile),
                         STATUS_OK);
        expect_own(&profile, kept + given.bytes);
        profile_free(&profile);
        ck_assert_int_eq(profile_inference(model, given.x, how, &profile), STATUS_OK);
        ck_assert_msg(profile.reconciled, "%s", profile.difference);
        profile_free(&profile);
    }
    tensor_free(given.x);
    tensor_free(given.labels);
    tensor_free(bystander);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// The largest batch is run: its prediction counts the same tensors.
START_TEST(a_budget_is_of_what_the_step_keeps) {
    Layer *model = sequential_new();
    keeps[_i](model);
    Given given = give_two();
    BudgetTask task = {.model = model, .x = given.x, .labels = given.labels, .loss = loss_mse};
    Budget budget;
    ck_assert_int_eq(budget_largest_batch(&task, optimizer_defaults(OPTIMIZER_SGD), 100000, true,
                                          &budget),
                     STATUS_OK);
    ck_assert_int_gt(budget.batch, BATCH);
    ck_assert_int_eq(budget.measured_bytes, budget.peak_bytes);
    tensor_free(given.x);
    tensor_free(given.labels);
    layer_free(model);
}
END_TEST

// A batch norm with one value per channel cannot train: the search begins at two samples.
START_TEST(a_budget_begins_where_the_model_does) {
    Layer *model = sequential_new();
    layer_add_child(model, "norm", batch_norm1d_new(FEATURES, batch_norm_defaults()));
    Given given = give_two();
    BudgetTask task = {.model = model, .x = given.x, .labels = given.labels, .loss = loss_mse};
    OptimizerConfig sgd = optimizer_defaults(OPTIMIZER_SGD);
    Budget none, two, many;
    ck_assert_int_eq(budget_largest_batch(&task, sgd, 1, true, &none), STATUS_OK);
    ck_assert(none.batch == 0 && none.least == 2 && none.peak_bytes == 0);
    ck_assert_int_eq(budget_largest_batch(&task, sgd, none.next_bytes, true, &two), STATUS_OK);
    ck_assert(two.batch == 2 && two.measured_bytes == none.next_bytes);
    ck_assert_int_eq(budget_largest_batch(&task, sgd, 100000, true, &many), STATUS_OK);
    ck_assert(many.batch > 100 && many.measured_bytes == many.peak_bytes);
    ck_assert(many.next_bytes > 100000 && many.least == 2);
    tensor_free(given.x);
    tensor_free(given.labels);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_is_kept_and_given_is_the_steps_own, CASES},
        {a_budget_is_of_what_the_step_keeps, KEEPS},
        {a_budget_begins_where_the_model_does, 0},
        {NULL, 0},
    };
    return harness_main("profile_own", tests);
}
