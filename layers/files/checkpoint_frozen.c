// checkpoint_frozen.c -- lists the parameters that did not train, a line of a checkpoint each. An
// optimizer has only the others, so its file fits only where the same parameters are frozen.
#include "layers/files/checkpoint_fields.h"

#include <string.h>

#include "tensor/memory.h"

static bool is_frozen(const ParameterEntry *entry) {
    return !entry->is_buffer && !(entry->tensor->flags & TENSOR_LEAF_GRAD);
}

char *checkpoint_frozen_new(const ParameterList *state) {
    size_t size = 1;
    for (int i = 0; i < state->count; i++)
        if (is_frozen(&state->items[i])) size += strlen(state->items[i].path) + 1;
    char *lines = memory_new(size), *end = lines;
    for (int i = 0; i < state->count && lines; i++) {
        size_t length = strlen(state->items[i].path);
        if (!is_frozen(&state->items[i])) continue;
        memcpy(end, state->items[i].path, length);
        end[length] = '\n';
        end += length + 1;
    }
    return lines; // memory_new's last byte is 0
}

static bool has_line(const char *lines, const char *line) {
    size_t length = strlen(line);
    for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
        if ((size_t)(end - lines) == length && memcmp(lines, line, length) == 0) return true;
    return false;
}

Status checkpoint_check_frozen(const char *file, const char *lines, const ParameterList *state) {
    for (int i = 0; i < state->count; i++) {
        const ParameterEntry *entry = &state->items[i];
        bool frozen = is_frozen(entry);
        if (entry->is_buffer || has_line(lines, entry->path) == frozen) continue;
        return error_set(STATUS_INVALID_ARGUMENT,
                         "checkpoint: %s: %s %s when it was written, and %s here. HINT: freeze the "
                         "same parameters (--freeze; layer_freeze before optimizer_new)",
                         file, entry->path, frozen ? "trained" : "was frozen",
                         frozen ? "is frozen" : "trains");
    }
    return STATUS_OK;
}
