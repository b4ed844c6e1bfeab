// profile_fields.c -- the table of what a profile holds.
#include "profiler/measure/profile_fields.h"

#include <string.h>

const ReportPhase step_parts[STEP_PARTS] = {REPORT_FORWARD, REPORT_BACKWARD, REPORT_OPTIMIZER};

const ProfileTime profile_times[PROFILE_TIMES] = {
    {"totals", "inference", offsetof(Profile, inference)},
    {"metronome", "product", offsetof(Profile, metronome.product)},
    {"metronome", "read", offsetof(Profile, metronome.read)},
    {"metronome", "sharing", offsetof(Profile, metronome.sharing)},
    {NULL, NULL, offsetof(Profile, data_wait)},
    {NULL, NULL, offsetof(Profile, launch)},
    {NULL, NULL, offsetof(Profile, batch_copy)},
};

Latency *profile_time(Profile *profile, int i) {
    return (Latency *)(void *)((char *)profile + profile_times[i].offset);
}

// ---- derived counts ----------------------------------------------------------------------------
static const OpCost *cost_of(const void *phase) { return &((const ProfilePhase *)phase)->cost; }
static uint64_t total_of(const void *phase) { return op_cost_total_flops(*cost_of(phase)); }
static uint64_t flops_of(const void *phase) { return 2 * cost_of(phase)->macs; }
static uint64_t bytes_of(const void *phase) {
    return cost_of(phase)->bytes_read + cost_of(phase)->bytes_written;
}

// ---- the rows, in the order of the document -----------------------------------------------------
enum {
    STORED = FIELD_JSON | FIELD_READ,
    COUNTED = STORED | FIELD_COMPARED,
    LISTED = COUNTED | FIELD_CSV,
};

static const ProfileField of_phase[] = {
    {"total_flops", FIELD_COUNT, FIELD_JSON | FIELD_COMPARED | FIELD_CSV, .derived = total_of,
     .metric = "flops", .help = "FLOPs of all kinds."},
    {"macs", FIELD_COUNT, LISTED, .offset = offsetof(ProfilePhase, cost.macs)},
    {"flops", FIELD_COUNT, FIELD_JSON, .derived = flops_of},
    {"bias_flops", FIELD_COUNT, COUNTED, .offset = offsetof(ProfilePhase, cost.bias_flops)},
    {"elementwise_flops", FIELD_COUNT, COUNTED,
     .offset = offsetof(ProfilePhase, cost.elementwise_flops)},
    {"transcendental_flops", FIELD_COUNT, COUNTED,
     .offset = offsetof(ProfilePhase, cost.transcendental_flops)},
    {"bytes_read", FIELD_BYTES, LISTED, .offset = offsetof(ProfilePhase, cost.bytes_read),
     .metric = "read_bytes", .help = "Bytes that its ops read."},
    {"bytes_written", FIELD_BYTES, LISTED, .offset = offsetof(ProfilePhase, cost.bytes_written),
     .metric = "written_bytes", .help = "Bytes that its ops write."},
    {"bytes", FIELD_BYTES, 0, .derived = bytes_of},
    {.key = NULL}};

static const ProfileField of_layer[] = {
    {"path", FIELD_TEXT, STORED, .offset = offsetof(ProfileLayer, path),
     .size = sizeof(((ProfileLayer *)0)->path)},
    {"type", FIELD_TEXT, STORED, .offset = offsetof(ProfileLayer, type),
     .size = sizeof(((ProfileLayer *)0)->type)},
    {"input_shape", FIELD_SHAPE, FIELD_JSON, .offset = offsetof(ProfileLayer, input)},
    {"output_shape", FIELD_SHAPE, FIELD_JSON, .offset = offsetof(ProfileLayer, output)},
    {"parameters", FIELD_COUNT, LISTED, .offset = offsetof(ProfileLayer, parameters)},
    {"saved_bytes", FIELD_BYTES, LISTED, .offset = offsetof(ProfileLayer, saved_bytes)},
    {.key = NULL}};

static const ProfileField of_memory[] = {
    {"peak_bytes", FIELD_BYTES, COUNTED, .offset = offsetof(ProfileMemory, peak.total),
     .metric = "peak_bytes", .help = "Memory at the peak of a step."},
    {"saved_bytes", FIELD_BYTES, COUNTED, .offset = offsetof(ProfileMemory, saved_bytes),
     .metric = "saved_bytes", .help = "Memory that a step keeps for backward."},
    {.key = NULL}};

static const ProfileField of_use[] = {
#define CATEGORY_ROW(name, text)                                                                   \
    {text "_bytes", FIELD_BYTES, COUNTED, .offset = offsetof(MemoryUse, category[MEM_##name])},
    MEMORY_CATEGORY_LIST(CATEGORY_ROW)
#undef CATEGORY_ROW
        {.key = NULL}};

static const ProfileField of_model[] = {
    {"name", FIELD_TEXT, STORED, .offset = offsetof(Profile, model),
     .size = sizeof(((Profile *)0)->model)},
    {"input_shape", FIELD_SHAPE, FIELD_JSON, .offset = offsetof(Profile, input)},
    {"batch", FIELD_COUNT, STORED, .offset = offsetof(Profile, batch)},
    {"accumulate", FIELD_COUNT, FIELD_JSON, .offset = offsetof(Profile, accumulate)},
    {"parameters", FIELD_COUNT, COUNTED, .offset = offsetof(Profile, parameters),
     .metric = "parameters", .help = "Parameters of the model."},
    {"parameters_stored", FIELD_COUNT, FIELD_JSON, .offset = offsetof(Profile, parameters_stored)},
    {"parameters_guessed", FIELD_COUNT, FIELD_JSON,
     .offset = offsetof(Profile, parameters_guessed)},
    {"trainable_parameters", FIELD_COUNT, FIELD_JSON,
     .offset = offsetof(Profile, trainable_parameters)},
    {"parameter_bytes", FIELD_BYTES, FIELD_JSON, .offset = offsetof(Profile, parameter_bytes)},
    {"optimizer", FIELD_TEXT, STORED, .offset = offsetof(Profile, optimizer),
     .size = sizeof(((Profile *)0)->optimizer)},
    {.key = NULL}};

// ---- reading the rows --------------------------------------------------------------------------
const ProfileField *profile_fields(FieldScope scope) {
    static const ProfileField *const scopes[FIELD_SCOPES] = {[FIELDS_PHASE] = of_phase,
                                                             [FIELDS_LAYER] = of_layer,
                                                             [FIELDS_MEMORY] = of_memory,
                                                             [FIELDS_USE] = of_use,
                                                             [FIELDS_MODEL] = of_model};
    return scopes[scope];
}

const ProfileField *profile_field(FieldScope scope, const char *key) {
    for (const ProfileField *field = profile_fields(scope); field->key; field++)
        if (strcmp(field->key, key) == 0) return field;
    return NULL;
}

void *profile_field_at(const ProfileField *field, const void *of) {
    return (char *)of + field->offset;
}

int64_t profile_field_count(const ProfileField *field, const void *of) {
    if (field->derived) return (int64_t)field->derived(of);
    return *(const int64_t *)profile_field_at(field, of);
}
