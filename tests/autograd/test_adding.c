// test_adding.c -- gradients added to an existing one: the op that computes the gradient adds it,
// if possible, so that there is no second tensor. test_ops.c tests that each op adds and counts
// right.
#include "layers/layers2d.h"
#include "tests/autograd/leaves.h"
#include "tests/helpers/expect.h"

typedef struct Ran {
    Observer observer; // must be first
    int adding, accumulate;
} Ran;

static void note_op(Observer *self, const OpCall *call) {
    ((Ran *)self)->adding += call->adds;
    ((Ran *)self)->accumulate += call->op == &op_accumulate;
}

static Ran ran_in_backward(Tensor *loss) {
    Ran ran = {.observer = {.op_end = note_op}};
    observer_add(&ran.observer);
    ck_assert_msg(autograd_backward(loss) == STATUS_OK, "%s", error_message());
    observer_remove(&ran.observer);
    return ran;
}

static void assert_same(Tensor *got, Tensor *want) {
    ck_assert(shape_equal(tensor_shape(got), tensor_shape(want)));
    harness_assert_close(tensor_data(got), tensor_data(want), want->numel, 1e-5, 1e-4, "gradient");
}

// ---- ops that add ------------------------------------------------------------------------------
START_TEST(products_that_share_an_operand_add_to_its_gradient) {
    Tensor *w = leaf_new(SHAPE(3, 3), 1.0f), *a = leaf_new(SHAPE(3, 3), 2.0f);
    Scope *scope = scope_open();
    Tensor *x = tensor_mul_scalar(a, 1.0f); // a result: its gradient is summed up first
    Tensor *sum = tensor_add(tensor_matmul(x, w), tensor_linear(x, w, NULL, NULL));
    Ran ran = ran_in_backward(total(tensor_add(sum, tensor_matmul(w, x))));
    ck_assert_int_eq(ran.adding, 4); // two into x, two into w
    ck_assert_int_eq(ran.accumulate, 0);
    expect_values(tensor_grad(a), 9, 9, 9, 9, 9, 9, 9, 9, 9);
    expect_values(tensor_grad(w), 18, 18, 18, 18, 18, 18, 18, 18, 18);
    scope_close(scope);
    tensor_free(w);
    tensor_free(a);
}
END_TEST

// If the op read the gradient while adding to it, each element would change the next.
START_TEST(a_gradient_that_the_rule_reads_is_not_added_to) {
    Tensor *w = leaf_from_floats_new(SHAPE(2, 2), (float[]){1, 2, 3, 4});
    Scope *scope = scope_open();
    ck_assert_int_eq(autograd_backward(total(tensor_matmul(w, w))), STATUS_OK);
    Tensor *grad = tensor_grad(w);
    expect_values(grad, 7, 11, 9, 13);
    Ran ran = ran_in_backward(total(tensor_matmul(grad, w))); // grad^T . ones = (16 16, 24 24)
    ck_assert_int_eq(ran.adding, 0);
    expect_values(tensor_grad(w), 23, 27, 33, 37);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(a_table_that_is_looked_up_twice_and_tied_is_summed_in_place) {
    Tensor *table = leaf_new(SHAPE(50, 4), 0.5f);
    Tensor *at = tensor_from_labels_new(SHAPE(3), (int64_t[]){7, 0, 7});
    Scope *scope = scope_open();
    Tensor *h = tensor_add(tensor_embedding(at, table), tensor_embedding(at, table));
    Ran ran = ran_in_backward(total(tensor_linear(h, table, NULL, NULL)));
    ck_assert_int_eq(ran.adding, 2);
    ck_assert_int_eq(ran.accumulate, 0);
    float *got = tensor_data(tensor_grad(table)); // 3 from the product; 2 x 25 for each look-up
    for (int i = 0; i < 200; i++)
        ck_assert(got[i] == 3.0f + (i / 4 == 7 ? 100.0f : i / 4 == 0 ? 50.0f : 0.0f));
    scope_close(scope);
    tensor_free(at);
    tensor_free(table);
}
END_TEST

START_TEST(only_an_op_that_can_add_is_told_to) {
    Tensor *x = tensor_full_new(SHAPE(2, 2), 1.0f), *y = tensor_full_new(SHAPE(2, 2), 1.0f);
    Tensor *in[] = {x, x};
    OpCall call = {.op = &op_add, .in = in, .n_in = 2, .out = {y}, .adds = true};
    ck_assert_int_eq(op_dispatch(&call), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "it does not add, or");
    call = (OpCall){.op = &op_matmul, .in = in, .n_in = 2, .adds = true};
    ck_assert_int_eq(op_dispatch(&call), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "there is no output to add to");
    call = (OpCall){.op = &op_matmul, .in = in, .n_in = 2, .out = {y}, .adds = true};
    ck_assert_int_eq(op_dispatch(&call), STATUS_OK);
    expect_values(y, 3, 3, 3, 3);
    tensor_free(x);
    tensor_free(y);
}
END_TEST

// ---- user-defined rules ------------------------------------------------------------------------
static Status copy_cpu(const OpCall *call, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) call_out(call, 0)[i] = call_in(call, 0)[i];
    return STATUS_OK;
}

