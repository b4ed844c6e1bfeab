// test_cuda_failures.c -- any call of a training step fails, once or from then on, and any kernel
// dies: one message, nothing leaked, and a device that works afterwards or says that it never will.
// The whole program is tested likewise. All over the fake runtime.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layers/train/fit.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/run_program.h"

enum { OUT_OF_MEMORY = 2, ILLEGAL_ADDRESS = 700, UNKNOWN = 999, BLAS_EXECUTION_FAILED = 13 };
enum { ROWS = 5, PIXELS = 7, CLASSES = 3, MOST_FUNCTIONS = 64 };

// ---- a training --------------------------------------------------------------------------------
typedef struct Session {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
} Session;

static Session session_new(void) {
    MlpOptions options = mlp_defaults();
    options.dropout = 0.25f;
    Session s = {.model = mlp_new((int64_t[]){PIXELS, 6, CLASSES}, 3, options)};
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_ADAMW);
    config.clip_norm = 1.0f;
    s.optimizer = optimizer_new(s.model, config);
    s.x = tensor_normal_new(SHAPE(ROWS, PIXELS), 0.0f, 1.0f);
    s.labels = tensor_from_labels_new(SHAPE(ROWS), (int64_t[ROWS]){0, 1, 2, 1, 0});
    return s;
}

static void session_free(Session *s) {
    tensor_free(s->labels);
    tensor_free(s->x);
    optimizer_free(s->optimizer);
    layer_free(s->model);
}

static Status session_step(Session *s) {
    double loss;
    return train_step(s->model, s->optimizer, s->x, s->labels, &loss);
}

static void check_step(Session *s, const char *after) {
    ck_assert_msg(session_step(s) == STATUS_OK, "%s: %s", after, error_message());
}

// True if one message is pending, with the problem, the place and a remedy. Clears it.
static bool is_told(void) {
    const char *text = error_message();
    bool told = error_pending() && !strchr(text, '\n') && strstr(text, " HINT: ");
    if (!told) fprintf(stderr, "told badly: \"%s\"\n", text);
    error_clear();
    return told;
}

// ---- errors that pass --------------------------------------------------------------------------
// True for calls whose failure may go unnoticed: a single failed allocation is tried again, and
// nobody checks cudaFree.
static bool may_go_unnoticed(const char *function) {
    return strcmp(function, "cudaMalloc") == 0 || strcmp(function, "cudaFree") == 0;
}

// Fails each call that a step makes of `function`; returns the number of reported failures.
static int64_t fail_each_call(Session *s, const char *function, bool for_ever, int error) {
    FAKE(void, fake_fail, const char *, int64_t, int);
    FAKE(void, fake_fail_once, const char *, int64_t, int);
    FAKE(void, fake_fail_never, void);
    FAKE(int64_t, fake_calls, const char *);
    FAKE(int, fake_leaks, FILE *);
    char after[96];
    int64_t before = fake_calls(function), told = 0, live = expect_live_bytes();
    check_step(s, "before any failure");
    int64_t calls = fake_calls(function) - before;
    int alive = fake_leaks(NULL);
    for (int64_t n = 1; n <= calls; n++) {
        snprintf(after, sizeof after, "%s, call %d of %d%s", function, (int)n, (int)calls,
                 for_ever ? " and all after it" : "");
        (for_ever ? fake_fail : fake_fail_once)(function, fake_calls(function) + n, error);
        bool failed = session_step(s) != STATUS_OK;
        ck_assert_msg(failed ? is_told() : !error_pending(), "%s", after);
        ck_assert_msg(failed || may_go_unnoticed(function) || strcmp(function, "any") == 0,
                      "%s: nobody noticed", after);
        told += failed;
        fake_fail_never();
        ck_assert_int_eq(autograd_node_count(), 0);
        ck_assert_msg(expect_live_bytes() == live, "%s: %lld bytes live instead of %lld", after,
                      (long long)expect_live_bytes(), (long long)live);
        check_step(s, after);
        ck_assert_msg(fake_leaks(NULL) == alive, "%s: leaks", after);
    }
    return told;
}

// Opens a session without caches, so that every step allocates and frees.
static Session open_session(void) {
    setenv("RIDGEPOINT_ALLOC", "raw", 1);
    cuda_device_use();
    Session s = session_new();
    check_step(&s, "at first");
    return s;
}

