// oracle_conv.c -- convolution and its gradients: loops over all products, padded taps included.
#include "tests/ops/oracle.h"

typedef struct Convolution {
    OpWindow window;
    int64_t images, channels, height, width; // sizes of x
    int64_t outputs, of_group, kernel_h, kernel_w;
    int64_t out_height, out_width;
} Convolution;

static Convolution convolution_of(OpWindow window, Shape x, Shape weight) {
    Convolution c = {.window = window,
                     .images = x.dims[0],
                     .channels = x.dims[1],
                     .height = x.dims[2],
                     .width = x.dims[3],
                     .outputs = weight.dims[0],
                     .of_group = weight.dims[1],
                     .kernel_h = weight.dims[2],
                     .kernel_w = weight.dims[3]};
    int64_t span_h = window.dilation[0] * (c.kernel_h - 1) + 1;
    int64_t span_w = window.dilation[1] * (c.kernel_w - 1) + 1;
    int64_t padded_h = c.height + window.before[0] + window.after[0];
    int64_t padded_w = c.width + window.before[1] + window.after[1];
    while (c.out_height * window.stride[0] + span_h <= padded_h) c.out_height++;
    while (c.out_width * window.stride[1] + span_w <= padded_w) c.out_width++;
    return c;
}

static Shape result_shape(const Convolution *c) {
    return SHAPE(c->images, c->outputs, c->out_height, c->out_width);
}

// For output (n, o, oh, ow): the first planes of x and of weight, and its window's corner.
typedef struct Output {
    int64_t plane, filter, top, left;
} Output;

static Output output_at(const Convolution *c, int64_t out) {
    int64_t ow = out % c->out_width, oh = out / c->out_width % c->out_height;
    int64_t o = out / (c->out_width * c->out_height) % c->outputs;
    int64_t n = out / (c->out_width * c->out_height) / c->outputs;
    int64_t group = o / (c->outputs / c->window.groups);
    return (Output){.plane = n * c->channels + group * c->of_group,
                    .filter = o * c->of_group,
                    .top = oh * c->window.stride[0] - c->window.before[0],
                    .left = ow * c->window.stride[1] - c->window.before[1]};
}

// One multiply-add with element `to` of y and tap (i, j) of one channel's planes of x and weight.
// The result is added to `target`, one of the three; padding is 0.
static void multiply(OracleCall *call, const Convolution *c, Output o, int64_t i, int64_t j,
                     double *x, double *weight, double *to, double *target) {
    int64_t ih = o.top + i * c->window.dilation[0], iw = o.left + j * c->window.dilation[1];
    bool inside = ih >= 0 && ih < c->height && iw >= 0 && iw < c->width;
    double padding = 0.0, *in = inside ? &x[ih * c->width + iw] : &padding;
    double *at = &weight[i * c->kernel_w + j];
    if (target == to)
        *to = multiply_add(&call->counted, *in, *at, *to);
    else if (target == x)
        *in = multiply_add(&call->counted, *to, *at, *in);
    else
        *at = multiply_add(&call->counted, *to, *in, *at);
}

// All multiply-adds of the forward; their results are added to `target`: x, weight or y.
static void multiply_all(OracleCall *call, const Convolution *c, double *x, double *weight,
                         double *y, double *target) {
    int64_t outs = c->images * c->outputs * c->out_height * c->out_width;
    for (int64_t out = 0; out < outs; out++) {
        Output o = output_at(c, out);
        for (int64_t channel = 0; channel < c->of_group; channel++) {
            double *plane = &x[(o.plane + channel) * c->height * c->width];
            double *filter = &weight[(o.filter + channel) * c->kernel_h * c->kernel_w];
            double *to = &y[out], *added = target == y ? to : target == x ? plane : filter;
            for (int64_t i = 0; i < c->kernel_h; i++)
                for (int64_t j = 0; j < c->kernel_w; j++)
                    multiply(call, c, o, i, j, plane, filter, to, added);
        }
    }
}

static bool conv2d(OracleCall *call) {
    OracleTensor *x = &call->in[0], *weight = &call->in[1], *bias = &call->in[2];
    OracleTensor *y = &call->out[0];
    Convolution c = convolution_of(call->params.window, x->shape, weight->shape);
    if (!oracle_expects(call, 0, result_shape(&c))) return false;
    for (int64_t i = 0; i < y->numel; i++) y->values[i] = 0.0;
    multiply_all(call, &c, x->values, weight->values, y->values, y->values);
    for (int64_t i = 0; i < y->numel && bias->identity != NULL; i++) {
        call->counted.bias_flops++;
        y->values[i] += bias->values[i / (c.out_height * c.out_width) % c.outputs];
    }
    return true;
}

