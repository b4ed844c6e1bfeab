// ex09_profile_forward_pass_call.c -- exercise 09 in the worker: a model on the meta device, which
// computes nothing; the grader decides the times of the layers.
#include <string.h>

#include "exercises/course/values.h"
#include "exercises/ex09_profile_forward_pass.h"
#include "exercises/support/input.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"
#include "tensor/context.h"

static void poison(ForwardProfile *profile) {
    *profile = (ForwardProfile){.n_rows = POISON_INTEGER,
                                .flops = POISON_INTEGER,
                                .seconds = POISON_REAL,
                                .unattributed_seconds = POISON_REAL,
                                .flops_per_second = POISON_REAL,
                                .samples_per_second = POISON_REAL,
                                .amdahl_limit = POISON_REAL};
    for (int i = 0; i < FORWARD_MOST_ROWS; i++)
        profile->rows[i] = (ForwardRow){.flops = POISON_INTEGER,
                                        .seconds = POISON_REAL,
                                        .share = POISON_REAL,
                                        .flops_per_second = POISON_REAL,
                                        .bound = (ForwardBound)FORWARD_MOST_ROWS};
}

static void send_row(Answer *answer, int64_t ask, const ForwardRow *row) {
    if (ask & FORWARD_ASK_FLOPS) answer_integer(answer, row->flops);
    if (ask & FORWARD_ASK_ROW_SECONDS) answer_real(answer, row->seconds);
    if (ask & FORWARD_ASK_SHARES) answer_real(answer, row->share);
    if (ask & FORWARD_ASK_RATES) answer_real(answer, row->flops_per_second);
    if (ask & FORWARD_ASK_BOUNDS) answer_integer(answer, row->bound);
}

static void send(Answer *answer, int64_t ask, int rows, const ForwardProfile *profile) {
    answer_integer(answer, profile->n_rows);
    for (int i = 0; i < rows; i++) send_row(answer, ask, &profile->rows[i]);
    if (ask & FORWARD_ASK_FLOPS) answer_integer(answer, profile->flops);
    if (ask & FORWARD_ASK_SECONDS) answer_real(answer, profile->seconds);
    if (ask & FORWARD_ASK_UNATTRIBUTED) answer_real(answer, profile->unattributed_seconds);
    if (ask & FORWARD_ASK_RATES) answer_real(answer, profile->flops_per_second);
    if (ask & FORWARD_ASK_SAMPLES) answer_real(answer, profile->samples_per_second);
    if (ask & FORWARD_ASK_AMDAHL) answer_real(answer, profile->amdahl_limit);
}

// ---- calls -------------------------------------------------------------------------------------
typedef struct Pass { // one call of the student's function
    Layer *model;
    Tensor *x;
    ForwardMachine machine;
    ForwardProfile profile;
} Pass;

static Status profile_pass(void *argument) {
    Pass *pass = argument;
    poison(&pass->profile);
    Scope *scope = scope_open();
    Status status = profile_forward_pass(pass->model, pass->x, pass->machine, &pass->profile);
    scope_close(scope);
    return status;
}

static void call(const char *input, Pass *pass, Answer *answer) {
    int rows = (int)input_integer(input, "rows", 0);
    answer_begin(answer);
    Status status = profile_pass(pass);
    answer_status(answer, status);
    if (!status) send(answer, input_integer(input, "ask", 0), rows, &pass->profile);
}

Status profile_forward_pass_call(const char *input, Answer *answer);
Status profile_forward_pass_call(const char *input, Answer *answer) {
    Shape shape;
    const char *text = strstr(input, "model=");
    if (!text) return error_set(STATUS_FORMAT, "exercise 09: no model. HINT: model=... at the end");
    Pass pass = {.model = remote_model(text + strlen("model="), &shape),
                 .machine = {1e6 * (double)input_integer(input, "peak", 9000),
                             1e6 * (double)input_integer(input, "bandwidth", 3000)}};
    pass.x = pass.model ? tensor_new(shape, DTYPE_FLOAT32) : NULL;
    if (!pass.x) return error_status();
    layer_train(pass.model, false);
    no_grad_begin();
    if (input_integer(input, "fail", 0))
        remote_answer_failures(answer, profile_pass, &pass);
    else
        call(input, &pass, answer);
    no_grad_end();
    error_clear(); // a forward pass failed, as it should
    tensor_free(pass.x);
    return STATUS_OK;
}
