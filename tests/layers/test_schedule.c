// test_schedule.c -- learning-rate schedules, Nesterov momentum and gradient clipping, against
// PyTorch (fixtures/make_schedule.py).
#include "layers/train/fit.h"
#include "tests/fixtures/schedule.h"
#include "tests/helpers/harness.h"

#include <math.h>
#include <string.h>

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

static void assert_rates(const Schedule *schedule, const float *want, int64_t n, const char *what) {
    for (int64_t step = 0; step < n; step++) {
        float got = schedule_rate(schedule, step);
        harness_assert_close(&got, &want[step], 1, 1e-8, 1e-6, what);
    }
}

START_TEST(step_schedule_is_pytorchs_step_lr) {
    Schedule schedule = {.kind = SCHEDULE_STEP, .base = 0.1f, .period = 3, .gamma = 0.5f};
    assert_rates(&schedule, step_rates, COUNT(step_rates), "StepLR");
}
END_TEST

START_TEST(cosine_schedule_is_pytorchs_and_stays_at_its_floor) {
    Schedule schedule = {.kind = SCHEDULE_COSINE, .base = 0.1f, .period = 10, .floor = 0.01f};
    assert_rates(&schedule, cosine_rates, COUNT(cosine_rates), "CosineAnnealingLR");
    ck_assert(schedule_rate(&schedule, 1000) == 0.01f);
}
END_TEST

START_TEST(warm_up_rises_linearly_then_the_kind_takes_over) {
    // PyTorch's LinearLR from 1/4 over 3 steps rises by 1/4 a step: our warm-up over 4.
    Schedule schedule = {.kind = SCHEDULE_CONSTANT, .base = 0.1f, .warmup = 4};
    assert_rates(&schedule, warmup_rates, COUNT(warmup_rates), "LinearLR");
    schedule.kind = SCHEDULE_STEP;
    schedule.period = 2;
    schedule.gamma = 0.1f;
    ck_assert(schedule_rate(&schedule, 5) == 0.1f); // second step after the warm-up
    float dropped = schedule_rate(&schedule, 6), want = 0.01f;
    harness_assert_close(&dropped, &want, 1, 0.0, 1e-6, "first drop");
}
END_TEST

START_TEST(schedules_that_are_none_are_refused) {
    const Schedule good = {.kind = SCHEDULE_COSINE, .base = 0.1f, .warmup = 3, .period = 10};
    Schedule wrong[] = {good, good, good, good, good, good};
    wrong[0].kind = SCHEDULE_COUNT;
    wrong[1].base = NAN;
    wrong[2].gamma = -1.0f;
    wrong[3].floor = INFINITY;
    wrong[4].warmup = -1;
    wrong[5].period = INT64_MIN;
    static const char *const names[] = {"kind 3", "base", "gamma", "floor", "warmup", "period"};
    ck_assert_int_eq(schedule_check(&good), STATUS_OK);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(schedule_check(&wrong[i]), STATUS_INVALID_ARGUMENT);
        ck_assert_msg(strstr(error_message(), names[i]) != NULL, "%s", error_message());
        error_clear();
    }
    ck_assert(isnan(schedule_rate(&wrong[0], 5)) && error_pending());
    error_clear();
    ck_assert(isnan(schedule_rate(NULL, 5)) && error_pending());
    error_clear();
    ck_assert_str_eq(schedule_name(SCHEDULE_STEP), "step");
    ck_assert_str_eq(schedule_name(SCHEDULE_COUNT), "?");
    ck_assert(schedule_rate(&good, INT64_MAX) == 0.0f);
    ck_assert(schedule_rate(&(Schedule){.kind = SCHEDULE_STEP, .base = 1.0f}, 3) == 0.0f);
}
END_TEST

START_TEST(nesterov_follows_pytorch) {
    enum { N = COUNT(nesterov_start), STEPS = 6 };
    float gradient[N], rate = 0.05f;
    Tensor *p = tensor_from_floats_new(SHAPE(N), nesterov_start);
    Tensor *g = tensor_zeros_new(SHAPE(N)), *v = tensor_zeros_new(SHAPE(N));
    Tensor *state = tensor_from_floats_new(SHAPE(1), &rate);
    for (int step = 0; step < STEPS; step++) { // clips by the sum of squares
        for (int i = 0; i < N; i++) gradient[i] = 2.0f * tensor_data(p)[i];
        tensor_write_floats(g, gradient);
        ck_assert_int_eq(tensor_sgd_step((Tensor *[]){state, p, g, v}, 1,
                                         (SgdParams){0.9f, 0.01f, true}),
                         STATUS_OK);
    }
    harness_assert_close(tensor_data(p), nesterov_end, N, 1e-6, 1e-5, "parameter");
    Tensor *const all[] = {p, g, v, state};
    for (int i = 0; i < 4; i++) tensor_free(all[i]);
    context_release_thread();
}
END_TEST

