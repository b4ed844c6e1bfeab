// op_recurrent.c -- ONNX's LSTM, GRU and RNN, in one or both directions, as passes of the engine's.
// Their weights become PyTorch's parameters while the file is loaded: each direction separately,
// with the gates in PyTorch's order.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

// PyTorch's gate i is ONNX's gate order[i]: i o f c becomes i f g o, and z r h becomes r z n.
static const int lstm_order[] = {0, 2, 3, 1}, gru_order[] = {1, 0, 2}, rnn_order[] = {0};
enum { IN_X, IN_W, IN_R, IN_B, IN_LENGTHS, IN_HIDDEN };
// A step's inputs: x, four weights for each direction (whole: W, R and B), and the states.
enum { WEIGHTS = 4, WHOLE = 3 };

typedef struct Cell {
    const char *name;
    const int *order;
    int gates, states;
} Cell;

static const Cell *cell_of(const char *name) {
    static const Cell cells[] = {{"LSTM", lstm_order, 4, 2},
                                 {"GRU", gru_order, 3, 1},
                                 {"RNN", rnn_order, 1, 1}};
    const Cell *cell = cells;
    while (strcmp(cell->name, name) != 0) cell++;
    return cell;
}

// ---- the node's attributes ----------------------------------------------------------------------
static bool is_text(const ProtobufCBinaryData *text, const char *name) {
    return text->len == strlen(name) && memcmp(text->data, name, text->len) == 0;
}

// Only an RNN has a choice, tanh or relu, for each direction. The others are accepted if they name
// the activations that these cells have.
static bool takes_activations(const Node *node, RecurrentParams *recurrent) {
    static const char *const gates[] = {"Sigmoid", "Tanh", "Tanh"};
    const Onnx__Attribute *found = attribute_find(node, "activations");
    if (!found) return true;
    bool rnn = strcmp(node->op_type, "RNN") == 0;
    size_t each = rnn ? 1 : strcmp(node->op_type, "GRU") == 0 ? 2 : 3;
    if (found->n_strings != each * (size_t)recurrent->directions) return false;
    for (size_t i = 0; i < found->n_strings; i++) {
        if (rnn) recurrent->relu[i] = is_text(&found->strings[i], "Relu");
        if (rnn && recurrent->relu[i]) continue;
        if (!is_text(&found->strings[i], rnn ? "Tanh" : gates[i % each])) return false;
    }
    return true;
}

// True if all sequences are as long as x.
static bool are_whole(Import *import, const Node *node) {
    const Value *x = node_input(import, node, IN_X);
    Value *lengths = node_input(import, node, IN_LENGTHS);
    if (!x || x->shape.ndim != 3 || lengths->kind != VALUE_CONSTANT || !value_data(import, lengths))
        return false;
    int64_t steps = x->shape.dims[attribute_int(node, "layout", 0) == 1 ? 1 : 0];
    for (int64_t i = 0; i < shape_numel(lengths->shape); i++)
        if (value_integer(lengths, i) != steps) return false;
    return true;
}

static Status check(Import *import, const Node *node, RecurrentParams *recurrent) {
    const Value *lengths = node_input(import, node, IN_LENGTHS);
    const Value *x = node_input(import, node, IN_X);
    recurrent->ragged = lengths && !are_whole(import, node);
    if (error_pending()) return error_status();
    if (!takes_activations(node, recurrent))
        return import_error(
            import, STATUS_NOT_IMPLEMENTED,
            "its activations are others than a cell has, which are read alone. HINT: "
            "Sigmoid and Tanh of an LSTM or GRU, Tanh or Relu of an RNN");
    bool gru = strcmp(node->op_type, "GRU") == 0;
    if (gru && attribute_int(node, "linear_before_reset", 0) == 0)
        return import_error(
            import, STATUS_NOT_IMPLEMENTED,
            "its reset is before the product: its linear_before_reset must be 1. HINT: "
            "torch.nn.GRU is exported so");
    if (!x || x->shape.ndim != 3 || !node_input(import, node, IN_W) ||
        !node_input(import, node, IN_R))
        return import_error(import, STATUS_SHAPE, "it has no x of 3 dimensions, W and R");
    return STATUS_OK;
}

