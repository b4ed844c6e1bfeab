// checkpoint_fields.c -- numbers, flags and names as texts; one table serves writing and reading.
#include "layers/files/checkpoint_fields.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = CHECKPOINT_TEXT };

// ---- kinds of values ---------------------------------------------------------------------------
static bool read_whole(const char *text, uint64_t most, uint64_t *value) {
    bool good = text[0] != '\0';
    *value = 0;
    for (; *text && good; text++)
        good = *text >= '0' && *text <= '9' && !__builtin_mul_overflow(*value, 10, value) &&
               !__builtin_add_overflow(*value, (uint64_t)(*text - '0'), value) && *value <= most;
    return good;
}

static void write_count(const void *at, char text[TEXT]) {
    snprintf(text, TEXT, "%lld", (long long)*(const int64_t *)at);
}
static bool read_count(const char *text, void *at) {
    uint64_t word;
    bool good = read_whole(text, INT64_MAX, &word);
    if (good) *(int64_t *)at = (int64_t)word;
    return good;
}

static void write_word(const void *at, char text[TEXT]) {
    snprintf(text, TEXT, "%llu", (unsigned long long)*(const uint64_t *)at);
}
static bool read_word(const char *text, void *at) {
    uint64_t word;
    bool good = read_whole(text, UINT64_MAX, &word);
    if (good) *(uint64_t *)at = word;
    return good;
}

static void write_flag(const void *at, char text[TEXT]) {
    snprintf(text, TEXT, "%d", *(const bool *)at);
}
static bool read_flag(const char *text, void *at) {
    uint64_t word;
    bool good = read_whole(text, 1, &word);
    if (good) *(bool *)at = word;
    return good;
}

