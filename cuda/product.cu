// product.cu -- matmul and linear: products by cuBLAS, and one kernel for linear's epilogue.
#include "cuda/activations.cuh"
#include "cuda/product.cuh"
#include "tensor/math_activation.h"
#include "tensor/ops.h"
#include "tensor/ops/product.h"

// ---- one product, or many at equal distances ---------------------------------------------------
// cuBLAS is column-major: memory that for us holds an (r, c) matrix with row distance ld is for
// cuBLAS a (c, r) matrix with column distance ld, the transpose. So we ask it for
//     c^T (n, m) = op(b)^T (n, k) . op(a)^T (k, m),
// and it finds c^T, b^T and a^T in our c, b and a in place. Operands and m, n change places; each
// flag stays with its matrix, because (op b)^T = op(b^T).
Status cuda_multiply(CudaDevice *cuda, const Product *p) {
    const float one = 1.0f, before = p->add ? 1.0f : 0.0f;
    int ldc = (int)(p->ldc ? p->ldc : p->n);
    int64_t step_c = p->step_c ? p->step_c : p->m * p->n;
    cublasOperation_t op_a = p->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t op_b = p->trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    if (k == 0 && p->add) return STATUS_OK;
    if (k == 0) // an empty sum, for which cuBLAS promises nothing
        return CUDA_CHECK(cuda,
                          cudaMemsetAsync(p->c, 0, (size_t)(p->count * p->m * p->n) * sizeof(float),
                                          cuda->compute));
    if (p->count == 1)
        return CUDA_CHECK_BLAS(cuda,
                               cublasSgemm(cuda->blas, op_b, op_a, n, m, k, &one, p->b, (int)p->ldb,
                                           p->a, (int)p->lda, &before, p->c, ldc));
    return CUDA_CHECK_BLAS(cuda, cublasSgemmStridedBatched(cuda->blas, op_b, op_a, n, m, k, &one,
                                                           p->b, (int)p->ldb, p->step_b, p->a,
                                                           (int)p->lda, p->step_a, &before, p->c,
                                                           ldc, step_c, (int)p->count));
}

// ---- matmul ------------------------------------------------------------------------------------
// Joins as many products in one call as have equal distances in a and b, from the last dim on.
static void join_batches(Product *p, const Tensor *a, const Tensor *b, const Tensor *out) {
    p->count = 1;
    for (int i = 0; i < out->shape.ndim - 2; i++) {
        int64_t size = out->shape.dims[out->shape.ndim - 3 - i];
        int64_t step_a = product_batch_step(a, i), step_b = product_batch_step(b, i);
        if (size == 1) continue;
        if (p->count == 1) {
            p->step_a = step_a;
            p->step_b = step_b;
        } else if (step_a != p->step_a * p->count || step_b != p->step_b * p->count ||
                   p->count * size > INT32_MAX) {
            return;
        }
        p->count *= size;
    }
}

// out (..., m, n) = a (..., m, k) . b (..., k, n), each transposed if its flag is set; leading dims
// broadcast
CUDA_OP(matmul) {
    const Tensor *a = call->in[0], *b = call->in[1], *out = call->out[0];
    bool ta = call->params.flags & MATMUL_TRANS_A, tb = call->params.flags & MATMUL_TRANS_B;
    if (out->numel == 0) return STATUS_OK;
    Product p = {};
    p.m = out->shape.dims[out->shape.ndim - 2];
    p.n = out->shape.dims[out->shape.ndim - 1];
    p.k = a->shape.dims[a->shape.ndim - (ta ? 2 : 1)];
    p.trans_a = product_stored_transposed(a, &p.lda) != ta;
    p.trans_b = product_stored_transposed(b, &p.ldb) != tb;
    p.add = call->adds;
    join_batches(&p, a, b, out);
    Status status = STATUS_OK;
    for (int64_t i = 0; i < out->numel / (p.m * p.n) && !status; i += p.count) {
        p.a = call_in(call, 0) + product_batch_offset(a, out, i);
        p.b = call_in(call, 1) + product_batch_offset(b, out, i);
        p.c = call_out(call, 0) + i * p.m * p.n;
        status = cuda_multiply(cuda, &p);
    }
    return status;
}

