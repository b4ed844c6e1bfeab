// test_budget_faults.c -- a budget where no real step is possible, with wrong arguments and without
// memory; and that the search leaves everything as it was.
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profiler/advice/budget.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

static Budget largest(const NetTask *task, OptimizerConfig config, int64_t bytes, bool verify) {
    Budget budget;
    Status status = budget_largest_batch(&(BudgetTask){.model = task->model, .x = task->x}, config,
                                         bytes, verify, &budget);
    ck_assert_msg(!status, "%s", error_message());
    expect_no_error();
    ck_assert_int_ge(budget.batch, 0);
    ck_assert_int_le(budget.peak_bytes, bytes);
    ck_assert_int_gt(budget.next_bytes, bytes);
    return budget;
}

// ---- without real steps ----------------------------------------------------------------------
START_TEST(on_meta_all_is_predicted_and_nothing_measured) {
    Net net = net_random(_i);
    NetTask real = net_task_new(&net);
    OptimizerConfig config = optimizer_defaults(net.optimizer);
    Budget want = largest(&real, config, 400000, true), half;
    int64_t on_cpu[OPTIMIZER_COUNT], on_meta[OPTIMIZER_COUNT];
    ck_assert_int_eq(budget_by_optimizer(&(BudgetTask){.model = real.model, .x = real.x}, on_cpu),
                     STATUS_OK);
    context_set_device(device_meta());
    NetTask meta = net_task_new(&net);
    Budget got = largest(&meta, config, 400000, true);
    // The model and x both need data for a real step.
    ck_assert(!budget_largest_batch(&(BudgetTask){.model = meta.model, .x = real.x}, config, 400000,
                                    true, &half));
    ck_assert_mem_eq(&half, &got, sizeof got);
    ck_assert(!budget_largest_batch(&(BudgetTask){.model = real.model, .x = meta.x}, config, 400000,
                                    true, &half));
    ck_assert_mem_eq(&half, &got, sizeof got);
    ck_assert_int_eq(want.measured_bytes, want.peak_bytes);
    want.measured_bytes = -1;
    ck_assert_mem_eq(&got, &want, sizeof got);
    ck_assert_int_eq(budget_by_optimizer(&(BudgetTask){.model = meta.model, .x = meta.x}, on_meta),
                     STATUS_OK);
    ck_assert_mem_eq(on_meta, on_cpu, sizeof on_cpu);
    net_task_free(&meta);
    net_task_free(&real);
}
END_TEST

// More memory than this machine has; the next test has a request that the system refuses.
START_TEST(what_the_machine_has_no_memory_for_is_not_verified) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    int64_t live = expect_live_bytes();
    Budget budget =
        largest(&task, optimizer_defaults(net.optimizer), (int64_t)1 << (50 - _i), true);
    ck_assert_int_gt(budget.batch, (int64_t)1 << 25);
    ck_assert_int_eq(budget.measured_bytes, -1);
    ck_assert_int_eq(expect_live_bytes(), live);
    net_task_free(&task);
}
END_TEST

START_TEST(what_the_system_refuses_is_not_verified) {
    if (context_ledger()->raw) test_skip("sanitizers need addresses of their own");
    Net net = {.sizes = {50, 60, 10}, .n_sizes = 3, .batch = 2, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_SGD);
    context_set_threads(1);
    Budget before = largest(&task, config, 16 << 20, true); // here the BLAS takes its memory
    ck_assert_int_eq(before.measured_bytes, before.peak_bytes);
    FILE *statm = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    ck_assert(statm && fscanf(statm, "%lu", &pages) == 1);
    fclose(statm);
    rlim_t room = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64 << 20);
    struct rlimit limit = {room, room};
    int64_t live = expect_live_bytes();
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    Budget budget = largest(&task, config, 200 << 20, true);
    ck_assert_int_eq(budget.measured_bytes, -1);
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert_int_eq(context_ledger()->cached_bytes, 0); // nor does the cache keep it
    budget = largest(&task, config, 1 << 20, true);
    ck_assert_int_eq(budget.measured_bytes, budget.peak_bytes);
    net_task_free(&task);
}
END_TEST

