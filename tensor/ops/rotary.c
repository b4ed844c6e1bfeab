// rotary.c -- rotates pairs (x[j], x[j + d / 2]) of each row by the angle of its position: y[j] =
// x[j] c - x[j + d / 2] s, y[j + d / 2] = x[j + d / 2] c + x[j] s. The gradient rotates back.
// params: flags: ROTARY_BACK
#include "tensor/given.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/ops/elementwise.h"

enum { ROTARY_BACK = 1 };

Tensor *tensor_rotary(Tensor *x, Tensor *cosines, Tensor *sines) {
    return OP_RUN(op_rotary, NULL, x, cosines, sines);
}

// Angles are in double: a float angle in the thousands has an error like that of a result.
static Status fill_table(Tensor *table, int64_t begin, float base, double (*function)(double)) {
    int64_t half = table->shape.dims[1];
    float *values = memory_new((size_t)table->numel * sizeof *values + 1);
    if (!values) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < table->numel; i++) {
        double power = (double)(i % half) / (double)half;
        values[i] = (float)function((double)(begin + i / half) * pow((double)base, -power));
    }
    Status status = tensor_write_floats(table, values);
    memory_free(values);
    return status;
}

// Without data the numbers are not computed: for long contexts this would take longer than the rest
// of a dry run.
static Tensor *table_new(Shape shape, int64_t begin, float base, double (*function)(double)) {
    Tensor *table = tensor_new(shape, DTYPE_FLOAT32);
    bool wanted = table && table->device->has_data;
    return tensor_filled(table, wanted ? fill_table(table, begin, base, function) : STATUS_OK);
}

bool rotary_tables_new(int64_t begin, int64_t count, int64_t d, float base, Tensor **cosines,
                       Tensor **sines) {
    if (!GIVEN(cosines) || !GIVEN(sines)) return false;
    *cosines = *sines = NULL;
    if (begin < 0 || count < 0 || d < 0 || d % 2 != 0 || !(base > 0.0f)) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "rotary_tables_new: %lld positions from %lld on, %lld wide, base %g. HINT: an "
                  "even width, and none below 0",
                  (long long)count, (long long)begin, (long long)d, (double)base);
        return false;
    }
    Shape shape = SHAPE(count, d / 2);
    *cosines = table_new(shape, begin, base, cos);
    *sines = *cosines ? table_new(shape, begin, base, sin) : NULL;
    if (*sines) return true;
    tensor_free(*cosines);
    *cosines = NULL;
    return false;
}

static Status rotary_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    int last = x->shape.ndim - 1;
    if (last < 1 || x->shape.dims[last] % 2 != 0)
        return op_error(call, STATUS_SHAPE, "no rows of pairs. HINT: x is (..., s, d), d even");
    Shape table = SHAPE(x->shape.dims[last - 1], x->shape.dims[last] / 2);
    char text[SHAPE_TEXT];
    for (int i = 1; i <= 2; i++) {
        if (!shape_equal(call->in[i]->shape, table))
            return op_error(call, STATUS_SHAPE,
                            "the %s are not %s. HINT: (s, d / 2), x being (..., "
                            "s, d)",
                            i == 1 ? "cosines" : "sines", shape_text(table, text));
        if (call_needs(call, i))
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "the tables have no gradient. HINT: tensor_detach them");
    }
    return op_infer_same(call);
}

KERNEL static Status rotary_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *table = call->in[1];
    int64_t positions = table->shape.dims[0], half = table->shape.dims[1];
    float sign = call->params.flags & ROTARY_BACK ? -1.0f : 1.0f;
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, 0) + r * 2 * half;
        const float *c = call_in(call, 1) + r % positions * half;
        const float *s = call_in(call, 2) + r % positions * half;
        float *y = call_out(call, 0) + r * 2 * half;
        for (int64_t j = 0; j < half; j++)
            y[j] = math_rotate(x[j], x[j + half], c[j], -sign * s[j]);
        for (int64_t j = 0; j < half; j++)
            y[j + half] = math_rotate(x[j + half], x[j], c[j], sign * s[j]);
    }
    return STATUS_OK;
}

static Status rotary_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = saved->params;
    params.flags ^= ROTARY_BACK;
    return OP_INTO(&grad_in[0], op_rotary, &params, grad_out[0], saved->in[1], saved->in[2]);
}

static unsigned rotary_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(1) | SAVE_IN(2);
}

// Counts two products and a sum for each element.
const Op op_rotary = {.id = OP_rotary,
                      .name = "rotary",
                      .kernel = rotary_cpu,
                      .work = op_work_rows,
                      .n_inputs = 3,
                      .infer = rotary_infer,
                      .backward = rotary_backward,
                      .saves = rotary_saves,
                      .story =
                          STORY(.formula = "y = x cos + rotate_half(x) sin", .out = "y",
                                .in = {"x", "cos", "sin"}, .elementwise = {PER_OUTPUT, .each = 3})};
