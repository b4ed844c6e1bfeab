// pad.c -- adds or removes elements at the ends of dimensions: a constant, or existing elements
// params: pads; flags: PadMode; value[0] and, for int64, whole: the constant
#include "tensor/ops/pad.h"
#include "tensor/ops/reduce.h"

static int32_t narrow(int64_t value) { // out of range becomes a value that is refused
    return value > INT32_MAX || value < -INT32_MAX ? INT32_MIN : (int32_t)value;
}

static Tensor *run(Tensor *x, const int64_t before[], const int64_t after[], OpParams params) {
    if (x && (!before || !after))
        error_set(STATUS_INVALID_ARGUMENT,
                  "pad: there are no pads. HINT: before and after, a number for each dimension");
    for (int d = 0; x && before && after && d < x->shape.ndim; d++) {
        params.pads.before[d] = narrow(before[d]);
        params.pads.after[d] = narrow(after[d]);
    }
    return OP_RUN(op_pad, &params, x);
}

Tensor *tensor_pad(Tensor *x, const int64_t before[], const int64_t after[], PadMode mode,
                   float value) {
    OpParams params = {.flags = (uint32_t)mode, .value = {value}, .whole = whole_number(value)};
    return run(x, before, after, params);
}

Tensor *tensor_pad_whole(Tensor *x, const int64_t before[], const int64_t after[], PadMode mode,
                         int64_t value) {
    OpParams params = {.flags = (uint32_t)mode, .value = {(float)value}, .whole = value};
    return run(x, before, after, params);
}

// ---- shapes ----------------------------------------------------------------------------------
static Status check_side(const OpCall *call, int d) {
    int64_t before = call->params.pads.before[d], after = call->params.pads.after[d];
    int64_t size = call->in[0]->shape.dims[d], most = before > after ? before : after;
    bool constant = call->params.flags == PAD_CONSTANT;
    if (before == INT32_MIN || after == INT32_MIN)
        return op_error(call, STATUS_OVERFLOW, "pads end at 2^31 - 1. HINT: dimension %d", d);
    if (before == 0 && after == 0) return STATUS_OK;
    if (!constant && (before < 0 || after < 0))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "pads (%lld, %lld) of dimension %d. HINT: only a constant's may be below "
                        "0, which crops",
                        (long long)before, (long long)after, d);
    if (!constant && size == 0)
        return op_error(call, STATUS_SHAPE, "dimension %d has nothing to repeat. HINT: a constant",
                        d);
    if (call->params.flags == PAD_REFLECT && most >= size)
        return op_error(call, STATUS_SHAPE,
                        "pads (%lld, %lld) of dimension %d, of size %lld. HINT: a reflection is "
                        "shorter than what it reflects",
                        (long long)before, (long long)after, d, (long long)size);
    if (size + before + after < 0 || -before > size || -after > size)
        return op_error(call, STATUS_SHAPE,
                        "pads (%lld, %lld) crop more than dimension %d has. HINT: it has %lld",
                        (long long)before, (long long)after, d, (long long)size);
    return STATUS_OK;
}

static Status pad_infer(OpCall *call) {
    Shape shape = call->in[0]->shape;
    if (call->params.flags > PAD_CIRCULAR)
        return op_error(call, STATUS_INVALID_ARGUMENT, "mode %u. HINT: one of PadMode",
                        call->params.flags);
    if (call->in[0]->dtype == DTYPE_INT64 && check_whole_number(call)) return error_status();
    for (int d = 0; d < shape.ndim; d++) {
        if (check_side(call, d)) return error_status();
        if (__builtin_add_overflow(
                shape.dims[d], (int64_t)call->params.pads.before[d] + call->params.pads.after[d],
                &shape.dims[d]))
            return op_error(call, STATUS_OVERFLOW, "a size beyond 2^63. HINT: fewer pads");
    }
    return op_output(call, 0, (DType)call->in[0]->dtype, shape);
}

static Status pad_backward_infer(OpCall *call) {
    Shape shape = call->in[0]->shape;
    for (int d = 0; d < shape.ndim; d++)
        shape.dims[d] -= (int64_t)call->params.pads.before[d] + call->params.pads.after[d];
    return op_output(call, 0, DTYPE_FLOAT32, shape);
}

static Status pad_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_pad_backward, &saved->params, grad_out[0]);
}

// ---- forward, by rows of the output ------------------------------------------------------------
typedef struct Sides { // sizes of a call, from x's shape; a scalar is a row of one
    PadSide side[TENSOR_MAX_DIMS];
    int outer; // number of dimensions before a row
} Sides;

static Sides sides_of(const OpCall *call, const Shape *x) {
    Sides s = {.outer = x->ndim ? x->ndim - 1 : 0};
    s.side[0] = (PadSide){.size = 1, .out = 1};
    for (int d = 0; d < x->ndim; d++) s.side[d] = pad_side(&call->params, d, x->dims[d]);
    return s;
}

// Row of x that row r of the output reads; -1: none.
static int64_t row_source(const Sides *s, int64_t r) {
    int64_t found = 0, step = 1;
    for (int d = s->outer - 1; d >= 0; d--) {
        int64_t i = pad_source(&s->side[d], r % s->side[d].out);
        if (i < 0) return -1;
        found += i * step;
        step *= s->side[d].size;
        r /= s->side[d].out;
    }
    return found;
}

static OpWork rows_work(const OpCall *call) { // rows of the output
    const Tensor *out = call->out[0];
    return (OpWork){.items = row_count(out), .cost = (double)row_length(out)};
}