START_TEST(any_call_of_a_training_step_may_find_no_memory) {
    FAKE(int64_t, fake_calls, const char *);
    Session s = open_session();
    int64_t before = fake_calls("any");
    int64_t told = fail_each_call(&s, "any", _i == 1, OUT_OF_MEMORY);
    ck_assert_int_gt(fake_calls("any") - before, 1000);
    ck_assert_int_gt(told, _i ? 40 : 20); // a single failed allocation is tried again
    session_free(&s);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// The fake runtime lists those functions, so that none is forgotten.
START_TEST(each_function_that_a_training_step_calls_may_fail) {
    FAKE(int, fake_functions, const char **, int);
    FAKE(int64_t, fake_calls, const char *);
    const char *functions[MOST_FUNCTIONS];
    Session s = open_session();
    int count = fake_functions(functions, MOST_FUNCTIONS), tried = 0;
    ck_assert_int_le(count, MOST_FUNCTIONS);
    for (int i = 0; i < count; i++) {
        const char *function = functions[i];
        bool dies = strcmp(function, "kernel") == 0; // stays dead: tested below
        int64_t before = fake_calls(function);
        check_step(&s, function);
        if (dies || strcmp(function, "any") == 0 || fake_calls(function) == before) continue;
        bool blas = strncmp(function, "cublas", 6) == 0;
        fail_each_call(&s, function, _i == 1, blas ? BLAS_EXECUTION_FAILED : UNKNOWN);
        tried++;
    }
    ck_assert_int_ge(tried, 7);
    session_free(&s);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- errors that stay --------------------------------------------------------------------------
// In a process of its own, the n-th call from now on returns error 700. Returns 0 if all went well,
// 1 if not, 2 if a step has no n-th call.
static int die_at(const char *function, int64_t n) {
    FAKE(void, fake_fail_once, const char *, int64_t, int);
    FAKE(int64_t, fake_calls, const char *);
    Session s = open_session();
    Device *device = s.x->device;
    int64_t before = fake_calls(function);
    fake_fail_once(function, before + n, ILLEGAL_ADDRESS);
    Status status = session_step(&s);
    if (!status) status = device_synchronize(device); // in case a kernel runs after the last copy
    if (fake_calls(function) < before + n) return 2;
    bool right = status && is_told();
    for (int again = 0; again < 2 && right; again++) {
        right = session_step(&s) == STATUS_DEVICE &&
                strstr(error_message(), "cuda: no longer usable in this process: ") && is_told();
    }
    session_free(&s);
    return right && expect_live_bytes() == 0 && !error_pending() ? 0 : 1;
}

static const char *const deadly[] = {"kernel", "any"};

START_TEST(wherever_the_gpu_dies_every_later_call_says_so) {
    cuda_device_fake("fake_calls"); // skips without the fake
    for (int64_t n = 1;; n++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) _exit(die_at(deadly[_i], n));
        int status = -1;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) != 1, "%s %d", deadly[_i], (int)n);
        if (WEXITSTATUS(status) == 2) {
            ck_assert_int_gt(n, 20);
            break;
        }
    }
}
END_TEST

// ---- the program -------------------------------------------------------------------------------
typedef struct Refusal {
    const char *function;
    int error;
    const char *times; // ":1", or "" for all calls
} Refusal;

static const Refusal refusals[] = {
    {"any", OUT_OF_MEMORY, ":1"},    {"any", OUT_OF_MEMORY, ""},
    {"any", UNKNOWN, ":1"},          {"any", ILLEGAL_ADDRESS, ":1"},
    {"kernel", ILLEGAL_ADDRESS, ""}, {"cublasSgemm", BLAS_EXECUTION_FAILED, ":1"},
};
enum { REFUSALS = sizeof(refusals) / sizeof(refusals[0]) };

// The n-th call fails, with n growing from 1, until the program makes no n-th call: then it ends
// well five times in a row. It may also end well if it can do without the failed call.
START_TEST(the_program_ends_with_one_line_and_status_3) {
    const Refusal *refusal = &refusals[_i];
    cuda_device_fake("fake_calls"); // also sets the program's plug-in
    int refused = 0, ended_well = 0;
    for (int n = 1; ended_well < 5 && n < 1000000; n += 1 + n / 2) {
        char fail[96];
        snprintf(fail, sizeof fail, "%s:%d:%d%s", refusal->function, n, refusal->error,
                 refusal->times);
        setenv("RIDGEPOINT_FAKE_CUDA_FAIL", fail, 1);
        ProgramRun run = program_run(program_path("profile_mlp"),
                                     "--device cuda --layers 7,6,3 --batch 5 --epochs 0 "
                                     "--iterations 2 --warmup 2 --quiet",
                                     PROGRAM_CAPTURED);
        ck_assert_msg(run.status == 3 || (run.status == 0 && !run.err[0]), "%s: status %d: %s",
                      fail, run.status, run.err);
        refused += run.status == 3;
        ended_well = run.status == 0 ? ended_well + 1 : 0;
        if (run.status == 3)
            program_check_refusal(&run, 3, " HINT: ", "");
        else
            program_run_free(&run);
    }
    ck_assert_int_ge(refused, 4);
    ck_assert_int_eq(ended_well, 5);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {any_call_of_a_training_step_may_find_no_memory, 2},
        {each_function_that_a_training_step_calls_may_fail, 2},
        {wherever_the_gpu_dies_every_later_call_says_so, 2},
        {the_program_ends_with_one_line_and_status_3, REFUSALS},
        {NULL, 0},
    };
    return harness_main("cuda_failures", tests);
}