static bool conv2d_backward_input(OracleCall *call) {
    OracleTensor *dy = &call->in[0], *weight = &call->in[1], *dx = &call->out[0];
    OpWindow w = call->params.window;
    Shape x = SHAPE(dy->shape.dims[0], weight->shape.dims[1] * w.groups, w.input[0], w.input[1]);
    Convolution c = convolution_of(w, x, weight->shape);
    if (!oracle_expects(call, 0, x) || !shape_equal(dy->shape, result_shape(&c))) return false;
    for (int64_t i = 0; i < dx->numel; i++) dx->values[i] = 0.0;
    multiply_all(call, &c, dx->values, weight->values, dy->values, dx->values);
    return true;
}

// Sums as in conv2d's gradient of x, plus a bias.
static bool conv_transpose2d(OracleCall *call) {
    OracleTensor *x = &call->in[0], *weight = &call->in[1], *bias = &call->in[2];
    OracleTensor *y = &call->out[0];
    OpWindow w = call->params.window;
    const int64_t over[2] = {call->params.begin, call->params.step};
    Shape shape = SHAPE(x->shape.dims[0], weight->shape.dims[1] * w.groups, 0, 0);
    for (int d = 0; d < 2; d++) {
        int64_t last = (x->shape.dims[2 + d] - 1) * w.stride[d];
        shape.dims[2 + d] = last + (weight->shape.dims[2 + d] - 1) * w.dilation[d] + 1 -
                            w.before[d] - w.after[d] + over[d];
    }
    if (!oracle_expects(call, 0, shape)) return false;
    Convolution c = convolution_of(w, shape, weight->shape);
    c.out_height = x->shape.dims[2]; // the windows of x; one more might fit
    c.out_width = x->shape.dims[3];
    for (int64_t i = 0; i < y->numel; i++) y->values[i] = 0.0;
    multiply_all(call, &c, y->values, weight->values, x->values, y->values);
    for (int64_t i = 0; i < y->numel && bias->identity != NULL; i++) {
        call->counted.bias_flops++;
        y->values[i] += bias->values[i / (shape.dims[2] * shape.dims[3]) % shape.dims[1]];
    }
    return true;
}

static bool conv2d_backward_weight(OracleCall *call) {
    OracleTensor *dy = &call->in[0], *x = &call->in[1], *dweight = &call->out[0];
    OpWindow w = call->params.window;
    Shape shape = SHAPE(dy->shape.dims[1], x->shape.dims[1] / w.groups, w.kernel[0], w.kernel[1]);
    Convolution c = convolution_of(w, x->shape, shape);
    if (!oracle_expects(call, 0, shape)) return false;
    c.out_height = dy->shape.dims[2]; // in a transposed convolution one more window may fit
    c.out_width = dy->shape.dims[3];
    for (int64_t i = 0; i < dweight->numel; i++) dweight->values[i] = 0.0;
    multiply_all(call, &c, x->values, dweight->values, dy->values, dweight->values);
    return true;
}

static bool conv2d_backward_bias(OracleCall *call) {
    OracleTensor *dy = &call->in[0], *sum = &call->out[0];
    if (!oracle_expects(call, 0, SHAPE(dy->shape.dims[1]))) return false;
    int64_t plane = dy->shape.dims[2] * dy->shape.dims[3];
    for (int64_t o = 0; o < sum->numel; o++) {
        bool first = true;
        sum->values[o] = 0.0;
        for (int64_t i = 0; i < dy->numel; i++) {
            if (i / plane % dy->shape.dims[1] != o) continue;
            sum->values[o] =
                first ? dy->values[i] : plus(&call->counted, sum->values[o], dy->values[i]);
            first = false;
        }
    }
    return true;
}

const OracleFunction oracle_convolutions[OP_COUNT] = {
    [OP_conv2d] = conv2d,
    [OP_conv2d_backward_input] = conv2d_backward_input,
    [OP_conv2d_backward_weight] = conv2d_backward_weight,
    [OP_conv2d_backward_bias] = conv2d_backward_bias,
    [OP_conv_transpose2d] = conv_transpose2d,
};
