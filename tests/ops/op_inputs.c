// op_inputs.c -- the tensors of an op case: read from text such as "transposed (3, 4) positive
// (4)", made as dense leaves with fixed values, shown to the op through views. Cases: op_cases.c.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/op.h"
#include "tests/ops/op_cases.h"

// ---- reading the text -------------------------------------------------------------------------
static const char *const layout_words[] = {
    [LAYOUT_DENSE] = "dense",     [LAYOUT_TRANSPOSED] = "transposed",
    [LAYOUT_STEPPED] = "stepped", [LAYOUT_EXPANDED] = "expanded",
    [LAYOUT_SAME] = "same",
};
static const char *const value_words[] = {
    [VALUES_ANY] = "any",           [VALUES_AWAY] = "away",
    [VALUES_POSITIVE] = "positive", [VALUES_DISTINCT] = "distinct",
    [VALUES_LABELS] = "labels",     [VALUES_STATE] = "state",
    [VALUES_STRAY] = "stray",       [VALUES_SIGNED] = "signed",
    [VALUES_WHOLE] = "whole",       [VALUES_CONDITION] = "condition",
};

enum {
    LAYOUT_WORDS = sizeof layout_words / sizeof layout_words[0],
    VALUE_WORDS = sizeof value_words / sizeof value_words[0]
};

static int word_index(const char *const words[], int count, const char *word, size_t length) {
    for (int i = 0; i < count; i++) {
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0) return i;
    }
    return -1;
}

