// attention_tiles.c -- work on a tile of queries by keys on the CPU, for attention and its
// gradients, and the distribution of their items to threads.
#include "tensor/context.h"
#include "tensor/gemm.h"
#include "tensor/ops/attention.h"

// ---- tiles ----------------------------------------------------------------------------------
void attention_products(const Attention *a, AttentionTile tile, float *scores) {
    const float *q = attention_matrix(&a->q, tile.matrix);
    const float *k = attention_matrix(&a->k, tile.matrix / a->group);
    Gemm gemm = {.m = tile.rows, .n = tile.keys, .k = a->d, .trans_b = true};
    gemm.a = q + tile.row * a->q.row;
    gemm.b = k + tile.key * a->k.row;
    gemm.c = scores;
    gemm.lda = a->q.row;
    gemm.ldb = a->k.row;
    gemm.ldc = tile.keys;
    gemm_alone(&gemm);
}

KERNEL void attention_scores(const Attention *a, AttentionTile tile, int64_t row, float *x) {
    int64_t n = tile.keys, seen = attention_visible(a, tile.row + row) - tile.key;
    if (a->mask.data) {
        const float *mask = attention_matrix(&a->mask, tile.matrix) +
                            (tile.row + row) * a->mask.row + tile.key * a->mask.column;
        if (a->mask.column == 1)
            for (int64_t j = 0; j < n; j++) x[j] = x[j] * a->scale + mask[j];
        else
            for (int64_t j = 0; j < n; j++) x[j] = x[j] * a->scale + mask[j * a->mask.column];
    } else {
        for (int64_t j = 0; j < n; j++) x[j] *= a->scale;
    }
    for (int64_t j = seen < 0 ? 0 : seen; j < n; j++) x[j] = -INFINITY;
}

KERNEL void attention_factors(const Attention *a, AttentionTile tile, int64_t row, float *factor) {
    int64_t from = attention_draw(a, tile.matrix, tile.row + row) + tile.key;
    random_uniform(a->seed, a->offset, from, from + tile.keys, factor);
    for (int64_t j = 0; j < tile.keys; j++) factor[j] = factor[j] >= a->p ? a->kept : 0.0f;
}

// ---- threads --------------------------------------------------------------------------------
void attention_share(AttentionJob *job) {
    int64_t threads = context_current()->threads;
    job->slots = !cpu_pays(job->cost) ? 1 : threads < job->items ? threads : job->items;
}

int64_t attention_workspace(const AttentionJob *job) {
    return job->items ? job->slots * job->floats * (int64_t)sizeof(float) : 0;
}

static void run_slots(void *argument, int64_t begin, int64_t end) {
    const AttentionJob *job = argument;
    for (int64_t slot = begin; slot < end; slot++)
        for (int64_t i = slot; i < job->items;
             i += job->slots) // alternates, as later rows see more keys
            job->item(job, i, job->call->workspace + slot * job->floats);
}

static OpWork work_of(const AttentionJob *job) {
    return (OpWork){.items = job->slots, .cost = job->cost / (double)job->slots};
}

int64_t attention_handoffs(const AttentionJob *job) {
    return job->items ? cpu_handoffs(work_of(job)) : 0;
}

void attention_run(AttentionJob *job) {
    if (job->items) cpu_parallel(work_of(job), run_slots, job);
}
