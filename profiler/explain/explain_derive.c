// explain_derive.c -- derives counts, bytes and kept bytes from a record's shapes, by the rules of
// the op's story (tensor/op.h). A derivation that does not equal the counted figure is not shown.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/explain/explain_parts.h"
#include "tensor/count.h"

static uint64_t elements(Shape shape) { return (uint64_t)shape_numel(shape); }

static uint64_t last_of(Shape shape) {
    return shape.ndim > 0 ? (uint64_t)shape.dims[shape.ndim - 1] : 1;
}

// ---- formulas with numbers -------------------------------------------------------------------
static void append(Derivation *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(Derivation *d, const char *format, ...) {
    size_t used = strlen(d->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->text + used, sizeof(d->text) - used, format, arguments);
    va_end(arguments);
}

static void times(Derivation *d, int64_t factor) {
    append(d, "%s%s", d->factors++ ? " x " : "", text_count(factor).s);
}

// A single factor is not worth showing, but each x n and n - 1 are.
static Derivation derived(const OpCount *count) {
    Derivation d = {.value = op_count_value(count)};
    bool brackets = count->n_factors > 0 && count->more != 0;
    for (int i = 0; i < count->n_factors; i++) times(&d, count->factor[i]);
    if (count->each != 0) {
        append(&d, "%s%s", d.factors++ ? " x " : "", brackets ? "(" : "");
        if (count->each != 1) append(&d, "%lld x ", (long long)count->each);
        append(&d, "%s", text_count(count->n).s);
        if (count->more != 0)
            append(&d, " %c %lld", count->more < 0 ? '-' : '+', llabs((long long)count->more));
        append(&d, "%s", brackets ? ")" : "");
        if (count->each != 1 || count->more != 0) d.factors++;
    }
    if (count->plus) append(&d, " + %s", text_count(count->plus).s);
    return d;
}

// ---- rules -----------------------------------------------------------------------------------
static const struct {
    const char *each, *affine; // the rule in words: a count per something, or rows of n
} words[] = {[PER_OUTPUT] = {"output element", NULL},
             [PER_INPUT] = {"input element", NULL},
             [PER_ROW] = {"row", "rows of"},
             [PER_BLOCK] = {"row", "rows of"},
             [PER_CHANNEL] = {"channel", "channels of"},
             [PER_COLUMN] = {NULL, "columns of"},
             [PER_PARAMETER] = {"trainable parameter", NULL},
             [PER_SCORE] = {NULL, "rows of"},
             [PER_REGION] = {NULL, NULL}};

static void say_why(Derivation *d, OpRule rule, const OpCount *count) {
    bool per_row = words[rule.basis].affine && rule.each == 0; // `more` a row, of any length
    const char *each = words[rule.basis].each, *affine = words[rule.basis].affine;
    if (rule.basis == PER_SUM)
        snprintf(d->why, sizeof d->why, "%s",
                 rule.more == 1 ? "1 per input element" : "n - 1 per output element");
    else if (rule.basis == PER_REGION)
        snprintf(d->why, sizeof d->why, "regions' rows x columns");
    else if (affine && !per_row)
        snprintf(d->why, sizeof d->why, "%s %.30s%s", affine, text_count(count->n).s,
                 rule.basis == PER_SCORE ? " scores" : "");
    else if (each)
        snprintf(d->why, sizeof d->why, "%lld per %s", (long long)(per_row ? rule.more : rule.each),
                 each);
}

static OpSizes sizes_of(const Profile *profile, const OpRecord *record) {
    OpSizes sizes = {.params = &record->params, .parameters = profile->trainable_parameters};
    for (int i = 0; i < OP_RECORD_INPUTS && i < STORY_INPUTS; i++)
        sizes.in[i] = record->in[i].ndim >= 0 ? &record->in[i] : NULL;
    sizes.out = record->out.ndim >= 0 ? &record->out : NULL;
    return sizes;
}

Derivation derive_rule(const Profile *profile, const OpRecord *record, OpRule rule) {
    OpSizes sizes = sizes_of(profile, record);
    OpCount count;
    op_count_rule(&sizes, &rule, &count);
    Derivation d = derived(&count);
    if (rule.basis != BASIS_NONE) say_why(&d, rule, &count);
    return d;
}

// ---- products --------------------------------------------------------------------------------
// Keeps the last `factors` of the names.
static void take_names(Derivation *d, const char *names) {
    int extra = 1 - d->factors;
    for (const char *at = names; (at = strstr(at, " x ")); at += 3) extra++;
    for (; extra > 0; extra--) names = strstr(names, " x ") + 3;
    snprintf(d->why, sizeof(d->why), "%s", names);
}

Derivation derive_products(const Profile *profile, const OpRecord *record, const OpStory *story) {
    OpSizes sizes = sizes_of(profile, record);
    OpCount count;
    op_count_products(&sizes, story, &count);
    Derivation d = derived(&count);
    if (count.n_factors > 0 && story->products) take_names(&d, story->products);
    return d;
}

void derive_print(FILE *file, const char *label, const Derivation *derivation, uint64_t count,
                  const char *unit) {
    if (count == 0) return;
    bool holds = derivation->value == count; // unless the op counts by a function of its own
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
