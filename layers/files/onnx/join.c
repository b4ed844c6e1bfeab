// join.c -- joins steps that exporters write out and the engine has as one: a product and its bias;
// GELU, SiLU and Mish by their formulas; the guard around a softmax. Also drops steps whose results
// nobody needs. Norms: join_norms.c.
#include <math.h>
#include <string.h>

#include "layers/files/onnx/import.h"

bool step_is(const Step *step, const char *name) {
    return step && !step->dead && strcmp(step->op->name, name) == 0;
}

Step *step_of(const Import *import, int value) {
    const Value *of = import_value(import, value);
    return of && of->step >= 0 ? import->steps[of->step] : NULL;
}

// Step `to` gives the newest step's result from now on.
void step_moves(Import *import, Step *from, int to) {
    import->steps[to]->out[0] = from->out[0];
    import->values[from->out[0]]->step = to;
    from->dead = true;
}

// ---- a product and its bias -------------------------------------------------------------------
// A parameter, or stored numbers that nothing marks as other than a parameter.
static bool is_bias(const Import *import, const Value *value) {
    return value->kind == VALUE_PARAMETER ||
           (value->kind == VALUE_CONSTANT && value->stored && value->name[0] && !value->tensor &&
            onnx_is_float(value->type) && !learned_is_made(import, value));
}

static void join_bias(Import *import, Step *add) {
    for (int i = 0; i < 2; i++) {
        const Value *sum = import_value(import, add->in[i]);
        Value *bias = import_value(import, add->in[1 - i]);
        Step *product = step_of(import, add->in[i]);
        if (!step_is(product, "Linear") || product->n_in != 2 || sum->readers != 1 || !bias ||
            !is_bias(import, bias) || bias->shape.ndim != 1 ||
            // a computed bias that is added outside the product's layer is not the product's
            (!value_path(bias) && !onnx_same_layer(add->node, product->node)) ||
            bias->shape.dims[0] != sum->shape.dims[sum->shape.ndim - 1])
            continue;
        if (bias->kind == VALUE_CONSTANT) learned_anew(import, bias);
        if (step_input(import, product, add->in[1 - i])) return;
        told_read_as(import, product->node, "bias");
        bias->role = "bias";
        bias->role_step = sum->step;
        step_moves(import, add, sum->step);
        return;
    }
}

// ---- GELU (Hendrycks and Gimpel 2016) ---------------------------------------------------------
// Takes a value apart into a number times factors.
enum { MOST_FACTORS = 8, MOST_DEPTH = 8 };
typedef struct Factors {
    double number;
    int of[MOST_FACTORS], n;
} Factors;

static void take_apart(const Import *import, int value, int depth, Factors *factors) {
    const Step *step = step_of(import, value);
    bool mul = step_is(step, "Mul"), div = step_is(step, "Div");
    bool number = (mul || div) && step->params.plain.dim != 0;
    if (depth < MOST_DEPTH && number) {
        double by = (double)step->params.plain.value[0];
        factors->number = mul ? factors->number * by : factors->number / by;
        take_apart(import, step->in[0], depth + 1, factors);
    } else if (depth < MOST_DEPTH && mul) {
        take_apart(import, step->in[0], depth + 1, factors);
        take_apart(import, step->in[1], depth + 1, factors);
    } else {
        if (factors->n < MOST_FACTORS) factors->of[factors->n] = value;
        factors->n++;
    }
}

static Factors factors_of(const Import *import, int value) {
    Factors factors = {.number = 1.0};
    take_apart(import, value, 0, &factors);
    return factors;
}

static bool near(double x, double wanted) { return fabs(x - wanted) < 1e-4 * fabs(wanted); }

// True if these factors are c times those of x taken `times` times, in any order.
static bool are_power(const Import *import, Factors factors, int x, int times, double c) {
    Factors of_x = factors_of(import, x);
    if (factors.n > MOST_FACTORS || factors.n != times * of_x.n ||
        !near(factors.number, c * pow(of_x.number, times)))
        return false;
    for (int i = 0; i < times * of_x.n; i++) {
        int k = 0;
        while (k < factors.n && factors.of[k] != of_x.of[i % of_x.n]) k++;
        if (k == factors.n) return false;
        factors.of[k] = factors.of[--factors.n];
    }
    return true;
}

// True if the value is c x^3.
static bool is_cube(const Import *import, int value, int x, double c) {
    Factors factors = factors_of(import, value);
    if (are_power(import, factors, x, 3, c)) return true;
    const Step *power = factors.n == 1 ? step_of(import, factors.of[0]) : NULL;
    return step_is(power, "Pow") && power->params.plain.dim != 0 && power->in[0] == x &&
           power->params.plain.value[0] == 3.0f && near(factors.number, c);
}

