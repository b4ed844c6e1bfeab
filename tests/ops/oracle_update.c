// oracle_update.c -- ops that write into their inputs: fill, accumulate, optimizer steps.
#include "tests/ops/oracle.h"

static bool fill(OracleCall *call) {
    for (int64_t i = 0; i < call->in[0].numel; i++) {
        call->in[0].values[i] = (double)call->params.value[0];
    }
    call->counted.bytes_read = 0; // the old values do not matter
    oracle_writes_input(call, 0);
    return true;
}

static bool assign(OracleCall *call) {
    if (!shape_equal(call->in[0].shape, call->in[1].shape)) return false;
    for (int64_t i = 0; i < call->in[0].numel; i++) call->in[0].values[i] = call->in[1].values[i];
    call->counted.bytes_read = (uint64_t)call->in[1].distinct * sizeof(float);
    oracle_writes_input(call, 0);
    return true;
}

// The sum goes into a third tensor, or in place into the first input.
static bool accumulate(OracleCall *call) {
    OracleTensor *into = &call->in[0];
    bool in_place = call->out[0].identity == into->identity;
    if (!oracle_expects(call, 0, into->shape)) return false;
    for (int64_t i = 0; i < into->numel; i++) {
        double sum = plus(&call->counted, into->values[i], call->in[1].values[i]);
        call->out[0].values[i] = sum;
        if (in_place) into->values[i] = sum;
    }
    if (in_place) oracle_writes_input(call, 0);
    return true;
}

// torch.optim.SGD, dampening 0: g += wd p; v = mu v + g; p -= lr v, or lr (g + mu v) by Nesterov.
static bool sgd_step(OracleCall *call) {
    OpCost *n = &call->counted;
    double rate = call->in[0].values[0];
    double momentum = (double)call->params.value[0];
    double decay = (double)call->params.value[1];
    bool nesterov = (call->params.flags & 1) != 0;
    int period = momentum != 0.0 ? 3 : 2;
    for (int first = 1; first < call->n_in; first += period) {
        double *p = call->in[first].values;
        const double *g = call->in[first + 1].values;
        double *v = momentum != 0.0 ? call->in[first + 2].values : NULL;
        for (int64_t i = 0; i < call->in[first].numel; i++) {
            double gradient = g[i];
            if (decay != 0.0) gradient = plus(n, gradient, times(n, decay, p[i]));
            double step = gradient;
            if (v != NULL) step = v[i] = plus(n, times(n, momentum, v[i]), gradient);
            if (v != NULL && nesterov) step = plus(n, gradient, times(n, momentum, v[i]));
            p[i] = minus(n, p[i], times(n, rate, step));
        }
        oracle_writes_input(call, first);
        if (v != NULL) oracle_writes_input(call, first + 2);
    }
    return true;
}

typedef struct AdamStep { // values shared by all elements of a step
    double rate, beta1, beta2, epsilon, decay, correction1, root_correction2;
    bool decoupled;
} AdamStep;

// Kingma and Ba 2015, as torch.optim.Adam; decoupled: Loshchilov and Hutter 2019.
static void adam_element(OpCost *n, const AdamStep *s, double *p, double g, double *m, double *v) {
    if (s->decay != 0.0 && s->decoupled) *p = times(n, *p, 1.0 - s->rate * s->decay);
    if (s->decay != 0.0 && !s->decoupled) g = plus(n, g, times(n, s->decay, *p));
    *m = plus(n, times(n, s->beta1, *m), times(n, 1.0 - s->beta1, g));
    *v = plus(n, times(n, s->beta2, *v), times(n, times(n, 1.0 - s->beta2, g), g));
    double root = over(n, transcendental(n, sqrt, *v), s->root_correction2);
    double step = over(n, *m, plus(n, root, s->epsilon));
    *p = minus(n, *p, times(n, s->rate / s->correction1, step));
}

static bool adamw_step(OracleCall *call) {
    double *state = call->in[0].values;
    state[1] += 1.0;
    double beta1 = (double)call->params.value[0];
    double beta2 = (double)call->params.value[1];
    AdamStep step = {
        .rate = state[0],
        .beta1 = beta1,
        .beta2 = beta2,
        .epsilon = (double)call->params.value[2],
        .decay = (double)call->params.value[3],
        .correction1 = 1.0 - pow(beta1, state[1]),
        .root_correction2 = sqrt(1.0 - pow(beta2, state[1])),
        .decoupled = (call->params.flags & 1) != 0,
    };
    oracle_writes_input(call, 0);
    for (int first = 1; first < call->n_in; first += 4) {
        OracleTensor *group = &call->in[first]; // p, g, m, v
        for (int64_t i = 0; i < group->numel; i++) {
            adam_element(&call->counted, &step, &group[0].values[i], group[1].values[i],
                         &group[2].values[i], &group[3].values[i]);
        }
        oracle_writes_input(call, first);
        oracle_writes_input(call, first + 2);
        oracle_writes_input(call, first + 3);
    }
    return true;
}

