// gradcheck.c -- compares backward with central differences of forward.
#include <math.h>
#include <string.h>

#include "autograd/tape.h"
#include "tensor/given.h"
#include "tensor/memory.h"

enum { WORST_SHOWN = 5 };

GradcheckOptions gradcheck_defaults(void) {
    return (GradcheckOptions){.step = 1e-2f, .absolute = 2e-3f, .relative = 1e-2f, .seed = 7};
}

typedef struct Mismatch {
    int input;
    int64_t element;
    double analytic, numeric, excess;
} Mismatch;

typedef struct Check {
    GradcheckFunction function;
    void *user;
    Tensor *const *inputs;
    int n_inputs;
    GradcheckOptions options;
    uint64_t random_offset;      // makes every evaluation draw the same random numbers (dropout)
    Mismatch worst[WORST_SHOWN]; // sorted by excess over the tolerance
    int64_t wrong, compared;
} Check;

// Fixed random weights turn the output into a scalar in which every element counts.
static void weigh(const Check *check, int64_t n, float *weights) {
    random_uniform(check->options.seed, 0, 0, n, weights);
    for (int64_t i = 0; i < n; i++) weights[i] = 0.5f + weights[i];
}

// Computes sum(weights * f(inputs)), in double on the host.
static Status evaluate(const Check *check, double *sum) {
    context_current()->random.offset = check->random_offset;
    Scope *scope = scope_open();
    no_grad_begin();
    Tensor *out = check->function(check->inputs, check->n_inputs, check->user);
    no_grad_end();
    Status status = out ? STATUS_OK : error_status();
    if (!out && !status)
        status = error_set(STATUS_INVALID_ARGUMENT, "gradcheck: the function returned NULL");
    float *values = out ? memory_new(2 * (size_t)(out->numel + 1) * sizeof(float)) : NULL;
    if (out && !values) status = STATUS_OUT_OF_MEMORY;
    if (!status) status = tensor_read_floats(out, values);
    if (!status) {
        float *weights = values + out->numel;
        weigh(check, out->numel, weights);
        *sum = 0.0;
        for (int64_t i = 0; i < out->numel; i++) *sum += (double)values[i] * (double)weights[i];
    }
    memory_free(values);
    scope_close(scope);
    return status;
}

static Status run_backward(const Check *check) {
    context_current()->random.offset = check->random_offset;
    Scope *scope = scope_open();
    Tensor *out = check->function(check->inputs, check->n_inputs, check->user);
    Status status = out ? STATUS_OK : error_status();
    float *weights = out ? memory_new((size_t)(out->numel + 1) * sizeof(float)) : NULL;
    if (weights) {
        weigh(check, out->numel, weights);
        Tensor *grad = tensor_from_floats_new(out->shape, weights);
        status = grad ? autograd_backward_from(out, grad) : error_status();
        tensor_free(grad);
    } else if (!status) {
        status = out ? STATUS_OUT_OF_MEMORY
                     : error_set(STATUS_INVALID_ARGUMENT, "gradcheck: the function returned NULL");
    }
    memory_free(weights);
    scope_close(scope);
    return status;
}

static void note(Check *check, Mismatch m) {
    check->wrong++;
    for (int i = 0; i < WORST_SHOWN; i++) {
        const Mismatch *shown = &check->worst[i]; // NaN is worse than any number
        bool worse = isnan(m.excess) || (!isnan(shown->excess) && shown->excess < m.excess);
        if (!worse) continue;
        memmove(&check->worst[i + 1], &check->worst[i],
                (size_t)(WORST_SHOWN - 1 - i) * sizeof(Mismatch));
        check->worst[i] = m;
        return;
    }
}

// Uses four points instead of two: the error of the difference falls from h^2 to h^4.
static Status numeric_gradient(const Check *check, float *value, double *gradient) {
    static const struct {
        int steps;
        double weight;
    } points[4] = {{-2, 1.0}, {-1, -8.0}, {1, 8.0}, {2, -1.0}};
    float before = *value, h = check->options.step;
    double total = 0.0;
    Status status = STATUS_OK;
    for (int k = 0; k < 4 && !status; k++) {
        double sum = 0.0;
        *value = before + (float)points[k].steps * h;
        status = evaluate(check, &sum);
        total += points[k].weight * sum;
    }
    *value = before;
    *gradient = total / (12.0 * (double)h);
    return status;
}

static Status check_input(Check *check, int input) {
    Tensor *x = check->inputs[input];
    float *value = tensor_data(x);
    if (!value && x->numel > 0) return error_status();
    Tensor *grad = tensor_grad(x);
    const float *analytic = grad ? tensor_data(grad) : NULL; // NULL: x is not used
    for (int64_t i = 0; i < x->numel; i++) {
        double numeric, got = analytic ? (double)analytic[i] : 0.0;
        Status status = numeric_gradient(check, &value[i], &numeric);
        if (status) return status;
        double allowed =
            (double)check->options.absolute + (double)check->options.relative * fabs(numeric);
        double excess = fabs(got - numeric) - allowed;
        check->compared++;
        if (!(excess <= 0.0)) note(check, (Mismatch){input, i, got, numeric, excess});
    }
    return STATUS_OK;
}

static void print_report(const Check *check, FILE *report) {
    fprintf(report,
            "gradcheck: %lld of %lld gradients differ from differences of f\n"
            "  input element      backward    difference       numeric\n",
            (long long)check->wrong, (long long)check->compared);
    for (int i = 0; i < WORST_SHOWN && i < check->wrong; i++) {
        const Mismatch *m = &check->worst[i];
        fprintf(report, "  %5d %7lld  %12.6g  %12.6g  %12.6g\n", m->input, (long long)m->element,
                m->analytic, m->analytic - m->numeric, m->numeric);
    }
}

static Status check_all(Check *check) {
    for (int i = 0; i < check->n_inputs; i++) {
        Tensor *x = check->inputs[i];
        if (!x || x->dtype != DTYPE_FLOAT32) continue;
        if (tensor_requires_grad(x, true)) return error_status();
        tensor_zero_grad(x);
    }
    Status status = run_backward(check);
    for (int i = 0; i < check->n_inputs && !status; i++)
        if (check->inputs[i] && check->inputs[i]->dtype == DTYPE_FLOAT32)
            status = check_input(check, i);
    return status;
}

Status autograd_gradcheck(GradcheckFunction function, void *user, Tensor *const inputs[],
                          int n_inputs, GradcheckOptions options, FILE *report) {
    if (error_pending()) return error_status();
    if (!function) return error_set(STATUS_INVALID_ARGUMENT, "gradcheck: no function");
    if (n_inputs > 0 && !GIVEN(inputs)) return STATUS_INVALID_ARGUMENT;
    Check check = {.function = function,
                   .user = user,
                   .inputs = inputs,
                   .n_inputs = n_inputs,
                   .options = options,
                   .random_offset = context_current()->random.offset};
    Status status = check_all(&check);
    if (status || check.wrong == 0) return status;
    if (report) print_report(&check, report);
    return error_set(STATUS_INVALID_ARGUMENT,
                     "gradcheck: %lld of %lld gradients are wrong; worst: input %d, element %lld: "
                     "backward %g, numeric %g. HINT: the rule's formula, or a kink or jump of "
                     "f near these inputs",
                     (long long)check.wrong, (long long)check.compared, check.worst[0].input,
                     (long long)check.worst[0].element, check.worst[0].analytic,
                     check.worst[0].numeric);
}