// sqrt(2 / pi) (x + 0.044715 x^3)
static bool is_inner(const Import *import, int value, int x) {
    Factors factors = factors_of(import, value);
    const Step *sum = factors.n == 1 ? step_of(import, factors.of[0]) : NULL;
    if (!step_is(sum, "Add") || sum->params.plain.dim != 0 ||
        !near(factors.number, sqrt(2.0 / 3.14159265358979)))
        return false;
    return (sum->in[0] == x && is_cube(import, sum->in[1], x, 0.044715)) ||
           (sum->in[1] == x && is_cube(import, sum->in[0], x, 0.044715));
}

// True if the value is 1 + erf(x / sqrt 2) or 1 + tanh(...), the factor in factor * x / 2.
static bool is_gate(const Import *import, int value, int x, bool *by_tanh) {
    const Step *sum = step_of(import, value);
    if (!step_is(sum, "Add") || sum->params.plain.dim == 0 || sum->params.plain.value[0] != 1.0f)
        return false;
    const Step *inner = step_of(import, sum->in[0]);
    *by_tanh = step_is(inner, "Tanh");
    if (*by_tanh) return is_inner(import, inner->in[0], x);
    return step_is(inner, "Erf") &&
           are_power(import, factors_of(import, inner->in[0]), x, 1, sqrt(0.5));
}

// A candidate for the x inside such a factor: input i of its last product or sum; else
// VALUE_ABSENT.
static int inside_of(const Import *import, int gate, int i) {
    const Step *sum = step_of(import, gate);
    const Step *inner = step_is(sum, "Add") ? step_of(import, sum->in[0]) : NULL;
    if (!step_is(inner, "Erf") && !step_is(inner, "Tanh")) return VALUE_ABSENT;
    const Step *last = step_of(import, inner->in[0]);
    if (step_is(inner, "Tanh") && last) {
        Factors factors = factors_of(import, inner->in[0]);
        last = factors.n == 1 ? step_of(import, factors.of[0]) : NULL;
    }
    return last && i < last->n_in ? last->in[i] : VALUE_ABSENT;
}

static void join_gelu(Import *import, Step *step) {
    Factors factors = factors_of(import, step->out[0]);
    bool by_tanh;
    if (factors.n < 2 || factors.n > MOST_FACTORS) return;
    for (int i = 0; i < 2 * factors.n; i++) {
        int gate = factors.of[i / 2], x = inside_of(import, gate, i % 2);
        Factors others = factors;
        others.of[i / 2] = others.of[--others.n];
        if (x < 0 || !are_power(import, others, x, 1, 0.5) || !is_gate(import, gate, x, &by_tanh))
            continue;
        step->op = onnx_operator("Gelu");
        step->params = (StepParams){.plain = {.flags = {by_tanh}}};
        step->n_in = 1;
        step->in[0] = x;
        return;
    }
}

// ---- SiLU and Mish: x times a gate of x -------------------------------------------------------
// The operator whose gate is sigmoid(x) or tanh(softplus(x)); NULL: another gate.
static const char *gated(const Import *import, int gate, int x) {
    const Step *step = step_of(import, gate);
    if (step_is(step, "Sigmoid") && step->in[0] == x) return "Swish";
    if (!step_is(step, "Tanh")) return NULL;
    step = step_of(import, step->in[0]);
    return step_is(step, "Softplus") && step->in[0] == x ? "Mish" : NULL;
}

static void join_gate(Import *import, Step *step) {
    if (step->params.plain.dim != 0) return;
    for (int i = 0; i < 2; i++) {
        int x = step->in[i], gate = step->in[1 - i];
        const char *name = gated(import, gate, x);
        if (!name || import_value(import, gate)->readers != 1) continue;
        step->op = onnx_operator(name);
        step->params = (StepParams){.plain = {.value = {1.0f}}}; // Swish's alpha
        step->n_in = 1;
        step->in[0] = x;
        return;
    }
}

// ---- the guard around a softmax ---------------------------------------------------------------
// A product of matrices, scaled by numbers: never -infinity. With a bias it may be a mask.
static bool are_scores(const Import *import, int value) {
    const Step *step = step_of(import, value);
    for (int i = 0; i < MOST_DEPTH; i++) {
        bool scaled = (step_is(step, "Mul") || step_is(step, "Div")) && step->params.plain.dim != 0;
        if (!scaled) break;
        step = step_of(import, step->in[0]);
    }
    return (step_is(step, "Linear") && step->n_in == 2) || step_is(step, "MatMul");
}

// True if an input row may be all -infinity: softmax then gives NaN, and the guard 0.
static bool can_mask_all(Import *import, const Step *softmax) {
    const Step *sum = step_of(import, softmax->in[0]);
    const Value *in = import_value(import, softmax->in[0]);
    bool by_rows =
        !softmax->params.plain.flags[0] && softmax->params.plain.dim == in->shape.ndim - 1;
    if (are_scores(import, softmax->in[0])) return false;
    if (!by_rows) return true;
    if (!step_is(sum, "Add") || sum->params.plain.dim != 0) return true;
    for (int i = 0; i < 2; i++) {
        Value *mask = import_value(import, sum->in[i]);
        if (!mask || mask->kind != VALUE_CONSTANT || mask->shape.ndim < 1 ||
            !are_scores(import, sum->in[1 - i]))
            continue;
        bool known = value_data(import, mask) != NULL;
        int64_t n = mask->shape.dims[mask->shape.ndim - 1];
        for (int64_t row = 0; known && n > 0 && row < shape_numel(mask->shape) / n; row++) {
            double most = -HUGE_VAL; // NaN and infinity give NaN, too
            for (int64_t k = 0; k < n && !isnan(most); k++) {
                double number = value_number(mask, row * n + k);
                most = isnan(number) ? number : fmax(most, number);
            }
            if (!isfinite(most)) return true;
        }
        return !known;
    }
    return true;
}

