// checkpoint.c -- one safetensors file of all that training depends on: tensors under prefixes, and
// numbers as texts in the metadata, by one table for writing and reading.
#include "layers/files/checkpoint.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "layers/files/safetensors_parts.h"
#include "tensor/memory.h"

static const char schema[] = "ridgepoint.checkpoint/v1";

// ---- numbers -----------------------------------------------------------------------------------
typedef struct Numbers { // beside the tensors
    int64_t step, epoch;
    RandomState random;
    OptimizerConfig optimizer;
    int64_t optimizer_steps;
    LoaderPosition loader;
} Numbers;

typedef enum Part { ALWAYS, OF_OPTIMIZER, OF_LOADER } Part;
typedef enum FieldKind { COUNT, WORD, REAL, FLAG } FieldKind; // int64_t, uint64_t, float, bool

static const struct {
    const char *key;
    Part part;
    FieldKind kind;
    size_t offset;
} fields[] = {
    {"step", ALWAYS, COUNT, offsetof(Numbers, step)},
    {"epoch", ALWAYS, COUNT, offsetof(Numbers, epoch)},
    {"random.seed", ALWAYS, WORD, offsetof(Numbers, random.seed)},
    {"random.offset", ALWAYS, WORD, offsetof(Numbers, random.offset)},
    {"optimizer.learning_rate", OF_OPTIMIZER, REAL, offsetof(Numbers, optimizer.learning_rate)},
    {"optimizer.momentum", OF_OPTIMIZER, REAL, offsetof(Numbers, optimizer.momentum)},
    {"optimizer.nesterov", OF_OPTIMIZER, FLAG, offsetof(Numbers, optimizer.nesterov)},
    {"optimizer.weight_decay", OF_OPTIMIZER, REAL, offsetof(Numbers, optimizer.weight_decay)},
    {"optimizer.beta1", OF_OPTIMIZER, REAL, offsetof(Numbers, optimizer.beta1)},
    {"optimizer.beta2", OF_OPTIMIZER, REAL, offsetof(Numbers, optimizer.beta2)},
    {"optimizer.epsilon", OF_OPTIMIZER, REAL, offsetof(Numbers, optimizer.epsilon)},
    {"optimizer.clip_norm", OF_OPTIMIZER, REAL, offsetof(Numbers, optimizer.clip_norm)},
    {"optimizer.steps", OF_OPTIMIZER, COUNT, offsetof(Numbers, optimizer_steps)},
    {"loader.epoch", OF_LOADER, COUNT, offsetof(Numbers, loader.epoch)},
    {"loader.batch", OF_LOADER, COUNT, offsetof(Numbers, loader.batch)},
    {"loader.images", OF_LOADER, COUNT, offsetof(Numbers, loader.images)},
    {"loader.batch_size", OF_LOADER, COUNT, offsetof(Numbers, loader.batch_size)},
    {"loader.seed", OF_LOADER, WORD, offsetof(Numbers, loader.seed)},
    {"loader.shuffle", OF_LOADER, FLAG, offsetof(Numbers, loader.shuffle)},
    {"loader.drop_last", OF_LOADER, FLAG, offsetof(Numbers, loader.drop_last)},
};
enum { FIELDS = sizeof fields / sizeof fields[0], TEXT = 32, MOST_PAIRS = FIELDS + 2 };

static bool has_part(const Checkpoint *checkpoint, Part part) {
    return part == ALWAYS ||
           (part == OF_OPTIMIZER ? checkpoint->optimizer != NULL : checkpoint->loader != NULL);
}