// A rule that recomputes: inside, products share an operand.
static Status walk_inside(void) {
    no_grad_end();
    Tensor *leaf = leaf_new(SHAPE(2, 2), 1.0f), *z = tensor_full_new(SHAPE(2, 2), 1.0f);
    Tensor *sum = tensor_add(total(tensor_matmul(leaf, z)), total(tensor_matmul(leaf, z)));
    Status status = autograd_backward(sum);
    expect_values(tensor_grad(leaf), 4, 4, 4, 4);
    no_grad_begin();
    tensor_free(leaf);
    tensor_free(z);
    return status;
}

static Status write_then_walk(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    if (OP_INTO(&grad_in[0], op_contiguous, NULL, grad_out[0])) return error_status();
    return walk_inside();
}

static Status add_then_walk(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.shape = saved->in[0]->shape, .step = 1};
    if (OP_ADDING(&grad_in[0], op_slice_backward, &params, grad_out[0])) return error_status();
    return walk_inside();
}

static Status walk_then_add(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.shape = saved->in[0]->shape, .step = 1};
    if (walk_inside()) return error_status();
    return OP_ADDING(&grad_in[0], op_slice_backward, &params, grad_out[0]);
}

START_TEST(a_rule_may_walk_a_graph_of_its_own) {
    Status (*const rules[])(const OpCall *, Tensor *[],
                            Tensor *[]) = {write_then_walk, add_then_walk, walk_then_add};
    const Op op = {.name = "again",
                   .n_inputs = 1,
                   .infer = op_infer_same,
                   .kernel = copy_cpu,
                   .work = op_work_elements,
                   .backward = rules[_i]};
    Tensor *x = leaf_new(SHAPE(2), 1.0f);
    for (int walks = 1; walks <= 4; walks++) {
        Scope *scope = scope_open();
        ck_assert_msg(autograd_backward(total(OP_RUN(op, NULL, x))) == STATUS_OK, "%s",
                      error_message());
        expect_values(tensor_grad(x), (float)walks, (float)walks);
        scope_close(scope);
    }
    tensor_free(x);
}
END_TEST

static Status give_one_to_both(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    grad_out[0] = tensor_contiguous(grad_out[0]); // the rule may use the array
    OpParams three = {.value = {3.0f}};
    if (OP_INTO(&grad_in[0], op_mul_scalar, &three, grad_out[0])) return error_status();
    grad_in[1] = grad_in[0];
    return STATUS_OK;
}

// The first is the leaf's buffer, to which `more` is added before the second is passed on.
START_TEST(a_gradient_given_to_two_inputs_is_each_one_s) {
    const Op op = {.name = "both",
                   .n_inputs = 2,
                   .infer = op_infer_same,
                   .kernel = copy_cpu,
                   .work = op_work_elements,
                   .backward = give_one_to_both};
    Tensor *w = leaf_new(SHAPE(2), 1.0f), *x = leaf_new(SHAPE(2), 1.0f);
    Scope *scope = scope_open();
    Tensor *result = tensor_mul(x, x), *more = tensor_mul_scalar(w, 10.0f);
    Tensor *y = OP_RUN(op, NULL, w, result);
    ck_assert_int_eq(autograd_backward(tensor_add(total(y), total(more))), STATUS_OK);
    expect_values(tensor_grad(w), 13, 13);
    expect_values(tensor_grad(x), 6, 6);
    scope_close(scope);
    tensor_free(w);
    tensor_free(x);
}
END_TEST