static Status check_weights(Import *import, const Node *node, RecurrentParams *recurrent) {
    int gates = cell_of(node->op_type)->gates;
    const Value *b = node_input(import, node, IN_B);
    Shape w = node_input(import, node, IN_W)->shape, r = node_input(import, node, IN_R)->shape;
    int64_t hidden = r.ndim == 3 ? r.dims[2] : 0, directions = recurrent->directions;
    recurrent->hidden = hidden;
    if (attribute_int(node, "hidden_size", hidden) != hidden)
        return import_error(import, STATUS_FORMAT, "its hidden_size is %lld, and its R has %lld",
                            (long long)attribute_int(node, "hidden_size", 0), (long long)hidden);
    if (r.ndim != 3 || r.dims[0] != directions || r.dims[1] % gates != 0 ||
        r.dims[1] / gates != hidden)
        return import_error(import, STATUS_SHAPE, "its R is not (directions, gates, hidden)");
    if (w.ndim != 3 || w.dims[0] != directions || w.dims[1] != r.dims[1])
        return import_error(import, STATUS_SHAPE, "its W is not (directions, gates, inputs)");
    if (b && !shape_equal(b->shape, SHAPE(directions, 2 * r.dims[1])))
        return import_error(import, STATUS_SHAPE, "its B is not (directions, 2 gates)");
    return STATUS_OK;
}

// Refuses a first state of other sizes. PyTorch's newer exporter writes a cell's projection as if
// it had none: its hidden state is then narrower than what the cell keeps.
static Status check_states(Import *import, const Node *node, const RecurrentParams *recurrent) {
    static const char *const names[] = {"hidden state", "cell"};
    Shape x = node_input(import, node, IN_X)->shape;
    int64_t n = recurrent->directions, hidden = recurrent->hidden;
    Shape need = recurrent->layout == 1 ? SHAPE(x.dims[0], n, hidden) : SHAPE(n, x.dims[1], hidden);
    for (int i = 0; i < cell_of(node->op_type)->states; i++) {
        const Value *state = node_input(import, node, IN_HIDDEN + i);
        char has[SHAPE_TEXT], needs[SHAPE_TEXT];
        if (!state || shape_equal(state->shape, need)) continue;
        return import_error(import, STATUS_SHAPE,
                            "its first %s has the shape %s, and needs %s. HINT: an LSTM with a "
                            "projection (proj_size) has no ONNX operator",
                            names[i], shape_text(state->shape, has), shape_text(need, needs));
    }
    return STATUS_OK;
}

// ---- its weights --------------------------------------------------------------------------------
static bool is_stored(const Value *value) {
    return !value || (value->stored && value->kind != VALUE_RUN && onnx_is_float(value->type));
}

static Status add_rows(Import *import, const Node *node, Step *step, int input, int64_t begin,
                       GateRows rows, const char *role) {
    int whole = node_input_index(import, node, input);
    const Value *value = import_value(import, whole);
    if (!value) return step_input(import, step, VALUE_ABSENT);
    Shape shape = SHAPE(rows.gates * rows.each);
    if (value->shape.ndim == 3) shape = SHAPE(rows.gates * rows.each, value->shape.dims[2]);
    rows.columns = value->shape.ndim == 3 ? value->shape.dims[2] : 1;
    rows.begin = begin;
    rows.stored = shape_numel(value->shape);
    return step_rows(import, step, whole, shape, rows, role);
}

// Adds the weights in PyTorch's order, direction by direction.
static Status add_weights(Import *import, const Node *node, Step *step, int layer) {
    const Cell *cell = cell_of(node->op_type);
    int64_t hidden = step->params.recurrent.hidden, n = cell->gates * hidden;
    for (int d = 0; d < step->params.recurrent.directions; d++) {
        GateRows rows = {.order = cell->order,
                         .gates = cell->gates,
                         .each = hidden,
                         .layer = layer,
                         .reverse = d == 1};
        if (add_rows(import, node, step, IN_W, d * n, rows, "weight_ih") ||
            add_rows(import, node, step, IN_R, d * n, rows, "weight_hh") ||
            add_rows(import, node, step, IN_B, 2 * d * n, rows, "bias_ih") ||
            add_rows(import, node, step, IN_B, (2 * d + 1) * n, rows, "bias_hh"))
            return error_status();
    }
    return STATUS_OK;
}

// Exporters store the weights of a repeatedly called module once, under several names, or again.
static bool reads_the_same(Import *import, const Node *a, const Node *b, int input) {
    const Value *left = node_input(import, a, input), *right = node_input(import, b, input);
    if (left == right) return true;
    if (!left || !right) return false;
    if (left->stored && left->stored == right->stored) return true;
    return onnx_same_layer(a, b) && shape_equal(left->shape, right->shape) &&
           onnx_same_numbers(import, left, right);
}

