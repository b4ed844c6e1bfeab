// recurrent.cu -- the passes of recurrent cells over a sequence, and their gradients: per step a
// product by cuBLAS and a kernel with one thread per element; formulas are in tensor/math_cell.h
#include "cuda/product.cuh"
#include "tensor/math_cell.h"
#include "tensor/ops/recurrent.h"

// sums (rows, n) = given (rows, n) + bias (n), which may be NULL
__global__ static void add_bias(float *sums, const float *given, const float *bias, int64_t rows,
                                int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < rows * n; i += GRID_STRIDE)
        sums[i] = bias ? given[i] + bias[i % n] : given[i];
}

__global__ static void clear(float *x, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) x[i] = 0.0f;
}

// c (batch, columns), rows `wide` apart, = or += h (batch, hidden) . weight (columns, hidden)^T
static Status multiply_states(CudaDevice *cuda, const Sequence *s, const float *h,
                              const float *weight, int64_t columns, float *c, int64_t wide,
                              bool add) {
    Product product = {};
    product.m = s->batch, product.n = columns, product.k = s->hidden;
    product.a = h, product.lda = s->hidden;
    product.b = weight, product.ldb = s->hidden, product.trans_b = true;
    product.c = c, product.ldc = wide;
    product.count = 1;
    product.add = add;
    return cuda_multiply(cuda, &product);
}

// c (batch, hidden) = or += sums (batch, wide) . weight (wide, hidden)
static Status multiply_back(CudaDevice *cuda, const Sequence *s, const float *sums, int64_t wide,
                            const float *weight, float *c, bool add) {
    Product product = {};
    product.m = s->batch, product.n = s->hidden, product.k = wide;
    product.a = sums, product.lda = wide;
    product.b = weight, product.ldb = s->hidden;
    product.c = c, product.ldc = s->hidden;
    product.count = 1;
    product.add = add;
    return cuda_multiply(cuda, &product);
}

// ---- LSTM ---------------------------------------------------------------------------------------
struct LstmStep { // gates (batch, 4 n), the others (batch, n)
    float *gates, *cell, *y;
    const float *before;
    int64_t batch, n;
};

__global__ static void lstm_step(LstmStep s) {
    for (int64_t i = GLOBAL_INDEX; i < s.batch * s.n; i += GRID_STRIDE) {
        int64_t row = i / s.n, j = i - row * s.n;
        float *gates = s.gates + 4 * row * s.n + j;
        LstmElement e =
            math_lstm(gates[0], gates[s.n], gates[2 * s.n], gates[3 * s.n], s.before[i]);
        gates[0] = e.i, gates[s.n] = e.f, gates[2 * s.n] = e.g, gates[3 * s.n] = e.o;
        s.cell[i] = e.cell;
        s.y[i] = e.hidden;
    }
}

// sums, weight, bias, hidden, cell -> y, cells, gates
CUDA_OP(lstm) {
    const Sequence s = sequence_of(call->out[0], &call->params);
    int64_t wide = 4 * s.hidden, state = s.batch * s.hidden, rows = s.steps * s.batch;
    float *y = call_out(call, 0), *cells = call_out(call, 1), *gates = call_out(call, 2);
    if (call_numel(call) == 0) return STATUS_OK;
    Status status = CUDA_LAUNCH(add_bias, cuda_grid(rows * wide), CUDA_BLOCK, 0, gates,
                                call_in(call, 0), input_or_null(call, 2), rows, wide);
    for (int64_t k = 0; k < s.steps && !status; k++) {
        int64_t at = sequence_at(&s, k);
        LstmStep step = {gates + at * s.batch * wide,
                         cells + at * state,
                         y + at * state,
                         state_before(&s, k, cells, call_in(call, 4)),
                         s.batch,
                         s.hidden};
        status = multiply_states(cuda, &s, state_before(&s, k, y, call_in(call, 3)),
                                 call_in(call, 1), wide, step.gates, wide, true);
        if (!status) status = CUDA_LAUNCH(lstm_step, cuda_grid(state), CUDA_BLOCK, 0, step);
    }
    return status;
}

struct LstmGradient { // gates and d_sums (batch, 4 n), the others (batch, n); dy, d_cells or NULL
    const float *gates, *cell, *before, *dy, *d_cells;
    float *d_sums, *d_hidden, *d_cell; // d_hidden and d_cell come in from the following step
    int64_t batch, n;
};

