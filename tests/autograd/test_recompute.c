// test_recompute.c -- a single layer that runs its forward again in backward: its saved tensors,
// counts and refusals. tests/layers/test_recompute_nets.c tests whole networks.
#include "layers/containers.h"
#include "layers/cost.h"
#include "tests/autograd/leaves.h"
#include "tests/helpers/expect.h"

// A block (2, 4) -> (2, 4), with (2, 8) inside.
static Layer *block_new(void) {
    Layer *block = sequential_new();
    layer_append(block, linear_new(4, 8, true));
    layer_append(block, gelu_new());
    layer_append(block, linear_new(8, 4, true));
    return block;
}

static Tensor *weight_of(Layer *block) { return block->children[0]->parameters[0].tensor; }

// ---- saved and counted -------------------------------------------------------------------------
START_TEST(a_marked_layer_keeps_its_input_only_and_counts_forward_twice) {
    Layer *block = block_new();
    Tensor *x = leaf_new(SHAPE(2, 4), 0.5f);
    LayerCost plain, marked;
    ck_assert_int_eq(layer_cost(block, &x, 1, &plain), STATUS_OK);
    ck_assert_int_eq(layer_recompute(block, true), STATUS_OK);
    ck_assert_int_eq(layer_cost(block, &x, 1, &marked), STATUS_OK);
    for (int p = 0; p < PHASE_COUNT; p++)
        if (p != PHASE_RECOMPUTE)
            ck_assert_mem_eq(&plain.phase[p], &marked.phase[p], sizeof(OpCost));
    ck_assert_mem_eq(&marked.phase[PHASE_RECOMPUTE], &plain.phase[PHASE_FORWARD], sizeof(OpCost));
    ck_assert_uint_eq(plain.phase[PHASE_RECOMPUTE].macs, 0);
    ck_assert_int_eq(plain.saved_bytes, 2 * 2 * 8 * 4); // gelu's input and output; x is a leaf
    ck_assert_int_eq(marked.saved_bytes, 0);
    Scope *scope = scope_open();
    Tensor *h = tensor_relu(x), *y = layer_forward(block, h);
    ck_assert_int_eq(autograd_node_count(), 2);
    ck_assert_int_eq(autograd_saved_bytes(), 2 * 4 * 4); // relu's result
    ck_assert_int_eq(autograd_backward(total(y)), STATUS_OK);
    scope_close(scope);
    layer_recompute(block, false);
    scope = scope_open();
    layer_forward(block, tensor_relu(x));
    ck_assert_int_eq(autograd_node_count(), 4);
    scope_close(scope);
    tensor_free(x);
    layer_free(block);
}
END_TEST

// Tensors inside die as early as without recording.
START_TEST(forward_needs_no_more_than_inference) {
    Layer *block = block_new();
    Tensor *x = leaf_new(SHAPE(2, 4), 0.5f);
    int64_t peak[2];
    for (int marked = 0; marked < 2; marked++) {
        layer_recompute(block, marked);
        Scope *scope = scope_open();
        ledger_reset_peak(context_ledger());
        if (!marked) no_grad_begin();
        Tensor *y = layer_forward(block, layer_forward(block, x));
        ck_assert(tensor_wants_grad(y) == marked);
        peak[marked] = context_ledger()->peak.total;
        scope_close(scope);
    }
    ck_assert_int_eq(peak[1], peak[0]);
    tensor_free(x);
    layer_free(block);
}
END_TEST

START_TEST(where_nothing_is_recorded_it_is_a_layer_like_others) {
    Layer *block = block_new();
    Tensor *x = tensor_full_new(SHAPE(2, 4), 0.5f);
    layer_recompute(block, true);
    Scope *scope = scope_open();
    no_grad_begin();
    ck_assert(!tensor_wants_grad(layer_forward(block, x)));
    no_grad_end();
    int64_t count;
    layer_freeze(block, "", true, &count);
    ck_assert(!tensor_wants_grad(layer_forward(block, x)));
    ck_assert_int_eq(autograd_node_count(), 0);
    scope_close(scope);
    tensor_free(x);
    layer_free(block);
    ck_assert_int_eq(layer_recompute(NULL, true), STATUS_INVALID_ARGUMENT);
    error_clear();
}
END_TEST

