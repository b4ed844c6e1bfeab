// test_context.c -- contexts: nested, independent on two threads, their errors, sites, observers,
// and a fork after the thread pool was used. ThreadSanitizer runs this one.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layers/train/fit.h"
#include "tests/helpers/expect.h"

// ---- nesting ----------------------------------------------------------------------------------
START_TEST(a_pushed_context_is_current_until_it_is_popped) {
    Context *outer = context_current(), *a = context_new(), *b = context_new();
    context_push(a);
    ck_assert_ptr_eq(context_current(), a);
    context_push(b);
    ck_assert_ptr_eq(context_current(), b);
    context_pop();
    ck_assert_ptr_eq(context_current(), a);
    context_pop();
    ck_assert_ptr_eq(context_current(), outer);
    context_pop(); // the thread's own one stays
    ck_assert_ptr_eq(context_current(), outer);
    context_free(a);
    context_free(b);
    context_free(NULL);
    context_push(a = context_new());
    context_free(a); // the current one: popped first
    ck_assert_ptr_eq(context_current(), outer);
}
END_TEST

START_TEST(a_pushed_context_shares_nothing_with_the_outer_one) {
    context_seed(9);
    context_set_device(device_meta());
    no_grad_begin();
    int64_t live = expect_live_bytes();
    Context *inner = context_new();
    context_push(inner);
    ck_assert_ptr_eq(inner->device, device_cpu());
    ck_assert_int_eq(inner->no_grad, 0);
    ck_assert_int_eq(inner->site, -1);
    ck_assert_ptr_null(inner->scope);
    ck_assert_ptr_null(inner->recorder);
    Tensor *x = tensor_full_new(SHAPE(10), 1.0f);
    ck_assert_ptr_null(tensor_relu(x)); // the outer scopes do not count
    expect_error(STATUS_STATE, "outside any scope");
    ck_assert_int_eq(expect_live_bytes(), 40);
    tensor_free(x);
    context_pop();
    context_free(inner);
    ck_assert_int_eq(expect_live_bytes(), live);
    no_grad_end();
    context_set_device(device_cpu());
}
END_TEST

START_TEST(a_pending_error_moves_outwards) {
    Context *inner = context_new();
    context_push(inner);
    tensor_new(SHAPE(-1), DTYPE_FLOAT32);
    ck_assert(error_pending());
    context_pop();
    expect_error(STATUS_SHAPE, "shape (-1,): a dimension is negative");
    context_push(inner);
    expect_no_error(); // it moved, it was not copied
    tensor_new(SHAPE(-2), DTYPE_FLOAT32);
    context_pop();
    ck_assert(error_pending()); // and here it stays until it is cleared
    context_free(inner);
    expect_error(STATUS_SHAPE, "(-2,)");
}
END_TEST

START_TEST(an_error_already_pending_outside_wins) {
    error_set(STATUS_IO, "the first");
    Context *inner = context_new();
    context_push(inner);
    expect_no_error();
    error_set(STATUS_SHAPE, "the second");
    context_pop();
    context_free(inner);
    expect_error(STATUS_IO, "the first");
}
END_TEST

START_TEST(a_message_is_one_line_whatever_it_quotes) {
    error_set(STATUS_IO, "%s: no such file", "a\nb\r\x1b[31m\x7f \xc3\xa9");
    ck_assert_str_eq(error_message(), "a?b??[31m? \xc3\xa9: no such file");
    error_clear();
}
END_TEST

START_TEST(no_grad_nests_and_cannot_go_below_zero) {
    Tensor *w = tensor_full_new(SHAPE(1), 2.0f);
    tensor_requires_grad(w, true);
    Scope *scope = scope_open();
    int before = autograd_node_count();
    no_grad_begin();
    no_grad_begin();
    no_grad_end();
    tensor_exp(w);
    ck_assert_int_eq(autograd_node_count(), before);
    no_grad_end();
    no_grad_end();
    tensor_exp(w);
    ck_assert_int_eq(autograd_node_count(), before + 1);
    scope_close(scope);
    tensor_free(w);
}
END_TEST

START_TEST(the_number_of_threads_stays_within_limits) {
    context_set_threads(-5);
    ck_assert_int_eq(context_current()->threads, 1);
    context_set_threads(1000);
    ck_assert_int_eq(context_current()->threads, 64);
    context_set_threads(2);
    ck_assert_int_eq(context_current()->threads, 2);
}
END_TEST