__global__ static void lstm_gradient(LstmGradient s) {
    for (int64_t i = GLOBAL_INDEX; i < s.batch * s.n; i += GRID_STRIDE) {
        int64_t row = i / s.n, at = 4 * row * s.n + i - row * s.n;
        const float *gates = s.gates + at;
        float *sums = s.d_sums + at, hidden = s.d_hidden[i], cell = s.d_cell[i];
        if (s.dy) hidden += s.dy[i];
        if (s.d_cells) cell += s.d_cells[i];
        LstmElement e = {gates[0], gates[s.n], gates[2 * s.n], gates[3 * s.n], s.cell[i], 0.0f};
        LstmElement d = math_lstm_backward(e, s.before[i], hidden, cell);
        sums[0] = d.i, sums[s.n] = d.f, sums[2 * s.n] = d.g, sums[3 * s.n] = d.o;
        s.d_cell[i] = d.cell;
    }
}

// weight, gates, cells, cell, dy, dcells -> d_sums, d_hidden, d_cell
CUDA_OP(lstm_backward) {
    const Sequence s = sequence_of(call->in[2], &call->params);
    int64_t wide = 4 * s.hidden, state = s.batch * s.hidden;
    const float *dy = input_or_null(call, 4), *d_cells = input_or_null(call, 5);
    if (state == 0) return STATUS_OK;
    Status status = CUDA_LAUNCH(clear, cuda_grid(state), CUDA_BLOCK, 0, call_out(call, 1), state);
    if (!status)
        status = CUDA_LAUNCH(clear, cuda_grid(state), CUDA_BLOCK, 0, call_out(call, 2), state);
    for (int64_t k = s.steps - 1; k >= 0 && !status; k--) {
        int64_t at = sequence_at(&s, k);
        LstmGradient step = {call_in(call, 1) + at * s.batch * wide,
                             call_in(call, 2) + at * state,
                             state_before(&s, k, call_in(call, 2), call_in(call, 3)),
                             dy ? dy + at * state : NULL,
                             d_cells ? d_cells + at * state : NULL,
                             call_out(call, 0) + at * s.batch * wide,
                             call_out(call, 1),
                             call_out(call, 2),
                             s.batch,
                             s.hidden};
        status = CUDA_LAUNCH(lstm_gradient, cuda_grid(state), CUDA_BLOCK, 0, step);
        if (status || (k == 0 && !(call->params.flags & RECURRENT_STATE))) break;
        status = multiply_back(cuda, &s, step.d_sums, wide, call_in(call, 0), step.d_hidden, false);
    }
    return status;
}

// ---- a plain cell -------------------------------------------------------------------------------
__global__ static void rnn_step(float *y, int64_t n, bool relu) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) y[i] = math_rnn(y[i], relu);
}

// sums, weight, bias, hidden -> y
CUDA_OP(rnn) {
    const Sequence s = sequence_of(call->out[0], &call->params);
    int64_t n = s.hidden, state = s.batch * n, rows = s.steps * s.batch;
    float *y = call_out(call, 0);
    if (call_numel(call) == 0) return STATUS_OK;
    Status status = CUDA_LAUNCH(add_bias, cuda_grid(rows * n), CUDA_BLOCK, 0, y, call_in(call, 0),
                                input_or_null(call, 2), rows, n);
    for (int64_t k = 0; k < s.steps && !status; k++) {
        float *own = y + sequence_at(&s, k) * state;
        status = multiply_states(cuda, &s, state_before(&s, k, y, call_in(call, 3)),
                                 call_in(call, 1), n, own, n, true);
        if (!status)
            status = CUDA_LAUNCH(rnn_step, cuda_grid(state), CUDA_BLOCK, 0, own, state,
                                 (call->params.flags & RECURRENT_RELU) != 0);
    }
    return status;
}

__global__ static void rnn_gradient(const float *y, const float *dy, const float *d_hidden,
                                    float *d_sums, int64_t n, bool relu) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE)
        d_sums[i] = math_rnn_backward(dy[i] + d_hidden[i], y[i], relu);
}

// weight, y, hidden, dy -> d_sums, d_hidden
CUDA_OP(rnn_backward) {
    const Sequence s = sequence_of(call->in[1], &call->params);
    int64_t n = s.hidden, state = s.batch * n;
    float *d_hidden = call_out(call, 1);
    if (state == 0) return STATUS_OK;
    Status status = CUDA_LAUNCH(clear, cuda_grid(state), CUDA_BLOCK, 0, d_hidden, state);
    for (int64_t k = s.steps - 1; k >= 0 && !status; k--) {
        int64_t at = sequence_at(&s, k) * state;
        float *d_sums = call_out(call, 0) + at;
        status = CUDA_LAUNCH(rnn_gradient, cuda_grid(state), CUDA_BLOCK, 0, call_in(call, 1) + at,
                             call_in(call, 3) + at, d_hidden, d_sums, state,
                             (call->params.flags & RECURRENT_RELU) != 0);
        if (status || (k == 0 && !(call->params.flags & RECURRENT_STATE))) break;
        status = multiply_back(cuda, &s, d_sums, n, call_in(call, 0), d_hidden, false);
    }
    return status;
}

