// test_profile_faults.c -- profiling with failures, missing parts, and tensors that were there
// before: every allocation failing in turn, wrong inputs, other tensors alive.
#include <stdlib.h>
#include <unistd.h>

#include "profiler/files/profile_json.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

// ---- failures --------------------------------------------------------------------------------
static ProfileOptions options = {.warmup = 2, .iterations = 2, .probe_seconds = -1};

static Status profile_small(NetTask *task, OptimizerKind kind, Profile *profile) {
    return profile_training(task->model, optimizer_defaults(kind), task->x, task->labels, options,
                            profile);
}

static void check_usable(NetTask *task, OptimizerKind kind, uint64_t failed) {
    Profile profile;
    Status status = profile_small(task, kind, &profile);
    ck_assert_msg(!status && profile.reconciled, "after a failure at request %llu: %s%s",
                  (unsigned long long)failed, error_message(), profile.difference);
    ck_assert_int_eq(profile.totals[REPORT_STEP].latency.count, options.machine ? 3 : 2);
    profile_free(&profile);
}

// Profiles with the n-th allocation failing, in a context of its own; false when there are fewer.
static bool fail_at(const Net *net, uint64_t n) {
    Context *context = context_new();
    context_push(context);
    context_set_threads(1);
    NetTask task = net_task_new(net);
    Profile profile;
    uint64_t before = memory_requests();
    memory_fail_at(n);
    Status status = profile_small(&task, net->optimizer, &profile);
    memory_fail_at(0);
    bool reached = memory_requests() - before >= n;
    profile_free(&profile);
    if (reached) {
        bool alone = !status && options.machine; // kernels run once more, alone
        ck_assert_msg(alone || status == STATUS_OUT_OF_MEMORY, "request %llu: %s: \"%s\"",
                      (unsigned long long)n, status_name(status), error_message());
        if (!alone) expect_error(STATUS_OUT_OF_MEMORY, ": ");
        ck_assert_ptr_eq(context_current(), context);
        ck_assert(!context->observers && !context->scope && !context->no_grad &&
                  context->site == -1);
        check_usable(&task, net->optimizer, n);
    }
    net_task_free(&task);
    ck_assert_msg(expect_live_bytes() == 0, "request %llu: %lld bytes are left",
                  (unsigned long long)n, (long long)expect_live_bytes());
    ck_assert_int_eq(context->ledger->live_storages, 0);
    context_free(context);
    return reached;
}

START_TEST(memory_may_run_out_at_any_request) {
    Net net = {.sizes = {2, 3, 2}, .n_sizes = 3, .batch = 2, .options = mlp_defaults()};
    net.optimizer = (OptimizerKind)_i;
    uint64_t n = 1;
    while (fail_at(&net, n)) n++;
    ck_assert_uint_gt(n, 300); // reached the end of a profile
}
END_TEST

// A brief profile whose steps count as long also runs kernels alone; each allocation fails in turn.
START_TEST(memory_may_run_out_in_a_brief_profile) {
    Net net = {.sizes = {2, 3, 2}, .n_sizes = 3, .batch = 2, .options = mlp_defaults()};
    Machine machine;
    ck_assert_int_eq(machine_read("tests/fixtures/peaks.json", &machine), STATUS_OK);
    options = (ProfileOptions){
        .seconds = 1e-9, .probe_seconds = -1, .machine = &machine, .ceilings_stay = true};
    uint64_t n = 1;
    while (fail_at(&net, n)) n++;
    ck_assert_uint_gt(n, 300);
}
END_TEST

START_TEST(a_wrong_label_is_refused_and_the_model_can_be_profiled_afterwards) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    Profile profile;
    int64_t *label = tensor_labels(task.labels), right = label[0];
    label[0] = net.sizes[net.n_sizes - 1];
    ck_assert_int_eq(profile_small(&task, net.optimizer, &profile), STATUS_INVALID_ARGUMENT);
    profile_free(&profile);
    expect_error(STATUS_INVALID_ARGUMENT, "in row 0 is not in [0, ");
    label[0] = right;
    check_usable(&task, net.optimizer, 0);
    net_task_free(&task);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(a_missing_input_is_an_error) {
    Net net = net_random(0);
    NetTask task = net_task_new(&net), without_x = task, without_labels = task,
            without_model = task;
    without_x.x = without_labels.labels = NULL;
    without_model.model = NULL;
    NetTask *tasks[] = {&without_x, &without_labels, &without_model};
    Profile profile;
    ck_assert_int_eq(profile_small(tasks[_i], net.optimizer, &profile), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, ": ");
    profile_free(&profile);
    net_task_free(&task);
}
END_TEST

