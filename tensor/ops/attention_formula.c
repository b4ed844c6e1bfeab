// attention_formula.c -- attention by its formula, op by op: a reference for the fused op, and a
// measure of the cost of storing scores.
#include "tensor/ops/attention.h"

#include "tensor/context.h"
#include "tensor/ops.h"

// Releases an intermediate as soon as the next one is computed: the tape keeps those that backward
// needs.
static Tensor *then(Tensor *next, Tensor *used) {
    if (used && next != used) tensor_release(used);
    return next;
}

// x + (0 where a query sees a key, -infinity where the key is later) for scores (s, t)
static Tensor *add_causal_mask(Tensor *scores, int64_t s, int64_t t) {
    Context *context = context_current();
    Device *before = context->device;
    if (scores) context_set_device(scores->device);
    Tensor *all = tensor_full_new(SHAPE(s, t), -INFINITY);
    context_set_device(before);
    Tensor *later = tensor_triu(all, 1);
    Tensor *sum = then(tensor_add(scores, later), later);
    tensor_free(all);
    return sum;
}

// (..., h, s, d) as (..., h / group, group s, d), so each matrix of keys is used once.
static Tensor *joined(Tensor *q, const Tensor *k) {
    if (!q || !k || q->shape.ndim < 3 || k->shape.ndim != q->shape.ndim) return q;
    int head = q->shape.ndim - 3;
    int64_t heads = q->shape.dims[head], shared = k->shape.dims[head];
    if (heads == shared || shared == 0 || heads % shared != 0) return q;
    Shape shape = q->shape;
    shape.dims[head] = shared;
    shape.dims[head + 1] *= heads / shared;
    return tensor_reshape(q, shape);
}

// Reshapes x (..., n) to the leading dimensions of `like`.
static Tensor *led_as(Tensor *x, const Tensor *like) {
    if (!x || !like) return NULL;
    Shape shape = like->shape;
    if (shape.ndim < 1 || x->shape.ndim != shape.ndim) return x;
    shape.dims[shape.ndim - 1] = x->shape.dims[x->shape.ndim - 1];
    return shape_equal(shape, x->shape) ? x : tensor_reshape(x, shape);
}

Tensor *tensor_attention_by_formula(Tensor *q, Tensor *k, Tensor *v, Tensor *mask,
                                    AttentionOptions options) {
    if (!q || !k || !v || q->shape.ndim < 2 || k->shape.ndim < 2)
        return tensor_attention(q, k, v, mask, options); // sets the error
    int64_t d = q->shape.dims[q->shape.ndim - 1];
    float scale = options.scale != 0.0f ? options.scale
                  : d > 0               ? (float)(1.0 / sqrt((double)d))
                                        : 1;
    Tensor *products = tensor_matmul(joined(q, k), tensor_transpose(k, -1, -2));
    Tensor *scores = led_as(then(tensor_mul_scalar(products, scale), products), q);
    if (mask) scores = then(tensor_add(scores, mask), scores);
    if (options.causal)
        scores = then(add_causal_mask(scores, q->shape.dims[q->shape.ndim - 2],
                                      k->shape.dims[k->shape.ndim - 2]),
                      scores);
    Tensor *p = then(tensor_softmax(scores, -1), scores);
    if (options.dropout != 0.0f) p = then(tensor_dropout(p, options.dropout), p);
    Tensor *y = tensor_matmul(joined(p, v), v);
    if (p) tensor_release(p);
    return led_as(y, q);
}
