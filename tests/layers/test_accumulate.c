// test_accumulate.c -- gradients accumulated over several small batches: they give the same weights
// as one step of a large batch, except for rounding, at a lower peak, which a dry run predicts.
#include "layers/cost.h"
#include "layers/train/digits.h"
#include "layers/train/fit.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"

enum { IMAGES = 48, WEIGHTS = 784 * 6 + 6 * 10 };

typedef struct Trained {
    float weights[WEIGHTS];
    int64_t peak, predicted; // bytes of activations
    FitResult result;
} Trained;

static Layer *model_new(void) {
    MlpOptions options = mlp_defaults();
    options.bias = false;
    context_seed(5);
    return mlp_new((int64_t[]){784, 6, 10}, 3, options);
}

static int64_t fit(Layer *model, const Dataset *digits, int64_t batch, FitOptions options,
                   FitResult *result) {
    Loader *loader = loader_new(digits, (LoaderOptions){.batch = batch, .scale = 1.0f});
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_SGD));
    ledger_reset_peak(context_ledger());
    train_fit(model, optimizer, loader, options, result);
    int64_t peak = context_ledger()->peak.category[MEM_ACTIVATION];
    optimizer_free(optimizer);
    loader_free(loader);
    return peak;
}

static Trained train(int64_t batch, FitOptions options) {
    Trained trained;
    Dataset digits;
    digits_generate(IMAGES, 3, &digits);
    Layer *model = model_new();
    Context *dry = dry_run_begin(model);
    trained.predicted = fit(model, &digits, batch, options, &trained.result);
    dry_run_end(dry);
    trained.peak = fit(model, &digits, batch, options, &trained.result);
    expect_no_error();
    tensor_read_floats(model->children[0]->parameters[0].tensor, trained.weights);
    tensor_read_floats(model->children[2]->parameters[0].tensor, trained.weights + 784 * 6);
    layer_free(model);
    dataset_free(&digits);
    ck_assert_int_eq(expect_live_bytes(), 0);
    return trained;
}

START_TEST(small_batches_add_up_to_a_large_one) {
    const Schedule down = {.kind = SCHEDULE_COSINE, .base = 0.1f, .period = 3};
    Trained large = train(IMAGES, (FitOptions){.epochs = 3, .schedule = &down});
    Trained small =
        train(IMAGES / 4, (FitOptions){.epochs = 3, .accumulate = 4, .schedule = &down});
    Trained alone = train(IMAGES / 4, (FitOptions){.epochs = 3});
    ck_assert_int_eq(large.result.steps, 3);
    ck_assert_int_eq(small.result.steps, 12);
    harness_assert_close(small.weights, large.weights, WEIGHTS, 1e-6, 1e-5, "weights");
    ck_assert(!harness_close(alone.weights, large.weights, WEIGHTS, 1e-4, 1e-3, "weights"));
    ck_assert_int_lt(small.peak, large.peak);
    ck_assert_int_eq(small.peak, small.predicted);
    ck_assert_int_eq(large.peak, large.predicted);
}
END_TEST

// 3 batches in pairs: the third makes a step of its own, divided by 1.
START_TEST(the_last_ones_may_be_fewer) {
    FitOptions two = {.epochs = 1, .accumulate = 2, .max_steps = 3};
    FitOptions all = {.epochs = 1, .accumulate = 3, .max_steps = 3};
    Trained got = train(16, two), want = train(16, all);
    ck_assert(!harness_close(got.weights, want.weights, WEIGHTS, 1e-5, 1e-4, "weights"));
    two.max_steps = 1; // one batch, divided by 1
    all = (FitOptions){.epochs = 1, .max_steps = 1};
    got = train(16, two);
    want = train(16, all);
    ck_assert_mem_eq(got.weights, want.weights, sizeof got.weights);
}
END_TEST

START_TEST(numbers_that_do_not_fit_are_refused) {
    Dataset digits;
    FitResult result;
    digits_generate(IMAGES, 3, &digits);
    Layer *model = model_new();
    const FitOptions wrong[] = {{.epochs = 1, .accumulate = -1},
                                {.epochs = 1, .accumulate = 2, .steps_done = 3}};
    for (int i = 0; i < 2; i++) {
        fit(model, &digits, 8, wrong[i], &result);
        expect_error(STATUS_INVALID_ARGUMENT, "batches are to add up");
    }
    layer_free(model);
    dataset_free(&digits);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {small_batches_add_up_to_a_large_one, 0},
        {the_last_ones_may_be_fewer, 0},
        {numbers_that_do_not_fit_are_refused, 0},
        {NULL, 0},
    };
    return harness_main("accumulate", tests);
}
