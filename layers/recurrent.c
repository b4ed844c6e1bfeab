// recurrent.c -- LSTM, GRU and the plain RNN as layers: stacked, in one or both directions. A pass
// over the sequence is an op; this file connects the passes.
#include "layers/recurrent.h"

#include <math.h>
#include <stdio.h>

#include "layers/parts.h"
#include "tensor/handle.h"
#include "tensor/op.h"

enum { MOST_LAYERS = 64 };

typedef struct Recurrent {
    Layer layer;
    int64_t input_size, hidden_size;
    RecurrentOptions options;
    int gates; // 4: an LSTM; 3: a GRU; 1: a plain cell
} Recurrent;

static const LayerAttribute attributes[] = {
    {"input_size", ATTRIBUTE_INTEGER, offsetof(Recurrent, input_size)},
    {"hidden_size", ATTRIBUTE_INTEGER, offsetof(Recurrent, hidden_size)},
    {"num_layers", ATTRIBUTE_INTEGER, offsetof(Recurrent, options.layers)},
    {"bias", ATTRIBUTE_FLAG, offsetof(Recurrent, options.bias)},
    {"batch_first", ATTRIBUTE_FLAG, offsetof(Recurrent, options.batch_first)},
    {"dropout", ATTRIBUTE_REAL, offsetof(Recurrent, options.dropout)},
    {"bidirectional", ATTRIBUTE_FLAG, offsetof(Recurrent, options.bidirectional)},
    {"relu", ATTRIBUTE_FLAG, offsetof(Recurrent, options.relu)}, // for a plain cell only
};

enum { STATES = 2 }; // hidden and cell; only an LSTM has the second

static bool is_lstm(const Recurrent *self) { return self->gates == 4; }
static int directions_of(const Recurrent *self) { return self->options.bidirectional ? 2 : 1; }

// ---- running -----------------------------------------------------------------------------------
// The state that one forward carries from pass to pass.
typedef struct Run {
    Tensor *states[STATES];                // initial ones, (layers x directions, batch, hidden)
    Tensor *last[STATES][2 * MOST_LAYERS]; // of each pass (1, batch, hidden)
} Run;

static Status check_input(const Recurrent *self, const Tensor *x) {
    char text[SHAPE_TEXT];
    int steps_at = self->options.batch_first ? 1 : 0;
    bool fits = x->shape.ndim == 3 && x->shape.dims[2] == self->input_size;
    if (fits && x->shape.dims[steps_at] > 0) return STATUS_OK;
    return error_set(STATUS_SHAPE, "%s of %s: x is not %s, %lld), with at least one step",
                     self->layer.type->name, shape_text(x->shape, text),
                     self->options.batch_first ? "(batch, steps" : "(steps, batch",
                     (long long)self->input_size);
}

static Status check_state(const Recurrent *self, const Tensor *state, Shape wanted) {
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    if (shape_equal(state->shape, wanted)) return STATUS_OK;
    return error_set(STATUS_SHAPE,
                     "%s: a state is %s, not %s: (layers x directions, batch, hidden)",
                     self->layer.type->name, shape_text(state->shape, text),
                     shape_text(wanted, other));
}

// Index i of the first dimension, as (batch, hidden).
static Tensor *state_at(Tensor *states, int i) {
    Tensor *one = tensor_slice(states, 0, i, i + 1, 1);
    return one ? tensor_reshape(one, SHAPE(one->shape.dims[1], one->shape.dims[2])) : NULL;
}

// The last state (1, batch, hidden) of a pass, from y (steps, batch, hidden).
static Tensor *last_of(Tensor *y, bool reverse) {
    if (!y) return NULL;
    int64_t at = reverse ? 0 : y->shape.dims[0] - 1;
    return tensor_slice(y, 0, at, at + 1, 1);
}

// Runs one layer in one direction: x (steps, batch, in) to (steps, batch, hidden). Its parameters
// are in the order in which they were added.
static Tensor *run_pass(Recurrent *self, Tensor *x, int pass, Run *run) {
    int each = self->options.bias ? 4 : 2;
    bool reverse = self->options.bidirectional && pass % 2 == 1;
    const Parameter *own = self->layer.parameters + each * pass;
    Tensor *bias_x = self->options.bias ? own[2].tensor : NULL;
    Tensor *bias_h = self->options.bias ? own[3].tensor : NULL;
    Tensor *sums = tensor_linear(x, own[0].tensor, bias_x, NULL);
    Tensor *hidden = state_at(run->states[0], pass), *cells = NULL, *y;
    if (is_lstm(self))
        y = tensor_lstm(sums, own[1].tensor, bias_h, hidden, state_at(run->states[1], pass),
                        reverse, &cells);
    else if (self->gates == 3)
        y = tensor_gru(sums, own[1].tensor, bias_h, hidden, reverse);
    else
        y = tensor_rnn(sums, own[1].tensor, bias_h, hidden, self->options.relu, reverse);
    run->last[0][pass] = last_of(y, reverse);
    run->last[1][pass] = last_of(cells, reverse);
    return y;
}

static Tensor *run_layers(Recurrent *self, Tensor *x, Run *run) {
    const RecurrentOptions *options = &self->options;
    for (int64_t l = 0; l < options->layers && x; l++) {
        Tensor *y[2] = {NULL};
        for (int d = 0; d < directions_of(self); d++)
            y[d] = run_pass(self, x, (int)l * directions_of(self) + d, run);
        x = options->bidirectional ? tensor_concat(y, 2, -1) : y[0];
        bool drops = self->layer.training && options->dropout > 0.0f;
        if (drops && l + 1 < options->layers) x = tensor_dropout(x, options->dropout);
    }
    return x;
}

