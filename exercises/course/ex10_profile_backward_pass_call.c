// ex10_profile_backward_pass_call.c -- exercise 10 in the worker: a training step of known times on
// the meta device, where nothing is computed.
#include <string.h>

#include "exercises/course/ex10_values.h"
#include "exercises/ex10_profile_backward_pass.h"
#include "exercises/grader/worker.h"
#include "exercises/support/input.h"
#include "exercises/support/model_text.h"
#include "exercises/support/timed_model.h"
#include "exercises/support/virtual_work.h"
#include "tensor/context.h"

static void send(Answer *answer, int64_t ask, const BackwardProfile *profile) {
    const struct {
        BackwardValue asked;
        int64_t value;
    } counts[] = {{ASK_FLOPS, profile->forward_flops},
                  {ASK_FLOPS, profile->weight_gradient_flops},
                  {ASK_FLOPS, profile->input_gradient_flops},
                  {ASK_FLOPS, profile->backward_flops}};
    const struct {
        BackwardValue asked;
        double value;
    } reals[] = {
        {ASK_SECONDS, profile->forward_seconds},   {ASK_SECONDS, profile->backward_seconds},
        {ASK_SECONDS, profile->optimizer_seconds}, {ASK_RATIO, profile->backward_ratio},
        {ASK_STEP, profile->step_seconds},         {ASK_STEP, profile->optimizer_share}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (ask & counts[i].asked) answer_integer(answer, counts[i].value);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (ask & reals[i].asked) answer_real(answer, reals[i].value);
}

typedef struct Training {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
} Training;

static void call(const char *input, const Training *training, Answer *answer) {
    BackwardProfile profile = {POISON_INTEGER, POISON_INTEGER, POISON_INTEGER, POISON_INTEGER,
                               POISON_REAL,    POISON_REAL,    POISON_REAL,    POISON_REAL,
                               POISON_REAL,    POISON_REAL};
    timed_model_start(training->model, timed_model_read(input));
    virtual_clock_start(virtual_clock_read(input));
    Scope *scope = scope_open();
    answer_begin(answer);
    Status status = profile_backward_pass(training->model, training->optimizer, training->x,
                                          training->labels, &profile);
    answer_status(answer, status);
    if (!status) send(answer, input_integer(input, "ask", 0), &profile);
    autograd_clear(); // a forward without its backward
    scope_close(scope);
    error_clear(); // of a step that failed, as it should
}

Status profile_backward_pass_call(const char *input, Answer *answer);
Status profile_backward_pass_call(const char *input, Answer *answer) {
    Shape shape;
    const char *text = strstr(input, "model=");
    if (!text) return error_set(STATUS_FORMAT, "exercise 10: no model. HINT: model=... at the end");
    context_set_device(device_meta());
    Training training = {.model = model_from_text(text + strlen("model="), &shape)};
    if (training.model) {
        training.optimizer = optimizer_new(training.model, optimizer_defaults(OPTIMIZER_SGD));
        training.x = tensor_new(shape, DTYPE_FLOAT32);
        training.labels = tensor_new(SHAPE(shape.dims[0]), DTYPE_INT64);
    }
    bool ready = training.optimizer && training.x && training.labels;
    if (ready) call(input, &training, answer);
    tensor_free(training.labels);
    tensor_free(training.x);
    optimizer_free(training.optimizer);
    layer_free(training.model);
    return ready ? STATUS_OK : error_status();
}
