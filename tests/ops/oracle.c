// oracle.c -- finds an op's formula, runs it, and counts the compulsory traffic.
#include "tests/ops/oracle.h"

#include <stdio.h>
#include <string.h>

static const OracleFunction *const tables[] = {
    oracle_ternaries, oracle_reductions,  oracle_norms,      oracle_groups,   oracle_batch_norms,
    oracle_losses,    oracle_movements,   oracle_selections, oracle_products, oracle_convolutions,
    oracle_pools,     oracle_recurrences, oracle_updates,    oracle_images,   oracle_attentions};

static OracleFunction function_of(int op) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (tables[i][op] != NULL) return tables[i][op];
    }
    return NULL;
}

OracleFormula oracle_formula(int op) {
    if (oracle_formulas[op].value != NULL) return oracle_formulas[op];
    return oracle_activations[op].value != NULL ? oracle_activations[op] : oracle_functions[op];
}

bool oracle_knows(int op) {
    return op >= 0 && op < OP_COUNT &&
           (oracle_formula(op).value != NULL || function_of(op) != NULL);
}

int64_t oracle_broadcast(const OracleTensor *t, Shape shape, int64_t position) {
    int64_t found = 0;
    int64_t stride = 1;
    for (int i = 1; i <= shape.ndim; i++) {
        int64_t size = shape.dims[shape.ndim - i];
        int64_t coordinate = position % size;
        position /= size;
        if (i > t->shape.ndim) continue;
        int64_t own = t->shape.dims[t->shape.ndim - i];
        if (own != 1) found += coordinate * stride;
        stride *= own;
    }
    return found;
}

OracleLanes oracle_lanes(Shape shape, int dim) {
    OracleLanes lanes = {1, 1, 1};
    for (int i = 0; i < shape.ndim; i++) {
        if (dim == DIM_ALL || i == dim) {
            lanes.length *= shape.dims[i];
        } else if (i < dim) {
            lanes.outer *= shape.dims[i];
        } else {
            lanes.inner *= shape.dims[i];
        }
    }
    return lanes;
}

OracleRows oracle_rows(Shape shape, const OpParams *params) {
    OracleRows rows = {1, 1, .outer = shape, .row = {.ndim = params->shape.ndim}};
    rows.outer.ndim -= params->shape.ndim;
    for (int i = 0; i < rows.outer.ndim; i++) rows.count *= shape.dims[i];
    for (int i = 0; i < rows.row.ndim; i++)
        rows.n *= rows.row.dims[i] = shape.dims[rows.outer.ndim + i];
    return rows;
}

Shape oracle_without_dim(Shape shape, int dim, bool keep_dim) {
    Shape result = {0};
    for (int i = 0; i < shape.ndim; i++) {
        bool reduced = dim == DIM_ALL || i == dim;
        if (!reduced) result.dims[result.ndim++] = shape.dims[i];
        if (reduced && keep_dim) result.dims[result.ndim++] = 1;
    }
    return result;
}

bool oracle_expects(OracleCall *call, int index, Shape shape) {
    char want[SHAPE_TEXT];
    char got[SHAPE_TEXT];
    if (index < call->n_out && shape_equal(call->out[index].shape, shape)) return true;
    snprintf(call->complaint, sizeof call->complaint, "output %d has shape %s, not %s", index,
             index < call->n_out ? shape_text(call->out[index].shape, got) : "(none)",
             shape_text(shape, want));
    return false;
}

Shape oracle_broadcast_shapes(Shape a, Shape b) {
    Shape shape = {.ndim = a.ndim > b.ndim ? a.ndim : b.ndim};
    for (int i = 1; i <= shape.ndim; i++) {
        int64_t left = i <= a.ndim ? a.dims[a.ndim - i] : 1;
        int64_t right = i <= b.ndim ? b.dims[b.ndim - i] : 1;
        shape.dims[shape.ndim - i] = left == 1 ? right : left;
    }
    return shape;
}

static bool run_elementwise(OracleCall *call) {
    const OracleTensor *a = &call->in[0];
    const OracleTensor *b = call->n_in > 1 ? &call->in[1] : NULL;
    OracleTensor *y = &call->out[0];
    Shape shape = b == NULL ? a->shape : oracle_broadcast_shapes(a->shape, b->shape);
    if (!oracle_expects(call, 0, shape)) return false;
    for (int64_t i = 0; i < y->numel; i++) {
        double left = a->values[oracle_broadcast(a, y->shape, i)];
        double right = b == NULL ? 0.0 : b->values[oracle_broadcast(b, y->shape, i)];
        y->values[i] =
            oracle_formula(call->op->id).value(&call->counted, &call->params, left, right);
        if (y->dtype == DTYPE_INT64) y->values[i] = trunc(y->values[i]); // a quotient of integers
    }
    return true;
}

uint64_t oracle_bytes_of(const OracleTensor *t, int64_t elements) {
    static const uint64_t sizes[DTYPE_COUNT] = {
        [DTYPE_FLOAT32] = 4, [DTYPE_INT64] = 8, [DTYPE_UINT8] = 1};
    return (uint64_t)elements * sizes[t->dtype];
}

static bool seen_before(const OracleCall *call, int n_in, const Tensor *identity) {
    for (int i = 0; i < n_in; i++) {
        if (call->in[i].identity == identity) return true;
    }
    return false;
}

// Counts every distinct input once and every output once, except an output written in place.
static void count_traffic(OracleCall *call) {
    for (int i = 0; i < call->n_in; i++) {
        const OracleTensor *in = &call->in[i];
        if (in->identity == NULL || seen_before(call, i, in->identity)) continue;
        call->counted.bytes_read += oracle_bytes_of(in, in->distinct);
    }
    for (int i = 0; i < call->n_out; i++) {
        const OracleTensor *out = &call->out[i];
        if (seen_before(call, call->n_in, out->identity)) continue;
        call->counted.bytes_written += oracle_bytes_of(out, out->numel);
    }
}

// Adding to an existing sum also reads it and takes an addition per element. Scattered values reach
// at most as many elements as there are values.
static void add_sum(OracleCall *call) {
    int op = call->op->id;
    OracleTensor *y = &call->out[0];
    bool adds_anyway = op == OP_gather_backward || op == OP_embedding_backward;
    bool scatters = adds_anyway || op == OP_slice_backward;
    int64_t reached = scatters && call->in[0].numel < y->numel ? call->in[0].numel : y->numel;
    if (!adds_anyway) call->counted.elementwise_flops += (uint64_t)reached;
    call->counted.bytes_read += oracle_bytes_of(y, reached);
    call->counted.bytes_written -= oracle_bytes_of(y, y->numel - reached);
    for (int64_t i = 0; i < y->numel; i++) y->values[i] += call->sum.values[i];
}

void oracle_writes_input(OracleCall *call, int index) {
    call->counted.bytes_written += oracle_bytes_of(&call->in[index], call->in[index].distinct);
}

bool oracle_run(OracleCall *call) {
    int op = call->op->id;
    if (!oracle_knows(op)) {
        snprintf(call->complaint, sizeof call->complaint, "the oracle knows no such op");
        return false;
    }
    if ((call->op->flags & OP_VIEW) == 0) count_traffic(call);
    bool done = oracle_formula(op).value != NULL ? run_elementwise(call) : function_of(op)(call);
    if (done && call->sum.identity != NULL) add_sum(call);
    return done;
}
