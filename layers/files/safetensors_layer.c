// safetensors_layer.c -- a layer's weights to a file and back: checks every name, shape and dtype
// first, and reports all mismatches together.
#include <stdio.h>
#include <string.h>

#include "layers/files/safetensors_parts.h"
#include "tensor/handle.h"
#include "tensor/memory.h"

// ---- mismatches --------------------------------------------------------------------------------
typedef enum Kind { MISSING, UNKNOWN, UNLIKE, STRIDED, OTHER_SHAPE, OTHER_DTYPE, KINDS } Kind;

static const struct {
    const char *text;
    Status status;
} kinds[KINDS] = {
    [MISSING] = {"missing", STATUS_INVALID_ARGUMENT},
    [UNKNOWN] = {"unknown here", STATUS_INVALID_ARGUMENT},
    [UNLIKE] = {"tied here and not alike there", STATUS_INVALID_ARGUMENT},
    [STRIDED] = {"not contiguous here", STATUS_INVALID_ARGUMENT},
    [OTHER_SHAPE] = {"of another shape", STATUS_SHAPE},
    [OTHER_DTYPE] = {"of another dtype", STATUS_DTYPE},
};

enum {
    NAMED = 3, // names shown of each kind, in this many bytes:
    COMPLAINT = 180,
    PIECE = 1 << 16 // bytes to compare at a time
};

typedef struct Complaints {
    int64_t count[KINDS];
    char text[KINDS][COMPLAINT];
} Complaints;

static void complain(Complaints *all, Kind kind, const char *path, const char *more) {
    char words[INPUT_WORDS];
    size_t used = strlen(all->text[kind]);
    int64_t n = all->count[kind]++;
    if (n < NAMED)
        snprintf(all->text[kind] + used, COMPLAINT - used, "%s%s%s", n ? ", " : "",
                 input_words(path, words), more);
    else if (n == NAMED)
        snprintf(all->text[kind] + used, COMPLAINT - used, " ...");
}

static Status tell(const Complaints *all, const char *file, const char *what) {
    char text[400] = "";
    size_t used = 0;
    Status status = STATUS_OK;
    for (int kind = 0; kind < KINDS && used < sizeof text; kind++) {
        if (all->count[kind] == 0) continue;
        int n = snprintf(text + used, sizeof text - used, "%s%lld %s: %s", used ? "; " : "",
                         (long long)all->count[kind], kinds[kind].text, all->text[kind]);
        used += n > 0 ? (size_t)n : 0;
        if (!status) status = kinds[kind].status;
    }
    if (!status) return STATUS_OK;
    return error_set(status,
                     "safetensors: %.120s does not fit this %.40s: %s. HINT: both are of one "
                     "model",
                     file, what, text);
}

// ---- matching list and file --------------------------------------------------------------------
typedef struct Search {
    SafetensorsPlan *plan;
    SafetensorsOptions options;
    bool *used; // for each tensor in the file: it is matched
    Complaints complaints;
} Search;

// The file's index of prefix + path; -1: none, or an error is pending.
static int64_t find(const Search *search, const char *path) {
    const char *prefix = search->options.prefix ? search->options.prefix : "";
    size_t size = strlen(prefix) + strlen(path) + 1;
    char *name = memory_new(size);
    if (!name) return -1;
    snprintf(name, size, "%s%s", prefix, path);
    int64_t index = safetensors_find(search->plan->file, name);
    memory_free(name);
    return index;
}

// The index of the same tensor under an earlier path; -1: none.
static int earlier_tie(const ParameterList *list, int i) {
    for (int k = 0; k < i; k++)
        if (list->items[k].tensor == list->items[i].tensor) return k;
    return -1;
}

static void check_one(Search *search, int i, int64_t index) {
    const ParameterEntry *item = &search->plan->list->items[i];
    const SafetensorsEntry *entry = safetensors_entry(search->plan->file, index);
    char more[2 * SHAPE_TEXT + 16], there[SHAPE_TEXT], here[SHAPE_TEXT];
    DType dtype = (DType)item->tensor->dtype;
    if (!tensor_is_contiguous(item->tensor)) complain(&search->complaints, STRIDED, item->path, "");
    if (!same_shape(&entry->shape, &item->tensor->shape)) {
        snprintf(more, sizeof more, " is %s, not %s", shape_text(entry->shape, there),
                 shape_text(item->tensor->shape, here));
        complain(&search->complaints, OTHER_SHAPE, item->path, more);
    } else if (!element_fits(safetensors_numbers(search->plan->file, index).element, dtype)) {
        snprintf(more, sizeof more, " is %s, not %s", entry->dtype, dtype_name(dtype));
        complain(&search->complaints, OTHER_DTYPE, item->path, more);
    }
}