START_TEST(the_threads_own_context_can_be_released_and_comes_back_fresh) {
    context_seed(123);
    tensor_free(tensor_zeros_new(SHAPE(1000)));
    Scope *scope = scope_open();
    (void)scope; // left open: the release closes it
    context_release_thread();
    ck_assert_uint_eq(context_current()->random.seed, 1);
    ck_assert_int_eq(expect_live_bytes(), 0);
    ck_assert_ptr_null(context_current()->scope);
}
END_TEST

// ---- sites ------------------------------------------------------------------------------------
START_TEST(a_site_is_a_layer_at_its_place_and_is_found_again) {
    char text[64], tiny[8];
    int model = 0, encoder = 0, first = 0;
    Context *context = context_new();
    context_push(context);
    int seen[2];
    for (int step = 0; step < 2; step++) {
        int a = site_enter((uintptr_t)&model, "", "Sequential");
        int b = site_enter((uintptr_t)&encoder, "encoder", "Sequential");
        int c = site_enter((uintptr_t)&first, "fc1", "Linear");
        ck_assert_str_eq(site_path(context, context->site, text, sizeof text), "encoder.fc1");
        ck_assert_str_eq(context->sites[context->site].type, "Linear");
        seen[step] = context->site;
        site_leave(c);
        site_leave(b);
        site_leave(a);
        ck_assert_int_eq(context->site, -1);
    }
    ck_assert_int_eq(seen[0], seen[1]);
    ck_assert_int_eq(context->n_sites, 3);
    ck_assert_str_eq(site_path(context, -1, text, sizeof text), "(model)");
    ck_assert_str_eq(site_path(context, 99, text, sizeof text), "(model)");
    ck_assert_str_eq(site_path(context, seen[0], tiny, sizeof tiny), "encoder"); // cut
    int alone =
        site_enter((uintptr_t)&first, "fc1", "Linear"); // the same layer elsewhere: another site
    ck_assert_int_eq(context->n_sites, 4);
    site_leave(alone);
    int another = site_enter((uintptr_t)&first, "fc1", "ReLU"); // of another type: not that one
    ck_assert_int_eq(context->n_sites, 5);
    ck_assert_str_eq(context->sites[context->site].type, "ReLU");
    site_leave(another);
    context_pop();
    context_free(context);
}
END_TEST

typedef struct Log {
    Observer observer; // first
    char text[64];     // a letter per event
} Log;
static Log logs[2];
static char order[32];

static void note(Observer *self, const char *event) {
    strcat(((Log *)self)->text, event);
    strcat(order, self == &logs[0].observer ? "0" : "1");
}
static void op_began(Observer *self, const OpCall *call) { note(self, call->out[0] ? "?" : "b"); }
static void op_ended(Observer *self, const OpCall *call) { note(self, call->out[0] ? "e" : "f"); }
static void site_began(Observer *self, int site) { note(self, site >= 0 ? "(" : "?"); }
static void site_ended(Observer *self, int site) { note(self, site >= 0 ? ")" : "?"); }

START_TEST(a_path_begins_at_the_top_however_deep) {
    enum { DEPTH = 100 };
    char text[3 * DEPTH], want[3 * DEPTH] = "top";
    Context *context = context_new();
    context_push(context);
    site_enter(1, "top", "Sequential");
    for (int depth = 2; depth <= DEPTH; depth++) {
        site_enter((uint64_t)depth, "x", "Sequential");
        strcat(want, ".x");
    }
    ck_assert_str_eq(site_path(context, context->site, text, sizeof text), want);
    context_free(context);
}
END_TEST

START_TEST(observers_are_called_in_the_order_added_until_removed) {
    order[0] = '\0';
    for (int i = 0; i < 2; i++) {
        logs[i] = (Log){.observer = {.op_begin = op_began,
                                     .op_end = op_ended,
                                     .site_begin = site_began,
                                     .site_end = site_ended}};
        observer_add(&logs[i].observer);
    }
    Scope *scope = scope_open();
    Tensor *x = tensor_new(SHAPE(2), DTYPE_FLOAT32), *labels = tensor_new(SHAPE(2), DTYPE_INT64);
    int outer = site_enter((uintptr_t)&logs, "a", "A");
    tensor_reshape(x, SHAPE(1, 2));
    site_leave(outer);
    tensor_exp(labels); // refused by the checks: nobody saw it begin
    error_clear();
    tensor_reshape(x, SHAPE(3)); // refused by infer: begun, and ended without an output
    error_clear();
    ck_assert_str_eq(logs[0].text, "(be)bf");
    ck_assert_str_eq(logs[1].text, "(be)bf");
    ck_assert_str_eq(order, "010101010101");
    observer_remove(&logs[0].observer);
    tensor_reshape(x, SHAPE(2, 1));
    ck_assert_str_eq(logs[0].text, "(be)bf");
    ck_assert_str_eq(logs[1].text, "(be)bfbe");
    observer_remove(&logs[1].observer);
    observer_remove(&logs[1].observer); // once is enough
    scope_close(scope);
    tensor_free(x);
    tensor_free(labels);
}
END_TEST

