// topk.c -- the k largest, or smallest, elements of each row in order, and their places
// params: count = k; flags: TOPK_SMALLEST
#include "tensor/ops/topk.h"
#include "tensor/ops/reduce.h"

Tensor *tensor_topk(Tensor *x, int64_t k, int dim, bool largest, Tensor **indices) {
    if (indices) *indices = NULL;
    int d = 0;
    if (!x || !rows_find_dim("topk", x, dim, &d)) return OP_RUN(op_topk, NULL, NULL);
    OpParams params = {.count = k, .flags = largest ? 0 : TOPK_SMALLEST};
    Tensor *rows = tensor_transpose(x, d, -1);
    OpCall call = {.op = &op_topk, .in = &rows, .n_in = 1, .params = params};
    if (op_dispatch(&call)) return NULL;
    bool last = d == x->shape.ndim - 1;
    if (indices) *indices = last ? call.out[1] : tensor_transpose(call.out[1], d, -1);
    return last ? call.out[0] : tensor_transpose(call.out[0], d, -1);
}

static Status topk_infer(OpCall *call) {
    Shape shape = call->in[0]->shape;
    int64_t n = row_length(call->in[0]), k = call->params.count;
    if (shape.ndim == 0 || k < 0 || k > n)
        return op_error(call, STATUS_SHAPE, "the first %lld of %lld. HINT: k is 0 to %lld",
                        (long long)k, (long long)n, (long long)n);
    shape.dims[shape.ndim - 1] = k;
    Status status = op_output(call, 0, (DType)call->in[0]->dtype, shape);
    return status ? status : op_output(call, 1, DTYPE_INT64, shape);
}

// ---- a heap of places, with the last in order on top --------------------------------------------
typedef struct Heap {
    const float *x;       // the row; NULL for int64
    const int64_t *whole; // the int64 row
    int64_t *place;       // (size)
    int64_t size;
    bool smallest;
} Heap;

static inline bool before(const Heap *heap, int64_t i, int64_t k) {
    if (heap->whole)
        return math_whole_comes_before(heap->whole[i], i, heap->whole[k], k, heap->smallest);
    return math_comes_before(heap->x[i], i, heap->x[k], k, heap->smallest);
}

static void sink(const Heap *heap, int64_t at) {
    int64_t moved = heap->place[at];
    for (int64_t child; (child = 2 * at + 1) < heap->size; at = child) {
        if (child + 1 < heap->size && before(heap, heap->place[child], heap->place[child + 1]))
            child++; // the later of the two in order
        if (!before(heap, moved, heap->place[child])) break;
        heap->place[at] = heap->place[child];
    }
    heap->place[at] = moved;
}

// heap.place (k) for a row of n: starts with the first k; each later element that comes before the
// top, the last in order, replaces it
static void find_row(Heap heap, int64_t n) {
    int64_t *where = heap.place, k = heap.size;
    for (int64_t i = 0; i < k; i++) where[i] = i;
    for (int64_t i = k / 2 - 1; i >= 0; i--) sink(&heap, i);
    for (int64_t i = k; i < n && k > 0; i++) {
        if (!before(&heap, i, where[0])) continue;
        where[0] = i;
        sink(&heap, 0);
    }
    while (heap.size > 1) { // moves the last in order to the end of the rest
        int64_t last = where[0];
        where[0] = where[--heap.size];
        where[heap.size] = last;
        sink(&heap, 0);
    }
}

static Status topk_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->in[0]), k = call->params.count;
    bool whole = call->in[0]->dtype == DTYPE_INT64;
    Heap heap = {.size = k, .smallest = (call->params.flags & TOPK_SMALLEST) != 0};
    for (int64_t r = begin; r < end; r++) {
        heap.place = tensor_indices(call->out[1]) + r * k;
        heap.x = whole ? NULL : call_in(call, 0) + r * n;
        heap.whole = whole ? tensor_indices(call->in[0]) + r * n : NULL;
        find_row(heap, n);
        for (int64_t i = 0; i < k && whole; i++)
            tensor_indices(call->out[0])[r * k + i] = heap.whole[heap.place[i]];
        for (int64_t i = 0; i < k && !whole; i++)
            call_out(call, 0)[r * k + i] = heap.x[heap.place[i]];
    }
    return STATUS_OK;
}

static OpWork topk_work(const OpCall *call) {
    return (OpWork){.items = row_count(call->in[0]), .cost = 4.0 * (double)row_length(call->in[0])};
}

// ---- the backward rule --------------------------------------------------------------------------
static Status topk_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.dim = saved->in[0]->shape.ndim - 1, .shape = saved->in[0]->shape};
    return OP_ADDING(&grad_in[0], op_gather_backward, &params, grad_out[0], saved->out[1]);
}

// Counts k searches of a row for its best: k (n - 1) comparisons. (The heap takes fewer; their
// number depends on the values.)
static void topk_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    int64_t k = params->count;
    story->elementwise = (OpRule){PER_ROW, .each = k, .more = -k};
    if (params->flags & TOPK_SMALLEST) story->formula = "y = the k smallest of each row of x";
}

const Op op_topk = {.id = OP_topk,
                    .name = "topk",
                    .kernel = topk_cpu,
                    NUMBERS,
                    .work = topk_work,
                    .n_inputs = 1,
                    .infer = topk_infer,
                    .backward = topk_backward,
                    .saves = save_second_output,
                    .story = STORY(.formula = "y = the k largest of each row of x", .out = "y",
                                   .in = {"x"}, .elementwise = {PER_ROW, .each = 1, .more = -1},
                                   .extra = "where", .extra_elements = {PER_OUTPUT, .each = 1},
                                   .extra_type = DTYPE_INT64, .vary = topk_vary)};