// Writes a real number with jansson, so that it reads back exactly, in any locale.
static void write_real(const void *at, char text[TEXT]) {
    json_t *number = json_real((double)*(const float *)at); // NULL: not finite
    size_t length = json_dumpb(number, text, TEXT - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    text[length < TEXT ? length : 0] = '\0';
    json_decref(number);
}
static bool read_real(const char *text, void *at) {
    json_t *number = json_loads(text, JSON_DECODE_ANY, NULL);
    bool is_number = json_is_number(number);
    if (is_number) *(float *)at = (float)json_number_value(number);
    json_decref(number);
    return is_number;
}

// Names are for messages only: characters that JSON may not hold become '?'.
static void write_name(const void *at, char text[TEXT]) {
    const char *name = at;
    size_t n = 0;
    for (; name[n] && n < TEXT - 1; n++) text[n] = name[n] >= ' ' && name[n] <= '~' ? name[n] : '?';
    text[n] = '\0';
}
static bool read_name(const char *text, void *at) {
    snprintf(at, TEXT, "%s", text);
    return true;
}

static void write_optimizer(const void *at, char text[TEXT]) {
    snprintf(text, TEXT, "%s", optimizer_flag(*(const OptimizerKind *)at));
}
static bool read_optimizer(const char *text, void *at) {
    int i = 0;
    while (i < OPTIMIZER_COUNT && strcmp(text, optimizer_flag((OptimizerKind)i)) != 0) i++;
    if (i < OPTIMIZER_COUNT) *(OptimizerKind *)at = (OptimizerKind)i;
    return i < OPTIMIZER_COUNT;
}

static void write_schedule(const void *at, char text[TEXT]) {
    snprintf(text, TEXT, "%s", schedule_name(*(const ScheduleKind *)at));
}
static bool read_schedule(const char *text, void *at) {
    int i = 0;
    while (i < SCHEDULE_COUNT && strcmp(text, schedule_name((ScheduleKind)i)) != 0) i++;
    if (i < SCHEDULE_COUNT) *(ScheduleKind *)at = (ScheduleKind)i;
    return i < SCHEDULE_COUNT;
}

typedef struct Value {
    void (*write)(const void *at, char text[TEXT]);
    bool (*read)(const char *text, void *at);
} Value;
static const Value COUNT = {write_count, read_count}; // int64_t
static const Value WORD = {write_word, read_word};    // uint64_t
static const Value FLAG = {write_flag, read_flag};    // bool
static const Value REAL = {write_real, read_real};    // float
static const Value NAME = {write_name, read_name};    // char[CHECKPOINT_TEXT]
static const Value OPTIMIZER = {write_optimizer, read_optimizer};
static const Value SCHEDULE = {write_schedule, read_schedule};

// ---- the table ---------------------------------------------------------------------------------
typedef enum Part { ALWAYS, OF_OPTIMIZER, OF_LOADER, OF_SCHEDULE } Part;
typedef CheckpointNumbers Numbers;

static const struct {
    const char *key;
    Part part;
    const Value *value;
    size_t offset;
} fields[] = {
    {"step", ALWAYS, &COUNT, offsetof(Numbers, step)},
    {"epoch", ALWAYS, &COUNT, offsetof(Numbers, epoch)},
    {"random.seed", ALWAYS, &WORD, offsetof(Numbers, random.seed)},
    {"random.offset", ALWAYS, &WORD, offsetof(Numbers, random.offset)},
    {"optimizer.kind", OF_OPTIMIZER, &OPTIMIZER, offsetof(Numbers, optimizer.kind)},
    {"optimizer.learning_rate", OF_OPTIMIZER, &REAL, offsetof(Numbers, optimizer.learning_rate)},
    {"optimizer.momentum", OF_OPTIMIZER, &REAL, offsetof(Numbers, optimizer.momentum)},
    {"optimizer.nesterov", OF_OPTIMIZER, &FLAG, offsetof(Numbers, optimizer.nesterov)},
    {"optimizer.weight_decay", OF_OPTIMIZER, &REAL, offsetof(Numbers, optimizer.weight_decay)},
    {"optimizer.beta1", OF_OPTIMIZER, &REAL, offsetof(Numbers, optimizer.beta1)},
    {"optimizer.beta2", OF_OPTIMIZER, &REAL, offsetof(Numbers, optimizer.beta2)},
    {"optimizer.epsilon", OF_OPTIMIZER, &REAL, offsetof(Numbers, optimizer.epsilon)},
    {"optimizer.clip_norm", OF_OPTIMIZER, &REAL, offsetof(Numbers, optimizer.clip_norm)},
    {"optimizer.steps", OF_OPTIMIZER, &COUNT, offsetof(Numbers, optimizer_steps)},
    {"loader.epoch", OF_LOADER, &COUNT, offsetof(Numbers, loader.epoch)},
    {"loader.batch", OF_LOADER, &COUNT, offsetof(Numbers, loader.batch)},
    {"loader.images", OF_LOADER, &COUNT, offsetof(Numbers, loader.images)},
    {"loader.batch_size", OF_LOADER, &COUNT, offsetof(Numbers, loader.batch_size)},
    {"loader.seed", OF_LOADER, &WORD, offsetof(Numbers, loader.seed)},
    {"loader.shuffle", OF_LOADER, &FLAG, offsetof(Numbers, loader.shuffle)},
    {"loader.drop_last", OF_LOADER, &FLAG, offsetof(Numbers, loader.drop_last)},
    {"loader.fingerprint", OF_LOADER, &WORD, offsetof(Numbers, loader.fingerprint)},
    {"loader.data", OF_LOADER, &NAME, offsetof(Numbers, loader.data)},
    {"schedule.kind", OF_SCHEDULE, &SCHEDULE, offsetof(Numbers, schedule.kind)},
    {"schedule.base", OF_SCHEDULE, &REAL, offsetof(Numbers, schedule.base)},
    {"schedule.warmup", OF_SCHEDULE, &COUNT, offsetof(Numbers, schedule.warmup)},
    {"schedule.period", OF_SCHEDULE, &COUNT, offsetof(Numbers, schedule.period)},
    {"schedule.gamma", OF_SCHEDULE, &REAL, offsetof(Numbers, schedule.gamma)},
    {"schedule.floor", OF_SCHEDULE, &REAL, offsetof(Numbers, schedule.floor)},
};
_Static_assert(sizeof(fields) / sizeof(fields[0]) <= CHECKPOINT_MOST_FIELDS, "room for all");
_Static_assert(sizeof(((LoaderPosition *)0)->data) == CHECKPOINT_TEXT, "a NAME");

int checkpoint_field_count(void) { return (int)(sizeof(fields) / sizeof(fields[0])); }

const char *checkpoint_field_key(int field) { return fields[field].key; }

bool checkpoint_has_field(const Checkpoint *checkpoint, int field) {
    const bool has[] = {[ALWAYS] = true,
                        [OF_OPTIMIZER] = checkpoint->optimizer != NULL,
                        [OF_LOADER] = checkpoint->loader != NULL,
                        [OF_SCHEDULE] = checkpoint->schedule != NULL};
    return has[fields[field].part];
}

void checkpoint_field_write(const Numbers *numbers, int field, char text[TEXT]) {
    fields[field].value->write((const char *)numbers + fields[field].offset, text);
}

bool checkpoint_field_read(Numbers *numbers, int field, const char *text) {
    return fields[field].value->read(text, (char *)numbers + fields[field].offset);
}