// ---- GRU ----------------------------------------------------------------------------------------
struct GruStep { // gates and x (batch, 3 n), the others (batch, n); bias (3 n) or NULL
    float *gates, *parts, *y;
    const float *x, *bias, *before;
    int64_t batch, n;
};

__global__ static void gru_step(GruStep s) {
    for (int64_t i = GLOBAL_INDEX; i < s.batch * s.n; i += GRID_STRIDE) {
        int64_t row = i / s.n, j = i - row * s.n, n = s.n;
        float *gates = s.gates + 3 * row * n + j;
        const float *x = s.x + 3 * row * n + j;
        float r = gates[0], z = gates[n], part = s.parts[i];
        if (s.bias) {
            r += s.bias[j];
            z += s.bias[n + j];
            part += s.bias[2 * n + j];
        }
        GruElement e = math_gru(x[0] + r, x[n] + z, x[2 * n], part, s.before[i]);
        gates[0] = e.r, gates[n] = e.z, gates[2 * n] = e.n;
        s.parts[i] = part;
        s.y[i] = e.hidden;
    }
}

// sums, weight, bias, hidden -> y, gates, parts
CUDA_OP(gru) {
    const Sequence s = sequence_of(call->out[0], &call->params);
    int64_t n = s.hidden, wide = 3 * n, state = s.batch * n;
    Status status = STATUS_OK;
    for (int64_t k = 0; k < s.steps && !status && state > 0; k++) {
        int64_t at = sequence_at(&s, k);
        GruStep step = {call_out(call, 1) + at * s.batch * wide,
                        call_out(call, 2) + at * state,
                        call_out(call, 0) + at * state,
                        call_in(call, 0) + at * s.batch * wide,
                        input_or_null(call, 2),
                        state_before(&s, k, call_out(call, 0), call_in(call, 3)),
                        s.batch,
                        n};
        status = multiply_states(cuda, &s, step.before, call_in(call, 1), 2 * n, step.gates, wide,
                                 false);
        if (!status)
            status = multiply_states(cuda, &s, step.before, call_in(call, 1) + 2 * n * n, n,
                                     step.parts, n, false);
        if (!status) status = CUDA_LAUNCH(gru_step, cuda_grid(state), CUDA_BLOCK, 0, step);
    }
    return status;
}

struct GruGradient { // gates, dx and d_sums (batch, 3 n), the others (batch, n)
    const float *gates, *parts, *before, *dy;
    float *dx, *d_sums, *d_hidden; // d_hidden comes in from the following step
    int64_t batch, n;
};

__global__ static void gru_gradient(GruGradient s) {
    for (int64_t i = GLOBAL_INDEX; i < s.batch * s.n; i += GRID_STRIDE) {
        int64_t row = i / s.n, at = 3 * row * s.n + i - row * s.n, n = s.n;
        GruElement e = {s.gates[at], s.gates[at + n], s.gates[at + 2 * n], 0.0f};
        GruElement d = math_gru_backward(e, s.parts[i], s.before[i], s.d_hidden[i] + s.dy[i]);
        s.dx[at] = s.d_sums[at] = d.r;
        s.dx[at + n] = s.d_sums[at + n] = d.z;
        s.dx[at + 2 * n] = d.n;
        s.d_sums[at + 2 * n] = d.n * e.r;
        s.d_hidden[i] = d.hidden;
    }
}

// weight, gates, parts, y, hidden, dy -> dx, d_sums, d_hidden
CUDA_OP(gru_backward) {
    const Sequence s = sequence_of(call->in[3], &call->params);
    int64_t n = s.hidden, wide = 3 * n, state = s.batch * n;
    if (state == 0) return STATUS_OK;
    Status status = CUDA_LAUNCH(clear, cuda_grid(state), CUDA_BLOCK, 0, call_out(call, 2), state);
    for (int64_t k = s.steps - 1; k >= 0 && !status; k--) {
        int64_t at = sequence_at(&s, k);
        GruGradient step = {call_in(call, 1) + at * s.batch * wide,
                            call_in(call, 2) + at * state,
                            state_before(&s, k, call_in(call, 3), call_in(call, 4)),
                            call_in(call, 5) + at * state,
                            call_out(call, 0) + at * s.batch * wide,
                            call_out(call, 1) + at * s.batch * wide,
                            call_out(call, 2),
                            s.batch,
                            n};
        status = CUDA_LAUNCH(gru_gradient, cuda_grid(state), CUDA_BLOCK, 0, step);
        if (status || (k == 0 && !(call->params.flags & RECURRENT_STATE))) break;
        status = multiply_back(cuda, &s, step.d_sums, wide, call_in(call, 0), step.d_hidden, true);
    }
    return status;
}