static Status forward(Layer *layer, Tensor *const in[], int n_in, Tensor *out[]) {
    Recurrent *self = (Recurrent *)layer;
    int passes = (int)self->options.layers * directions_of(self);
    int states = is_lstm(self) ? 2 : 1, batch_at = self->options.batch_first ? 0 : 1;
    if (n_in < 1 || n_in > 1 + states || !in[0])
        return error_set(STATUS_INVALID_ARGUMENT, "%s takes x and at most %d states, got %d inputs",
                         layer->type->name, states, n_in);
    if (check_input(self, in[0])) return error_status();
    Run run = {{NULL}, {{NULL}}};
    Tensor *zeros = NULL;
    for (int i = 0; i < states; i++) {
        Tensor *given = i + 1 < n_in ? in[i + 1] : NULL;
        Shape shape = SHAPE(passes, in[0]->shape.dims[batch_at], self->hidden_size);
        if (given && check_state(self, given, shape)) break;
        if (!given && !zeros) zeros = tensor_full_new(shape, 0.0f);
        run.states[i] = given ? given : zeros;
    }
    bool turn = self->options.batch_first;
    Tensor *x = turn ? tensor_transpose(in[0], 0, 1) : in[0];
    Tensor *y = run_layers(self, x, &run);
    out[0] = y && turn ? tensor_transpose(y, 0, 1) : y;
    for (int i = 0; i < states && y; i++)
        out[1 + i] = passes > 1 ? tensor_concat(run.last[i], passes, 0) : run.last[i][0];
    tensor_free(zeros); // the tape keeps what backward needs
    return error_status();
}

// ---- making ------------------------------------------------------------------------------------
enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };
#define RECURRENT(module, results, known)                                                          \
    {                                                                                              \
        .name = module, .size = sizeof(Recurrent), .attributes = attributes,                       \
        .n_attributes = known, .n_inputs = LAYER_ANY_INPUTS, .forward_each = forward,              \
        .n_outputs = results, .mixes_positions = true                                              \
    }
static const LayerType lstm_type = RECURRENT("LSTM", 3, ATTRIBUTES - 1);
static const LayerType gru_type = RECURRENT("GRU", 2, ATTRIBUTES - 1);
static const LayerType rnn_type = RECURRENT("RNN", 2, ATTRIBUTES);
#undef RECURRENT

RecurrentOptions recurrent_defaults(void) { return (RecurrentOptions){.layers = 1, .bias = true}; }

static Status add_parameter(Recurrent *self, const char *stem, int pass, Shape shape) {
    char name[48];
    int layer = pass / directions_of(self);
    bool reverse = self->options.bidirectional && pass % 2 == 1;
    snprintf(name, sizeof(name), "%s_l%d%s", stem, layer, reverse ? "_reverse" : "");
    float bound = self->hidden_size > 0 ? 1.0f / sqrtf((float)self->hidden_size) : 0.0f;
    Tensor *t = tensor_new_as(shape, DTYPE_FLOAT32, MEM_PARAMETER);
    return layer_add_parameter(&self->layer, name,
                               tensor_filled(t, tensor_fill_uniform(t, -bound, bound)));
}

static Status check(const char *who, int64_t in, int64_t hidden, RecurrentOptions options) {
    bool sizes = in >= 1 && in <= INT32_MAX && hidden >= 1 && hidden <= INT32_MAX;
    if (!sizes || options.layers < 1 || options.layers > MOST_LAYERS)
        return error_set(
            STATUS_INVALID_ARGUMENT,
            "%s: %lld -> %lld, %lld layers. HINT: sizes are 1 to 2^31 - 1, layers 1 to %d", who,
            (long long)in, (long long)hidden, (long long)options.layers, MOST_LAYERS);
    if (options.dropout >= 0.0f && options.dropout <= 1.0f) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "%s: a dropout of %g. HINT: from 0 to 1", who,
                     (double)options.dropout);
}

static Layer *recurrent_new(const LayerType *type, int gates, int64_t input_size,
                            int64_t hidden_size, RecurrentOptions options) {
    const char *who = gates == 4 ? "lstm_new" : gates == 3 ? "gru_new" : "rnn_new";
    if (check(who, input_size, hidden_size, options)) return NULL;
    Recurrent *self = (Recurrent *)layer_new(type);
    if (!self) return NULL;
    self->input_size = input_size;
    self->hidden_size = hidden_size;
    self->options = options;
    self->gates = gates;
    int directions = directions_of(self);
    for (int pass = 0; pass < (int)options.layers * directions; pass++) {
        int64_t in = pass < directions ? input_size : hidden_size * directions;
        add_parameter(self, "weight_ih", pass, SHAPE(gates * hidden_size, in));
        add_parameter(self, "weight_hh", pass, SHAPE(gates * hidden_size, hidden_size));
        if (!options.bias) continue;
        add_parameter(self, "bias_ih", pass, SHAPE(gates * hidden_size));
        add_parameter(self, "bias_hh", pass, SHAPE(gates * hidden_size));
    }
    return layer_finished(&self->layer);
}

Layer *lstm_new(int64_t input_size, int64_t hidden_size, RecurrentOptions options) {
    return recurrent_new(&lstm_type, 4, input_size, hidden_size, options);
}

Layer *gru_new(int64_t input_size, int64_t hidden_size, RecurrentOptions options) {
    return recurrent_new(&gru_type, 3, input_size, hidden_size, options);
}

Layer *rnn_new(int64_t input_size, int64_t hidden_size, RecurrentOptions options) {
    return recurrent_new(&rnn_type, 1, input_size, hidden_size, options);
}
