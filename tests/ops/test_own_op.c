// test_own_op.c -- ops that are not in op_list.h, as a program defines them: the fields that a
// descriptor may leave out, and the refusals, with a message, of wrong ones. exercises/tour/2_op.c
// shows a complete one.
#include "layers/cost.h"
#include "layers/train/fit.h"
#include "profiler/explain/explain.h"
#include "profiler/measure/profile.h"
#include "tests/helpers/expect.h"

static void twice_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = 2.0f * x[i];
}
static Status twice_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    grad_in[0] = tensor_mul_scalar(grad_out[0], 2.0f);
    return grad_in[0] ? STATUS_OK : error_status();
}
static Status quiet_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved, (void)grad_out, (void)grad_in;
    return STATUS_INVALID_ARGUMENT; // sets no error message
}

static const OpStory twice_story = {
    .formula = "y = 2 x", .out = "y", .in = {"x"}, .elementwise = {PER_INPUT, .each = 3}};
static const Op twice = {.name = "twice",
                         .module = "Twice",
                         .n_inputs = 1,
                         .infer = op_infer_same,
                         .row = twice_row,
                         .backward = twice_backward,
                         .story = &twice_story};

START_TEST(a_row_is_run_over_all_elements) {
    Scope *scope = scope_open();
    Tensor *x = tensor_full_new(SHAPE(3), 1.5f), *large = tensor_full_new(SHAPE(400, 300), 1.0f);
    Op by_rows = twice;
    by_rows.work = op_work_rows; // a row function has other items
    expect_values(OP_RUN(twice, NULL, x), 3, 3, 3);
    expect_values(OP_RUN(by_rows, NULL, x), 3, 3, 3);
    ck_assert_double_eq(tensor_item(tensor_sum(OP_RUN(twice, NULL, large), DIM_ALL, false)),
                        240000);
    Tensor *none = tensor_zeros_new(SHAPE(0));
    ck_assert_int_eq(OP_RUN(twice, NULL, none)->numel, 0);
    scope_close(scope);
    tensor_free(x);
    tensor_free(large);
    tensor_free(none);
}
END_TEST

static LayerCost cost_of(const Op *activation, bool fuse) {
    LayerCost cost;
    Layer *model = sequential_new();
    layer_add_child(model, "fc", linear_new_fused(33, 17, true, fuse ? activation : NULL));
    if (!fuse) layer_add_child(model, "twice", activation_new(activation));
    Tensor *x = tensor_zeros_new(SHAPE(5, 33));
    ck_assert_msg(layer_cost(model, &x, 1, &cost) == STATUS_OK, "%s", error_message());
    tensor_free(x);
    layer_free(model);
    return cost;
}

// A rule in multiples of the output is counted alike; other rules are unknown when fused.
START_TEST(fused_in_it_counts_what_it_counts_alone) {
    LayerCost fused = cost_of(&twice, true), alone = cost_of(&twice, false);
    ck_assert_uint_eq(fused.phase[PHASE_FORWARD].elementwise_flops, 3 * 5 * 17);
    ck_assert_uint_eq(alone.phase[PHASE_FORWARD].elementwise_flops, 3 * 5 * 17);
    ck_assert_int_eq(fused.uncounted, 0);
    static const OpStory rows = {.elementwise = {PER_ROW, .each = 5, .more = 1}};
    static const OpStory biased = {.bias = {PER_OUTPUT, .each = 2}};
    const OpStory *unknown[] = {NULL, &rows, &biased};
    for (int i = 0; i < 3; i++) {
        Op op = twice;
        op.story = unknown[i];
        ck_assert_int_eq(cost_of(&op, true).uncounted, 1);
        ck_assert_int_eq(cost_of(&op, false).uncounted, i == 0);
    }
}
END_TEST

static Status check_nothing(const OpCall *call) { return (void)call, STATUS_OK; }
static bool mutate_it(const OpCall *call, int input) { return (void)call, input == 0; }

START_TEST(what_is_not_element_by_element_is_not_fused) {
    Op ops[6];
    for (int i = 0; i < 6; i++) ops[i] = twice;
    ops[0].n_inputs = 2;
    ops[1].flags = OP_RANDOM;
    ops[2].flags = OP_STRIDED;
    ops[3].check = check_nothing;
    ops[4].mutates = mutate_it;
    ops[5].row = NULL;
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(2, 3)), *weight = tensor_zeros_new(SHAPE(4, 3));
    for (int i = 0; i < 6; i++) {
        ck_assert_ptr_null(tensor_linear(x, weight, NULL, &ops[i]));
        expect_error(STATUS_INVALID_ARGUMENT, "twice cannot be fused");
    }
    scope_close(scope);
    tensor_free(x);
    tensor_free(weight);
}
END_TEST

