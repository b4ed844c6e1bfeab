// test_channel_norms.c -- RMS norm, group norm and instance norm beyond the op cases: precision,
// what is saved and run for each wanted gradient, other tools' counts, and the layers.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layers/layers2d.h"
#include "profiler/measure/profile.h"
#include "profiler/report/preset.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/model_values.h"

static const float epsilon = 1e-5f;

// ---- precision ---------------------------------------------------------------------------------
// Compares one sample of n numbers in one group with the formula.
static void check_group(const float *x, int64_t n, float offset, double room) {
    double mean = 0.0, variance = 0.0;
    for (int64_t i = 0; i < n; i++) mean += (double)x[i] / (double)n;
    for (int64_t i = 0; i < n; i++) variance += pow((double)x[i] - mean, 2.0) / (double)n;
    Scope *scope = scope_open();
    Tensor *t = tensor_from_floats_new(SHAPE(1, 2, n / 2), x);
    Tensor *y = tensor_group_norm(t, 1, NULL, NULL, epsilon);
    ck_assert_msg(y != NULL, "%s", error_message());
    for (int64_t i = 0; i < n; i++) {
        double want = ((double)x[i] - mean) / sqrt(variance + (double)epsilon);
        double got = (double)tensor_data(y)[i];
        ck_assert_msg(fabs(got - want) <= room * (1.0 + fabs(want)),
                      "%lld around %g, %lld: %.9g, not %.9g", (long long)n, (double)offset,
                      (long long)i, got, want);
    }
    scope_close(scope);
    tensor_free(t);
}

static void check_rms(const float *x, int64_t n, float around, double room) {
    double square = 0.0;
    for (int64_t i = 0; i < n; i++) square += (double)x[i] * (double)x[i] / (double)n;
    Scope *scope = scope_open();
    Tensor *t = tensor_from_floats_new(SHAPE(n), x);
    Tensor *y = tensor_rms_norm(t, SHAPE(n), NULL, 0.0f);
    for (int64_t i = 0; i < n; i++) {
        double want = (double)x[i] / sqrt(square), got = (double)tensor_data(y)[i];
        ck_assert_msg(fabs(got - want) <= room * (1.0 + fabs(want)),
                      "%lld around %g, %lld: %.9g, not %.9g", (long long)n, (double)around,
                      (long long)i, got, want);
    }
    scope_close(scope);
    tensor_free(t);
}

START_TEST(numbers_of_any_size_keep_their_digits) {
    static const int64_t sizes[] = {2, 4, 34, 66, 258, 1024, 4098, 100000};
    static const float around[] = {0.0f, 1e4f, 1e-25f, 1e25f, -1e38f};
    int64_t n = sizes[_i];
    float *x = calloc((size_t)n, sizeof *x), *u = calloc((size_t)n, sizeof *u);
    random_uniform(11, 0, 0, n, u);
    for (int k = 0; k < 5; k++) {
        float size = around[k] == 0.0f ? 1.0f : around[k];
        for (int64_t i = 0; i < n; i++) x[i] = size * (0.5f + u[i]);
        check_rms(x, n, around[k], 2e-6);
        for (int64_t i = 0; i < n; i++)
            x[i] = fabsf(around[k]) == 1e4f ? around[k] + 3.5f * u[i] : size * (u[i] - 0.5f);
        check_group(x, n, around[k], 2e-6);
    }
    free(x);
    free(u);
}
END_TEST

