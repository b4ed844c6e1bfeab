// op_recurrent.c -- ONNX's LSTM and GRU, from one end or both, as passes of the engine's.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

// In which order ONNX's gates are PyTorch's: i o f c as i f g o, z r h as r z n.
static const int lstm_order[] = {0, 2, 3, 1}, gru_order[] = {1, 0, 2};
enum { IN_X, IN_W, IN_R, IN_B, IN_LENGTHS, IN_HIDDEN, IN_CELL, IN_PEEPHOLES };

static Status check(Import *import, const Node *node, const Value *x) {
    const Value *lengths = node_input(import, node, IN_LENGTHS);
    bool lstm = strcmp(node->op_type, "LSTM") == 0;
    if (lengths && lengths->kind != VALUE_CONSTANT)
        return import_error(import, STATUS_NOT_IMPLEMENTED, "sequence_lens that are not constant");
    if (node_input(import, node, IN_PEEPHOLES) || attribute_find(node, "clip") ||
        attribute_find(node, "activations") || attribute_int(node, "input_forget", 0) != 0)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "peepholes, clip, activations or input_forget");
    if (!lstm && attribute_int(node, "linear_before_reset", 0) == 0)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "a reset before the product: linear_before_reset must be 1");
    if (!x || x->shape.ndim != 3 || !node_input(import, node, IN_W) ||
        !node_input(import, node, IN_R))
        return import_error(import, STATUS_SHAPE, "it has no x of 3 dimensions, W and R");
    return STATUS_OK;
}

static Status build(Import *import, const Node *node, Step *step) {
    const char *const roles[] = {NULL, "weight_ih", "weight_hh", "bias"};
    RecurrentParams *recurrent = &step->params.recurrent;
    if (check(import, node, node_input(import, node, IN_X))) return error_status();
    bool both = attribute_is(node, "direction", "bidirectional", false);
    recurrent->directions = both ? 2 : 1;
    recurrent->reverse[0] = attribute_is(node, "direction", "reverse", false);
    recurrent->reverse[1] = true;
    recurrent->layout = (int)attribute_int(node, "layout", 0);
    Shape w = node_input(import, node, IN_R)->shape;
    bool lstm = strcmp(node->op_type, "LSTM") == 0;
    if (w.ndim != 3 || w.dims[0] != recurrent->directions ||
        w.dims[1] != w.dims[2] * (lstm ? 4 : 3))
        return import_error(import, STATUS_SHAPE, "its R is not (directions, gates, hidden)");
    recurrent->hidden = w.dims[2];
    if (step_weights(import, node, step, 4, roles) ||
        step_input(import, step, node_input_index(import, node, IN_HIDDEN)))
        return error_status();
    return lstm ? step_input(import, step, node_input_index(import, node, IN_CELL)) : STATUS_OK;
}

// The part of the gates from `begin` on, of one direction, in PyTorch's order.
static Tensor *gates(Tensor *weights, int direction, int64_t begin, int64_t hidden, bool lstm) {
    if (!weights) return NULL;
    Tensor *own = tensor_slice(weights, 0, direction, direction + 1, 1), *parts[4];
    Shape shape = weights->shape;
    shape.ndim--;
    for (int i = 0; i < shape.ndim; i++) shape.dims[i] = weights->shape.dims[i + 1];
    own = tensor_reshape(own, shape);
    int count = lstm ? 4 : 3;
    const int *order = lstm ? lstm_order : gru_order;
    for (int i = 0; i < count; i++) {
        int64_t from = begin + order[i] * hidden;
        parts[i] = tensor_slice(own, 0, from, from + hidden, 1);
    }
    return tensor_concat(parts, count, 0);
}

// (directions, batch, hidden) at a direction, as (batch, hidden); zeros where there is none.
static Tensor *first_state(Tensor *states, int direction, Shape shape, Tensor **zeros) {
    if (states) {
        Tensor *own = tensor_slice(states, 0, direction, direction + 1, 1);
        return tensor_reshape(own, shape);
    }
    if (!*zeros) *zeros = tensor_zeros_new(shape);
    return *zeros;
}

// y (steps, batch, hidden) of all directions as (steps, directions, batch, hidden), and what each
// ended with as (directions, batch, hidden).
static Tensor *last_of(Tensor *const y[], const RecurrentParams *recurrent) {
    Tensor *last[2] = {NULL};
    for (int d = 0; d < recurrent->directions && y[d]; d++) {
        int64_t at = recurrent->reverse[d] ? 0 : y[d]->shape.dims[0] - 1;
        last[d] = tensor_slice(y[d], 0, at, at + 1, 1);
    }
    return recurrent->directions == 2 ? tensor_concat(last, 2, 0) : last[0];
}

static Status run(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const RecurrentParams *recurrent = &step->params.recurrent;
    bool lstm = strcmp(step->op->name, "LSTM") == 0, turned = recurrent->layout == 1;
    int count = lstm ? 4 : 3;
    int64_t hidden = recurrent->hidden;
    Tensor *x = turned ? tensor_transpose(in[IN_X], 0, 1) : in[IN_X], *zeros = NULL;
    Tensor *states[2] = {in[4], lstm ? in[5] : NULL}, *y[2] = {NULL}, *cells[2] = {NULL};
    for (int i = 0; i < 2 && turned; i++)
        if (states[i]) states[i] = tensor_transpose(states[i], 0, 1);
    for (int d = 0; d < recurrent->directions && x; d++) {
        Shape shape = SHAPE(x->shape.dims[1], hidden);
        Tensor *sums = tensor_linear(x, gates(in[IN_W], d, 0, hidden, lstm),
                                     gates(in[IN_B], d, 0, hidden, lstm), NULL);
        Tensor *weight = gates(in[IN_R], d, 0, hidden, lstm);
        Tensor *bias = gates(in[IN_B], d, count * hidden, hidden, lstm);
        Tensor *first = first_state(states[0], d, shape, &zeros);
        bool back = recurrent->reverse[d];
        if (lstm)
            y[d] = tensor_lstm(sums, weight, bias, first, first_state(states[1], d, shape, &zeros),
                               back, &cells[d]);
        else
            y[d] = tensor_gru(sums, weight, bias, first, back);
    }
    Tensor *both = recurrent->directions == 2 ? tensor_stack(y, 2, 1) : NULL;
    if (recurrent->directions == 1 && y[0]) {
        Shape s = y[0]->shape;
        both = tensor_reshape(y[0], SHAPE(s.dims[0], 1, s.dims[1], s.dims[2]));
    }
    out[0] = turned && both ? tensor_permute(both, (const int[]){2, 0, 1, 3}) : both;
    out[1] = last_of(y, recurrent);
    out[2] = lstm ? last_of(cells, recurrent) : NULL;
    for (int i = 1; i < 3 && turned; i++)
        if (out[i]) out[i] = tensor_transpose(out[i], 0, 1);
    tensor_free(zeros); // what backward needs, the tape keeps
    return error_status();
}

const Operator onnx_recurrent[] = {
    {.name = "LSTM", .build = build, .run = run, .module = "LSTM", .optional = 7 << 3},
    {.name = "GRU", .build = build, .run = run, .module = "GRU", .optional = 7 << 3},
    {.name = NULL},
};
