// test_leak_sites.c -- the sites named for memory that stays, compared with a plain list and in
// training; and misuse of the leak test.
#include <string.h>

#include "layers/train/fit.h"
#include "profiler/record/leak.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

static Tensor *bytes_new(int64_t bytes, MemoryCategory category) {
    Tensor *t = tensor_new_as(SHAPE(bytes), DTYPE_UINT8, category);
    ck_assert_msg(t != NULL, "%s", error_message());
    return t;
}

static LeakReport report_of(const LeakTest *test) {
    LeakReport report;
    ck_assert_msg(!leak_report(test, &report), "%s", error_message());
    ck_assert(report.low <= report.bytes_per_step && report.bytes_per_step <= report.high);
    return report;
}

// ---- sites -----------------------------------------------------------------------------------
enum { OWNERS = 4, KINDS = 4, HELD = 300 };

typedef struct Held {
    Tensor *tensor;
    int owner, kind;
    bool before; // from before the start
} Held;

static void hold(Held *held, RandomState *random, bool before) {
    static const char owners[OWNERS][4] = {"a", "b", "c", "d"};
    *held = (Held){.owner = (int)random_next_below(random, OWNERS),
                   .kind = (int)random_next_below(random, KINDS),
                   .before = before};
    const char *owner = owners[held->owner];
    int outer = site_enter((uintptr_t)owner, owner, "Owner");
    held->tensor = bytes_new(random_next_below(random, 5000), (MemoryCategory)held->kind);
    site_leave(outer);
}

static void check_row(const LeakReport *report, const Held *held, int owner, int kind) {
    int64_t bytes = 0, storages = 0;
    const char path[] = {(char)('a' + owner), '\0'};
    for (int i = 0; i < HELD; i++) {
        const Held *h = &held[i];
        if (!h->tensor || h->before || h->owner != owner || h->kind != kind) continue;
        bytes += h->tensor->numel;
        storages += h->tensor->numel > 0;
    }
    for (int s = 0; s < report->n_sites; s++) {
        const LeakSite *site = &report->sites[s];
        if (strcmp(site->path, path) != 0 || (int)site->category != kind) continue;
        bytes -= site->bytes;
        storages -= site->storages;
    }
    ck_assert_int_eq(bytes, 0);
    ck_assert_int_eq(storages, 0);
}