START_TEST(clipping_scales_all_gradients_together_as_pytorch) {
    Tensor *a = tensor_from_floats_new(SHAPE(COUNT(clip_a)), clip_a);
    Tensor *b = tensor_from_floats_new(SHAPE(5, 7), clip_b);
    Scope *scope = scope_open();
    Tensor *norm = tensor_clip_norm((Tensor *[]){a, b}, 2, 2.0f);
    ck_assert_msg(norm != NULL, "%s", error_message());
    harness_assert_close(tensor_data(norm), clip_norm_before, 1, 0.0, 1e-6, "norm before");
    harness_assert_close(tensor_data(a), clipped_a, COUNT(clipped_a), 1e-7, 1e-6, "first");
    harness_assert_close(tensor_data(b), clipped_b, COUNT(clipped_b), 1e-7, 1e-6, "second");
    scope_close(scope);
    tensor_free(a);
    tensor_free(b);
    context_release_thread();
}
END_TEST

START_TEST(small_gradients_are_left_alone_and_many_sum_alike_on_any_thread_count) {
    enum { N = 100003 };
    float norms[3];
    for (int threads = 1; threads <= 3; threads++) {
        context_set_threads(threads);
        context_seed(5);
        Tensor *x = tensor_normal_new(SHAPE(N), 0.0f, 1e-3f);
        float before = tensor_data(x)[N - 1];
        Scope *scope = scope_open();
        Tensor *norm = tensor_clip_norm(&x, 1, 1.0f);
        norms[threads - 1] = tensor_data(norm)[0];
        ck_assert(tensor_data(x)[N - 1] == before);
        scope_close(scope);
        tensor_free(x);
    }
    ck_assert(norms[0] == norms[1] && norms[1] == norms[2]);
    ck_assert(fabsf(norms[0] - 1e-3f * sqrtf((float)N)) < 0.01f);
    context_release_thread();
}
END_TEST

START_TEST(clipping_to_nothing_is_refused_and_nan_stays_visible) {
    float values[] = {1.0f, NAN};
    Tensor *x = tensor_from_floats_new(SHAPE(2), values);
    Scope *scope = scope_open();
    ck_assert(tensor_clip_norm(&x, 1, 0.0f) == NULL);
    ck_assert_int_eq(error_status(), STATUS_INVALID_ARGUMENT);
    error_clear();
    ck_assert(tensor_clip_norm(&x, 1, 1.0f) != NULL);
    ck_assert(isnan(tensor_data(x)[0])); // as in PyTorch: a NaN norm makes all NaN
    Layer *layer = linear_new(2, 1, true);
    Optimizer *optimizer = optimizer_new(layer, optimizer_defaults(OPTIMIZER_SGD));
    ck_assert_int_eq(optimizer_clip_gradients(optimizer, 1.0f, NULL), STATUS_OK); // no gradients
    ck_assert_int_eq(optimizer_clip_gradients(optimizer, -1.0f, NULL), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error_message(), "clip_norm: the largest norm is -1. HINT: above 0");
    error_clear();
    optimizer_free(optimizer);
    layer_free(layer);
    scope_close(scope);
    tensor_free(x);
    context_release_thread();
}
END_TEST

START_TEST(the_optimizer_clips_before_its_step) {
    Layer *model = linear_new(3, 2, true);
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_SGD);
    config.clip_norm = 1e-3f;
    config.learning_rate = 1.0f;
    Optimizer *optimizer = optimizer_new(model, config);
    Tensor *x = tensor_full_new(SHAPE(4, 3), 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(4), (int64_t[]){0, 0, 0, 0});
    float before[6], after[6];
    tensor_read_floats(model->parameters[0].tensor, before);
    double loss, moved = 0.0;
    ck_assert_int_eq(train_step(model, optimizer, x, labels, &loss), STATUS_OK);
    tensor_read_floats(model->parameters[0].tensor, after);
    for (int i = 0; i < 6; i++) moved += pow((double)after[i] - (double)before[i], 2.0);
    ck_assert(sqrt(moved) > 1e-4 && sqrt(moved) < 1.01e-3);
    optimizer_free(optimizer);
    layer_free(model);
    tensor_free(x);
    tensor_free(labels);
    context_release_thread();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {step_schedule_is_pytorchs_step_lr, 0},
        {cosine_schedule_is_pytorchs_and_stays_at_its_floor, 0},
        {warm_up_rises_linearly_then_the_kind_takes_over, 0},
        {schedules_that_are_none_are_refused, 0},
        {nesterov_follows_pytorch, 0},
        {clipping_scales_all_gradients_together_as_pytorch, 0},
        {small_gradients_are_left_alone_and_many_sum_alike_on_any_thread_count, 0},
        {clipping_to_nothing_is_refused_and_nan_stays_visible, 0},
        {the_optimizer_clips_before_its_step, 0},
        {NULL, 0}};
    return harness_main("schedule", tests);
}
