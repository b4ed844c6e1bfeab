// checkpoint.c -- one safetensors file with the whole state of training: tensors under prefixes,
// and numbers as texts in the metadata (checkpoint_fields.c).
#include "layers/files/checkpoint_fields.h"

#include <stdio.h>
#include <string.h>

#include "layers/files/safetensors_parts.h"
#include "tensor/memory.h"

static const char schema[] = "ridgepoint.checkpoint/v1";
typedef CheckpointNumbers Numbers;

// ---- writing -----------------------------------------------------------------------------------
// Adds the entries of `from`, with the prefix in front of their names.
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
    if (checkpoint->schedule) numbers.schedule = *checkpoint->schedule;
    return numbers;
}

static Status write(const Checkpoint *checkpoint, const Tensors *tensors, const char *path) {
    if (checkpoint->step < 0 || checkpoint->epoch < 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "checkpoint_write: step %lld of epoch %lld. HINT: both from 0 on",
                         (long long)checkpoint->step, (long long)checkpoint->epoch);
    if (checkpoint->schedule && schedule_check(checkpoint->schedule)) return error_status();
    Numbers numbers = gather(checkpoint);
    char *frozen = error_pending() ? NULL : checkpoint_frozen_new(&tensors->model);
    if (!frozen) return error_status();
    char text[CHECKPOINT_MOST_FIELDS][CHECKPOINT_TEXT];
    const char *metadata[2 * (CHECKPOINT_MOST_FIELDS + 2)] = {"schema", schema, "frozen", frozen};
    int n = 4;
    for (int i = 0; i < checkpoint_field_count(); i++) {
        if (!checkpoint_has_field(checkpoint, i)) continue;
        checkpoint_field_write(&numbers, i, text[i]);
        metadata[n++] = checkpoint_field_key(i);
        metadata[n++] = text[i];
    }
    Status status = safetensors_write(&tensors->all, metadata, n / 2, path);
    memory_free(frozen);
    return status;
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
                     "file of checkpoint_write, of this version, with optimizer, loader and "
                     "schedule?",
                     safetensors_input(file)->name, key);
}

static Status check_frozen(const Tensors *tensors, const Safetensors *file) {
    const char *lines = safetensors_metadata(file, "frozen");
    if (!lines) return refuse(file, "frozen");
    return checkpoint_check_frozen(safetensors_input(file)->name, lines, &tensors->model);
}

// Refuses entries of neither model nor optimizer; each of these checks its own.
static Status check_owners(const Safetensors *file) {
    for (int64_t i = 0; i < safetensors_count(file); i++) {
        const char *name = safetensors_entry(file, i)->name;
        if (strncmp(name, "model.", 6) == 0 || strncmp(name, "optimizer.", 10) == 0) continue;
        return error_set(STATUS_FORMAT,
                         "checkpoint: %s: %.200s is nothing of a model or an optimizer. HINT: is "
                         "it a file of checkpoint_write?",
                         safetensors_input(file)->name, name);
    }
    return STATUS_OK;
}

static Status read_numbers(const Checkpoint *checkpoint, const Safetensors *file,
                           Numbers *numbers) {
    const char *found = safetensors_metadata(file, "schema");
    if (!found || strcmp(found, schema) != 0) return refuse(file, "the schema");
    for (int i = 0; i < checkpoint_field_count(); i++) {
        if (!checkpoint_has_field(checkpoint, i)) continue;
        const char *text = safetensors_metadata(file, checkpoint_field_key(i));
        if (!text || !checkpoint_field_read(numbers, i, text))
            return refuse(file, checkpoint_field_key(i));
    }
    if (checkpoint->schedule && schedule_check(&numbers->schedule)) return error_status();
    if (!checkpoint->optimizer) return STATUS_OK;
    return optimizer_check_restore(checkpoint->optimizer, numbers->optimizer,
                                   numbers->optimizer_steps);
}

// Restores the state after all checks; loader_seek makes the loader's before it moves.
static Status restore(Checkpoint *checkpoint, const Numbers *numbers) {
    Status status = STATUS_OK;
    if (checkpoint->loader) status = loader_seek(checkpoint->loader, numbers->loader);
    if (status) return status;
    if (checkpoint->optimizer)
        status =
            optimizer_restore(checkpoint->optimizer, numbers->optimizer, numbers->optimizer_steps);
    if (checkpoint->schedule) *checkpoint->schedule = numbers->schedule;
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
    if (!status) status = check_owners(file);
    if (!status && checkpoint->optimizer) status = check_frozen(tensors, file);
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