// ---- linear ------------------------------------------------------------------------------------
// Adjacent elements that move together; four floats are one transaction of 16 bytes.
template <int WIDTH> struct alignas(WIDTH * sizeof(float)) Pack { float at[WIDTH]; };

// A 64-bit division takes several times as long as a 32-bit one, and few matrices need it.
__device__ static int64_t remainder_of(int64_t i, int64_t n) {
    return i <= UINT32_MAX ? (int64_t)((uint32_t)i % (uint32_t)n) : i % n;
}

// y (m, n) = activation(y + bias (n)); before (m, n), if wanted, = y + bias. n counts packs.
template <int WIDTH, class Formula>
__global__ static void finish(Pack<WIDTH> *y, const Pack<WIDTH> *bias, Pack<WIDTH> *before,
                              int64_t packs, int64_t n, Formula activation) {
    for (int64_t i = GLOBAL_INDEX; i < packs; i += GRID_STRIDE) {
        Pack<WIDTH> v = y[i];
        if (bias) {
            Pack<WIDTH> add = bias[remainder_of(i, n)];
            for (int w = 0; w < WIDTH; w++) v.at[w] += add.at[w];
        }
        if (before) before[i] = v;
        for (int w = 0; w < WIDTH; w++) v.at[w] = activation(v.at[w], 0.0f, 0.0f);
        y[i] = v;
    }
}

struct Finish {
    float *y;
    const float *bias; // NULL: none
    float *before;     // NULL: not wanted
    int64_t numel, n;
};

template <int WIDTH, class Formula>
static Status launch_width(const OpCall *call, CudaDevice *cuda, const Finish &f) {
    int64_t packs = f.numel / WIDTH;
    return CUDA_LAUNCH((finish<WIDTH, Formula>), cuda_grid(packs), CUDA_BLOCK, 0,
                       (Pack<WIDTH> *)f.y, (const Pack<WIDTH> *)f.bias, (Pack<WIDTH> *)f.before,
                       packs, f.n / WIDTH, Formula(call));
}

template <class Formula>
static Status launch_finish(const OpCall *call, CudaDevice *cuda, const Finish &f) {
    bool packs = f.n % 4 == 0 && is_wide(f.y) && is_wide(f.bias) && is_wide(f.before);
    return (packs ? launch_width<4, Formula> : launch_width<1, Formula>)(call, cuda, f);
}

FORMULA(identity, 1, (float x, float, float), x)

// Launchers by the activation's id, 0 without one.
static const struct {
    int id;
    Status (*launch)(const OpCall *call, CudaDevice *cuda, const Finish &f);
} finishes[] = {{OP_OUTSIDE, launch_finish<identity_formula>},
#define FINISH(name, y_of_x, dx_of_grad) {OP_##name, launch_finish<name##_formula>},
                ACTIVATION_LIST(FINISH)
#undef FINISH
};

static Status finish_product(const OpCall *call, CudaDevice *cuda, const Finish &f) {
    const Op *activation = call->params.activation;
    int id = activation ? activation->id : OP_OUTSIDE;
    for (const auto &each : finishes)
        if (each.id == id && (id != OP_OUTSIDE || !activation)) return each.launch(call, cuda, f);
    return cuda->host->op_error(call, STATUS_NOT_IMPLEMENTED,
                                "cannot fuse %s on cuda. HINT: a layer of its own behind it",
                                activation->name);
}

// y (m, n) = activation(x (m, k) . weight (n, k)^T + bias (n)); the second output, if backward
// wants it, is the activation's input
CUDA_OP(linear) {
    Product p = {};
    int64_t numel = call_numel(call);
    if (numel == 0) return STATUS_OK;
    p.n = call->in[1]->shape.dims[0];
    p.k = call->in[1]->shape.dims[1];
    p.m = numel / p.n;
    p.a = call_in(call, 0);
    p.b = call_in(call, 1);
    p.c = call_out(call, 0);
    p.lda = p.ldb = p.k;
    p.trans_b = true;
    p.count = 1;
    Status status = cuda_multiply(cuda, &p);
    Finish f = {p.c, call->in[2] ? call_in(call, 2) : NULL,
                call->n_out > 1 ? call_out(call, 1) : NULL, numel, p.n};
    if (status || (!f.bias && !f.before && !call->params.activation)) return status;
    return finish_product(call, cuda, f);
}
