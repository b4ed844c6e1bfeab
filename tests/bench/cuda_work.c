// cuda_work.c -- the list of cases, and how each is prepared and run.
#include "tests/bench/cuda_work.h"

#include <stdlib.h>

#include "layers/train/fit.h"
#include "tests/bench/measure.h"

// ---- ops over a matrix -------------------------------------------------------------------------
static Shape matrix(const CudaSubject *s) { return SHAPE(s->sizes->rows, s->sizes->columns); }

static void make_matrix(CudaSubject *s) { ours_op_new(&s->op, matrix(s), false); }
static void make_matrices(CudaSubject *s) { ours_op_new(&s->op, matrix(s), true); }
static void make_row(CudaSubject *s) { // besides the matrix
    ours_op_new(&s->op, matrix(s), false);
    s->op.b = tensor_uniform_new(SHAPE(s->sizes->columns), -1.0f, 1.0f);
}
static void make_labels(CudaSubject *s) {
    size_t rows = (size_t)s->sizes->rows;
    int64_t *labels = measure_memory(rows * sizeof *labels);
    for (size_t i = 0; i < rows; i++) labels[i] = (int64_t)i * 37 % s->sizes->columns;
    make_matrix(s);
    s->labels = tensor_from_labels_new(SHAPE(s->sizes->rows), labels);
    free(labels);
}

#define STEP(name, ...)                                                                            \
    static void step_##name(CudaSubject *s) {                                                      \
        Scope *scope = scope_open();                                                               \
        __VA_ARGS__;                                                                               \
        scope_close(scope);                                                                        \
    }
STEP(relu, tensor_relu(s->op.a))
STEP(gelu, tensor_gelu(s->op.a))
STEP(add, tensor_add(s->op.a, s->op.b))
STEP(bias_gelu, tensor_gelu(tensor_add(s->op.a, s->op.b)))
STEP(softmax, tensor_softmax(s->op.a, 1))
STEP(cross_entropy, tensor_cross_entropy(s->op.a, s->labels))

// ---- the optimizer -----------------------------------------------------------------------------
// One weight of the matrix's size, with a gradient.
static void make_weight(CudaSubject *s) {
    s->net.model = linear_new(s->sizes->columns, s->sizes->rows, false);
    s->net.optimizer = optimizer_new(s->net.model, optimizer_defaults(OPTIMIZER_ADAMW));
    s->net.x = tensor_uniform_new(SHAPE(1, s->sizes->columns), 0.0f, 1.0f);
    Scope *scope = scope_open();
    autograd_backward(tensor_sum(layer_forward(s->net.model, s->net.x), DIM_ALL, false));
    scope_close(scope);
}
static void step_optimizer(CudaSubject *s) { optimizer_step(s->net.optimizer); }

// ---- products and perceptrons ------------------------------------------------------------------
static void make_squares(CudaSubject *s) {
    ours_op_new(&s->op, SHAPE(s->sizes->n, s->sizes->n), true);
}
STEP(matmul, tensor_matmul(s->op.a, s->op.b))

static void make_net(CudaSubject *s) {
    ours_net_new(&s->net, (int64_t[]){784, 512, 256, 10}, 4, s->sizes->batch,
                 optimizer_defaults(OPTIMIZER_ADAM));
}
// PyTorch's five lines; nobody reads the loss.
STEP(net, optimizer_zero_grad(s->net.optimizer);
     autograd_backward(loss_cross_entropy(layer_forward(s->net.model, s->net.x), s->net.labels));
     optimizer_step(s->net.optimizer))

// ---- the list ----------------------------------------------------------------------------------
const CudaCase cuda_cases[] = {
    {"relu", RIVAL_COPY, 0.85, 0.93, make_matrix, step_relu},
    {"gelu", RIVAL_COPY, 0.85, 0.93, make_matrix, step_gelu},
    {"add", RIVAL_COPY, 0.85, 0.93, make_matrices, step_add},
    {"bias, then gelu", RIVAL_COPY, 0.85, 0.93, make_row, step_bias_gelu},
    {"AdamW", RIVAL_COPY, 0.85, 0.93, make_weight, step_optimizer},
    {"softmax", RIVAL_COPY, 0.80, 0.92, make_matrix, step_softmax},
    {"cross-entropy", RIVAL_COPY, 0.80, 0.92, make_labels, step_cross_entropy},
    {"matmul", RIVAL_PRODUCT, 0.95, 0.99, make_squares, step_matmul},
    {"MLP step", RIVAL_EAGER, 1.00, 0.0, make_net, step_net},
    {"MLP step", RIVAL_COMPILED, 0.0, 1.00, make_net, step_net},
};
const int n_cuda_cases = sizeof cuda_cases / sizeof *cuda_cases;

void cuda_subject_new(CudaSubject *subject, const CudaCase *of, Device *device,
                      const CudaSizes *sizes) {
    *subject = (CudaSubject){.device = device, .sizes = sizes};
    of->make(subject);
    ours_check();
}

void cuda_subject_free(CudaSubject *subject) {
    ours_op_free(&subject->op);
    ours_net_free(&subject->net);
    tensor_free(subject->labels);
}

// ---- bytes -------------------------------------------------------------------------------------
typedef struct Traffic {
    Observer observer; // first: callbacks get its address
    int64_t bytes;
} Traffic;

static void add_traffic(Observer *observer, const OpCall *call) {
    OpCost cost = op_cost(call);
    ((Traffic *)observer)->bytes += (int64_t)(cost.bytes_read + cost.bytes_written);
}

int64_t cuda_subject_bytes(CudaSubject *subject, const CudaCase *of) {
    Traffic traffic = {.observer = {.op_end = add_traffic}};
    observer_add(&traffic.observer);
    of->step(subject);
    observer_remove(&traffic.observer);
    ours_check();
    return traffic.bytes;
}