// Fused or alone: a failed gradient must not count as a missing one.
START_TEST(a_rule_that_fails_without_a_word_fails) {
    Op op = twice;
    op.backward = quiet_backward;
    Tensor *x = tensor_full_new(SHAPE(2, 3), 1.0f), *weight = tensor_full_new(SHAPE(4, 3), 1.0f);
    tensor_requires_grad(weight, true);
    for (int fuse = 0; fuse < 2; fuse++) {
        Scope *scope = scope_open();
        Tensor *y = tensor_linear(x, weight, NULL, fuse ? &op : NULL);
        if (!fuse) y = OP_RUN(op, NULL, y);
        Status status = autograd_backward(tensor_sum(y, DIM_ALL, false));
        ck_assert_int_eq(status, STATUS_INVALID_ARGUMENT);
        expect_error(STATUS_INVALID_ARGUMENT, "failed, and does not say why");
        scope_close(scope);
    }
    tensor_free(x);
    tensor_free(weight);
}
END_TEST

static Status infer_fourth(OpCall *call) { return op_output(call, 3, DTYPE_FLOAT32, SHAPE(1)); }
static Status infer_second(OpCall *call) { return op_output(call, 1, DTYPE_FLOAT32, SHAPE(1)); }
static Status infer_strange(OpCall *call) { return op_output(call, 0, (DType)9, SHAPE(1)); }
static Status infer_quietly(OpCall *call) { return (void)call, STATUS_SHAPE; }

START_TEST(a_descriptor_that_cannot_be_is_refused) {
    static const struct {
        Status (*infer)(OpCall *call);
        const char *says;
    } wrong[] = {{NULL, "has no infer"},
                 {infer_fourth, "an output 3"},
                 {infer_second, "makes no output 0"},
                 {infer_strange, "of dtype 9"},
                 {infer_quietly, "does not say why"}};
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(2)), *none = NULL;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        Op op = twice;
        op.infer = wrong[i].infer;
        ck_assert_ptr_null(OP_RUN(op, NULL, x));
        ck_assert_msg(strstr(error_message(), wrong[i].says) != NULL, "%s", error_message());
        error_clear();
    }
    Op list = twice;
    list.n_inputs = 0;
    list.optional = 1;
    ck_assert_ptr_null(op_run(&list, NULL, &none, 0));
    expect_error(STATUS_INVALID_ARGUMENT, "the first input is absent");
    ck_assert_ptr_null(op_run(&list, NULL, &none, 1));
    expect_error(STATUS_INVALID_ARGUMENT, "the first input is absent");
    char name[500] = {0};
    memset(name, 'n', sizeof(name) - 1);
    list.name = name;
    ck_assert_ptr_null(op_run(&list, NULL, &none, 0));
    expect_error(STATUS_INVALID_ARGUMENT, "the first input is absent");
    scope_close(scope);
    tensor_free(x);
}
END_TEST

// A partial story is used as far as it goes.
static int two_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]) {
    (void)in, (void)params;
    factor[0] = out.dims[0], factor[1] = 7;
    return 2;
}
START_TEST(half_a_story_harms_nobody) {
    const OpStory stories[] = {{.factors = two_factors},
                               {.formula = "y = x",
                                .elementwise = {PER_INPUT, .each = 2, .input = 1}},
                               {.elementwise = {PER_PARAMETER, .each = 1, .input = 7}},
                               {.elementwise = {PER_ROW, .each = 1, .input = -1}},
                               {.out = "dx"}};
    for (size_t i = 0; i < sizeof(stories) / sizeof(*stories); i++) {
        Op op = twice;
        op.story = &stories[i];
        Layer *model = linear_new_fused(3, 3, true, &twice), *chain = sequential_new();
        layer_add_child(chain, "fc", model);
        layer_add_child(chain, "own", activation_new(&op));
        Tensor *x = tensor_zeros_new(SHAPE(2, 3));
        Profile profile;
        FILE *nowhere = fopen("/dev/null", "w");
        ck_assert_int_eq(profile_inference(chain, x, (ProfileOptions){.iterations = 1}, &profile),
                         STATUS_OK);
        ck_assert(profile.reconciled);
        ck_assert_int_eq(explain_print(&profile, "*", nowhere), STATUS_OK);
        fclose(nowhere);
        profile_free(&profile);
        tensor_free(x);
        layer_free(chain);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_row_is_run_over_all_elements, 0},
        {fused_in_it_counts_what_it_counts_alone, 0},
        {what_is_not_element_by_element_is_not_fused, 0},
        {a_rule_that_fails_without_a_word_fails, 0},
        {a_descriptor_that_cannot_be_is_refused, 0},
        {half_a_story_harms_nobody, 0},
        {NULL, 0},
    };
    return harness_main("own_op", tests);
}