// Gradients arrive no matter who has freed the tensors, and the result's is retained.
START_TEST(inputs_that_are_gone_are_there_again) {
    float want[8];
    for (int marked = 0; marked < 2; marked++) {
        context_seed(5);
        Layer *block = block_new();
        Tensor *leaf = leaf_new(SHAPE(2, 4), 0.5f), *gone = leaf_new(SHAPE(2, 4), 0.25f);
        int64_t live = expect_live_bytes();
        layer_recompute(block, marked);
        Scope *scope = scope_open();
        Tensor *h = tensor_mul(tensor_exp(leaf), gone), *y = layer_forward(block, h);
        tensor_release(h);
        tensor_free(gone);
        ck_assert_int_eq(tensor_retain_grad(y), STATUS_OK);
        ck_assert_int_eq(autograd_backward(total(tensor_mul(y, y))), STATUS_OK);
        ck_assert_ptr_nonnull(tensor_grad(y));
        scope_close(scope);
        if (marked) ck_assert_mem_eq(want, tensor_data(tensor_grad(leaf)), sizeof want);
        tensor_read_floats(tensor_grad(leaf), want);
        int64_t weights = 4 * layer_parameter_count(block);
        ck_assert_int_eq(expect_live_bytes(), live - 32 + 32 + weights); // gradients
        tensor_free(leaf);
        layer_free(block);
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
}
END_TEST

// ---- several results, and other users of the graph --------------------------------------------
static Tensor *captured; // a result from outside that is never an input

static Status split(Layer *self, Tensor *const in[], int n_in, Tensor *out[]) {
    (void)self, (void)n_in;
    out[0] = tensor_slice(in[0], 0, 0, 1, 1);
    out[1] = tensor_exp(in[0]);
    out[2] = captured ? tensor_mul(out[1], captured) : out[1]; // or the same twice
    out[3] = in[0];
    return error_status();
}
static const LayerType split_type = {
    .name = "Split", .size = sizeof(Layer), .forward_each = split, .n_outputs = 4};

// _i: bits 0 and 1: the results used; bit 2: a tensor is captured; bit 3: two losses.
START_TEST(several_results_of_which_some_are_used) {
    Layer *layer = layer_new(&split_type);
    float want[2][3];
    for (int marked = 0; marked < 2; marked++) {
        Tensor *v = leaf_new(SHAPE(3), 0.5f), *w = leaf_new(SHAPE(3), 0.75f), *out[4];
        layer_recompute(layer, marked);
        Scope *scope = scope_open();
        captured = _i & 4 ? tensor_sigmoid(w) : NULL;
        ck_assert_int_eq(layer_forward_each(layer, (Tensor *[]){tensor_tanh(v)}, 1, out, 4),
                         STATUS_OK);
        ck_assert(captured || out[1] == out[2]);
        Tensor *loss = total(out[3]);
        if (_i & 1) loss = tensor_add(loss, total(out[0]));
        if (_i & 2) loss = tensor_add(loss, tensor_add(total(out[1]), total(out[2])));
        if (_i & 8) ck_assert_int_eq(autograd_backward_keep(total(out[2])), STATUS_OK);
        if (_i & 8) ck_assert_int_eq(autograd_backward_keep(total(out[1])), STATUS_OK);
        ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
        for (int i = 0; i < 2; i++) {
            Tensor *grad = tensor_grad(i ? w : v);
            float got[3] = {0};
            if (grad) tensor_read_floats(grad, got);
            if (marked) ck_assert_mem_eq(got, want[i], sizeof got);
            memcpy(want[i], got, sizeof got);
        }
        ck_assert_int_eq(autograd_backward(total(out[0])), STATUS_STATE); // it was walked
        ck_assert(!(_i & 1) || error_pending());
        error_clear();
        scope_close(scope);
        ck_assert_int_eq(autograd_node_count(), 0);
        tensor_free(v);
        tensor_free(w);
    }
    layer_free(layer);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// For each of 3 rows the 2 best-scored experts: three results with a gradient, one without.
static Status route(Layer *self, Tensor *const in[], int n_in, Tensor *out[]) {
    (void)self, (void)n_in;
    out[0] = tensor_topk(in[0], 2, -1, true, &out[3]);
    out[1] = tensor_exp(out[0]);
    out[2] = tensor_embedding(captured ? captured : out[3], in[1]);
    return error_status();
}
static const LayerType route_type = {
    .name = "Route", .size = sizeof(Layer), .forward_each = route, .n_inputs = 2, .n_outputs = 4};

START_TEST(whole_numbers_are_results_and_inputs_without_a_gradient) {
    Layer *layer = layer_new(&route_type);
    float want[2][12], got[12];
    for (int marked = 0; marked < 2; marked++) {
        context_seed(3);
        Tensor *scores = tensor_uniform_new(SHAPE(3, 4), -1.0f, 1.0f), *out[4];
        Tensor *experts = leaf_new(SHAPE(4, 3), 2.0f);
        tensor_requires_grad(scores, true);
        layer_recompute(layer, marked);
        Scope *scope = scope_open();
        Tensor *best = tensor_topk(scores, 2, -1, true, &captured);
        ck_assert_int_eq(autograd_backward(total(best)), STATUS_OK); // frees its graph
        tensor_zero_grad(scores);
        layer_forward_each(layer, (Tensor *[]){tensor_tanh(scores), experts}, 2, out, 4);
        expect_no_error();
        ck_assert(tensor_wants_grad(out[2]));
        ck_assert(!tensor_wants_grad(out[3]));
        ck_assert_int_eq(autograd_node_count(), marked ? 2 : 5);
        Tensor *loss = tensor_add(total(out[1]), total(tensor_mul(out[2], out[2])));
        ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
        ck_assert_int_eq(tensor_labels(out[3])[0], tensor_labels(captured)[0]);
        for (int i = 0; i < 2; i++) {
            tensor_read_floats(tensor_grad(i ? experts : scores), got);
            if (marked) ck_assert_mem_eq(got, want[i], sizeof got);
            memcpy(want[i], got, sizeof got);
        }
        scope_close(scope);
        ck_assert_int_eq(autograd_node_count(), 0);
        tensor_free(scores);
        tensor_free(experts);
    }
    layer_free(layer);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
enum { WRITTEN, MODE, FROZEN, CHILD, FREED, INPUT, CHANGES };
static const char *const complaints[CHANGES] = {
    "is not what it was", "is not what it was", "is not what it was",
    "is not what it was", "was freed",          "input 0 was written in place"};

static void change(Layer **block, Tensor *x, int what) {
    Layer *child = (*block)->children[1];
    if (what == WRITTEN) tensor_fill_uniform(weight_of(*block), 0.0f, 1.0f);
    if (what == MODE) layer_train(child, false);
    if (what == FROZEN) tensor_requires_grad(weight_of(*block), false);
    if (what == CHILD || what == FREED) layer_leave_parent(child);
    if (what == CHILD || what == FREED) layer_free(child);
    if (what == FREED) {
        layer_free(*block);
        *block = NULL;
    }
    no_grad_begin();
    if (what == INPUT) tensor_fill(x, 3.0f);
    no_grad_end();
}

START_TEST(a_layer_that_is_not_what_it_was_is_an_error_and_no_wrong_gradient) {
    Layer *block = block_new();
    Tensor *x = leaf_new(SHAPE(2, 4), 0.5f);
    layer_recompute(block, true);
    Scope *scope = scope_open();
    Tensor *loss = total(layer_forward(block, x));
    change(&block, x, _i);
    ck_assert_int_eq(autograd_backward(loss), STATUS_STATE);
    expect_error(STATUS_STATE, complaints[_i]);
    ck_assert_ptr_null(tensor_grad(x));
    scope_close(scope);
    tensor_free(x);
    layer_free(block);
    ck_assert_int_eq(autograd_node_count(), 0);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

static int times; // runs of the moody layer
static Tensor *many[17];
static Tensor *moody(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return times++ % 2 ? tensor_sum(in[0], DIM_ALL, false) : tensor_exp(in[0]);
}
static Tensor *stranger(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return times++ % 2 ? tensor_mul(in[0], captured) : tensor_exp(in[0]);
}
static Tensor *writer(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    Tensor *y = tensor_mul_scalar(in[0], 2.0f);
    no_grad_begin();
    tensor_fill(in[0], 1.0f);
    no_grad_end();
    return y;
}
static Tensor *reader(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    Tensor *sum = in[0];
    for (int i = 0; i < 17; i++) sum = tensor_add(sum, many[i]);
    return sum;
}
static const struct {
    Tensor *(*forward)(Layer *self, Tensor *const in[], int n_in);
    Status status;
    const char *complaint;
} others[] = {
    {reader, STATUS_INVALID_ARGUMENT, "reads more than 16 tensors"},
    {moody, STATUS_STATE, "forward was run again, and gave other results"},
    {stranger, STATUS_STATE, "read a result that it had not read before"},
    {writer, STATUS_INVALID_ARGUMENT, "writes into an input"},
};

START_TEST(a_forward_that_is_not_the_same_each_time_is_an_error) {
    LayerType type = {.name = "Other", .size = sizeof(Layer), .forward = others[_i].forward};
    Layer *layer = layer_new(&type);
    Tensor *x = leaf_new(SHAPE(3), 0.5f), *w = leaf_new(SHAPE(3), 0.5f);
    layer_recompute(layer, true);
    Scope *scope = scope_open();
    captured = tensor_tanh(w);
    for (int i = 0; i < 17; i++) many[i] = tensor_exp(w);
    Tensor *y = layer_forward(layer, x);
    if (y) autograd_backward(total(y));
    expect_error(others[_i].status, others[_i].complaint);
    ck_assert_ptr_null(tensor_grad(x));
    autograd_backward(total(captured)); // no stray gradient arrived there
    expect_values(tensor_grad(w), 0.78644770f, 0.78644770f, 0.78644770f);
    scope_close(scope);
    ck_assert_int_eq(autograd_node_count(), 0);
    layer_free(layer);
    tensor_free(x);
    tensor_free(w);
}
END_TEST

// ---- by path -----------------------------------------------------------------------------------
START_TEST(of_nested_layers_a_pattern_marks_the_outermost) {
    Layer *model = sequential_new(), *list = sequential_new();
    int64_t count;
    layer_add_child(model, "h", list);
    layer_append(list, block_new());
    layer_append(list, block_new());
    ck_assert_int_eq(layer_recompute_matching(model, "h.*", &count), STATUS_OK);
    ck_assert_int_eq(count, 2);
    ck_assert(!list->recompute && list->children[0]->recompute && list->children[1]->recompute);
    ck_assert(!list->children[0]->children[0]->recompute);
    ck_assert_int_eq(layer_recompute_matching(model, "x*", &count), STATUS_OK);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(layer_recompute_matching(model, NULL, &count), STATUS_INVALID_ARGUMENT);
    error_clear();
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_marked_layer_keeps_its_input_only_and_counts_forward_twice, 0},
        {forward_needs_no_more_than_inference, 0},
        {where_nothing_is_recorded_it_is_a_layer_like_others, 0},
        {inputs_that_are_gone_are_there_again, 0},
        {several_results_of_which_some_are_used, 16},
        {whole_numbers_are_results_and_inputs_without_a_gradient, 0},
        {a_layer_that_is_not_what_it_was_is_an_error_and_no_wrong_gradient, CHANGES},
        {a_forward_that_is_not_the_same_each_time_is_an_error, sizeof(others) / sizeof(others[0])},
        {of_nested_layers_a_pattern_marks_the_outermost, 0},
        {NULL, 0},
    };
    return harness_main("recompute", tests);
}
