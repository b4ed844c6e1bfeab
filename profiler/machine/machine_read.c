// machine_read.c -- reads machine files: parses JSON with jansson, and checks every value for
// plausibility. Not here: writing them (machine_write.c).
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "profiler/base/json_writer.h"
#include "profiler/machine/machine_parts.h"
#include "tensor/given.h"
#include "tensor/memory.h"

enum { MOST_FILE_BYTES = 1 << 16, MOST_THREADS = 65536 };
static const double most_per_second = 1e24; // keeps every quotient finite
static const double most_seconds = 1.0;

// The file being read, and the place in it: "levels[2].one_thread." or "".
typedef struct Reader {
    const char *name;
    char place[32];
} Reader;

static Status refuse(const Reader *reader, const char *key, const char *expected) {
    return error_set(STATUS_FORMAT,
                     "machine: %s: %s%s must be %s. HINT: correct the file, or let --calibrate "
                     "measure this machine",
                     reader->name, reader->place, key, expected);
}

// Returns a member that exists and is not null.
static json_t *member(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

static Status read_rate(const Reader *reader, json_t *object, const char *key, double *rate) {
    json_t *value = member(object, key);
    *rate = json_number_value(value); // 0 if it is missing or mistyped
    if (*rate >= 1.0 && *rate <= most_per_second) return STATUS_OK;
    return refuse(reader, key, "a number per second, from 1 to 1e24");
}

static Status read_rate_if_there(const Reader *reader, json_t *object, const char *key,
                                 double *rate) {
    return member(object, key) ? read_rate(reader, object, key, rate) : STATUS_OK;
}

static Status read_seconds(const Reader *reader, json_t *object, const char *key, double *seconds) {
    json_t *value = member(object, key);
    if (!value) return STATUS_OK;
    *seconds = json_is_number(value) ? json_number_value(value) : -1.0;
    if (*seconds >= 0.0 && *seconds <= most_seconds) return STATUS_OK;
    return refuse(reader, key, "a number of seconds, from 0 to 1");
}

static Status read_bytes(const Reader *reader, json_t *object, const char *key, int64_t *bytes) {
    json_t *value = member(object, key);
    *bytes = json_integer_value(value); // 0 if it is missing or mistyped
    if (!value || *bytes > 0) return STATUS_OK;
    return refuse(reader, key, "a whole number above 0");
}

// Reads text for a terminal, without control characters.
static Status read_text(const Reader *reader, json_t *object, const char *key, char *text,
                        size_t size) {
    json_t *value = member(object, key);
    if (!value) return STATUS_OK;
    const char *string = json_string_value(value);
    size_t length = json_string_length(value);
    bool good = string && length < size;
    for (size_t i = 0; good && i < length; i++)
        good = (unsigned char)string[i] >= 0x20 && string[i] != 0x7f;
    if (!good) {
        char expected[64];
        snprintf(expected, sizeof expected, "a line of text, of at most %zu bytes", size - 1);
        return refuse(reader, key, expected);
    }
    memcpy(text, string, length + 1);
    return STATUS_OK;
}

// ---- levels ------------------------------------------------------------------------------------

// Reads the capacity of a level, more than `before`; the last level is unlimited.
static Status read_capacity(const Reader *reader, json_t *level, bool last, int64_t before,
                            int64_t *bytes) {
    const double too_many = 9223372036854775808.0; // 2^63
    json_t *value = member(level, "bytes");
    *bytes = INT64_MAX;
    if (last && !value) return STATUS_OK;
    double number = json_number_value(value);
    if (!(number >= 1.0 && number < too_many && number == floor(number)))
        return refuse(reader, "bytes", "a whole number above 0");
    int64_t capacity = json_is_integer(value) ? json_integer_value(value) : (int64_t)number;
    if (capacity <= before) return refuse(reader, "bytes", "more than the level before it has");
    if (!last) *bytes = capacity;
    return STATUS_OK;
}

static Status read_rates(const Reader *reader, json_t *object, MachineRates *rates) {
    Status status = read_rate_if_there(reader, object, "fill_bytes_per_second", &rates->fill);
    if (!status)
        status = read_rate_if_there(reader, object, "store_bytes_per_second", &rates->store);
    if (!status) status = read_rate_if_there(reader, object, "move_bytes_per_second", &rates->move);
    bool goes = rates->store > 0.0 || rates->move > 0.0;
    if (status || goes == (rates->fill > 0.0)) return status;
    return refuse(reader, "fill_bytes_per_second", "there with store or move, or none of them");
}

// Reads one thread's share of a level, if it was measured separately.
static Status read_alone(Reader *reader, json_t *object, int index, MachineLevel *level) {
    json_t *alone = member(object, "one_thread");
    if (!alone) return STATUS_OK;
    if (!json_is_object(alone)) return refuse(reader, "one_thread", "a JSON object");
    snprintf(reader->place, sizeof reader->place, "levels[%d].one_thread.", index);
    Status status = read_rates(reader, alone, &level->rates[TEAM_ONE]);
    if (!status && member(alone, "bytes"))
        status = read_capacity(reader, alone, false, 0, &level->bytes_alone);
    return status;
}

static Status read_level(Reader *reader, json_t *array, int index, Machine *machine) {
    MachineLevel *level = &machine->levels[index];
    json_t *object = json_array_get(array, (size_t)index);
    snprintf(reader->place, sizeof reader->place, "levels[%d].", index);
    Status status = read_text(reader, object, "name", level->name, sizeof level->name);
    if (!status && !level->name[0]) status = refuse(reader, "name", "there: L1, DRAM");
    bool last = index == machine->n_levels - 1;
    int64_t before = index ? level[-1].bytes : 0;
    if (!status) status = read_capacity(reader, object, last, before, &level->bytes);
    if (!status) status = read_rate(reader, object, "bytes_per_second", &level->bytes_per_second);
    if (!status) status = read_rates(reader, object, &level->rates[TEAM_ALL]);
    if (!status) status = read_alone(reader, object, index, level);
    reader->place[0] = '\0';
    return status;
}

static Status read_levels(Reader *reader, json_t *object, Machine *machine) {
    json_t *array = json_object_get(object, "levels");
    size_t count = json_array_size(array); // 0 if it is missing or mistyped
    if (count < 1 || count > MACHINE_MAX_LEVELS)
        return refuse(reader, "levels", "an array of 1 to 5 levels");
    machine->n_levels = (int)count;
    Status status = STATUS_OK;
    for (int i = 0; !status && i < machine->n_levels; i++)
        status = read_level(reader, array, i, machine);
    return status;
}

// ---- the whole ---------------------------------------------------------------------------------

static Status read_header(const Reader *reader, json_t *object, Machine *machine) {
    char found[sizeof MACHINE_SCHEMA] = "", source[16] = "";
    Status status = STATUS_OK;
    if (!json_is_object(object)) return refuse(reader, "the file", "a JSON object");
    if (read_text(reader, object, "schema", found, sizeof found) ||
        (found[0] && strcmp(found, MACHINE_SCHEMA) != 0)) {
        error_clear(); // replaces the message about the text's length
        return refuse(reader, "schema", "\"" MACHINE_SCHEMA "\"");
    }
    status = read_text(reader, object, "source", source, sizeof source);
    machine->measured = strcmp(source, "measured") == 0;
    if (!status && source[0] && !machine->measured && strcmp(source, "given") != 0)
        status = refuse(reader, "source", "\"measured\" or \"given\"");
    if (!status)
        status = read_text(reader, object, "fingerprint", machine->fingerprint,
                           sizeof machine->fingerprint);
    if (!status)
        status = read_text(reader, object, "device", machine->device, sizeof machine->device);
    json_t *threads = member(object, "threads");
    json_int_t count = json_integer_value(threads); // 0 if it is missing or mistyped
    if (!status && threads && (count < 1 || count > MOST_THREADS))
        status = refuse(reader, "threads", "a whole number from 1 to 65536");
    machine->threads = (int)count;
    return status;
}

static Status read_machine(Reader *reader, json_t *object, Machine *machine) {
    Status status = read_header(reader, object, machine);
    if (!status)
        status =
            read_rate(reader, object, "peak_flops_per_second", &machine->peak_flops_per_second);
    if (!status)
        status =
            read_rate_if_there(reader, object, "one_thread_flops_per_second", &machine->peak_alone);
    if (!status) status = read_seconds(reader, object, "root_seconds", &machine->root_seconds);
    if (!status)
        status = read_seconds(reader, object, "division_seconds", &machine->division_seconds);
    if (!status) status = read_levels(reader, object, machine);
    if (!status)
        status = read_seconds(reader, object, "dispatch_seconds", &machine->dispatch_seconds);
    if (!status) status = read_seconds(reader, object, "wake_seconds", &machine->wake_seconds);
    if (!status) status = read_seconds(reader, object, "spin_seconds", &machine->spin_seconds);
    if (!status) status = read_seconds(reader, object, "call_seconds", &machine->call_seconds);
    if (!status)
        status = read_rate_if_there(reader, object, "host_to_device_bytes_per_second",
                                    &machine->from_host_bytes_per_second);
    if (!status)
        status = read_rate_if_there(reader, object, "device_to_host_bytes_per_second",
                                    &machine->to_host_bytes_per_second);
    if (!status) status = read_bytes(reader, object, "memory_bytes", &machine->memory_bytes);
    int64_t low = 0;
    if (!status) status = read_bytes(reader, object, "low_profiles", &low);
    machine->low_profiles = low < INT16_MAX ? (int)low : INT16_MAX;
    if (!status) status = read_bytes(reader, object, "low_since", &machine->low_since);
    return status;
}

Status machine_parse(const char *text, size_t size, const char *name, Machine *machine) {
    if (!GIVEN(machine)) return STATUS_INVALID_ARGUMENT;
    *machine = (Machine){0};
    if (error_pending()) return error_status();
    json_error_t error;
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!document) {
        if (json_error_code(&error) == json_error_out_of_memory)
            return error_set(STATUS_OUT_OF_MEMORY, "machine: %s: no room to read it", name);
        return error_set(STATUS_FORMAT,
                         "machine: %s: line %d, column %d: not JSON: %s. HINT: correct the file, "
                         "or let --calibrate measure this machine",
                         name, error.line, error.column, error.text);
    }
    Reader reader = {.name = name};
    Machine read = {0};
    Status status = read_machine(&reader, document, &read);
    json_decref(document);
    if (!status) *machine = read;
    return status;
}

Status machine_read(const char *path, Machine *machine) {
    if (!GIVEN(machine)) return STATUS_INVALID_ARGUMENT;
    *machine = (Machine){0};
    if (error_pending()) return error_status();
    char *text = memory_new(MOST_FILE_BYTES);
    if (!text) return STATUS_OUT_OF_MEMORY;
    errno = 0;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, MOST_FILE_BYTES, file) : 0;
    Status status = STATUS_OK;
    if (!file || ferror(file)) // folders can be opened, but not read
        status = error_set(STATUS_IO,
                           "machine: %s: cannot be read: %s. HINT: name a machine file, such as "
                           "--calibrate leaves, or with --device meta a machine of --help peaks",
                           path, strerror(errno));
    else if (size == MOST_FILE_BYTES)
        status = error_set(STATUS_FORMAT,
                           "machine: %s: larger than any machine file. HINT: name one, such as "
                           "--calibrate leaves",
                           path);
    if (file) fclose(file);
    if (!status) status = machine_parse(text, size, path, machine);
    memory_free(text);
    return status;
}