// Compares two ranges of bytes of the file; clears *alike where they differ.
static Status compare(const InputFile *file, int64_t one, int64_t other, int64_t bytes,
                      bool *alike) {
    int64_t piece = bytes < PIECE ? bytes : PIECE;
    char *room = memory_new(2 * (size_t)piece + 1);
    Status status = room ? STATUS_OK : STATUS_OUT_OF_MEMORY;
    for (int64_t done = 0; done < bytes && !status && *alike; done += piece) {
        size_t n = (size_t)(bytes - done < piece ? bytes - done : piece);
        status = input_read(file, one + done, room, n);
        if (!status) status = input_read(file, other + done, room + piece, n);
        *alike = !status && memcmp(room, room + piece, n) == 0;
    }
    memory_free(room);
    return status;
}

static Status check_alike(const Safetensors *file, int64_t one, int64_t other, bool *alike) {
    const SafetensorsEntry *a = safetensors_entry(file, one), *b = safetensors_entry(file, other);
    *alike = strcmp(a->dtype, b->dtype) == 0 && same_shape(&a->shape, &b->shape);
    if (!*alike) return STATUS_OK;
    return compare(safetensors_input(file), safetensors_numbers(file, one).at,
                   safetensors_numbers(file, other).at, a->bytes, alike);
}

// Matches entry i. The first of tied ones that the file has is read; later ones must equal it.
static Status place(Search *search, int i) {
    SafetensorsPlan *plan = search->plan;
    const ParameterEntry *item = &plan->list->items[i];
    int first = earlier_tie(plan->list, i);
    int64_t index = find(search, item->path);
    if (error_pending()) return error_status();
    if (index >= 0) search->used[index] = true;
    if (first >= 0 && plan->from[first] >= 0) {
        bool alike = true;
        Status status =
            index >= 0 ? check_alike(plan->file, plan->from[first], index, &alike) : STATUS_OK;
        if (!status && !alike) complain(&search->complaints, UNLIKE, item->path, "");
        return status;
    }
    plan->from[first >= 0 ? first : i] = index;
    if (index >= 0) check_one(search, i, index);
    return STATUS_OK;
}

static void look_for_gaps(Search *search) {
    const SafetensorsPlan *plan = search->plan;
    for (int i = 0; i < plan->list->count && !search->options.allow_missing; i++)
        if (plan->from[i] < 0 && earlier_tie(plan->list, i) < 0)
            complain(&search->complaints, MISSING, plan->list->items[i].path, "");
    const char *prefix = search->options.prefix ? search->options.prefix : "";
    for (int64_t i = 0; i < safetensors_count(plan->file); i++) {
        const char *name = safetensors_entry(plan->file, i)->name;
        bool ours = strncmp(name, prefix, strlen(prefix)) == 0;
        if (ours && !search->used[i] && !search->options.allow_unknown)
            complain(&search->complaints, UNKNOWN, name, "");
    }
}

Status safetensors_plan(const Safetensors *file, const ParameterList *list, const char *what,
                        SafetensorsOptions options, SafetensorsPlan *plan) {
    *plan = (SafetensorsPlan){.file = file, .list = list};
    Search search = {.plan = plan, .options = options};
    plan->from = memory_new(((size_t)list->count + 1) * sizeof(int64_t));
    search.used = memory_new((size_t)safetensors_count(file) + 1);
    Status status = plan->from && search.used ? STATUS_OK : STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < list->count && !status; i++) plan->from[i] = -1;
    for (int i = 0; i < list->count && !status; i++) status = place(&search, i);
    if (!status) look_for_gaps(&search);
    memory_free(search.used);
    return status ? status : tell(&search.complaints, safetensors_input(file)->name, what);
}

Status safetensors_follow(const SafetensorsPlan *plan) {
    Status status = STATUS_OK;
    for (int i = 0; i < plan->list->count && !status; i++)
        if (plan->from[i] >= 0)
            status = safetensors_read(plan->file, plan->from[i], plan->list->items[i].tensor);
    return status;
}

void safetensors_plan_free(SafetensorsPlan *plan) {
    memory_free(plan->from);
    *plan = (SafetensorsPlan){0};
}

// ---- layers ------------------------------------------------------------------------------------
Status safetensors_save(const Layer *layer, const char *path) {
    static const char *const format[] = {"format", "pt"}; // transformers refuses files without it
    ParameterList list;
    if (error_pending() || layer_state(layer, &list)) return error_status();
    Status status = safetensors_write(&list, format, 1, path);
    parameter_list_free(&list);
    return status;
}

Status safetensors_load(Layer *layer, const char *path, SafetensorsOptions options) {
    ParameterList list;
    if (error_pending() || layer_state(layer, &list)) return error_status();
    SafetensorsPlan plan = {0};
    Safetensors *file = safetensors_open(path);
    Status status =
        file ? safetensors_plan(file, &list, layer->type->name, options, &plan) : error_status();
    if (!status) status = safetensors_follow(&plan);
    safetensors_plan_free(&plan);
    safetensors_close(file);
    parameter_list_free(&list);
    return status;
}