START_TEST(a_loss_that_is_not_finite_is_not_stepped_on) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    Tensor *weight = task.model->children[0]->parameters[0].tensor;
    for (int64_t i = 0; i < weight->numel; i++) tensor_data(weight)[i] = i ? 3e38f : (float)NAN;
    Budget budget = largest(&task, optimizer_defaults(net.optimizer), 300000, true);
    ck_assert_int_ge(budget.batch, 1);
    ck_assert_int_eq(budget.measured_bytes, -1);
    for (int64_t i = 1; i < weight->numel; i++) ck_assert(tensor_data(weight)[i] == 3e38f);
    net_task_free(&task);
}
END_TEST

// ---- side effects ----------------------------------------------------------------------------
typedef struct Snapshot {
    float *weights;
    int64_t count;
    RandomState random;
    Device *device;
    int64_t live;
} Snapshot;

static Snapshot snapshot_new(const Layer *model) {
    const Context *context = context_current();
    Snapshot s = {.random = context->random, .device = context->device};
    ParameterList list;
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    s.count = layer_parameter_count(model);
    s.weights = memory_new((size_t)s.count * sizeof(float));
    for (int64_t i = 0, at = 0; i < list.count; at += list.items[i++].tensor->numel)
        tensor_read_floats(list.items[i].tensor, s.weights + at);
    parameter_list_free(&list);
    s.live = expect_live_bytes();
    return s;
}

static void check_same(Snapshot *before, const Layer *model, bool live_too) {
    Snapshot now = snapshot_new(model);
    ck_assert_mem_eq(before->weights, now.weights, (size_t)now.count * sizeof(float));
    ck_assert_mem_eq(&before->random, &now.random, sizeof now.random);
    ck_assert_ptr_eq(before->device, now.device);
    if (live_too) ck_assert_int_eq(before->live, now.live);
    memory_free(now.weights);
    memory_free(before->weights);
}

static bool modes_are(const Layer *model, bool training, bool of_first) {
    bool same = model->training == training;
    for (int i = 0; i < model->n_children; i++)
        same = same && model->children[i]->training == (i == 0 ? of_first : training);
    return same;
}

START_TEST(weights_modes_and_random_state_stay_and_gradients_unless_verified) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    largest(&task, optimizer_defaults(OPTIMIZER_SGD), 300000, true); // leaves gradients
    Tensor *grad = task.model->children[0]->parameters[0].tensor->grad;
    tensor_fill(grad, 7.0f);
    MemoryUse peak = context_ledger()->peak;
    for (int verify = 0; verify < 2; verify++) {
        layer_train(task.model, _i % 2);
        layer_train(task.model->children[0], _i / 2 % 2);
        Snapshot before = snapshot_new(task.model);
        int64_t by_optimizer[OPTIMIZER_COUNT];
        ck_assert_int_eq(budget_by_optimizer(&(BudgetTask){.model = task.model, .x = task.x},
                                             by_optimizer),
                         STATUS_OK);
        largest(&task, optimizer_defaults(net.optimizer), 300000, verify);
        ck_assert(modes_are(task.model, _i % 2, _i / 2 % 2));
        check_same(&before, task.model, true); // no gradient was made or freed
        ck_assert(verify || tensor_data(grad)[0] == 7.0f);
        if (!verify) ck_assert_mem_eq(&context_ledger()->peak, &peak, sizeof peak);
    }
    net_task_free(&task);
}
END_TEST