// torch.optim.RMSprop, neither centered nor with momentum.
static bool rmsprop_step(OracleCall *call) {
    OpCost *n = &call->counted;
    double rate = call->in[0].values[0], alpha = (double)call->params.value[0];
    double epsilon = (double)call->params.value[1], decay = (double)call->params.value[2];
    for (int first = 1; first < call->n_in; first += 3) {
        double *p = call->in[first].values, *v = call->in[first + 2].values;
        const double *gradient = call->in[first + 1].values;
        for (int64_t i = 0; i < call->in[first].numel; i++) {
            double g = gradient[i];
            if (decay != 0.0) g = plus(n, g, times(n, decay, p[i]));
            v[i] = plus(n, times(n, alpha, v[i]), times(n, times(n, 1.0 - alpha, g), g));
            double root = plus(n, transcendental(n, sqrt, v[i]), epsilon);
            p[i] = minus(n, p[i], times(n, rate, over(n, g, root)));
        }
        oracle_writes_input(call, first);
        oracle_writes_input(call, first + 2);
    }
    return true;
}

// Chen et al. 2023, algorithm 2. The sign is one comparison.
static bool lion_step(OracleCall *call) {
    OpCost *n = &call->counted;
    double rate = call->in[0].values[0], decay = (double)call->params.value[2];
    double beta1 = (double)call->params.value[0], beta2 = (double)call->params.value[1];
    for (int first = 1; first < call->n_in; first += 3) {
        double *p = call->in[first].values, *m = call->in[first + 2].values;
        const double *g = call->in[first + 1].values;
        for (int64_t i = 0; i < call->in[first].numel; i++) {
            double c = plus(n, times(n, beta1, m[i]), times(n, 1.0 - beta1, g[i]));
            double sign = less(n, 0.0, c) ? 1.0 : c < 0.0 ? -1.0 : 0.0;
            if (decay != 0.0) p[i] = times(n, p[i], 1.0 - rate * decay);
            p[i] = minus(n, p[i], times(n, rate, sign));
            m[i] = plus(n, times(n, beta2, m[i]), times(n, 1.0 - beta2, g[i]));
        }
        oracle_writes_input(call, first);
        oracle_writes_input(call, first + 2);
    }
    return true;
}

// The squares of each 2^14 elements of a tensor make one partial sum, the second output.
static bool clip_norm(OracleCall *call) {
    OpCost *n = &call->counted;
    double total = 0.0;
    int64_t seen = 0;
    int64_t sums = 0;
    for (int k = 0; k < call->n_in; k++) {
        for (int64_t i = 0; i < call->in[k].numel; i++) {
            double square = times(n, call->in[k].values[i], call->in[k].values[i]);
            total = seen++ == 0 ? square : plus(n, total, square);
            if (i % (1 << 14) == 0) call->out[1].values[sums++] = 0.0;
            call->out[1].values[sums - 1] += square;
        }
    }
    if (!oracle_expects(call, 0, SHAPE_SCALAR) || !oracle_expects(call, 1, SHAPE(sums))) {
        return false;
    }
    double norm = transcendental(n, sqrt, total);
    double factor = over(n, (double)call->params.value[0], plus(n, norm, 1e-6));
    if (!less(n, factor, 1.0)) factor = 1.0;
    for (int k = 0; k < call->n_in; k++) {
        for (int64_t i = 0; i < call->in[k].numel; i++) {
            call->in[k].values[i] = times(n, call->in[k].values[i], factor);
        }
        oracle_writes_input(call, k);
    }
    call->out[0].values[0] = norm;
    return true;
}

const OracleFunction oracle_updates[OP_COUNT] = {
    [OP_assign] = assign,
    [OP_fill] = fill,
    [OP_accumulate] = accumulate,
    [OP_clip_norm] = clip_norm,
    [OP_sgd_step] = sgd_step,
    [OP_adamw_step] = adamw_step,
    [OP_rmsprop_step] = rmsprop_step,
    [OP_lion_step] = lion_step,
};
