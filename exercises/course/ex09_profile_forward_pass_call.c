// ex09_profile_forward_pass_call.c -- exercise 09 in the worker: a model of known times on the
// meta device, where nothing is computed.
#include <string.h>

#include "exercises/course/ex09_values.h"
#include "exercises/ex09_profile_forward_pass.h"
#include "exercises/grader/worker.h"
#include "exercises/support/input.h"
#include "exercises/support/model_text.h"
#include "exercises/support/timed_model.h"
#include "exercises/support/virtual_work.h"
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
    if (ask & ASK_FLOPS) answer_integer(answer, row->flops);
    if (ask & ASK_ROW_SECONDS) answer_real(answer, row->seconds);
    if (ask & ASK_SHARES) answer_real(answer, row->share);
    if (ask & ASK_RATES) answer_real(answer, row->flops_per_second);
    if (ask & ASK_BOUNDS) answer_integer(answer, row->bound);
}

static void send(Answer *answer, int64_t ask, int rows, const ForwardProfile *profile) {
    answer_integer(answer, profile->n_rows);
    for (int i = 0; i < rows; i++) send_row(answer, ask, &profile->rows[i]);
    if (ask & ASK_FLOPS) answer_integer(answer, profile->flops);
    if (ask & ASK_SECONDS) answer_real(answer, profile->seconds);
    if (ask & ASK_UNATTRIBUTED) answer_real(answer, profile->unattributed_seconds);
    if (ask & ASK_RATES) answer_real(answer, profile->flops_per_second);
    if (ask & ASK_SAMPLES) answer_real(answer, profile->samples_per_second);
    if (ask & ASK_AMDAHL) answer_real(answer, profile->amdahl_limit);
}

static void call(const char *input, Layer *model, Tensor *x, Answer *answer) {
    ForwardProfile profile;
    ForwardMachine machine = {1e6 * (double)input_integer(input, "peak", 0),
                              1e6 * (double)input_integer(input, "bandwidth", 0)};
    poison(&profile);
    timed_model_start(model, timed_model_read(input));
    virtual_clock_start(virtual_clock_read(input));
    Scope *scope = scope_open();
    answer_begin(answer);
    Status status = profile_forward_pass(model, x, machine, &profile);
    answer_status(answer, status);
    int rows = (int)input_integer(input, "rows", 0);
    if (!status) send(answer, input_integer(input, "ask", 0), rows, &profile);
    scope_close(scope);
    error_clear(); // of a forward that failed, as it should
}

Status profile_forward_pass_call(const char *input, Answer *answer);
Status profile_forward_pass_call(const char *input, Answer *answer) {
    Shape shape;
    const char *text = strstr(input, "model=");
    if (!text) return error_set(STATUS_FORMAT, "exercise 09: no model. HINT: model=... at the end");
    context_set_device(device_meta());
    Layer *model = model_from_text(text + strlen("model="), &shape);
    Tensor *x = model ? tensor_new(shape, DTYPE_FLOAT32) : NULL;
    if (x) {
        layer_train(model, false);
        no_grad_begin();
        call(input, model, x, answer);
        no_grad_end();
    }
    tensor_free(x);
    layer_free(model);
    return x ? STATUS_OK : error_status();
}
