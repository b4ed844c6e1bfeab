// explain_derive.c -- derives counts, bytes and kept bytes from a record's shapes, by the rules of
// the op's story (tensor/op.h). A derivation that does not equal the counted figure is not shown.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/explain/explain_parts.h"

static uint64_t elements(Shape shape) { return (uint64_t)shape_numel(shape); }

static uint64_t last_of(Shape shape) {
    return shape.ndim > 0 ? (uint64_t)shape.dims[shape.ndim - 1] : 1;
}

static uint64_t rows_of(Shape shape) {
    return last_of(shape) ? elements(shape) / last_of(shape) : 0;
}

// The shape as (rows, elements of a row), where a row has the elements of `block`.
static Shape with_rows_of(Shape shape, Shape block) {
    int64_t n = shape_numel(block);
    return SHAPE(n ? shape_numel(shape) / n : 0, n);
}

// The shape as (channels, elements of a channel).
static Shape by_channels(Shape shape) {
    int64_t channels = shape.ndim > 1 ? shape.dims[1] : 0;
    return SHAPE(channels, channels ? shape_numel(shape) / channels : 0);
}

// ---- formulas with numbers -------------------------------------------------------------------
static Derivation derivation_new(void) { return (Derivation){.known = true, .value = 1}; }

static void append(Derivation *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(Derivation *d, const char *format, ...) {
    size_t used = strlen(d->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->text + used, sizeof(d->text) - used, format, arguments);
    va_end(arguments);
}

static void multiply(Derivation *d, uint64_t factor) {
    if (__builtin_mul_overflow(d->value, factor, &d->value)) d->known = false;
    d->factors++;
}

static void times(Derivation *d, uint64_t factor) {
    append(d, "%s%s", d->factors ? " x " : "", text_count((int64_t)factor).s);
    multiply(d, factor);
}

static void times_shape(Derivation *d, Shape shape) {
    for (int i = 0; i < shape.ndim; i++) times(d, (uint64_t)shape.dims[i]);
}

// each x n + more; in brackets if `inner`, as one of several factors
static void times_affine(Derivation *d, OpRule rule, uint64_t n, bool inner) {
    bool brackets = inner && rule.more != 0;
    append(d, "%s%s", d->factors ? " x " : "", brackets ? "(" : "");
    if (rule.each != 1) append(d, "%lld x ", (long long)rule.each);
    append(d, "%s", text_count((int64_t)n).s);
    if (rule.more != 0)
        append(d, " %c %lld", rule.more < 0 ? '-' : '+', llabs((long long)rule.more));
    append(d, "%s", brackets ? ")" : "");
    multiply(d, (uint64_t)rule.each * n + (uint64_t)rule.more);
    if (rule.each != 1 || rule.more != 0) d->factors++;
}

// ---- rules -----------------------------------------------------------------------------------
static Derivation per_element(int64_t each, Shape shape, const char *of) {
    Derivation d = derivation_new();
    if (each != 1) times(&d, (uint64_t)each);
    times_shape(&d, shape);
    snprintf(d.why, sizeof(d.why), "%lld per %s", (long long)each, of);
    return d;
}

static Derivation per_row(Shape shape, OpRule rule, const char *what) {
    Derivation d = derivation_new();
    times(&d, rows_of(shape));
    if (rule.each == 0) {
        if (rule.more != 1) times(&d, (uint64_t)rule.more);
        snprintf(d.why, sizeof(d.why), "%lld per %s", (long long)rule.more, what);
        return d;
    }
    times_affine(&d, rule, last_of(shape), true);
    snprintf(d.why, sizeof(d.why), "%ss of %.30s", what, text_count((int64_t)last_of(shape)).s);
    return d;
}

static Derivation per_column(Shape in, Shape out, OpRule rule) {
    Derivation d = derivation_new();
    uint64_t n = elements(in), outputs = elements(out);
    if (outputs == 0 || n % outputs != 0 || n < outputs) return (Derivation){0};
    times_shape(&d, out);
    times_affine(&d, rule, n / outputs, true);
    snprintf(d.why, sizeof(d.why), "columns of %.30s", text_count((int64_t)(n / outputs)).s);
    return d;
}

static Derivation per_sum(Shape in, Shape out, OpRule rule) {
    Derivation d = derivation_new();
    uint64_t n = elements(in), outputs = elements(out);
    if (outputs == 0 || n % outputs != 0 || n < outputs) return (Derivation){0};
    if (rule.more == 1) return per_element(1, in, "input element");
    append(&d, "(%s - 1)", text_count((int64_t)(n / outputs)).s);
    multiply(&d, n / outputs - 1);
    times_shape(&d, out);
    d.factors++; // shown even with one factor
    snprintf(d.why, sizeof(d.why), "n - 1 per output element");
    return d;
}

static Derivation per_parameter(int64_t parameters, OpRule rule) {
    Derivation d = derivation_new();
    times_affine(&d, rule, (uint64_t)parameters, false);
    snprintf(d.why, sizeof(d.why), "%lld per trainable parameter", (long long)rule.each);
    return d;
}

static Derivation per_region(const OpRecord *record, OpRule rule) {
    Derivation d = derivation_new();
    const OpWindow *w = &record->params.window;
    times(&d, (uint64_t)record->in[0].dims[0]);
    times(&d, (uint64_t)record->in[0].dims[1]);
    for (int i = 0; i < 2; i++) times(&d, (uint64_t)op_window_held(w, i));
    snprintf(d.why, sizeof(d.why), "regions' rows x columns");
    if (rule.more == 0) return d;
    uint64_t more = elements(record->in[0]);
    append(&d, " + %s", text_count((int64_t)more).s);
    d.value += more;
    return d;
}

static Derivation per_score(Shape queries, Shape keys, OpRule rule) {
    Derivation d = derivation_new();
    int64_t length = keys.dims[keys.ndim - 2];
    queries.ndim--;
    times_shape(&d, queries);
    times_affine(&d, rule, (uint64_t)length, true);
    snprintf(d.why, sizeof(d.why), "rows of %.30s scores", text_count(length).s);
    return d;
}

Derivation derive_rule(const Profile *profile, const OpRecord *record, OpRule rule) {
    if (rule.input < 0 || rule.input >= OP_RECORD_INPUTS) return (Derivation){0};
    switch (rule.basis) {
    case PER_OUTPUT:
        return per_element(rule.each, record->out, "output element");
    case PER_INPUT:
        return per_element(rule.each, record->in[rule.input], "input element");
    case PER_ROW:
        return per_row(record->in[rule.input], rule, "row");
    case PER_BLOCK:
        return per_row(with_rows_of(record->in[rule.input], record->params.shape), rule, "row");
    case PER_CHANNEL:
        return per_row(by_channels(record->in[rule.input]), rule, "channel");
    case PER_COLUMN:
        return per_column(record->in[rule.input], record->out, rule);
    case PER_SUM:
        return per_sum(record->in[0], record->out, rule);
    case PER_PARAMETER:
        return per_parameter(profile->trainable_parameters, rule);
    case PER_SCORE:
        return per_score(record->in[rule.input], record->in[rule.input + 1], rule);
    case PER_REGION:
        return per_region(record, rule);
    default:
        return (Derivation){0};
    }
}

// ---- products --------------------------------------------------------------------------------
// Keeps the last `factors` of the names.
static void take_names(Derivation *d, const char *names) {
    int extra = 1 - d->factors;
    for (const char *at = names; (at = strstr(at, " x ")); at += 3) extra++;
    for (; extra > 0; extra--) names = strstr(names, " x ") + 3;
    snprintf(d->why, sizeof(d->why), "%s", names);
}

Derivation derive_products(const OpRecord *record, const OpStory *story) {
    Derivation d = derivation_new();
    int64_t factor[STORY_FACTORS];
    if (!story->factors) return (Derivation){0};
    int n = story->factors(record->in, record->out, &record->params, factor);
    for (int i = 0; i < n; i++) times(&d, (uint64_t)factor[i]);
    if (n <= 0) return (Derivation){0};
    if (story->products) take_names(&d, story->products);
    return d;
}

void derive_print(FILE *file, const char *label, const Derivation *derivation, uint64_t count,
                  const char *unit) {
    if (count == 0) return;
    bool holds = derivation->known && derivation->value == count;
    bool formula = holds && derivation->factors > 1, why = holds && derivation->why[0];
    flow_line(file, label, "%s%s%s %s%s%s%s", formula ? derivation->text : "", formula ? " = " : "",
              text_count((int64_t)count).s, unit, why ? " (" : "", why ? derivation->why : "",
              why ? ")" : "");
}

// ---- bytes -----------------------------------------------------------------------------------
static uint64_t real_bytes(const Profile *profile) {
    return (uint64_t)precision_bytes(profile->precision);
}

static uint64_t bytes_each(const Profile *profile, DType dtype) {
    return dtype == DTYPE_FLOAT32 ? real_bytes(profile) : (uint64_t)dtype_size(dtype);
}

static uint64_t bytes_of(const Profile *profile, const DTypeSignature *types, int input,
                         Shape shape) {
    int last = types->n_in - 1;
    return elements(shape) * bytes_each(profile, (DType)types->in[input < last ? input : last]);
}

static uint64_t extra_bytes(const Profile *profile, const OpRecord *record, const OpStory *story) {
    if (!story->extra) return 0;
    return derive_rule(profile, record, story->extra_elements).value *
           bytes_each(profile, story->extra_type);
}

// Lists the recorded inputs, then operands that the record lacks; an optimizer's are listed once
// for all parameters together.
static int list_operands(const Profile *profile, const OpRecord *record, const OpStory *story,
                         const DTypeSignature *types, Operand operands[OPERANDS_MOST]) {
    int n = 0;
    bool grouped = story->elementwise.basis == PER_PARAMETER;
    for (int i = 0; i < (grouped ? STORY_INPUTS : record->n_in); i++) {
        const char *name = i < STORY_INPUTS ? story->in[i] : NULL;
        if (grouped && !name) break;
        if (!grouped && record->in[i].ndim < 0) continue; // no bias
        uint64_t bytes = bytes_of(profile, types, i, record->in[i]), real = real_bytes(profile);
        if (grouped) // the first input holds numbers from the program
            bytes = i > 0 ? real * (uint64_t)profile->trainable_parameters
                          : 4 * elements(record->in[0]);
        uint64_t picked = real * elements(record->in[0]) * last_of(record->in[1]);
        if (story->picks_rows && i == 1 && picked < bytes) bytes = picked;
        OpCall call = {.op = record->op, .n_in = record->n_in, .params = record->params};
        // An op with a story has a `mutates` that needs no tensors.
        bool written = name && record->op->mutates && record->op->mutates(&call, i);
        bool read = record->cost.bytes_read > 0; // else it is overwritten unread
        operands[n++] = (Operand){name ? name : "input", read ? bytes : 0, written ? bytes : 0};
    }
    if (record->out.ndim >= 0) {
        const char *name = story->out ? story->out : "output";
        uint64_t bytes = elements(record->out) * real_bytes(profile),
                 reached = elements(record->in[0]) * real_bytes(profile);
        bool adds = record->given & GIVEN_SUM;
        if (adds && story->scatters && reached < bytes) bytes = reached;
        operands[n++] = (Operand){name, adds ? bytes : 0, bytes};
    }
    uint64_t extra = extra_bytes(profile, record, story);
    if (extra) operands[n++] = (Operand){story->extra, 0, extra};
    return n;
}

int derive_operands(const Profile *profile, const ProfileOp *op, Operand operands[OPERANDS_MOST]) {
    const OpRecord *record = &op->record;
    OpStory story = explain_story(profile, op).story;
    bool grouped = story.elementwise.basis == PER_PARAMETER;
    if (!grouped && record->n_in > OP_RECORD_INPUTS) return 0;
    int n_types;
    const DTypeSignature *types = op_dtypes(record->op, &n_types);
    for (int t = 0; t < n_types; t++) {
        int n = list_operands(profile, record, &story, &types[t], operands);
        uint64_t read = 0, written = 0;
        for (int i = 0; i < n; i++) {
            read += operands[i].read;
            written += operands[i].written;
        }
        if (read == record->cost.bytes_read && written == record->cost.bytes_written) return n;
    }
    return 0;
}

// ---- kept for backward -----------------------------------------------------------------------
// The op whose output op i reads as x, assuming that layers run in sequence; NULL: none.
static const ProfileOp *before(const Profile *profile, int64_t i) {
    bool viewed = false; // reshaped, as a flattened image
    Shape x = profile->ops[i].record.in[0];
    for (int64_t k = i - 1; k >= 0; k--) {
        const OpRecord *record = &profile->ops[k].record;
        if (record->phase != PHASE_FORWARD) continue;
        viewed = viewed || record->op->flags & OP_VIEW;
        if (record->op->flags & OP_VIEW) continue;
        bool same = viewed ? elements(record->out) == elements(x) : shape_equal(record->out, x);
        return same ? &profile->ops[k] : NULL;
    }
    return NULL;
}

static int kept_by(const Profile *profile, int64_t i, Term terms[3]) {
    const OpRecord *record = &profile->ops[i].record;
    OpStory story = explain_story(profile, &profile->ops[i]).story;
    const ProfileOp *source = before(profile, i);
    bool kept_before = source && explain_story(profile, source).story.keeps & KEEP_Y;
    int n = 0;
    if (story.keeps & KEEP_X && source && !kept_before) // without a source, x is the batch
        terms[n++] = (Term){"x", real_bytes(profile) * elements(record->in[0])};
    if (story.keeps & KEEP_Y) terms[n++] = (Term){"y", real_bytes(profile) * elements(record->out)};
    if (story.keeps & KEEP_EXTRA)
        terms[n++] = (Term){story.extra, extra_bytes(profile, record, &story)};
    return n;
}

// Looks at one batch: each keeps as many bytes, and frees them before the next.
int derive_kept(const Profile *profile, int layer, Term terms[OPERANDS_MOST]) {
    int64_t ops = profile->layers[layer].phase[REPORT_FORWARD].ops / profile->accumulate;
    int n = 0;
    uint64_t sum = 0;
    for (int64_t i = 0; i < profile->n_ops && ops > 0; i++) {
        if (profile->ops[i].layer != layer || profile->ops[i].record.phase != PHASE_FORWARD)
            continue;
        if (n + 3 > OPERANDS_MOST) return 0;
        n += kept_by(profile, i, terms + n);
        ops--;
    }
    for (int i = 0; i < n; i++) sum += terms[i].value;
    return sum == (uint64_t)profile->layers[layer].saved_bytes ? n : 0;
}
