// test_work.c -- how the work of ops is divided: the items of an op are all of it, in any pieces
// and order; the number of ranges given to other threads is known without running the op; errors in
// values are found before any work begins.
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "tensor/context.h"
#include "tensor/pool.h"
#include "tests/helpers/expect.h"
#include "tests/ops/op_cases.h"

// ---- in pieces ---------------------------------------------------------------------------------
typedef struct Divider { // repeats each finished op in pieces
    Observer observer;   // must be first
    int divided[OP_COUNT];
    const char *differs; // the first op whose pieces differ from the whole
} Divider;

static bool writes_into_input(const OpCall *call) {
    bool in_place = call->n_out == 0;
    for (int k = 0; k < call->n_out; k++)
        for (int i = 0; i < call->n_in; i++)
            in_place = in_place || (call->in[i] && call->in[i]->storage == call->out[k]->storage);
    return in_place;
}

// Runs the last piece first; each is a third of the remaining items, so the sizes vary.
static void run_pieces(const OpCall *call, int64_t items) {
    bool whole = call->op->whole && call->in[0]->dtype == DTYPE_INT64;
    for (int64_t end = items; end > 0;) {
        int64_t begin = end - (end + 2) / 3;
        if (!whole && call->op->row)
            call->op->row(call_in(call, 0) + begin, call_out(call, 0) + begin, end - begin,
                          &call->params);
        else
            (whole ? call->op->whole : call->op->kernel)(call, begin, end);
        end = begin;
    }
}

static void do_again(Observer *observer, const OpCall *call) {
    Divider *self = (Divider *)observer;
    if (error_pending() || !(call->op->work || call->op->row) || writes_into_input(call)) return;
    OpWork work = call->op->row ? op_work_elements(call) : call->op->work(call);
    char *whole[OP_MAX_OUTPUTS] = {NULL};
    for (int k = 0; k < call->n_out; k++) {
        size_t bytes = (size_t)tensor_bytes(call->out[k]);
        whole[k] = malloc(bytes + 1);
        if (bytes) memcpy(whole[k], tensor_raw(call->out[k]), bytes);
        if (bytes) memset(tensor_raw(call->out[k]), 0xa5, bytes);
    }
    run_pieces(call, work.items);
    for (int k = 0; k < call->n_out; k++) {
        size_t bytes = (size_t)tensor_bytes(call->out[k]);
        if (bytes && memcmp(whole[k], tensor_raw(call->out[k]), bytes) != 0)
            self->differs = call->op->name;
        if (bytes) memcpy(tensor_raw(call->out[k]), whole[k], bytes);
        free(whole[k]);
    }
    if (work.items > 1) self->divided[call->op->id]++;
}

static void run_case(const OpCase *self) {
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(self, leaves);
    for (int i = 0; i < self->n_in && self->differentiable; i++)
        if (leaves[i] && leaves[i]->dtype == DTYPE_FLOAT32) tensor_requires_grad(leaves[i], true);
    Scope *scope = scope_open();
    Tensor *result = op_case_run(self, leaves);
    if (tensor_wants_grad(result)) {
        Tensor *start = tensor_uniform_new(tensor_shape(result), 0.5f, 1.0f);
        autograd_backward_from(result, start);
        tensor_free(start);
    }
    ck_assert_msg(!error_pending(), "%s: %s", self->name, error_message());
    scope_close(scope);
    op_case_leaves_free(self, leaves);
}

START_TEST(pieces_in_any_order_are_the_whole) {
    Divider divider = {.observer = {.op_end = do_again}};
    context_set_threads(1);
    observer_add(&divider.observer);
    for (int c = 0; c < op_case_count(); c++) {
        OpCase self = op_case_at(c);
        run_case(&self);
        ck_assert_msg(!divider.differs, "%s: pieces of %s are not the whole", self.name,
                      divider.differs);
    }
    observer_remove(&divider.observer);
    for (int op = 1; op < OP_COUNT; op++) { // in-place ops: test_pool and test_ops thread them
        if ((!op_by_id(op)->work && !op_by_id(op)->row) || op == OP_fill || op == OP_assign ||
            op == OP_accumulate)
            continue;
        ck_assert_msg(divider.divided[op] > 0, "%s was never divided", op_by_id(op)->name);
    }
}
END_TEST

START_TEST(what_is_written_in_place_is_written_in_pieces_too) {
    enum { N = 100003 };
    Tensor *x = tensor_zeros_new(SHAPE(N)), *y = tensor_full_new(SHAPE(N), 2.0f);
    for (int threads = 1; threads < 5; threads++) {
        context_set_threads(threads);
        ck_assert_int_eq(tensor_fill(x, (float)threads), STATUS_OK);
        ck_assert_int_eq(tensor_accumulate(x, y), STATUS_OK);
        for (int i = 0; i < N; i++)
            ck_assert_msg(tensor_data(x)[i] == (float)threads + 2.0f, "%d threads, %d", threads, i);
    }
    tensor_free(x);
    tensor_free(y);
}
END_TEST

// ---- handed to other threads -------------------------------------------------------------------
typedef struct Counter { // counts ranges: predicted and as the pool counts them
    Observer observer;   // must be first
    int64_t before, said[OP_COUNT];
    const char *differs; // the first op that predicts another number
} Counter;

static int64_t handed_so_far(void) { return pool_counts(context_current()->pool).handed; }

static void look(Observer *observer, const OpCall *call) {
    (void)call;
    ((Counter *)observer)->before = handed_so_far();
}

static void compare(Observer *observer, const OpCall *call) {
    Counter *self = (Counter *)observer;
    int64_t said = op_handoffs(call);
    self->said[call->op->id] += said;
    if (context_current()->device->has_data && said != handed_so_far() - self->before)
        self->differs = call->op->name;
}