START_TEST(sites_hold_what_was_asked_for_since_the_start_and_is_alive) {
    RandomState random = {.seed = 1234 + (uint64_t)_i};
    Held held[HELD] = {0};
    LeakTest *test = leak_new(100);
    for (int i = 0; i < HELD; i += 3) hold(&held[i], &random, true);
    leak_start(test);
    for (int step = 0; step < 10; step++) {
        for (int i = 0; i < HELD; i++) {
            Held *one = &held[random_next_below(&random, HELD)];
            if (!one->tensor) {
                hold(one, &random, false);
            } else {
                tensor_free(one->tensor);
                one->tensor = NULL;
            }
        }
        leak_step(test);
        if (step < 2) continue;
        LeakReport report = report_of(test);
        int64_t sum = 0;
        for (int s = 0; s < report.n_sites; s++) {
            sum += report.sites[s].bytes;
            ck_assert(s == 0 || report.sites[s - 1].bytes >= report.sites[s].bytes);
        }
        ck_assert_int_eq(report.kept_bytes, sum);
        ck_assert_int_eq(report.missed, 0);
        for (int row = 0; row < OWNERS * KINDS; row++)
            check_row(&report, held, row / KINDS, row % KINDS);
    }
    leak_free(test);
    for (int i = 0; i < HELD; i++) tensor_free(held[i].tensor);
    ck_assert_ptr_null(context_current()->observers);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(the_sites_with_most_bytes_are_shown_and_all_are_summed) {
    static const char owners[20];
    Tensor *held[20];
    LeakTest *test = leak_new(3);
    leak_start(test);
    for (int i = 0; i < 20; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        int outer = site_enter((uintptr_t)&owners[i], name, "Owner");
        held[i] = bytes_new(100 + 7 * i % 20, MEM_DATA); // all sizes differ
        site_leave(outer);
        if (i > 16) leak_step(test);
    }
    LeakReport report = report_of(test);
    ck_assert_int_eq(report.n_sites, LEAK_MOST_SITES);
    for (int s = 0; s < LEAK_MOST_SITES; s++) ck_assert_int_eq(report.sites[s].bytes, 119 - s);
    ck_assert_int_eq(report.kept_bytes, 20 * 100 + 19 * 20 / 2);
    for (int i = 0; i < 20; i++) tensor_free(held[i]);
    leak_free(test);
}
END_TEST

// The other context's storage header returns to the ledger unseen, and the next storage gets it.
START_TEST(a_storage_given_back_in_another_context_is_not_counted_twice) {
    LeakTest *test = leak_new(3);
    Context *other = context_new();
    leak_start(test);
    Tensor *first = bytes_new(100, MEM_DATA);
    const Storage *storage = first->storage;
    context_push(other);
    tensor_free(first);
    Tensor *foreign = bytes_new(40, MEM_DATA);
    context_pop();
    Tensor *second = bytes_new(110, MEM_DATA);
    tensor_free(foreign); // freed here, charged there
    for (int i = 0; i < 3; i++) leak_step(test);
    LeakReport report = report_of(test);
    ck_assert_int_eq(report.kept_bytes, second->storage == storage ? 110 : 210);
    ck_assert_int_eq(report.n_sites, 1);
    ck_assert_int_eq(report.sites[0].storages, second->storage == storage ? 1 : 2);
    ck_assert(report.bytes_per_step == 0.0);
    tensor_free(second);
    leak_free(test);
    context_free(other);
}
END_TEST

START_TEST(more_storages_than_it_follows_are_counted_as_missed) {
    enum { MOST = 24576, MORE = 100 };
    static Tensor *held[MOST + MORE];
    LeakTest *test = leak_new(10);
    leak_start(test);
    for (int i = 0; i < MOST + MORE; i++) {
        if (i % (MOST / 4) == 0) leak_step(test);
        held[i] = bytes_new(1, MEM_DATA);
    }
    LeakReport report = report_of(test);
    ck_assert_int_eq(report.missed, MORE);
    ck_assert_int_eq(report.kept_bytes, MOST);
    ck_assert(report.leaks && report.bytes_per_step == 0.25 * MOST);
    for (int i = 0; i < MOST + MORE; i++) tensor_free(held[(i * 37) % (MOST + MORE)]);
    report = report_of(test);
    ck_assert_int_eq(report.kept_bytes, 0);
    ck_assert_int_eq(report.n_sites, 0);
    leak_free(test);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- training --------------------------------------------------------------------------------
static void train(NetTask *task, Optimizer *optimizer, LeakTest *test, int steps) {
    double loss;
    for (int i = 0; i < steps; i++) {
        ck_assert_msg(!train_step(task->model, optimizer, task->x, task->labels, &loss), "%s",
                      error_message());
        leak_step(test);
    }
}

START_TEST(training_does_not_leak) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    Optimizer *optimizer = optimizer_new(task.model, optimizer_defaults(net.optimizer));
    LeakTest *test = leak_new(20);
    train(&task, optimizer, test, 2); // before the test starts
    leak_start(test);
    train(&task, optimizer, test, 6);
    LeakReport report = report_of(test);
    ck_assert_int_eq(report.steps, 6);
    ck_assert(!report.leaks && report.low == 0.0 && report.high == 0.0);
    ck_assert_int_eq(report.n_sites, 0);
    leak_free(test);
    optimizer_free(optimizer);
    net_task_free(&task);
}
END_TEST

START_TEST(recording_makes_no_request_for_memory) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    Optimizer *optimizer = optimizer_new(task.model, optimizer_defaults(net.optimizer));
    LeakTest *test = leak_new(20);
    train(&task, optimizer, test, 2);
    uint64_t requests = memory_requests();
    train(&task, optimizer, test, 5);
    uint64_t without = memory_requests() - requests, calls = memory_system_calls();
    requests = memory_requests();
    leak_start(test);
    train(&task, optimizer, test, 5);
    leak_stop(test);
    ck_assert_uint_eq(memory_requests() - requests, without);
    if (!context_ledger()->raw) ck_assert_uint_eq(memory_system_calls(), calls);
    leak_free(test);
    optimizer_free(optimizer);
    net_task_free(&task);
}
END_TEST

static Tensor *hoard[20];
static int n_hoard;

static Tensor *keep_a_copy(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    hoard[n_hoard] = tensor_keep(tensor_mul_scalar(in[0], 2.0f));
    return tensor_relu(hoard[n_hoard++]);
}
static const LayerType hoarding_type = {.name = "Hoard",
                                        .size = sizeof(Layer),
                                        .forward = keep_a_copy};