// Reads "(3, 4)" at *text; moves *text past it.
static Shape read_shape(const char **text) {
    Shape shape = {0};
    const char *at = *text + 1;
    while (*at != ')') {
        char *end;
        shape.dims[shape.ndim++] = strtoll(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
    }
    *text = at + 1;
    return shape;
}

static void read_inputs(OpCase *self, const char *text) {
    struct OpCaseInput next = {0};
    while (*text != '\0') {
        if (*text == ' ') {
            text++;
            continue;
        }
        size_t length = strcspn(text, " ");
        if (*text == '(') {
            next.shape = read_shape(&text);
        } else {
            int layout = word_index(layout_words, LAYOUT_WORDS, text, length);
            int kind = word_index(value_words, VALUE_WORDS, text, length);
            assert(layout >= 0 || kind >= 0); // else a word is misspelt
            if (layout >= 0) next.layout = (OpLayout)layout;
            if (kind >= 0) next.values = (OpValues)kind;
            text += length;
            if (next.layout != LAYOUT_SAME) continue;
            next.shape = self->in[0].shape;
        }
        self->in[self->n_in++] = next;
        next = (struct OpCaseInput){0};
    }
}

static int a_mode(const OpCase *self) { return (int)(self->arguments.pad_mode & 3); }

// Appends to the name the options of an op with a window or several dims; nothing for other ops.
static void name_window(OpCase *self, const char *op) {
    size_t used = strlen(self->name), room = sizeof self->name - used;
    const Conv2dOptions *c = &self->arguments.conv;
    const Pool2dOptions *p = &self->arguments.pool;
    if (strncmp(op, "conv", 4) == 0 && strstr(op, "transpose") != NULL)
        snprintf(self->name + used, room,
                 " stride %d %d pad %d %d %d %d dilation %d %d groups %d over %d %d",
                 (int)c->stride_h, (int)c->stride_w, (int)c->padding_top, (int)c->padding_bottom,
                 (int)c->padding_left, (int)c->padding_right, (int)c->dilation_h,
                 (int)c->dilation_w, (int)c->groups, (int)self->arguments.output[0],
                 (int)self->arguments.output[1]);
    else if (strcmp(op, "conv2d") == 0 || strcmp(op, "conv1d") == 0)
        snprintf(self->name + used, room, " stride %d %d pad %d %d %d %d dilation %d %d groups %d",
                 (int)c->stride_h, (int)c->stride_w, (int)c->padding_top, (int)c->padding_bottom,
                 (int)c->padding_left, (int)c->padding_right, (int)c->dilation_h,
                 (int)c->dilation_w, (int)c->groups);
    else if (strcmp(op, "resize") == 0)
        snprintf(self->name + used, room, " to %d %d by %g %g mode %d %d %d",
                 (int)self->arguments.resize.out_h, (int)self->arguments.resize.out_w,
                 self->arguments.resize.scale_h, self->arguments.resize.scale_w,
                 (int)self->arguments.resize.mode, (int)self->arguments.resize.coordinates,
                 (int)self->arguments.resize.rounding);
    else if (strcmp(op, "pad") == 0)
        for (int d = 0; d < 4; d++, used = strlen(self->name))
            snprintf(self->name + used, sizeof self->name - used, " %s%d+%d",
                     d ? ""
                       : (const char *[]){"constant ", "reflect ", "replicate ",
                                          "circular "}[a_mode(self)],
                     (int)self->arguments.before[d], (int)self->arguments.after[d]);
    else if (strncmp(op, "adaptive", 8) == 0 || strcmp(op, "topk") == 0 || strstr(op, "pixel_") ||
             strstr(op, "depth_"))
        snprintf(self->name + used, room, " to %d %d", (int)self->arguments.output[0],
                 (int)self->arguments.output[1]);
    else if (strstr(op, "_dims") != NULL || strcmp(op, "flip") == 0)
        snprintf(self->name + used, room, " over %d of %d %d %d", self->arguments.n_dims,
                 self->arguments.dims[0], self->arguments.dims[1], self->arguments.dims[2]);
    else if (strstr(op, "_pool") != NULL)
        snprintf(self->name + used, room,
                 " %d x %d stride %d %d pad %d %d %d %d dilation %d %d%s%s", (int)p->kernel_h,
                 (int)p->kernel_w, (int)p->stride_h, (int)p->stride_w, (int)p->padding_top,
                 (int)p->padding_bottom, (int)p->padding_left, (int)p->padding_right,
                 (int)p->dilation_h, (int)p->dilation_w, p->ceil_mode ? " ceil" : "",
                 p->exclude_pad ? " exclude" : "");
}

OpCase op_case_of(const char *op, const char *inputs, OpArguments arguments) {
    const OpArguments *a = &arguments;
    OpCase self = {.function = op_function_by_name(op), .arguments = arguments};
    read_inputs(&self, inputs);
    snprintf(self.name, sizeof self.name, "%s %s [dim %d%s value %g decay %g %s]", op, inputs,
             a->dim, a->flag ? " flag" : "", (double)a->value, (double)a->decay,
             a->activation ? a->activation->name : "none");
    name_window(&self, op);
    return self;
}

// ---- leaves -----------------------------------------------------------------------------------
// A number from (seed, input, i) alone: splitmix64 (Steele, Lea, Flood 2014).
static uint64_t scramble(uint64_t seed, int input, int64_t i) {
    uint64_t z = seed * 0x9e3779b97f4a7c15u + (uint64_t)input * 0xd1342543de82ef95u + (uint64_t)i;
    z = (z + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static float between(uint64_t bits, float low, float high) {
    return low + (high - low) * (float)(bits >> 40) * 0x1p-24f;
}

bool op_case_is_small(const OpCase *self) {
    int64_t numel = 0;
    for (int i = 0; i < self->n_in; i++) numel += shape_numel(op_case_leaf_shape(self, i));
    return numel <= 80;
}

bool op_case_can_want_gradient(const OpCase *self, int input) {
    const struct OpCaseInput *in = &self->in[input];
    return self->differentiable && in->layout != LAYOUT_SAME && in->values != VALUES_LABELS &&
           in->values != VALUES_SIGNED && in->values != VALUES_WHOLE &&
           in->values != VALUES_CONDITION;
}

Shape op_case_leaf_shape(const OpCase *self, int input) {
    Shape shape = self->in[input].shape;
    int last = shape.ndim - 1;
    switch (self->in[input].layout) {
    case LAYOUT_TRANSPOSED:
        shape.dims[last] = self->in[input].shape.dims[last - 1];
        shape.dims[last - 1] = self->in[input].shape.dims[last];
        break;
    case LAYOUT_STEPPED:
        shape.dims[last] = 2 * shape.dims[last] + 1;
        break;
    case LAYOUT_EXPANDED:
        shape.dims[0] = 1;
        break;
    case LAYOUT_DENSE:
    case LAYOUT_SAME:
        break;
    }
    return shape;
}

// Values that count as false and as true.
static const float truths[7] = {0.0f, -0.0f, 0.0f, 1.0f, -0.25f, NAN, 0x1p-149f};

void op_case_leaf_values(const OpCase *self, int input, float *values) {
    Shape first = self->in[0].shape;
    int64_t numel = shape_numel(op_case_leaf_shape(self, input));
    int64_t prime = numel < 101 ? 101 : 104729; // above numel, so multiples of 37 stay distinct
    for (int64_t i = 0; i < numel; i++) {
        uint64_t bits = scramble(self->seed, input, i);
        float sign = bits & 1 ? 1.0f : -1.0f;
        switch (self->in[input].values) {
        case VALUES_ANY:
            values[i] = between(bits, -2.0f, 2.0f);
            break;
        case VALUES_AWAY:
            values[i] = sign * between(bits, 0.25f, 2.0f);
            break;
        case VALUES_POSITIVE:
            values[i] = between(bits, 0.5f, 2.0f);
            break;
        case VALUES_DISTINCT:
            values[i] = 0.125f * (float)(i * 37 % prime) - 5.0f;
            break;
        case VALUES_LABELS:
            values[i] = (float)(bits % (uint64_t)first.dims[first.ndim - 1]);
            break;
        case VALUES_SIGNED: {
            int64_t n = first.dims[first.ndim - 1], at = (int64_t)(bits % (uint64_t)n);
            values[i] = (float)(i % 2 ? at : at - n);
            break;
        }
        case VALUES_STRAY:
            values[i] = (float)first.dims[first.ndim - 1];
            break;
        case VALUES_STATE:
            values[i] = i == 0 ? 0.1f : 3.0f;
            break;
        case VALUES_WHOLE: // exact as floats
            values[i] = sign * (float)(1 + (bits >> 8) % 9) * (bits % 13 == 5 ? 0x1p20f : 1.0f);
            break;
        case VALUES_CONDITION:
            values[i] = truths[bits % 7];
            break;
        }
    }
}

static Tensor *leaf_new(const OpCase *self, int input) {
    Shape shape = op_case_leaf_shape(self, input);
    int64_t numel = shape_numel(shape);
    float *values = calloc((size_t)numel + 1, sizeof *values);
    int64_t *labels = calloc((size_t)numel + 1, sizeof *labels);
    Tensor *leaf = NULL;
    if (values == NULL || labels == NULL) {
        error_set(STATUS_OUT_OF_MEMORY, "op case: no memory for %lld values HINT: free some",
                  (long long)numel);
    } else {
        op_case_leaf_values(self, input, values);
        OpValues kind = self->in[input].values;
        bool integers = kind == VALUES_LABELS || kind == VALUES_SIGNED || kind == VALUES_STRAY ||
                        kind == VALUES_WHOLE;
        for (int64_t i = 0; i < numel && integers; i++) labels[i] = (int64_t)values[i];
        leaf = integers ? tensor_from_labels_new(shape, labels)
                        : tensor_from_floats_new(shape, values);
    }
    free(values);
    free(labels);
    return leaf;
}

Status op_case_leaves_new(const OpCase *self, Tensor *leaves[]) {
    for (int i = 0; i < self->n_in; i++) leaves[i] = NULL;
    for (int i = 0; i < self->n_in; i++) {
        if (self->in[i].layout == LAYOUT_SAME) continue;
        leaves[i] = leaf_new(self, i);
        if (leaves[i] == NULL) {
            op_case_leaves_free(self, leaves);
            return error_status();
        }
    }
    return STATUS_OK;
}

void op_case_leaves_free(const OpCase *self, Tensor *leaves[]) {
    for (int i = 0; i < self->n_in; i++) {
        tensor_free(leaves[i]);
        leaves[i] = NULL;
    }
}

static Tensor *lay_out(const struct OpCaseInput *input, Tensor *leaf) {
    switch (input->layout) {
    case LAYOUT_TRANSPOSED:
        return tensor_transpose(leaf, -1, -2);
    case LAYOUT_STEPPED:
        return tensor_slice(leaf, -1, 1, leaf->shape.dims[leaf->shape.ndim - 1], 2);
    case LAYOUT_EXPANDED:
        return tensor_expand(leaf, input->shape);
    case LAYOUT_DENSE:
    case LAYOUT_SAME:
        break;
    }
    return leaf;
}

Tensor *op_case_run(const OpCase *self, Tensor *const leaves[]) {
    Tensor *in[OP_CASE_MAX_INPUTS];
    for (int i = 0; i < self->n_in; i++) {
        in[i] = leaves[i] == NULL ? in[0] : lay_out(&self->in[i], leaves[i]);
        if (in[i] == NULL) return NULL;
    }
    return self->function(in, self->n_in, &self->arguments);
}