START_TEST(a_model_in_inference_mode_is_asked_for_its_training) {
    Net net = {.sizes = {9, 8, 3}, .n_sizes = 3, .batch = 1, .options = mlp_defaults()};
    net.options.dropout = 0.5f;
    NetTask task = net_task_new(&net);
    Budget budget[2];
    int64_t peak[2][OPTIMIZER_COUNT];
    for (int training = 0; training < 2; training++) {
        layer_train(task.model, training);
        budget[training] = largest(&task, optimizer_defaults(OPTIMIZER_ADAM), 20000, true);
        ck_assert_int_eq(budget_by_optimizer(&(BudgetTask){.model = task.model, .x = task.x},
                                             peak[training]),
                         STATUS_OK);
    }
    ck_assert_int_eq(budget[0].measured_bytes, budget[0].peak_bytes);
    ck_assert_mem_eq(&budget[0], &budget[1], sizeof budget[0]);
    ck_assert_mem_eq(peak[0], peak[1], sizeof peak[0]);
    net_task_free(&task);
}
END_TEST

START_TEST(an_error_that_is_pending_stays_and_nothing_runs) {
    Net net = net_random(0);
    NetTask task = net_task_new(&net);
    Budget budget = {.batch = 77};
    int64_t peak[OPTIMIZER_COUNT] = {77, 77, 77, 77, 77, 77};
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_SGD);
    for (int64_t bytes = -1; bytes < 2; bytes++) {
        error_set(STATUS_IO, "mine");
        ck_assert_int_eq(budget_largest_batch(&(BudgetTask){.model = task.model, .x = task.x},
                                              config, bytes, true, &budget),
                         STATUS_IO);
        ck_assert_int_eq(budget_by_optimizer(&(BudgetTask){.model = task.model, .x = task.x}, peak),
                         STATUS_IO);
        ck_assert_str_eq(error_message(), "mine");
        error_clear();
    }
    ck_assert_int_eq(budget.batch, 77);
    ck_assert_int_eq(peak[0], 77);
    net_task_free(&task);
}
END_TEST