// A real number so that it is read back as the same, whatever the locale: by jansson.
static void write_real(float value, char text[TEXT]) {
    json_t *number = json_real((double)value); // NULL: not finite
    size_t length = json_dumpb(number, text, TEXT - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    text[length < TEXT ? length : 0] = '\0';
    json_decref(number);
}

static bool read_real(const char *text, float *value) {
    json_t *number = json_loads(text, JSON_DECODE_ANY, NULL);
    bool is_number = json_is_number(number);
    if (is_number) *value = (float)json_number_value(number);
    json_decref(number);
    return is_number;
}

static bool read_word(const char *text, uint64_t most, uint64_t *value) {
    bool good = text[0] != '\0';
    *value = 0;
    for (; *text && good; text++)
        good = *text >= '0' && *text <= '9' && !__builtin_mul_overflow(*value, 10, value) &&
               !__builtin_add_overflow(*value, (uint64_t)(*text - '0'), value) && *value <= most;
    return good;
}

static void write_field(const Numbers *numbers, int i, char text[TEXT]) {
    const char *at = (const char *)numbers + fields[i].offset;
    if (fields[i].kind == COUNT) snprintf(text, TEXT, "%lld", (long long)*(const int64_t *)at);
    if (fields[i].kind == WORD)
        snprintf(text, TEXT, "%llu", (unsigned long long)*(const uint64_t *)at);
    if (fields[i].kind == REAL) write_real(*(const float *)at, text);
    if (fields[i].kind == FLAG) snprintf(text, TEXT, "%d", *(const bool *)at);
}

static bool read_field(Numbers *numbers, int i, const char *text) {
    static const uint64_t most[] = {[COUNT] = INT64_MAX, [WORD] = UINT64_MAX, [FLAG] = 1};
    char *at = (char *)numbers + fields[i].offset;
    if (fields[i].kind == REAL) return read_real(text, (float *)at);
    uint64_t word;
    if (!read_word(text, most[fields[i].kind], &word)) return false;
    if (fields[i].kind == COUNT) *(int64_t *)at = (int64_t)word;
    if (fields[i].kind == WORD) *(uint64_t *)at = word;
    if (fields[i].kind == FLAG) *(bool *)at = word;
    return true;
}

// ---- writing -----------------------------------------------------------------------------------
// Adds what `from` lists, under names that begin with the prefix.
static Status add(ParameterList *list, const char *prefix, const ParameterList *from) {
    for (int i = 0; i < from->count; i++) {
        size_t size = strlen(prefix) + strlen(from->items[i].path) + 1;
        ParameterEntry *entry = &list->items[list->count];
        entry->path = memory_new(size);
        if (!entry->path) return STATUS_OUT_OF_MEMORY;
        snprintf(entry->path, size, "%s%s", prefix, from->items[i].path);
        entry->tensor = from->items[i].tensor;
        list->count++;
    }
    return STATUS_OK;
}

typedef struct Tensors {
    ParameterList model, optimizer, all; // all: both, with their prefixes
} Tensors;

static Status list_tensors(const Checkpoint *checkpoint, Tensors *tensors) {
    *tensors = (Tensors){0};
    if (!checkpoint) return error_set(STATUS_INVALID_ARGUMENT, "checkpoint: there is none (NULL)");
    Status status = layer_state(checkpoint->model, &tensors->model);
    if (!status && checkpoint->optimizer)
        status = optimizer_state(checkpoint->optimizer, checkpoint->model, &tensors->optimizer);
    return status;
}

static void free_tensors(Tensors *tensors) {
    parameter_list_free(&tensors->model);
    parameter_list_free(&tensors->optimizer);
    parameter_list_free(&tensors->all);
}

static Status join_tensors(Tensors *tensors) {
    size_t count = (size_t)tensors->model.count + (size_t)tensors->optimizer.count;
    tensors->all.items = memory_new((count + 1) * sizeof(ParameterEntry));
    if (!tensors->all.items) return STATUS_OUT_OF_MEMORY;
    Status status = add(&tensors->all, "model.", &tensors->model);
    return status ? status : add(&tensors->all, "optimizer.", &tensors->optimizer);
}

static Numbers gather(const Checkpoint *checkpoint) {
    Numbers numbers = {.step = checkpoint->step,
                       .epoch = checkpoint->epoch,
                       .random = context_current()->random};
    if (checkpoint->optimizer) {
        numbers.optimizer = optimizer_config(checkpoint->optimizer);
        numbers.optimizer_steps = optimizer_steps(checkpoint->optimizer);
    }
    if (checkpoint->loader) numbers.loader = loader_position(checkpoint->loader);
    return numbers;
}

static Status write(const Checkpoint *checkpoint, const Tensors *tensors, const char *path) {
    if (checkpoint->step < 0 || checkpoint->epoch < 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "checkpoint_write: step %lld of epoch %lld. HINT: both from 0 on",
                         (long long)checkpoint->step, (long long)checkpoint->epoch);
    Numbers numbers = gather(checkpoint);
    if (error_pending()) return error_status();
    char text[FIELDS][TEXT];
    const char *metadata[2 * MOST_PAIRS] = {"schema", schema};
    int n = 2;
    if (checkpoint->optimizer) {
        metadata[n++] = "optimizer.kind";
        metadata[n++] = optimizer_flag(numbers.optimizer.kind);
    }
    for (int i = 0; i < FIELDS; i++) {
        if (!has_part(checkpoint, fields[i].part)) continue;
        write_field(&numbers, i, text[i]);
        metadata[n++] = fields[i].key;
        metadata[n++] = text[i];
    }
    return safetensors_write(&tensors->all, metadata, n / 2, path);
}

Status checkpoint_write(const Checkpoint *checkpoint, const char *path) {
    if (error_pending()) return error_status();
    Tensors tensors;
    Status status = list_tensors(checkpoint, &tensors);
    if (!status) status = join_tensors(&tensors);
    if (!status) status = write(checkpoint, &tensors, path);
    free_tensors(&tensors);
    return status;
}

// ---- reading -----------------------------------------------------------------------------------
static Status refuse(const Safetensors *file, const char *key) {
    return error_set(STATUS_FORMAT,
                     "checkpoint: %s: %s is not in its metadata, or no value for it. HINT: is it a "
                     "file of checkpoint_write, with optimizer and loader?",
                     safetensors_input(file)->name, key);
}

static Status read_kind(const Safetensors *file, OptimizerKind *kind) {
    const char *flag = safetensors_metadata(file, "optimizer.kind");
    for (int i = 0; flag && i < OPTIMIZER_COUNT; i++) {
        *kind = (OptimizerKind)i;
        if (strcmp(flag, optimizer_flag(*kind)) == 0) return STATUS_OK;
    }
    return refuse(file, "optimizer.kind");
}

static Status read_numbers(const Checkpoint *checkpoint, const Safetensors *file,
                           Numbers *numbers) {
    const char *found = safetensors_metadata(file, "schema");
    if (!found || strcmp(found, schema) != 0) return refuse(file, "the schema");
    Status status = checkpoint->optimizer ? read_kind(file, &numbers->optimizer.kind) : STATUS_OK;
    for (int i = 0; i < FIELDS && !status; i++) {
        if (!has_part(checkpoint, fields[i].part)) continue;
        const char *text = safetensors_metadata(file, fields[i].key);
        if (!text || !read_field(numbers, i, text)) status = refuse(file, fields[i].key);
    }
    if (!status && checkpoint->optimizer)
        status = optimizer_check_restore(checkpoint->optimizer, numbers->optimizer,
                                         numbers->optimizer_steps);
    return status;
}

// All checks are made, but the loader's, which it makes itself before it moves.
static Status restore(Checkpoint *checkpoint, const Numbers *numbers) {
    Status status = STATUS_OK;
    if (checkpoint->loader) status = loader_seek(checkpoint->loader, numbers->loader);
    if (status) return status;
    if (checkpoint->optimizer)
        status =
            optimizer_restore(checkpoint->optimizer, numbers->optimizer, numbers->optimizer_steps);
    context_current()->random = numbers->random;
    checkpoint->step = numbers->step;
    checkpoint->epoch = numbers->epoch;
    return status;
}

static Status read(Checkpoint *checkpoint, const Tensors *tensors, const Safetensors *file) {
    const SafetensorsOptions ours = {.prefix = "model."}, its = {.prefix = "optimizer."};
    Numbers numbers = {0};
    SafetensorsPlan model = {0}, optimizer = {0};
    Status status = read_numbers(checkpoint, file, &numbers);
    if (!status)
        status =
            safetensors_plan(file, &tensors->model, checkpoint->model->type->name, ours, &model);
    if (!status && checkpoint->optimizer)
        status = safetensors_plan(file, &tensors->optimizer, optimizer_name(numbers.optimizer.kind),
                                  its, &optimizer);
    if (!status) status = restore(checkpoint, &numbers);
    if (!status) status = safetensors_follow(&model);
    if (!status && checkpoint->optimizer) status = safetensors_follow(&optimizer);
    safetensors_plan_free(&model);
    safetensors_plan_free(&optimizer);
    return status;
}

Status checkpoint_read(Checkpoint *checkpoint, const char *path) {
    if (error_pending()) return error_status();
    Tensors tensors;
    Status status = list_tensors(checkpoint, &tensors);
    Safetensors *file = status ? NULL : safetensors_open(path);
    if (!status) status = file ? read(checkpoint, &tensors, file) : error_status();
    safetensors_close(file);
    free_tensors(&tensors);
    return status;
}