static void count_case(const OpCase *self, Device *device, Counter *counter) {
    context_set_device(device);
    *counter = (Counter){.observer = {.op_begin = look, .op_end = compare}};
    observer_add(&counter->observer);
    run_case(self);
    observer_remove(&counter->observer);
    context_set_device(device_cpu());
}

// Cases wide enough for threads that the table lacks.
static const char *const wide[][2] = {
    {"lstm", "(4, 64, 1024) (1024, 256) (1024) (64, 256) (64, 256)"},
    {"gru", "(4, 64, 768) (768, 256) (768) (64, 256)"},
    {"rnn", "(3, 300, 260) (260, 260) (260) (300, 260)"},
    {"matmul", "(5, 70, 65) (5, 65, 80)"},
    {"nll", "(300, 257) labels (300)"},
    {"rmsprop_step", "state (1) (300, 257) (300, 257) positive (300, 257)"},
    {"lion_step", "state (1) (300, 257) (300, 257) (300, 257)"},
    {"sgd_step", "state (1) (300, 257) (300, 257)"},
};
enum { WIDE = sizeof wide / sizeof wide[0] };

static OpCase wide_case(int index) {
    OpCase self = op_case_of(wide[index][0], wide[index][1], (OpArguments){.flag = false});
    self.differentiable = strstr(wide[index][0], "_step") == NULL;
    return self;
}

START_TEST(the_ranges_that_threads_are_handed_are_known_without_running) {
    static Counter ran, dry;
    int64_t handed[OP_COUNT] = {0};
    context_set_threads(_i + 2);
    for (int c = 0; c < op_case_count() + WIDE; c++) {
        OpCase self = c < WIDE ? wide_case(c) : op_case_at(c - WIDE);
        count_case(&self, device_cpu(), &ran);
        ck_assert_msg(!ran.differs, "%s: %s hands out another number", self.name, ran.differs);
        count_case(&self, device_meta(), &dry);
        ck_assert_msg(memcmp(ran.said, dry.said, sizeof ran.said) == 0, "%s: on meta", self.name);
        for (int op = 1; op < OP_COUNT; op++) handed[op] += ran.said[op];
    }
    for (int op = 1; op < OP_COUNT; op++)
        if (op_by_id(op)->handoffs) ck_assert_msg(handed[op] > 0, "%s: no", op_by_id(op)->name);
}
END_TEST

// ---- errors that only values show --------------------------------------------------------------
// Large enough for threads, with one bad number at the very end: nothing may have been written.
START_TEST(a_bad_index_at_the_end_is_found_before_anything_is_written) {
    enum { ROWS = 3000, COLUMNS = 40 };
    context_set_threads(3);
    int64_t *index = calloc(ROWS * COLUMNS, sizeof *index);
    index[ROWS - 1] = COLUMNS;
    Tensor *x = tensor_zeros_new(SHAPE(ROWS, COLUMNS)), *table = tensor_zeros_new(SHAPE(40, 40));
    Tensor *labels = tensor_from_labels_new(SHAPE(ROWS), index);
    index[ROWS - 1] = 0;
    index[ROWS * COLUMNS - 1] = -1;
    Tensor *matrix = tensor_from_labels_new(SHAPE(ROWS, COLUMNS), index);
    Tensor *out = tensor_full_new(SHAPE(ROWS, COLUMNS), 7.0f), *slot = out;
    Scope *scope = scope_open();
    ck_assert_int_ne(OP_INTO(&slot, op_embedding, NULL, labels, table), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "index 40 at (2999,) is not in [0, 40)");
    slot = out;
    ck_assert_int_ne(OP_INTO(&slot, op_gather, (&(OpParams){.dim = 1}), x, matrix), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "index -1 at (2999, 39) is not in [0, 40)");
    for (int i = 0; i < ROWS * COLUMNS; i++) ck_assert(tensor_data(out)[i] == 7.0f);
    ck_assert_ptr_null(tensor_cross_entropy(x, labels));
    expect_error(STATUS_INVALID_ARGUMENT, "label 40 in row 2999");
    scope_close(scope);
    tensor_free(x), tensor_free(table), tensor_free(labels), tensor_free(matrix), tensor_free(out);
    free(index);
}
END_TEST

// Labels and indices that became bad after forward: the existing gradient stays as it is.
START_TEST(an_index_that_became_bad_changes_no_gradient) {
    Tensor *table = tensor_full_new(SHAPE(5, 3), 1.0f), *x = tensor_full_new(SHAPE(2, 3), 1.0f);
    Tensor *index = tensor_from_labels_new(SHAPE(2, 1), (int64_t[]){1, 2});
    tensor_requires_grad(table, true);
    tensor_requires_grad(x, true);
    for (int gathers = 0; gathers < 2; gathers++) {
        Scope *scope = scope_open();
        Tensor *y = gathers ? tensor_gather(x, 1, index) : tensor_embedding(index, table);
        tensor_labels(index)[1] = 9; // without a new version
        ck_assert_int_eq(autograd_backward(tensor_sum(y, DIM_ALL, false)), STATUS_INVALID_ARGUMENT);
        expect_error(STATUS_INVALID_ARGUMENT, "index 9 at");
        tensor_labels(index)[1] = 2;
        scope_close(scope);
    }
    tensor_free(table), tensor_free(x), tensor_free(index);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {pieces_in_any_order_are_the_whole, 0},
        {what_is_written_in_place_is_written_in_pieces_too, 0},
        {the_ranges_that_threads_are_handed_are_known_without_running, 3},
        {a_bad_index_at_the_end_is_found_before_anything_is_written, 0},
        {an_index_that_became_bad_changes_no_gradient, 0},
        {NULL, 0},
    };
    return harness_main("work", tests);
}
