// oracle_watch.c -- copies an op's inputs before it runs, and compares with the oracle afterwards.
#include "tests/ops/oracle_watch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Aborts: a test without memory for its copies cannot tell anything.
static void *memory_or_abort(size_t bytes) {
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL) abort();
    return memory;
}

static const char *call_text(const OracleCall *call, char text[300]) {
    char shape[SHAPE_TEXT];
    int used = snprintf(text, 300, "%s", call->op->name);
    for (int i = 0; i < call->n_in && used < 200; i++) {
        const OracleTensor *in = &call->in[i];
        used += snprintf(text + used, 300 - (size_t)used, " %s",
                         in->identity != NULL ? shape_text(in->shape, shape) : "(none)");
    }
    return text;
}

static void disagree(OracleWatch *self, const OracleCall *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void disagree(OracleWatch *self, const OracleCall *call, const char *format, ...) {
    char text[300];
    size_t used = strlen(self->report);
    self->disagreements++;
    if (used + 400 > sizeof self->report) return;
    used += (size_t)snprintf(self->report + used, 320, "\n%s: ", call_text(call, text));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->report + used, sizeof self->report - used, format, arguments);
    va_end(arguments);
}

// ---- copies -----------------------------------------------------------------------------------
static double *read_values(const Tensor *t) {
    float *floats = memory_or_abort((size_t)t->numel * sizeof *floats);
    double *values = memory_or_abort((size_t)t->numel * sizeof *values);
    if (tensor_read_floats(t, floats) != STATUS_OK) {
        fprintf(stderr, "oracle: %s\n", error_message());
        abort();
    }
    for (int64_t i = 0; i < t->numel; i++) values[i] = (double)floats[i];
    free(floats);
    return values;
}

static OracleTensor copy_tensor(const Tensor *t, bool with_values) {
    if (t == NULL) return (OracleTensor){0};
    OracleTensor copy = {
        .identity = t,
        .dtype = (DType)t->dtype,
        .shape = tensor_shape(t),
        .numel = 1,
        .distinct = 1,
    };
    for (int i = 0; i < t->shape.ndim; i++) {
        copy.numel *= t->shape.dims[i];
        if (t->stride[i] != 0 || t->shape.dims[i] == 0) copy.distinct *= t->shape.dims[i];
    }
    if (with_values && t->device->has_data) copy.values = read_values(t);
    return copy;
}

static void free_call(OracleCall *call) {
    for (int i = 0; i < call->n_in; i++) free(call->in[i].values);
    for (int i = 0; i < call->n_out; i++) free(call->out[i].values);
    free(call->in);
    free(call->sum.values);
}

static void op_begin(Observer *observer, const OpCall *call) {
    OracleWatch *self = (OracleWatch *)observer;
    if (self->depth == WATCH_MAX_DEPTH) abort();
    OracleCall *copy = &self->open[self->depth++];
    *copy = (OracleCall){.op = call->op, .n_in = call->n_in};
    copy->in = memory_or_abort((size_t)call->n_in * sizeof *copy->in);
    for (int i = 0; i < call->n_in; i++) copy->in[i] = copy_tensor(call->in[i], true);
    if (call->adds) copy->sum = copy_tensor(call->out[0], true);
}

// ---- comparisons ------------------------------------------------------------------------------
static void compare_values(OracleWatch *self, const OracleCall *call, const char *what, int index,
                           const OracleTensor *want, const double *got) {
    for (int64_t i = 0; i < want->numel; i++) {
        double expected = (double)(float)want->values[i];
        double room = self->absolute + self->relative * fabs(expected);
        bool close = fabs(got[i] - expected) <= room || got[i] == expected ||
                     (isnan(got[i]) && isnan(expected));
        if (close) continue;
        disagree(self, call, "%s %d element %" PRId64 " is %.9g, the oracle says %.9g", what, index,
                 i, got[i], expected);
        return;
    }
}

static void compare_counts(OracleWatch *self, const OracleCall *call, OpCost got) {
    const OpCost *want = &call->counted;
    const struct {
        const char *name;
        uint64_t got, want;
    } fields[] = {
        {"macs", got.macs, want->macs},
        {"bias_flops", got.bias_flops, want->bias_flops},
        {"elementwise_flops", got.elementwise_flops, want->elementwise_flops},
        {"transcendental_flops", got.transcendental_flops, want->transcendental_flops},
        {"bytes_read", got.bytes_read, want->bytes_read},
        {"bytes_written", got.bytes_written, want->bytes_written},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].got == fields[i].want) continue;
        disagree(self, call, "%s is %" PRIu64 ", the oracle counted %" PRIu64, fields[i].name,
                 fields[i].got, fields[i].want);
    }
}

// Compares outputs and inputs: the op must leave alone all that it does not declare as written.
static void compare_tensors(OracleWatch *self, const OracleCall *copy, const OpCall *call) {
    for (int i = 0; i < call->n_out; i++) {
        double *got = read_values(call->out[i]);
        compare_values(self, copy, "output", i, &copy->out[i], got);
        free(got);
    }
    for (int i = 0; i < call->n_in; i++) {
        if (copy->in[i].identity == NULL) continue;
        double *got = read_values(call->in[i]);
        compare_values(self, copy, "afterwards, input", i, &copy->in[i], got);
        free(got);
    }
}

static void op_end(Observer *observer, const OpCall *call) {
    OracleWatch *self = (OracleWatch *)observer;
    OracleCall *copy = &self->open[--self->depth];
    bool failed = call->n_out > 0 && call->out[0] == NULL;
    if (failed || error_pending() || call->n_in + call->n_out == 0) { // not a whole op
        free_call(copy);
        return;
    }
    OpCost cost = op_cost(call);
    struct OracleRecord record = {.op = call->op->id, .cost = cost};
    if (call->n_out > 0) record.out = tensor_shape(call->out[0]);
    if (self->n_records < WATCH_MAX_RECORDS) self->records[self->n_records++] = record;
    const Tensor *any = call->n_out > 0 ? call->out[0] : call->in[0];
    if (any->device->has_data) {
        copy->params = call->params;
        copy->needs_grad = call->needs_grad;
        copy->n_out = call->n_out;
        for (int i = 0; i < call->n_out; i++) {
            copy->out[i] = copy_tensor(call->out[i], false);
            copy->out[i].values = memory_or_abort((size_t)call->out[i]->numel * sizeof(double));
        }
        if (oracle_run(copy)) {
            compare_tensors(self, copy, call);
            compare_counts(self, copy, cost);
        } else {
            disagree(self, copy, "%s", copy->complaint);
        }
    }
    free_call(copy);
}

void oracle_watch_start(OracleWatch *self, double absolute, double relative) {
    *self = (OracleWatch){.absolute = absolute, .relative = relative};
    self->observer.op_begin = op_begin;
    self->observer.op_end = op_end;
    observer_add(&self->observer);
}

void oracle_watch_stop(OracleWatch *self) { observer_remove(&self->observer); }
