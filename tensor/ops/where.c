// where.c -- chooses a or b by a condition, element by element; filling by a mask is the same op,
// and so is backward
// in: condition, a, b; an absent a or b is the number params.value[0] or value[1], next to int64
// params.whole
#include "tensor/ops/elementwise.h"

// A tensor omitted by mistake must not count as a number.
static bool is_there(const Tensor *t, const char *what) {
    if (!t)
        error_set(STATUS_INVALID_ARGUMENT,
                  "where: %s is NULL. HINT: tensor_masked_fill takes a number", what);
    return t != NULL;
}

Tensor *tensor_where(Tensor *condition, Tensor *a, Tensor *b) {
    if (!is_there(a, "a") || !is_there(b, "b")) return NULL;
    return OP_RUN(op_where, NULL, condition, a, b);
}

Tensor *tensor_masked_fill(Tensor *x, Tensor *mask, float value) {
    if (!is_there(x, "x")) return NULL;
    OpParams params = {.value = {value}, .whole = whole_number(value)};
    return OP_RUN(op_where, &params, mask, NULL, x);
}

// The common dtype of a and b; the condition may have another.
static DType chosen_type(const OpCall *call) {
    const Tensor *one = call->in[1] ? call->in[1] : call->in[2];
    return one ? (DType)one->dtype : DTYPE_FLOAT32;
}

static Status where_infer(OpCall *call) {
    bool number = !call->in[1] || !call->in[2];
    if (number && chosen_type(call) == DTYPE_INT64 && check_whole_number(call))
        return error_status();
    return infer_broadcast_to(call, chosen_type(call));
}

typedef struct Row {
    const float *condition, *a, *b;
    int64_t n;
} Row;

// Steps are constants in the common cases: the loop is compiled once for each.
MATH_INLINE void choose(float *y, Row row, int64_t step, int64_t step_a, int64_t step_b) {
    for (int64_t i = 0; i < row.n; i++)
        y[i] = math_where(row.condition[i * step], row.a[i * step_a], row.b[i * step_b]);
}

// The int64 version of where_cpu. Addresses as if of floats give the positions in elements.
KERNEL static void choose_whole(const OpCall *call, int64_t begin, int64_t end) {
    Broadcast rows = broadcast_of(call, 3);
    const int64_t *step = rows.step, *first[3] = {NULL};
    for (int k = 1; k < 3; k++)
        first[k] = call->in[k] ? tensor_indices(call->in[k]) : &call->params.whole;
    for (int64_t n; begin < end; begin += n) {
        const float *from[3];
        n = broadcast_row(&rows, 3, begin, end, from);
        const int64_t *a = first[1] + (from[1] - rows.in[1]),
                      *b = first[2] + (from[2] - rows.in[2]);
        int64_t *y = tensor_indices(call->out[0]) + begin;
        for (int64_t i = 0; i < n; i++)
            y[i] = from[0][i * step[0]] != 0.0f ? a[i * step[1]] : b[i * step[2]];
    }
}

// y = condition ? a : b, all broadcast to y
KERNEL static Status where_cpu(const OpCall *call, int64_t begin, int64_t end) {
    if (chosen_type(call) == DTYPE_INT64) {
        choose_whole(call, begin, end);
        return STATUS_OK;
    }
    Broadcast rows = broadcast_of(call, 3);
    const int64_t *step = rows.step;
    int64_t n;
    for (; begin < end; begin += n) {
        const float *from[3];
        n = broadcast_row(&rows, 3, begin, end, from);
        float *y = call_out(call, 0) + begin;
        Row row = {from[0], from[1], from[2], n};
        if (step[0] == 1 && step[1] == 1 && step[2] == 1)
            choose(y, row, 1, 1, 1);
        else if (step[0] == 1 && step[1] == 0 && step[2] == 1)
            choose(y, row, 1, 0, 1);
        else if (step[0] == 1 && step[1] == 1 && step[2] == 0)
            choose(y, row, 1, 1, 0);
        else
            choose(y, row, step[0], step[1], step[2]);
    }
    return STATUS_OK;
}

// Both a and b get the gradient where chosen, and 0 elsewhere. Chooses instead of multiplying,
// because 0 times infinity or NaN is NaN.
static Status where_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 1; i <= 2; i++) {
        if (!call_needs(saved, i)) continue;
        Tensor *in[3] = {saved->in[0]}, *whole = NULL;
        in[i] = grad_out[0];
        bool direct = shape_equal(grad_out[0]->shape, saved->in[i]->shape);
        if (op_run_into(direct ? &grad_in[i] : &whole, &op_where, NULL, in, 3))
            return error_status();
        if (!direct && backward_sum_to(&grad_in[i], whole, saved->in[i])) return error_status();
    }
    return STATUS_OK;
}

static void where_vary(OpStory *story, const OpParams *params, unsigned given) {
    static const char *const formulas[2][2] = {
        {"y = one number where the condition is not 0, else another", // both are numbers
         "y = a number where the condition is not 0, else b"},
        {"y = a where the condition is not 0, else a number",
         "y = a where the condition is not 0, else b"}};
    (void)params;
    story->formula = formulas[given & SAVE_IN(1) ? 1 : 0][given & SAVE_IN(2) ? 1 : 0];
}

static const DTypeSignature condition_and_numbers[2] = {
    {3, {DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT32}},
    {3, {DTYPE_FLOAT32, DTYPE_INT64, DTYPE_INT64}}};

// Counts one comparison with 0; the choice itself only moves data.
const Op op_where = {.id = OP_where,
                     .name = "where",
                     .kernel = where_cpu,
                     .flags = OP_STRIDED,
                     .work = op_work_elements,
                     .n_inputs = 3,
                     .optional = SAVE_IN(1) | SAVE_IN(2),
                     .dtypes = condition_and_numbers,
                     .n_dtypes = 2,
                     .infer = where_infer,
                     .backward = where_backward,
                     .saves = save_input,
                     .story = STORY(.formula = "y = a where the condition is not 0, else b",
                                    .out = "y", .in = {"condition", "a", "b"},
                                    .elementwise = {PER_OUTPUT, .each = 1}, .vary = where_vary)};