START_TEST(a_layer_that_keeps_a_tensor_each_step_is_named_to_the_byte) {
    NetTask task = {.model = sequential_new(),
                    .x = tensor_uniform_new(SHAPE(5, 3), 0.0f, 1.0f),
                    .labels = tensor_from_labels_new(SHAPE(5), (int64_t[]){0, 1, 0, 1, 0})};
    layer_add_child(task.model, "fc1", linear_new(3, 7, true));
    layer_add_child(task.model, "hoard", layer_new(&hoarding_type));
    layer_add_child(task.model, "fc2", linear_new(7, 2, true));
    Optimizer *optimizer = optimizer_new(task.model, optimizer_defaults(OPTIMIZER_ADAM));
    LeakTest *test = leak_new(20);
    train(&task, optimizer, test, 2);
    leak_start(test);
    train(&task, optimizer, test, 10);
    leak_stop(test);
    LeakReport report = report_of(test);
    ck_assert(report.leaks);
    ck_assert(report.bytes_per_step == 140.0 && report.low == 140.0 && report.high == 140.0);
    ck_assert_int_eq(report.n_sites, 1);
    ck_assert_str_eq(report.sites[0].path, "hoard");
    ck_assert_int_eq(report.sites[0].category, MEM_ACTIVATION);
    ck_assert_int_eq(report.sites[0].bytes, 1400);
    ck_assert_int_eq(report.sites[0].storages, 10);
    leak_free(test);
    optimizer_free(optimizer);
    net_task_free(&task);
    for (int i = 0; i < n_hoard; i++) tensor_free(hoard[i]);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- use and misuse --------------------------------------------------------------------------
START_TEST(a_line_takes_three_steps) {
    LeakTest *test = leak_new(3);
    LeakReport report;
    ck_assert_int_eq(leak_report(test, &report), STATUS_STATE); // never started
    expect_error(STATUS_STATE, "0 steps");
    leak_start(test);
    leak_step(test);
    leak_step(test);
    ck_assert_int_eq(leak_report(test, &report), STATUS_STATE);
    expect_error(STATUS_STATE, "2 steps");
    for (int i = 0; i < 4; i++) leak_step(test);
    ck_assert_int_eq(report_of(test).steps, 3); // three at most
    leak_stop(test);
    leak_stop(test);
    leak_free(test);
    leak_free(NULL);
    const int64_t wrong[] = {2, 0, -1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_ptr_null(leak_new(wrong[i]));
        expect_error(STATUS_INVALID_ARGUMENT, "HINT");
    }
}
END_TEST

START_TEST(starting_again_forgets) {
    LeakTest *test = leak_new(8);
    leak_start(test);
    Tensor *before = bytes_new(1000, MEM_DATA);
    for (int i = 0; i < 5; i++) leak_step(test);
    leak_start(test);
    Tensor *after = bytes_new(10, MEM_DATA);
    for (int i = 0; i < 3; i++) leak_step(test);
    leak_stop(test);
    leak_step(test); // the first is over
    LeakReport report = report_of(test);
    ck_assert_int_eq(report.steps, 3);
    ck_assert_int_eq(report.kept_bytes, 10);
    tensor_free(before);
    tensor_free(after);
    ck_assert_ptr_null(context_current()->observers);
    leak_free(test);
}
END_TEST

START_TEST(memory_may_run_out) {
    for (uint64_t n = 1; n <= 3; n++) {
        memory_fail_at(n);
        ck_assert_ptr_null(leak_new(10));
        expect_error(STATUS_OUT_OF_MEMORY, "memory");
    }
    memory_fail_at(0);
    LeakTest *test = leak_new(10);
    LeakReport report;
    leak_start(test);
    for (int i = 0; i < 4; i++) leak_step(test);
    memory_fail_at(1);
    ck_assert_int_eq(leak_report(test, &report), STATUS_OUT_OF_MEMORY);
    expect_error(STATUS_OUT_OF_MEMORY, "memory");
    ck_assert_int_eq(report_of(test).steps, 4);
    leak_free(test);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {sites_hold_what_was_asked_for_since_the_start_and_is_alive, 8},
        {the_sites_with_most_bytes_are_shown_and_all_are_summed, 0},
        {a_storage_given_back_in_another_context_is_not_counted_twice, 0},
        {more_storages_than_it_follows_are_counted_as_missed, 0},
        {training_does_not_leak, 24},
        {recording_makes_no_request_for_memory, 6},
        {a_layer_that_keeps_a_tensor_each_step_is_named_to_the_byte, 0},
        {a_line_takes_three_steps, 0},
        {starting_again_forgets, 0},
        {memory_may_run_out, 0},
        {NULL, 0},
    };
    return harness_main("leak_sites", tests);
}