START_TEST(a_product_refuses_what_it_cannot_read_where_it_lies) {
    Tensor *one = tensor_full_new(SHAPE(1, 1), 1.0f), *b = tensor_full_new(SHAPE(4, 2), 1.0f);
    Scope *scope = scope_open();
    Tensor *wide = tensor_expand(one, SHAPE(3, 4));
    ck_assert_ptr_null(OP_RUN(op_matmul, NULL, wide, b));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT: tensor_contiguous");
    expect_values(tensor_matmul(wide, b), 4, 4, 4, 4, 4, 4);
    scope_close(scope);
    tensor_free(one);
    tensor_free(b);
}
END_TEST

// ---- accumulation ------------------------------------------------------------------------------
enum { BATCH = 64, CHANNELS = 32, SIDE = 5 };

static Layer *net_new(bool convolution) {
    context_seed(3);
    if (!convolution)
        return mlp_new((int64_t[]){CHANNELS * SIDE * SIDE, 256, 64}, 3, mlp_defaults());
    return conv2d_new(CHANNELS, 256, 3, 3, conv2d_defaults(), true);
}

// Runs backward over all rows, `rows` at a time, and leaves the sum of their gradients. Returns the
// peak of memory, the gradients included.
static int64_t peak_of(Layer *net, Tensor *x, int64_t rows) {
    Ledger *ledger = context_current()->ledger;
    int64_t before = ledger->live.total;
    ledger_reset_peak(ledger);
    for (int64_t row = 0; row < BATCH; row += rows) {
        Scope *scope = scope_open();
        Tensor *y = layer_forward(net, tensor_slice(x, 0, row, row + rows, 1));
        autograd_backward(tensor_mul_scalar(total(tensor_mul(y, y)), 1.0f / BATCH));
        scope_close(scope);
    }
    expect_no_error();
    return ledger->peak.total - before;
}

START_TEST(accumulating_needs_no_more_memory_than_the_batch_that_it_replaces) {
    bool convolution = _i;
    Tensor *x = convolution ? tensor_new(SHAPE(BATCH, CHANNELS, SIDE, SIDE), DTYPE_FLOAT32)
                            : tensor_new(SHAPE(BATCH, CHANNELS * SIDE * SIDE), DTYPE_FLOAT32);
    tensor_fill_normal(x, 0.0f, 1.0f);
    Layer *whole = net_new(convolution), *parts = net_new(convolution);
    int64_t at_once = peak_of(whole, x, BATCH), in_parts = peak_of(parts, x, BATCH / 8);
    ck_assert_msg(in_parts <= at_once, "%lld bytes, in parts %lld", (long long)at_once,
                  (long long)in_parts);
    ParameterList want, got;
    layer_parameters(whole, &want);
    layer_parameters(parts, &got);
    for (int i = 0; i < want.count; i++)
        assert_same(tensor_grad(got.items[i].tensor), tensor_grad(want.items[i].tensor));
    parameter_list_free(&want);
    parameter_list_free(&got);
    layer_free(whole);
    layer_free(parts);
    tensor_free(x);
}
END_TEST

// ---- slices ------------------------------------------------------------------------------------
typedef struct Traffic {
    Observer observer; // must be first
    uint64_t bytes;
} Traffic;

static void add_bytes(Observer *self, const OpCall *call) {
    OpCost cost = op_cost(call);
    ((Traffic *)self)->bytes += cost.bytes_read + cost.bytes_written;
}