// An incomplete document never replaces the existing file.
static bool write_failing_at(const Profile *profile, uint64_t n, const char *path) {
    ProfileTraining training = {.absent = "none"};
    JsonWriter *json = json_file_open(path);
    ck_assert_ptr_nonnull(json);
    uint64_t before = memory_requests();
    memory_fail_at(n);
    Status status = profile_write_json(profile, &training, "test", json);
    memory_fail_at(0);
    bool reached = memory_requests() - before >= n, there = access(path, F_OK) == 0;
    ck_assert_int_eq(status, reached ? STATUS_OUT_OF_MEMORY : STATUS_OK);
    ck_assert(there == !reached);
    if (reached) expect_error(STATUS_OUT_OF_MEMORY, ": ");
    return reached;
}

START_TEST(memory_may_run_out_while_the_document_is_written) {
    Net net = {.sizes = {2, 2}, .n_sizes = 2, .batch = 2, .options = mlp_defaults()};
    Profile profile = net_profile(&net, 2);
    char folder[] = "/tmp/test_profile_XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/profile.json", folder);
    uint64_t n = 1;
    while (write_failing_at(&profile, n, path)) n++;
    ck_assert_uint_gt(n, 10); // percentiles sort copies
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0); // no temporary is left
    profile_free(&profile);
}
END_TEST

// ---- existing tensors and gradients ----------------------------------------------------------
START_TEST(other_tensors_alive_are_not_counted_as_the_models) {
    Net net = net_random(_i);
    Profile alone = net_profile(&net, 2);
    Tensor *tensor = tensor_zeros_new(SHAPE(1000));
    NetTask other = net_task_new(&net), task = net_task_new(&net);
    Optimizer *optimizer = optimizer_new(other.model, optimizer_defaults(OPTIMIZER_ADAM));
    Profile profile;
    ck_assert_int_eq(profile_small(&task, net.optimizer, &profile), STATUS_OK);
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    ck_assert_mem_eq(&profile.measured.peak, &alone.measured.peak, sizeof alone.measured.peak);
    profile_free(&profile);
    profile_free(&alone);
    optimizer_free(optimizer);
    tensor_free(tensor);
    net_task_free(&other);
    net_task_free(&task);
}
END_TEST

START_TEST(a_model_may_be_frozen_in_parts_and_its_input_want_a_gradient) {
    Net net = {.sizes = {4, 5, 3}, .n_sizes = 3, .batch = 2, .options = mlp_defaults()};
    NetTask task = net_task_new(&net);
    Profile profile;
    for (int i = 0; i < 4; i++) { // plain; a weight frozen; x wants a gradient, twice
        Tensor *weight = task.model->children[0]->parameters[0].tensor;
        if (i == 1) tensor_requires_grad(weight, false);
        if (i == 2) tensor_requires_grad(task.x, true);
        ck_assert_int_eq(profile_small(&task, OPTIMIZER_ADAM, &profile), STATUS_OK);
        ck_assert_msg(profile.reconciled, "%d: %s", i, profile.difference);
        ck_assert_int_eq(profile.trainable_parameters,
                         profile.parameters - (i ? weight->numel : 0));
        ck_assert_uint_eq(profile.layers[0].phase[REPORT_BACKWARD_INPUT].cost.macs,
                          i >= 2 ? 2 * 4 * 5 : 0);
        profile_free(&profile);
    }
    net_task_free(&task);
}
END_TEST

// The work's own tensors lie on the batch's device, whatever the context's device is.
START_TEST(a_batch_may_live_on_another_device_than_the_contexts) {
    Net net = net_random(_i);
    context_set_device(device_meta());
    NetTask task = net_task_new(&net);
    context_set_device(device_cpu());
    Profile profile;
    ck_assert_int_eq(profile_backward(task.model, task.x, (ProfileOptions){0}, &profile),
                     STATUS_OK);
    profile_expect_counted_only(&profile);
    ck_assert_ptr_eq(context_current()->device, device_cpu());
    profile_free(&profile);
    ck_assert_int_eq(profile_small(&task, net.optimizer, &profile), STATUS_OK);
    profile_expect_counted_only(&profile);
    profile_free(&profile);
    net_task_free(&task);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(a_model_in_inference_mode_stays_in_it) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    layer_train(task.model, false);
    check_usable(&task, net.optimizer, 0);
    ck_assert(!task.model->training);
    for (int i = 0; i < task.model->n_children; i++) ck_assert(!task.model->children[i]->training);
    net_task_free(&task);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {memory_may_run_out_at_any_request, OPTIMIZER_COUNT},
        {memory_may_run_out_in_a_brief_profile, 0},
        {memory_may_run_out_while_the_document_is_written, 0},
        {a_wrong_label_is_refused_and_the_model_can_be_profiled_afterwards, 6},
        {a_missing_input_is_an_error, 3},
        {other_tensors_alive_are_not_counted_as_the_models, 6},
        {a_model_may_be_frozen_in_parts_and_its_input_want_a_gradient, 0},
        {a_batch_may_live_on_another_device_than_the_contexts, 6},
        {a_model_in_inference_mode_stays_in_it, 3},
        {NULL, 0},
    };
    return harness_main("profile_faults", tests);
}