// y[o] = x[i], both of int64 or of float32
MATH_INLINE void put(void *y, int64_t o, const void *x, int64_t i, bool whole) {
    if (whole)
        ((int64_t *)y)[o] = ((const int64_t *)x)[i];
    else
        ((float *)y)[o] = ((const float *)x)[i];
}

// Inlined once per type.
MATH_INLINE Status pad_rows(const OpCall *call, int64_t begin, int64_t end, bool whole) {
    const Sides s = sides_of(call, &call->in[0]->shape);
    const PadSide side = s.side[s.outer];
    const int64_t size = whole ? sizeof(int64_t) : sizeof(float), number = call->params.whole;
    const float value = call->params.value[0];
    const void *constant = whole ? (const void *)&number : &value;
    int64_t first = side.before > 0 ? side.before : 0;
    int64_t last = side.before + side.size < side.out ? side.before + side.size : side.out;
    for (int64_t r = begin; r < end; r++) {
        char *y = tensor_raw(call->out[0]) + r * side.out * size;
        int64_t row = row_source(&s, r);
        if (row < 0) {
            for (int64_t o = 0; o < side.out; o++) put(y, o, constant, 0, whole);
            continue;
        }
        const char *x = tensor_raw(call->in[0]) + row * side.size * size;
        for (int64_t o = 0; o < side.out; o++) {
            if (o == first && last > first) {
                memcpy(y + first * size, x + (first - side.before) * size,
                       (size_t)((last - first) * size));
                o = last - 1;
                continue;
            }
            int64_t i = pad_source(&side, o);
            put(y, o, i < 0 ? constant : x, i < 0 ? 0 : i, whole);
        }
    }
    return STATUS_OK;
}

KERNEL static Status pad_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return pad_rows(call, begin, end, false);
}

KERNEL static Status pad_whole(const OpCall *call, int64_t begin, int64_t end) {
    return pad_rows(call, begin, end, true);
}

static void pad_vary(OpStory *story, const OpParams *params, unsigned given) {
    static const char *const formulas[] = {
        [PAD_CONSTANT] = "y = x with a constant around it",
        [PAD_REFLECT] = "y = x, at its ends turned round",
        [PAD_REPLICATE] = "y = x, its ends repeated",
        [PAD_CIRCULAR] = "y = x, and x again around it",
    };
    (void)given;
    story->formula = formulas[params->flags];
}

const Op op_pad = {.id = OP_pad,
                   .name = "pad",
                   .kernel = pad_cpu,
                   .whole = pad_whole,
                   NUMBERS,
                   .work = rows_work,
                   .n_inputs = 1,
                   .infer = pad_infer,
                   .backward = pad_backward,
                   .story = STORY(.formula = "y = x with a constant around it", .out = "y",
                                  .in = {"x"}, .vary = pad_vary)};

// ---- backward: each element of dx sums the gradients of the outputs that read it ---------------
enum { PART = 256 };

// total (n) += the gradients in dy (out) for columns [first, first + n) of a row, in double, since
// an end may have been read very often
MATH_INLINE void add_part(const PadSide *side, const float *dy, int64_t first, int64_t n,
                          double *total) {
    for (int64_t i = 0; i < n; i++) {
        int64_t own = first + i + side->before;
        if (own >= 0 && own < side->out) total[i] += (double)dy[own];
    }
    if (side->mode == PAD_CONSTANT) return;
    for (int64_t o = 0; o < side->out; o++) {
        if (o == side->before) o += side->size;
        if (o >= side->out) break;
        int64_t i = pad_source(side, o) - first;
        if (i >= 0 && i < n) total[i] += (double)dy[o];
    }
}

// The rows of dy that read row r of dx, one per call: *turn counts them. -1: no more; -2: this row
// is skipped.
static int64_t row_reader(const Sides *s, int64_t r, int64_t turn) {
    int64_t found = 0, step = 1;
    bool is = true;
    for (int d = s->outer - 1; d >= 0; d--) {
        const PadSide *side = &s->side[d];
        int64_t i = r % side->size, n = pad_readers(side, i);
        int64_t o = pad_reader(side, i, turn % n);
        r /= side->size;
        turn /= n;
        is = is && o >= 0;
        found += o * step;
        step *= side->out;
    }
    return turn > 0 ? -1 : is ? found : -2;
}

KERNEL static Status pad_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Sides s = sides_of(call, &call->out[0]->shape);
    const PadSide *side = &s.side[s.outer];
    for (int64_t r = begin; r < end; r++)
        for (int64_t first = 0, n; first < side->size; first += n) {
            float *dx = call_out(call, 0) + r * side->size + first;
            double total[PART] = {0};
            n = side->size - first < PART ? side->size - first : PART;
            for (int64_t turn = 0;; turn++) {
                int64_t row = row_reader(&s, r, turn);
                if (row == -1) break;
                if (row >= 0) add_part(side, call_in(call, 0) + row * side->out, first, n, total);
            }
            for (int64_t i = 0; i < n; i++) dx[i] = (float)total[i];
        }
    return STATUS_OK;
}

static void pad_backward_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (params->flags == PAD_CONSTANT) return;
    story->formula = "dx = dy, added up where it was read";
    story->elementwise = (OpRule){PER_INPUT, .each = 1};
}

const Op op_pad_backward = {.id = OP_pad_backward,
                            .name = "pad_backward",
                            .kernel = pad_backward_cpu,
                            .work = rows_work,
                            .n_inputs = 1,
                            .infer = pad_backward_infer,
                            .story = STORY(.formula = "dx = dy without its ends", .out = "dx",
                                           .in = {"dy"}, .vary = pad_backward_vary)};