START_TEST(small_numbers_without_epsilon_are_normalised_too) {
    Scope *scope = scope_open();
    Tensor *x = tensor_from_floats_new(SHAPE(1, 1, 2), (float[]){3e-30f, 1e-30f});
    expect_values(tensor_group_norm(x, 1, NULL, NULL, 0.0f), 1, -1);
    expect_values(tensor_instance_norm(x, NULL, NULL, 0.0f), 1, -1);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// ---- which gradients are wanted ----------------------------------------------------------------
enum { SAMPLES = 3, CHANNELS = 4, GROUPS = 2, PLACES = 5, ELEMENTS = SAMPLES * CHANNELS * PLACES };

typedef struct Ran {
    Observer observer; // must be first
    char ops[200];
} Ran;

static void note_op(Observer *self, const OpCall *call) {
    Ran *ran = (Ran *)self;
    size_t used = strlen(ran->ops);
    if (call->op->flags & OP_VIEW) return;
    snprintf(ran->ops + used, sizeof ran->ops - used, " %s/%d", call->op->name, call->n_out);
}

enum { GROUP_SAVED = 4 * (ELEMENTS + 2 * SAMPLES * GROUPS) };
static const struct {
    const char *ops;
    int64_t saved;
} wanted[8] = {
    // bit 0: x, 1: weight, 2: bias
    {"", 0},
    {" group_norm_backward/1", GROUP_SAVED},
    {" group_norm_backward_weight/1", GROUP_SAVED},
    {" group_norm_backward/1 group_norm_backward_weight/1", GROUP_SAVED},
    {" sum/1 sum/1", 0},
    {" group_norm_backward/1 sum/1 sum/1", GROUP_SAVED},
    {" group_norm_backward_weight/2", GROUP_SAVED},
    {" group_norm_backward/1 group_norm_backward_weight/2", GROUP_SAVED},
};

static void check_ran(const Ran *ran, const char *ops, bool input) {
    ck_assert_int_eq(strncmp(ran->ops, ops, strlen(ops)), 0);
    ck_assert_str_eq(ran->ops + strlen(ops), input ? " mul_scalar/1" : "");
}

START_TEST(only_what_is_wanted_is_kept_and_computed) {
    Tensor *leaf[3] = {tensor_normal_new(SHAPE(SAMPLES, CHANNELS, PLACES), 0.0f, 1.0f),
                       tensor_normal_new(SHAPE(CHANNELS), 0.0f, 1.0f),
                       tensor_normal_new(SHAPE(CHANNELS), 0.0f, 1.0f)};
    Tensor *start = tensor_normal_new(SHAPE(SAMPLES, CHANNELS, PLACES), 0.0f, 1.0f);
    ck_assert_int_eq(autograd_enable(), STATUS_OK);
    for (int i = 0; i < 3; i++) tensor_requires_grad(leaf[i], _i >> i & 1);
    Ran ran = {.observer = {.op_end = note_op}};
    Scope *scope = scope_open();
    Tensor *x = tensor_mul_scalar(leaf[0], 1.0f); // an activation
    Tensor *y = tensor_group_norm(x, GROUPS, leaf[1], leaf[2], epsilon);
    ck_assert_int_eq(autograd_saved_bytes(), wanted[_i].saved);
    observer_add(&ran.observer);
    if (_i) ck_assert_int_eq(autograd_backward_from(y, start), STATUS_OK);
    observer_remove(&ran.observer);
    check_ran(&ran, wanted[_i].ops, _i & 1);
    scope_close(scope);
    for (int i = 0; i < 3; i++) tensor_free(leaf[i]);
    tensor_free(start);
}
END_TEST

START_TEST(an_rms_norm_keeps_x_and_one_number_a_row) {
    static const char *const ops[] = {"", " rms_norm_backward/1", " rms_norm_backward_weight/1",
                                      " rms_norm_backward/1 rms_norm_backward_weight/1"};
    Tensor *leaf[2] = {tensor_normal_new(SHAPE(SAMPLES, 7), 0.0f, 1.0f),
                       tensor_normal_new(SHAPE(7), 0.0f, 1.0f)};
    Tensor *start = tensor_normal_new(SHAPE(SAMPLES, 7), 0.0f, 1.0f);
    ck_assert_int_eq(autograd_enable(), STATUS_OK);
    for (int i = 0; i < 2; i++) tensor_requires_grad(leaf[i], _i >> i & 1);
    Ran ran = {.observer = {.op_end = note_op}};
    Scope *scope = scope_open();
    Tensor *x = tensor_mul_scalar(leaf[0], 1.0f);
    Tensor *y = tensor_rms_norm(x, SHAPE(7), leaf[1], epsilon);
    ck_assert_int_eq(autograd_saved_bytes(), _i ? 4 * SAMPLES * 8 : 0);
    observer_add(&ran.observer);
    if (_i) ck_assert_int_eq(autograd_backward_from(y, start), STATUS_OK);
    observer_remove(&ran.observer);
    check_ran(&ran, ops[_i], _i & 1);
    scope_close(scope);
    for (int i = 0; i < 2; i++) tensor_free(leaf[i]);
    tensor_free(start);
}
END_TEST

// ---- the layers --------------------------------------------------------------------------------
static Layer *group(bool affine) { return group_norm_new(2, 6, epsilon, affine); }
static Layer *sequence(bool affine) { return instance_norm1d_new(6, 0.5f, affine); }
static Layer *image(bool affine) { return instance_norm2d_new(6, epsilon, affine); }
static Layer *root(bool affine) { return rms_norm_new(SHAPE(6, 5), FLT_EPSILON, affine); }

static const struct Made {
    Layer *(*make)(bool affine);
    const char *name, *attributes, *printed; // with affine
    Shape x;
    int64_t parameters;
    uint64_t forward[2];  // FLOPs, without and with affine
    uint64_t tools[2][3]; // fvcore, DeepSpeed, torchinfo
} made[] = {
    {group,
     "GroupNorm",
     "num_groups=2, num_channels=6, eps=1e-05, affine=true",
     "GroupNorm(num_groups=2, num_channels=6, eps=1e-05, affine=True)\n",
     {.ndim = 4, .dims = {3, 6, 5, 2}},
     12,
     {5 * 180 + 2 * 6, 7 * 180 + 2 * 6},
     {{4 * 180, 4 * 180, 0}, {5 * 180, 5 * 180, 3 * 12}}},
    {sequence,
     "InstanceNorm1d",
     "num_features=6, eps=0.5, affine=true",
     "InstanceNorm1d(num_features=6, eps=0.5, affine=True)\n",
     {.ndim = 3, .dims = {3, 6, 5}},
     12,
     {5 * 90 + 2 * 18, 7 * 90 + 2 * 18},
     {{4 * 90, 4 * 90, 0}, {5 * 90, 5 * 90, 3 * 12}}},
    {image,
     "InstanceNorm2d",
     "num_features=6, eps=1e-05, affine=true",
     "InstanceNorm2d(num_features=6, eps=1e-05, affine=True)\n",
     {.ndim = 4, .dims = {3, 6, 5, 2}},
     12,
     {5 * 180 + 2 * 18, 7 * 180 + 2 * 18},
     {{4 * 180, 4 * 180, 0}, {5 * 180, 5 * 180, 3 * 12}}},
    {root,
     "RMSNorm",
     "normalized_size=30, eps=1.19209e-07, elementwise_affine=true",
     "RMSNorm(normalized_size=30, eps=1.19209e-07, elementwise_affine=True)\n",
     {.ndim = 3, .dims = {3, 6, 5}},
     30,
     {3 * 90 + 2 * 3, 4 * 90 + 2 * 3},
     {{0, 0, 0}, {0, 0, 3 * 30}}},
};
enum { MADE = sizeof made / sizeof *made };

START_TEST(layers_begin_and_print_as_pytorchs) {
    const struct Made *of = &made[_i];
    Layer *layer = of->make(true), *plain = of->make(false);
    char text[256] = {0};
    ck_assert_str_eq(layer->type->name, of->name);
    ck_assert_str_eq(layer_attributes_text(layer, text, sizeof text), of->attributes);
    memset(text, 0, sizeof text);
    FILE *file = fmemopen(text, sizeof text - 1, "w");
    ck_assert_int_eq(layer_print(layer, file), STATUS_OK);
    fclose(file);
    ck_assert_str_eq(text, of->printed);
    ck_assert_int_eq(plain->n_parameters, 0);
    ck_assert_int_eq(layer_parameter_count(layer), of->parameters);
    ck_assert_int_eq(layer->n_parameters, of->make == root ? 1 : 2);
    for (int p = 0; p < layer->n_parameters; p++) {
        Tensor *t = layer->parameters[p].tensor;
        ck_assert_str_eq(layer->parameters[p].name, p == 0 ? "weight" : "bias");
        ck_assert(shape_equal(tensor_shape(t), of->make == root ? SHAPE(6, 5) : SHAPE(6)));
        for (int64_t i = 0; i < t->numel; i++)
            ck_assert(tensor_data(t)[i] == (p == 0 ? 1.0f : 0.0f));
    }
    ck_assert_int_eq(layer->n_buffers, 0);
    layer_free(layer);
    layer_free(plain);
}
END_TEST

// A dry run counts exactly what a real one does, and the presets count what their tools do.
START_TEST(layers_cost_what_they_say_and_tools_count_theirs) {
    const struct Made *of = &made[_i / 2];
    bool affine = _i % 2 != 0;
    static const Preset tools[] = {PRESET_FVCORE, PRESET_DEEPSPEED, PRESET_TORCHINFO};
    Layer *layer = of->make(affine);
    Tensor *x = tensor_normal_new(of->x, 0.0f, 1.0f);
    tensor_requires_grad(x, true);
    Profile profile;
    Status status = profile_backward(layer, x, (ProfileOptions){.iterations = 1}, &profile);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    LayerCost cost;
    ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
    ck_assert_uint_eq(op_cost_total_flops(cost.phase[PHASE_FORWARD]), of->forward[affine]);
    ck_assert_int_eq(cost.uncounted, 0);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(preset_count(tools[i], &profile).forward, of->tools[affine][i]);
    profile_free(&profile);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

START_TEST(an_instance_norm_does_the_same_in_training_and_after) {
    Layer *layer = image(false);
    Tensor *x = tensor_normal_new(SHAPE(2, 6, 3, 3), 5.0f, 2.0f);
    Scope *scope = scope_open();
    Tensor *before = layer_forward(layer, x);
    layer_train(layer, false);
    Tensor *after = layer_forward(layer, x);
    for (int64_t i = 0; i < x->numel; i++)
        ck_assert(tensor_data(before)[i] == tensor_data(after)[i]);
    Tensor *means = tensor_mean_dims(after, (int[]){2, 3}, 2, false);
    for (int64_t i = 0; i < means->numel; i++) ck_assert(fabsf(tensor_data(means)[i]) < 1e-6f);
    scope_close(scope);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

static void refused(Layer *made_of_it, const char *mention) {
    ck_assert_ptr_null(made_of_it);
    expect_error(STATUS_INVALID_ARGUMENT, mention);
}

START_TEST(what_makes_no_layer_is_refused) {
    int64_t live = expect_live_bytes();
    refused(group_norm_new(0, 6, epsilon, true), "0 groups of 6 channels. HINT");
    refused(group_norm_new(-2, 6, epsilon, true), "-2 groups");
    refused(group_norm_new(4, 6, epsilon, false), "4 groups of 6 channels");
    refused(group_norm_new(1, 0, epsilon, true), "GroupNorm: 0 channels. HINT");
    refused(group_norm_new(2, 6, -1.0f, true), "GroupNorm: epsilon is -1");
    refused(instance_norm1d_new(0, epsilon, true), "InstanceNorm1d: 0 channels");
    refused(instance_norm2d_new(-1, epsilon, false), "InstanceNorm2d: -1 channels");
    refused(instance_norm2d_new(3, NAN, false), "InstanceNorm2d: epsilon is nan");
    refused(rms_norm_new(SHAPE_SCALAR, epsilon, true), "rms_norm_new: a row of 0 dimensions");
    refused(rms_norm_new(SHAPE(2, -3), epsilon, true), "(2, -3)");
    refused(rms_norm_new(SHAPE(3), -1.0f, true), "rms_norm_new: epsilon is -1");
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

START_TEST(what_does_not_fit_is_refused_and_says_what_does) {
    Layer *layers[] = {group(true), group(false), sequence(false), image(false), root(true)};
    static const struct {
        int layer;
        Shape x;
        const char *mention;
    } tries[] = {
        {0, {.ndim = 3, .dims = {2, 4, 3}}, "GroupNorm of (2, 4, 3): x has not the 6 channels"},
        {1, {.ndim = 3, .dims = {2, 8, 3}}, "HINT: x is (n, 6, ...)"},
        {1, {.ndim = 1, .dims = {6}}, "GroupNorm of (6,)"},
        {2, {.ndim = 4, .dims = {2, 6, 3, 3}}, "HINT: x is (n, 6, length)"},
        {2, {.ndim = 3, .dims = {2, 5, 3}}, "InstanceNorm1d of (2, 5, 3)"},
        {2, {.ndim = 3, .dims = {2, 6, 1}}, "instance_norm of (2, 6, 1): a channel of a sample"},
        {3, {.ndim = 3, .dims = {6, 3, 3}}, "HINT: x is (n, 6, height, width)"},
        {4, {.ndim = 2, .dims = {2, 6}}, "rms_norm of (2, 6), (6, 5): x does not end in (6, 5)"},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        Tensor *x = tensor_zeros_new(tries[i].x);
        Scope *scope = scope_open();
        ck_assert_ptr_null(layer_forward(layers[tries[i].layer], x));
        expect_error(STATUS_SHAPE, tries[i].mention);
        scope_close(scope);
        tensor_free(x);
    }
    for (int i = 0; i < 5; i++) layer_free(layers[i]);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

static Layer *made_new(const void *of) { return ((const struct Made *)of)->make(true); }

START_TEST(any_request_may_fail) {
    Tensor *x = tensor_normal_new(made[_i].x, 0.0f, 1.0f);
    model_check_failures(made_new, &made[_i], &x, 1, 15);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {numbers_of_any_size_keep_their_digits, 8},
        {small_numbers_without_epsilon_are_normalised_too, 0},
        {only_what_is_wanted_is_kept_and_computed, 8},
        {an_rms_norm_keeps_x_and_one_number_a_row, 4},
        {layers_begin_and_print_as_pytorchs, MADE},
        {layers_cost_what_they_say_and_tools_count_theirs, 2 * MADE},
        {an_instance_norm_does_the_same_in_training_and_after, 0},
        {what_makes_no_layer_is_refused, 0},
        {what_does_not_fit_is_refused_and_says_what_does, 0},
        {any_request_may_fail, MADE},
        {NULL, 0},
    };
    return harness_main("channel_norms", tests);
}
