// ex10_profile_backward_pass_call.c -- exercise 10 in the worker: a training step on the meta
// device, which computes nothing; the grader decides the times of its parts.
#include <string.h>

#include "exercises/course/values.h"
#include "exercises/ex10_profile_backward_pass.h"
#include "exercises/support/input.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"
#include "tensor/context.h"

static void send(Answer *answer, int64_t ask, const BackwardProfile *profile) {
    const struct {
        BackwardValue asked;
        int64_t value;
    } counts[] = {{BACKWARD_ASK_FLOPS, profile->forward_flops},
                  {BACKWARD_ASK_FLOPS, profile->weight_gradient_flops},
                  {BACKWARD_ASK_FLOPS, profile->input_gradient_flops},
                  {BACKWARD_ASK_FLOPS, profile->backward_flops}};
    const struct {
        BackwardValue asked;
        double value;
    } reals[] = {{BACKWARD_ASK_SECONDS, profile->forward_seconds},
                 {BACKWARD_ASK_SECONDS, profile->backward_seconds},
                 {BACKWARD_ASK_SECONDS, profile->optimizer_seconds},
                 {BACKWARD_ASK_RATIO, profile->backward_ratio},
                 {BACKWARD_ASK_STEP, profile->step_seconds},
                 {BACKWARD_ASK_STEP, profile->optimizer_share}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (ask & counts[i].asked) answer_integer(answer, counts[i].value);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (ask & reals[i].asked) answer_real(answer, reals[i].value);
}

// ---- calls -------------------------------------------------------------------------------------
typedef struct Training { // one call of the student's function
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
    BackwardProfile profile;
} Training;

static Status profile_training(void *argument) {
    Training *training = argument;
    training->profile =
        (BackwardProfile){POISON_INTEGER, POISON_INTEGER, POISON_INTEGER, POISON_INTEGER,
                          POISON_REAL,    POISON_REAL,    POISON_REAL,    POISON_REAL,
                          POISON_REAL,    POISON_REAL};
    Scope *scope = scope_open();
    Status status = profile_backward_pass(training->model, training->optimizer, training->x,
                                          training->labels, &training->profile);
    scope_close(scope);
    return status;
}

static void call(const char *input, Training *training, Answer *answer) {
    answer_begin(answer);
    Status status = profile_training(training);
    answer_status(answer, status);
    if (!status) send(answer, input_integer(input, "ask", 0), &training->profile);
}

// Leaves gradients of an earlier training in all parameters, also in frozen ones.
static void leave_gradients(const Layer *layer) {
    for (int i = 0; i < layer->n_parameters; i++) {
        Tensor *parameter = layer->parameters[i].tensor;
        if (!parameter->grad) parameter->grad = tensor_new(tensor_shape(parameter), DTYPE_FLOAT32);
    }
    for (int i = 0; i < layer->n_children; i++) leave_gradients(layer->children[i]);
}

Status profile_backward_pass_call(const char *input, Answer *answer);
Status profile_backward_pass_call(const char *input, Answer *answer) {
    Shape shape;
    const char *text = strstr(input, "model=");
    if (!text) return error_set(STATUS_FORMAT, "exercise 10: no model. HINT: model=... at the end");
    Training training = {.model = remote_model(text + strlen("model="), &shape)};
    if (training.model) {
        leave_gradients(training.model);
        int64_t labels = input_integer(input, "labels", shape.dims[0]);
        training.optimizer = optimizer_new(training.model, optimizer_defaults(OPTIMIZER_SGD));
        training.x = tensor_new(shape, DTYPE_FLOAT32);
        training.labels = tensor_new(SHAPE(labels), DTYPE_INT64);
    }
    bool ready = training.optimizer && training.x && training.labels;
    if (ready && input_integer(input, "fail", 0))
        remote_answer_failures(answer, profile_training, &training);
    else if (ready)
        call(input, &training, answer);
    if (ready) error_clear(); // a step failed, as it should
    tensor_free(training.labels);
    tensor_free(training.x);
    return ready ? STATUS_OK : error_status();
}