// ---- threads and processes --------------------------------------------------------------------
enum { STEPS = 5, INPUTS = 64, CLASSES = 5, BATCH = 32 };

typedef struct Training { // one model trained in a thread's own context
    uint64_t seed;
    int threads;
    double loss[STEPS];
    Status status;
} Training;

static void *train(void *argument) {
    Training *t = argument;
    context_set_threads(t->threads);
    context_seed(t->seed);
    Layer *model = mlp_new((int64_t[]){INPUTS, 256, CLASSES}, 3, mlp_defaults());
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));
    Tensor *x = tensor_normal_new(SHAPE(BATCH, INPUTS), 0.0f, 1.0f);
    Tensor *labels = tensor_new(SHAPE(BATCH), DTYPE_INT64);
    for (int i = 0; i < BATCH; i++) tensor_labels(labels)[i] = i % CLASSES;
    for (int i = 0; i < STEPS; i++)
        t->status |= train_step(model, optimizer, x, labels, &t->loss[i]);
    tensor_free(x);
    tensor_free(labels);
    optimizer_free(optimizer);
    layer_free(model);
    if (expect_live_bytes() != 0) t->status = STATUS_STATE;
    context_release_thread();
    return NULL;
}

START_TEST(two_threads_train_at_once_as_each_would_alone) {
    Training alone[2], together[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        alone[i] = together[i] = (Training){.seed = 10 + (uint64_t)i, .threads = 1 + i};
        pthread_create(&threads[0], NULL, train, &alone[i]);
        pthread_join(threads[0], NULL);
    }
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, train, &together[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(alone[i].status, STATUS_OK);
        ck_assert_int_eq(together[i].status, STATUS_OK);
        ck_assert_mem_eq(alone[i].loss, together[i].loss, sizeof alone[i].loss);
        ck_assert(alone[i].loss[STEPS - 1] < alone[i].loss[0]);
    }
    ck_assert(alone[0].loss[0] != alone[1].loss[0]);
}
END_TEST

static void *fail_quietly(void *status) {
    tensor_new(SHAPE(-1), DTYPE_FLOAT32);
    *(Status *)status = error_status();
    context_release_thread();
    return NULL;
}

START_TEST(an_error_of_one_thread_is_not_pending_in_another) {
    pthread_t thread;
    Status status = STATUS_OK;
    pthread_create(&thread, NULL, fail_quietly, &status);
    pthread_join(thread, NULL);
    ck_assert_int_eq(status, STATUS_SHAPE);
    expect_no_error();
}
END_TEST

START_TEST(a_child_process_computes_after_its_parent_used_the_pool) {
    if (getenv("CK_FORK") != NULL && strcmp(getenv("CK_FORK"), "no") == 0)
        test_skip("CK_FORK=no: ThreadSanitizer does not follow fork");
    context_set_threads(3);
    Tensor *x = tensor_full_new(SHAPE(1 << 18), 2.0f); // enough to be split
    Scope *scope = scope_open();
    ck_assert_double_eq((double)tensor_data(tensor_mul(x, x))[1 << 17], 4.0);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            Tensor *y = tensor_add(tensor_mul(x, x), x);
            _exit(y && tensor_data(y)[(1 << 18) - 1] == 6.0f ? 0 : 1);
        }
        int status = -1;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        ck_assert_double_eq((double)tensor_data(tensor_mul(x, x))[0], 4.0); // the parent goes on
    }
    scope_close(scope);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_pushed_context_is_current_until_it_is_popped, 0},
        {a_pushed_context_shares_nothing_with_the_outer_one, 0},
        {a_pending_error_moves_outwards, 0},
        {an_error_already_pending_outside_wins, 0},
        {a_message_is_one_line_whatever_it_quotes, 0},
        {no_grad_nests_and_cannot_go_below_zero, 0},
        {the_number_of_threads_stays_within_limits, 0},
        {the_threads_own_context_can_be_released_and_comes_back_fresh, 0},
        {a_site_is_a_layer_at_its_place_and_is_found_again, 0},
        {a_path_begins_at_the_top_however_deep, 0},
        {observers_are_called_in_the_order_added_until_removed, 0},
        {two_threads_train_at_once_as_each_would_alone, 0},
        {an_error_of_one_thread_is_not_pending_in_another, 0},
        {a_child_process_computes_after_its_parent_used_the_pool, 0},
        {NULL, 0},
    };
    return harness_main("context", tests);
}