// An earlier step with the same weights, whose parameters this one uses, too. NULL: *layer is then
// this step's index in a stack, whose layers are the steps of one module.
static const Step *same_weights(Import *import, const Step *step, const Node *node, int *layer) {
    *layer = 0;
    for (int i = 0; i < import->n_steps; i++) {
        const Step *other = import->steps[i];
        if (other->op != step->op || other->params.recurrent.whole) continue;
        if (reads_the_same(import, other->node, node, IN_W) &&
            reads_the_same(import, other->node, node, IN_R) &&
            reads_the_same(import, other->node, node, IN_B) &&
            !onnx_copied_layer(other->node, node))
            return other;
        if (onnx_same_layer(other->node, node)) *layer = other->params.recurrent.layer + 1;
    }
    return NULL;
}

static Status build(Import *import, const Node *node, Step *step) {
    const char *const roles[] = {NULL, "weight_ih", "weight_hh", "bias"};
    RecurrentParams *recurrent = &step->params.recurrent;
    const Cell *cell = cell_of(node->op_type);
    recurrent->directions = attribute_is(node, "direction", "bidirectional", false) ? 2 : 1;
    recurrent->reverse[0] = attribute_is(node, "direction", "reverse", false);
    recurrent->reverse[1] = true;
    recurrent->layout = (int)attribute_int(node, "layout", 0);
    if (check(import, node, recurrent) || check_weights(import, node, recurrent) ||
        check_states(import, node, recurrent))
        return error_status();
    for (int i = IN_W; i <= IN_B; i++)
        if (!is_stored(node_input(import, node, i))) recurrent->whole = true;
    const Step *other = NULL;
    if (recurrent->whole) {
        step_weights(import, node, step, 4, roles);
    } else {
        step_inputs(import, node, step, 1);
        other = same_weights(import, step, node, &recurrent->layer);
        for (int i = 0; other && i < WEIGHTS * recurrent->directions; i++)
            step_input(import, step, other->in[1 + i]);
        if (!other) add_weights(import, node, step, recurrent->layer);
    }
    for (int i = 0; i < cell->states && !error_pending(); i++)
        step_input(import, step, node_input_index(import, node, IN_HIDDEN + i));
    if (recurrent->ragged && !error_pending())
        step_input(import, step, node_input_index(import, node, IN_LENGTHS));
    return error_status();
}

// ---- running ------------------------------------------------------------------------------------
// The gates of one direction, from `begin` on, in PyTorch's order; the weights are the file's.
static Tensor *gates_of(Tensor *weights, int direction, int64_t begin, int64_t hidden,
                        const Cell *cell) {
    if (!weights) return NULL;
    Tensor *own = tensor_slice(weights, 0, direction, direction + 1, 1), *parts[4];
    Shape shape = weights->shape;
    shape.ndim--;
    for (int i = 0; i < shape.ndim; i++) shape.dims[i] = weights->shape.dims[i + 1];
    own = tensor_reshape(own, shape);
    for (int i = 0; i < cell->gates; i++) {
        int64_t from = begin + cell->order[i] * hidden;
        parts[i] = tensor_slice(own, 0, from, from + hidden, 1);
    }
    return tensor_concat(parts, cell->gates, 0);
}

// The weights and biases of one direction, for x and for the state.
static void weights_of(const Step *step, const Cell *cell, int direction, Tensor *const in[],
                       Tensor *out[WEIGHTS]) {
    int64_t hidden = step->params.recurrent.hidden;
    for (int i = 0; i < WEIGHTS; i++) {
        int whole = i < 2 ? IN_W + i : IN_B;
        int64_t begin = i == 3 ? cell->gates * hidden : 0;
        out[i] = step->params.recurrent.whole ? gates_of(in[whole], direction, begin, hidden, cell)
                                              : in[1 + WEIGHTS * direction + i];
    }
}

// A direction's (batch, hidden) of states (directions, batch, hidden); zeros without states.
static Tensor *first_state(Tensor *states, int direction, Shape shape, Tensor **zeros) {
    if (states) {
        Tensor *own = tensor_slice(states, 0, direction, direction + 1, 1);
        return tensor_reshape(own, shape);
    }
    if (!*zeros) *zeros = tensor_zeros_new(shape);
    return *zeros;
}

