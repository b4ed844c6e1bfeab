// test_profiler_whole.c -- whole profiles in one call, and every such call with something missing.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/base/environment.h"
#include "profiler/session/profiler.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

// ---- whole profiles ----------------------------------------------------------------------------
// Writes ceilings as if measured on this machine, so that profiles use them at once.
static const double peak = 123e9;
static void keep_ceilings(void) {
    static char folder[32];
    strcpy(folder, "/tmp/test_quick_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    Environment environment;
    environment_read(&environment);
    int threads = context_current()->threads;
    Machine machine = {.measured = true, .threads = threads, .peak_flops_per_second = peak};
    machine.levels[0] = (MachineLevel){.name = "DRAM",
                                       .bytes = INT64_MAX,
                                       .bytes_per_second = 10e9,
                                       .rates = {{.fill = 10e9, .move = 15e9}}};
    machine.n_levels = 1;
    snprintf(machine.fingerprint, sizeof machine.fingerprint, "%s, %d thread%s, %s",
             environment.cpu, threads, threads > 1 ? "s" : "", environment.blas);
    char path[512], inner[64];
    snprintf(inner, sizeof inner, "%s/ridgepoint", folder);
    ck_assert_int_eq(mkdir(inner, 0700), 0);
    ck_assert(machine_cache_path(path, sizeof path));
    ck_assert_msg(!machine_write(&machine, path), "%s", error_message());
}

static void forget_ceilings(void) {
    char path[512];
    ck_assert(machine_cache_path(path, sizeof path));
    remove(path);
    *strrchr(path, '/') = '\0';
    remove(path);
    ck_assert_int_eq(remove(getenv("XDG_CACHE_HOME")), 0);
}

typedef Status (*ProfileCall)(Layer *, Tensor *, Profile *);
static const struct {
    ProfileCall call;
    ProfileKind kind;
} calls[] = {{profiler_profile_layer, PROFILE_BACKWARD},
             {profiler_profile_forward_pass, PROFILE_INFERENCE},
             {profiler_profile_backward_pass, PROFILE_BACKWARD}};

START_TEST(a_whole_profile_is_judged_by_this_machines_ceilings) {
    keep_ceilings();
    Net net = net_random(7);
    NetTask task = net_task_new(&net);
    Profile profile;
    ck_assert_msg(!calls[_i].call(task.model, task.x, &profile), "%s", error_message());
    ck_assert(profile.kind == calls[_i].kind && profile.has_machine && profile.reconciled);
    ck_assert_double_eq(profile.machine.peak_flops_per_second, peak);
    ck_assert(profile.totals[REPORT_FORWARD].roofline.judged);
    ck_assert((profile.totals[REPORT_BACKWARD].ops > 0) == (calls[_i].kind == PROFILE_BACKWARD));
    profile_free(&profile);
    net_task_free(&task);
    forget_ceilings();
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(on_meta_a_profile_needs_no_ceilings) {
    setenv("XDG_CACHE_HOME", "/nowhere", 1);
    context_set_device(device_meta());
    Net net = net_random(7);
    NetTask task = net_task_new(&net);
    Profile profile;
    ck_assert_msg(!calls[_i].call(task.model, task.x, &profile), "%s", error_message());
    ck_assert(!profile.has_machine && profile.totals[REPORT_FORWARD].ops > 0);
    profile_free(&profile);
    net_task_free(&task);
    context_set_device(device_cpu());
}
END_TEST

START_TEST(quick_prints_a_report) {
    keep_ceilings();
    Net net = net_random(7);
    NetTask task = net_task_new(&net);
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_msg(!profiler_quick(task.model, task.x, file), "%s", error_message());
    fclose(file);
    ck_assert(strstr(text, "fc1") && strstr(text, "predicted = executed"));
    free(text);
    file = fopen("/dev/full", "w");
    if (file) {
        ck_assert_int_eq(profiler_quick(task.model, task.x, file), STATUS_IO);
        expect_error(STATUS_IO, "HINT: ");
        fclose(file);
    }
    net_task_free(&task);
    forget_ceilings();
}
END_TEST

// ---- missing inputs ----------------------------------------------------------------------------
typedef struct Answers {
    uint64_t flops, read, written;
    ProfilerMemory memory;
    Latency latency;
    Profile profile;
} Answers;

static Status ask(int question, Layer *layer, Tensor *x, Answers *answers) {
    *answers = (Answers){0};
    switch (question) {
    case 0:
        return profiler_count_flops(layer, x, &answers->flops);
    case 1:
        return profiler_count_bytes(layer, x, &answers->read, &answers->written);
    case 2:
        return profiler_measure_memory(layer, x, &answers->memory);
    case 3:
        return profiler_measure_latency(layer, x, 1, 2, &answers->latency);
    case 4:
        return profiler_quick(layer, x, stderr);
    default:
        return calls[question - 5].call(layer, x, &answers->profile);
    }
}
enum { QUESTIONS = 8 };

START_TEST(what_is_null_or_pending_is_refused) {
    Layer *layer = linear_new(3, 2, true);
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    Answers answers;
    ck_assert_int_eq(ask(_i, NULL, x, &answers), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "the layer is NULL");
    ck_assert_int_eq(ask(_i, layer, NULL, &answers), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "x is NULL");
    error_set(STATUS_SHAPE, "from before");
    ck_assert_int_eq(ask(_i, layer, x, &answers), STATUS_SHAPE);
    expect_error(STATUS_SHAPE, "from before");
    tensor_free(x);
    layer_free(layer);
}
END_TEST

START_TEST(memory_may_run_out_at_any_request) {
    Layer *layer = linear_new(3, 2, true);
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    int64_t live = expect_live_bytes();
    for (uint64_t n = 1;; n++) {
        Answers answers;
        uint64_t before = memory_requests();
        memory_fail_at(n);
        Status status = ask(_i, layer, x, &answers);
        memory_fail_at(0);
        bool reached = memory_requests() - before >= n;
        ck_assert_int_eq(status, reached ? STATUS_OUT_OF_MEMORY : STATUS_OK);
        error_clear();
        profile_free(&answers.profile);
        latency_free(&answers.latency);
        ck_assert(!context_current()->observers && !context_current()->no_grad);
        ck_assert(layer->training && context_current()->site == -1 && !context_current()->outer);
        for (int i = 0; i < 2 && _i != 2; i++) // gradients come with parameters
            ck_assert(!tensor_grad(layer->parameters[i].tensor));
        if (_i != 2) ck_assert_int_eq(expect_live_bytes(), live);
        if (!reached) break;
    }
    tensor_free(x);
    layer_free(layer);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_whole_profile_is_judged_by_this_machines_ceilings, 3},
        {on_meta_a_profile_needs_no_ceilings, 3},
        {quick_prints_a_report, 0},
        {what_is_null_or_pending_is_refused, QUESTIONS},
        {memory_may_run_out_at_any_request, 4},
        {NULL, 0},
    };
    return harness_main("profiler_whole", tests);
}