START_TEST(wrong_arguments_are_refused_and_the_model_is_as_before) {
    Net net = {.sizes = {4, 3}, .n_sizes = 2, .batch = 2, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    layer_train(task.model, false);
    Tensor *scalar = tensor_full_new(SHAPE_SCALAR, 1.0f), *wrong = tensor_zeros_new(SHAPE(2, 5));
    const struct {
        Layer *model;
        const Tensor *x;
        int64_t bytes;
        Status status;
        const char *mention;
    } calls[] = {
        {NULL, task.x, 1000, STATUS_INVALID_ARGUMENT, "the model is NULL"},
        {task.model, NULL, 1000, STATUS_INVALID_ARGUMENT, "x is NULL"},
        {task.model, task.x, -1, STATUS_INVALID_ARGUMENT, "-1 bytes"},
        {task.model, task.x, INT64_MAX, STATUS_INVALID_ARGUMENT, "2^60"},
        {task.model, scalar, 1000, STATUS_SHAPE, "x is one number"},
        {task.model, wrong, 1000, STATUS_SHAPE, "linear"},
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        Budget budget = {.batch = 77};
        int64_t peak[OPTIMIZER_COUNT] = {77, 77, 77, 77, 77, 77};
        ck_assert_int_eq(
            budget_largest_batch(&(BudgetTask){.model = calls[i].model, .x = calls[i].x},
                                 optimizer_defaults(OPTIMIZER_SGD), calls[i].bytes, true, &budget),
            calls[i].status);
        expect_error(calls[i].status, calls[i].mention);
        if (calls[i].bytes == 1000) {
            ck_assert_int_eq(
                budget_by_optimizer(&(BudgetTask){.model = calls[i].model, .x = calls[i].x}, peak),
                calls[i].status);
            expect_error(calls[i].status, calls[i].mention);
        }
        ck_assert(budget.batch == 77 && peak[0] == 77);
        ck_assert(!task.model->training && !task.model->children[0]->training);
    }
    tensor_free(scalar);
    tensor_free(wrong);
    net_task_free(&task);
}
END_TEST

// ---- memory runs out -------------------------------------------------------------------------
// Fails the n-th allocation in a context of its own; false when there are fewer. A failed
// prediction is an error; a failed real step is only not verified.
static bool fail_at(OptimizerKind kind, uint64_t n, Budget want, int64_t *unverified) {
    Context *context = context_new();
    context_push(context);
    context_set_threads(1);
    Net net = {.sizes = {2, 3, 2}, .n_sizes = 3, .batch = 2, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    layer_train(task.model, false);
    Budget budget = {.batch = -1};
    uint64_t before = memory_requests();
    memory_fail_at(n);
    Status status = budget_largest_batch(&(BudgetTask){.model = task.model, .x = task.x},
                                         optimizer_defaults(kind), 1500, true, &budget);
    memory_fail_at(0);
    bool reached = memory_requests() - before >= n;
    if (status) {
        ck_assert(reached && status == STATUS_OUT_OF_MEMORY && budget.batch == -1);
        expect_error(STATUS_OUT_OF_MEMORY, ": ");
    } else {
        expect_no_error();
        *unverified += budget.measured_bytes == -1;
        ck_assert(budget.measured_bytes != -1 || reached);
        if (budget.measured_bytes == -1) budget.measured_bytes = want.measured_bytes;
        ck_assert_mem_eq(&budget, &want, sizeof want);
    }
    ck_assert_ptr_eq(context_current(), context);
    ck_assert(!context->observers && !context->scope && !context->no_grad && context->site == -1);
    ck_assert(!task.model->training && context->device == device_cpu());
    Budget again = largest(&task, optimizer_defaults(kind), 1500, true);
    ck_assert_mem_eq(&again, &want, sizeof want);
    net_task_free(&task);
    ck_assert_msg(expect_live_bytes() == 0, "request %llu: %lld bytes are left",
                  (unsigned long long)n, (long long)expect_live_bytes());
    ck_assert_int_eq(context->ledger->live_storages, 0);
    context_free(context);
    return reached;
}

START_TEST(memory_may_run_out_at_any_request) {
    Net net = {.sizes = {2, 3, 2}, .n_sizes = 3, .batch = 1, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    Budget want = largest(&task, optimizer_defaults((OptimizerKind)_i), 1500, true);
    ck_assert_int_eq(want.measured_bytes, want.peak_bytes);
    net_task_free(&task);
    uint64_t n = 1;
    int64_t unverified = 0;
    while (fail_at((OptimizerKind)_i, n, want, &unverified)) n++;
    ck_assert_uint_gt(n, 300);
    ck_assert_int_gt(unverified, 50);
}
END_TEST

START_TEST(memory_may_run_out_while_optimizers_are_compared) {
    Net net = {.sizes = {2, 3, 2}, .n_sizes = 3, .batch = 2, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    int64_t live = expect_live_bytes();
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status; n++) {
        int64_t peak[OPTIMIZER_COUNT];
        memory_fail_at(n);
        status = budget_by_optimizer(&(BudgetTask){.model = task.model, .x = task.x}, peak);
        memory_fail_at(0);
        if (status) expect_error(STATUS_OUT_OF_MEMORY, ": ");
        ck_assert_int_eq(expect_live_bytes(), live);
        ck_assert(task.model->training);
    }
    net_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {on_meta_all_is_predicted_and_nothing_measured, 12},
        {what_the_machine_has_no_memory_for_is_not_verified, 5},
        {what_the_system_refuses_is_not_verified, 0},
        {a_loss_that_is_not_finite_is_not_stepped_on, 6},
        {weights_modes_and_random_state_stay_and_gradients_unless_verified, 12},
        {a_model_in_inference_mode_is_asked_for_its_training, 0},
        {an_error_that_is_pending_stays_and_nothing_runs, 0},
        {wrong_arguments_are_refused_and_the_model_is_as_before, 0},
        {memory_may_run_out_at_any_request, OPTIMIZER_COUNT},
        {memory_may_run_out_while_optimizers_are_compared, 0},
        {NULL, 0},
    };
    return harness_main("budget_faults", tests);
}