// The last states (directions, batch, hidden) of each direction's y (steps, batch, hidden).
static Tensor *last_of(Tensor *const y[], const RecurrentParams *recurrent,
                       const Lengths *lengths) {
    Tensor *last[2] = {NULL};
    for (int d = 0; d < recurrent->directions && y[d]; d++) {
        if (recurrent->ragged) {
            last[d] = lengths_last(lengths, y[d]);
            continue;
        }
        int64_t at = recurrent->reverse[d] ? 0 : y[d]->shape.dims[0] - 1;
        last[d] = tensor_slice(y[d], 0, at, at + 1, 1);
    }
    return recurrent->directions == 2 ? tensor_concat(last, 2, 0) : last[0];
}

// Runs one direction; `first` has as many states as the cell.
static Tensor *run_pass(const Step *step, const Cell *cell, int d, Tensor *x,
                        Tensor *weight[WEIGHTS], Tensor *const first[], Tensor **cells) {
    const RecurrentParams *recurrent = &step->params.recurrent;
    Tensor *sums = tensor_linear(x, weight[0], weight[2], NULL);
    bool back = recurrent->reverse[d] && !recurrent->ragged;
    if (cell->states == 2)
        return tensor_lstm(sums, weight[1], weight[3], first[0], first[1], back, cells);
    if (cell->gates == 3) return tensor_gru(sums, weight[1], weight[3], first[0], back);
    return tensor_rnn(sums, weight[1], weight[3], first[0], recurrent->relu[d], back);
}

static Status run(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const RecurrentParams *recurrent = &step->params.recurrent;
    const Cell *cell = cell_of(step->op->name);
    bool turned = recurrent->layout == 1;
    int states_at = 1 + (recurrent->whole ? WHOLE : WEIGHTS * recurrent->directions);
    Tensor *x = turned ? tensor_transpose(in[IN_X], 0, 1) : in[IN_X], *zeros = NULL;
    Tensor *states[2] = {NULL}, *y[2] = {NULL}, *cells[2] = {NULL};
    for (int i = 0; i < cell->states; i++) {
        states[i] = in[states_at + i];
        if (turned && states[i]) states[i] = tensor_transpose(states[i], 0, 1);
    }
    Lengths lengths = {.rows = NULL};
    if (recurrent->ragged && x)
        lengths_of(onnx_as_index(in[states_at + cell->states]), x->shape.dims[0], x->shape.dims[1],
                   &lengths);
    for (int d = 0; d < recurrent->directions && x; d++) {
        Shape shape = SHAPE(x->shape.dims[1], recurrent->hidden);
        Tensor *weight[WEIGHTS], *first[2] = {NULL};
        bool turn = recurrent->ragged && recurrent->reverse[d];
        weights_of(step, cell, d, in, weight);
        for (int i = 0; i < cell->states; i++) first[i] = first_state(states[i], d, shape, &zeros);
        y[d] =
            run_pass(step, cell, d, turn ? lengths_turn(&lengths, x) : x, weight, first, &cells[d]);
    }
    out[1] = last_of(y, recurrent, &lengths);
    out[2] = cell->states == 2 ? last_of(cells, recurrent, &lengths) : NULL;
    for (int d = 0; d < recurrent->directions && recurrent->ragged; d++)
        y[d] =
            tensor_mul(recurrent->reverse[d] ? lengths_turn(&lengths, y[d]) : y[d], lengths.inside);
    Tensor *both = recurrent->directions == 2 ? tensor_stack(y, 2, 1) : NULL;
    if (recurrent->directions == 1 && y[0]) {
        Shape s = y[0]->shape;
        both = tensor_reshape(y[0], SHAPE(s.dims[0], 1, s.dims[1], s.dims[2]));
    }
    out[0] = turned && both ? tensor_permute(both, (const int[]){2, 0, 1, 3}) : both;
    for (int i = 1; i < 3 && turned; i++)
        if (out[i]) out[i] = tensor_transpose(out[i], 0, 1);
    tensor_free(zeros); // the tape keeps what backward needs
    return error_status();
}

// build has checked that required inputs are there.
#define RECURRENT(text)                                                                            \
    { .name = text, .build = build, .run = run, .module = text, .optional = ~1u }
const Operator onnx_recurrent[] = {
    RECURRENT("LSTM"),
    RECURRENT("GRU"),
    RECURRENT("RNN"),
    {.name = NULL},
};