// Bytes that backward through `slices` slices of one tensor moves. hidden: the tensor is a result.
static uint64_t slice_traffic(int slices, bool hidden) {
    enum { ROWS = 1024, COLUMNS = 8 };
    Tensor *w = leaf_new(SHAPE(ROWS, COLUMNS), 1.0f), *loss = NULL;
    Scope *scope = scope_open();
    Tensor *x = hidden ? tensor_mul_scalar(w, 1.0f) : w;
    int rows = ROWS / slices;
    for (int i = 0; i < slices; i++) {
        Tensor *part = tensor_slice(x, 0, i * rows, (i + 1) * rows, 1);
        Tensor *sum = total(tensor_mul_scalar(part, (float)i));
        loss = loss ? tensor_add(loss, sum) : sum;
    }
    Traffic traffic = {.observer = {.op_end = add_bytes}};
    observer_add(&traffic.observer);
    ck_assert_msg(autograd_backward(loss) == STATUS_OK, "%s", error_message());
    observer_remove(&traffic.observer);
    float *values = tensor_data(tensor_grad(w));
    for (int i = 0; i < ROWS * COLUMNS; i++) ck_assert(values[i] == (float)(i / COLUMNS / rows));
    scope_close(scope);
    tensor_free(w);
    return traffic.bytes;
}

START_TEST(many_slices_cost_as_much_as_what_they_cover) {
    uint64_t few = slice_traffic(4, _i), many = slice_traffic(1024, _i);
    ck_assert_msg(many < 2 * few, "4 slices %llu bytes, 1024 slices %llu", (unsigned long long)few,
                  (unsigned long long)many);
}
END_TEST

// Slices that overlap, skip, are empty, in any dimension, beside other uses: compared with sums.
START_TEST(slices_that_overlap_add_up) {
    Tensor *w = leaf_new(SHAPE(2, 4), 1.0f);
    Scope *scope = scope_open();
    Tensor *x = _i ? tensor_mul_scalar(w, 1.0f) : w;
    Tensor *sum = total(tensor_slice(x, 1, 1, 4, 1));                                  // +0 1 1 1
    sum = tensor_add(sum, total(tensor_mul_scalar(tensor_slice(x, 1, 0, 4, 2), 10)));  // +10 . 10 .
    sum = tensor_add(sum, total(tensor_slice(x, 1, 2, 2, 1)));                         // +0
    sum = tensor_add(sum, total(tensor_mul_scalar(tensor_slice(x, 0, 1, 2, 1), 100))); // to row 1
    sum = tensor_add(sum, total(tensor_mul_scalar(x, 1000)));
    sum = tensor_add(sum, total(tensor_mul_scalar(tensor_slice(x, -1, 3, 4, 1), 10000)));
    ck_assert_msg(autograd_backward(sum) == STATUS_OK, "%s", error_message());
    expect_values(tensor_grad(w), 1010, 1001, 1011, 11001, 1110, 1101, 1111, 11101);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

// A gradient that several tensors share is not added to.
START_TEST(a_slice_does_not_add_to_a_gradient_that_is_shared) {
    Tensor *w = leaf_new(SHAPE(4), 1.0f);
    Scope *scope = scope_open();
    Tensor *a = tensor_mul_scalar(w, 1.0f), *b = tensor_mul_scalar(w, 1.0f);
    Tensor *both = tensor_add(a, b); // passes one gradient to both
    Tensor *loss = tensor_add(total(tensor_mul_scalar(both, 1.0f)),
                              total(tensor_mul_scalar(tensor_slice(a, 0, 1, 3, 1), 10.0f)));
    ck_assert_int_eq(tensor_retain_grad(a), STATUS_OK);
    ck_assert_int_eq(tensor_retain_grad(b), STATUS_OK);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    expect_values(tensor_grad(a), 1, 11, 11, 1);
    expect_values(tensor_grad(b), 1, 1, 1, 1);
    expect_values(tensor_grad(w), 2, 12, 12, 2);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {products_that_share_an_operand_add_to_its_gradient, 0},
        {a_gradient_that_the_rule_reads_is_not_added_to, 0},
        {a_table_that_is_looked_up_twice_and_tied_is_summed_in_place, 0},
        {only_an_op_that_can_add_is_told_to, 0},
        {a_rule_may_walk_a_graph_of_its_own, 3},
        {a_gradient_given_to_two_inputs_is_each_one_s, 0},
        {a_product_refuses_what_it_cannot_read_where_it_lies, 0},
        {accumulating_needs_no_more_memory_than_the_batch_that_it_replaces, 2},
        {many_slices_cost_as_much_as_what_they_cover, 2},
        {slices_that_overlap_add_up, 2},
        {a_slice_does_not_add_to_a_gradient_that_is_shared, 0},
        {NULL, 0},
    };
    return harness_main("adding", tests);
}