static bool constant_number(Import *import, int at, float *number) {
    Value *value = import_value(import, at);
    if (!value || value->kind != VALUE_CONSTANT || shape_numel(value->shape) != 1) return false;
    bool known = value_data(import, value) != NULL;
    if (known) *number = (float)value_number(value, 0);
    return known;
}

static void join_guard(Import *import, Step *where) {
    const Step *guard = step_of(import, where->in[0]), *softmax = step_of(import, where->in[2]);
    float zero;
    if (!step_is(guard, "IsNaN") || guard->in[0] != where->in[2] || !step_is(softmax, "Softmax") ||
        !constant_number(import, where->in[1], &zero) || zero != 0.0f ||
        can_mask_all(import, softmax))
        return;
    Value *result = import->values[where->out[0]], *rows = import->values[where->in[2]];
    if (!shape_equal(result->shape, rows->shape)) return;
    result->alias = where->in[2];
    rows->uses += result->uses;
    rows->readers += result->readers;
    where->dead = true;
}

// ---- stochastic depth (Huang et al. 2016) -----------------------------------------------------
// x (u < p) / p with one u from [0, 1) for each sample, as an export in training mode writes it: a
// layer that does nothing in evaluation.
static void join_depth(Import *import, Step *product) {
    for (int i = 0; i < 2 && product->n_in == 2; i++) {
        Shape x = import->values[product->in[i]]->shape;
        Shape of = import->values[product->in[1 - i]]->shape;
        const Step *noise = step_of(import, product->in[1 - i]);
        bool divided = step_is(noise, "Div") && noise->n_in == 1;
        float by = divided ? noise->params.plain.value[0] : 1.0f, keep;
        if (divided) noise = step_of(import, noise->in[0]);
        if (step_is(noise, "Cast")) noise = step_of(import, noise->in[0]);
        const Step *drawn = step_is(noise, "Less") ? step_of(import, noise->in[0]) : NULL;
        const RandomParams *random = drawn ? &drawn->params.random : NULL;
        int count = 0, ones = 0;
        while (count < of.ndim && count < x.ndim && of.dims[count] == x.dims[count]) count++;
        while (count + ones < of.ndim && of.dims[count + ones] == 1) ones++;
        if (!(step_is(drawn, "RandomUniformLike") || step_is(drawn, "RandomUniform")) ||
            random->first != 0.0f || random->second != 1.0f || of.ndim != x.ndim || count < 1 ||
            count + ones != of.ndim || import->values[product->in[1 - i]]->readers != 1 ||
            !constant_number(import, noise->in[1], &keep) || !(keep > 0.0f && keep <= 1.0f) ||
            by == 0.0f)
            continue;
        int at = product->in[i];
        product->op = &onnx_stochastic_depth;
        product->params = (StepParams){.plain = {.count = count, .value = {keep, 1.0f / by}}};
        product->n_in = 1;
        product->in[0] = at;
        return;
    }
}

void import_join(Import *import) {
    Step *step = import->steps[import->n_steps - 1];
    if (step->out[0] < 0) return; // no name, so no reader
    if (step_is(step, "Add") && step->n_in == 2) join_bias(import, step);
    if (step_is(step, "Mul")) join_depth(import, step);
    if (step_is(step, "Mul")) join_gelu(import, step);
    if (step_is(step, "Mul")) join_gate(import, step);
    if (step_is(step, "Where")) join_guard(import, step);
    import_join_norms(import, step);
}

// ---- steps that nobody needs ------------------------------------------------------------------
void import_finish(Import *import) {
    const Onnx__Graph *graph = import->graph;
    for (int i = 0; i < import->n_values; i++) import->values[i]->readers = 0;
    for (size_t i = 0; i < graph->n_output; i++) {
        Value *value = import_value(import, import_find(import, graph->output[i]->name));
        if (value) value->readers++;
    }
    for (int i = import->n_steps - 1; i >= 0; i--) {
        Step *step = import->steps[i];
        bool needed = false;
        for (int k = 0; k < step->n_out; k++) {
            const Value *value = import_value(import, step->out[k]);
            needed = needed || (value && value->readers > 0);
        }
        step->dead = step->dead || !needed;
        for (int k = 0; k < step->n_in && !step->dead; k++) {
            Value *value = import_value(import, step->in[k]);
            if (value) value->readers++;
        }
    }
}
