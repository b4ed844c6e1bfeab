// values.c -- the values of a graph by name, the numbers of constants, and a node's inputs and
// attributes. Runs nothing.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/context.h"
#include "tensor/math.h"
#include "tensor/memory.h"
#include "tensor/op.h"

// Bound on elements of computed constants held at any time: half a gigabyte. A graph of thousands
// of nodes about shapes and masks needs a few hundred thousand.
static const int64_t MOST_HELD = (int64_t)1 << 26;
// Bound on elements of all constants computed or read on the way: a few seconds.
static const int64_t MOST_WORKED = (int64_t)1 << 30;
// Bound on numbers that a model has in excess of its file: a gigabyte.
static const int64_t MOST_COPIED = (int64_t)1 << 28;
// Bound on listed assumptions: more than anyone reads.
enum { MOST_ASSUMED = 1000 };

Status import_error(const Import *import, Status status, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(status, "onnx: %s: %s%s", import->text, text,
                     strstr(text, "HINT: ")             ? ""
                     : status == STATUS_NOT_IMPLEMENTED ? ". HINT: export the model without it"
                     : status == STATUS_OUT_OF_MEMORY
                         ? ". HINT: smaller inputs"
                         : ". HINT: onnx.checker.check_model(model, "
                           "full_check=True) looks at all of the file");
}

static bool is_assumed(const OnnxModel *about, const char *what, const char *taken) {
    for (int i = 0; i < about->n_assumed; i++)
        if (strcmp(about->assumed[i].what, what) == 0 &&
            strcmp(about->assumed[i].taken, taken) == 0)
            return true;
    return false;
}

Status import_assume(Import *import, const char *what, const char *taken, ...) {
    OnnxModel *about = import->about;
    char text[512];
    va_list arguments;
    va_start(arguments, taken);
    vsnprintf(text, sizeof text, taken, arguments);
    va_end(arguments);
    if (about->n_assumed > MOST_ASSUMED) return STATUS_OK;
    if (about->n_assumed == MOST_ASSUMED) {
        what = "more of the kind";
        snprintf(text, sizeof text, "not listed");
    }
    if (is_assumed(about, what, text) ||
        import_grow((void **)&about->assumed, about->n_assumed, sizeof(OnnxAssumption)))
        return error_status();
    OnnxAssumption *next = &about->assumed[about->n_assumed];
    next->what = memory_copy_string(what);
    next->taken = next->what ? memory_copy_string(text) : NULL;
    if (next->taken) {
        about->n_assumed++;
    } else {
        memory_free(next->what);
        next->what = NULL;
    }
    return error_status();
}

// ---- values by name ---------------------------------------------------------------------------
static int bucket_of(const Import *import, const char *name) {
    uint32_t hash = 2166136261u; // Fowler, Noll, Vo
    for (const char *c = name; *c; c++) hash = (hash ^ (uint8_t)*c) * 16777619u;
    return (int)(hash % (uint32_t)import->n_buckets);
}

int import_find(const Import *import, const char *name) {
    if (!name || !name[0] || import->n_buckets == 0) return VALUE_ABSENT;
    int at = import->buckets[bucket_of(import, name)] - 1;
    while (at >= 0 && strcmp(import->values[at]->name, name) != 0) at = import->chain[at] - 1;
    while (at >= 0 && import->values[at]->alias >= 0) at = import->values[at]->alias;
    return at;
}

static Status grow(Import *import) {
    size_t old = (size_t)import->value_room, more = old ? old * 2 : 64;
    Value **values = memory_resize(import->values, old * sizeof *values, more * sizeof *values);
    if (!values) return error_status();
    import->values = values;
    int *chain = memory_resize(import->chain, old * sizeof *chain, more * sizeof *chain);
    if (!chain) return error_status();
    import->chain = chain;
    import->value_room = (int)more;
    return STATUS_OK;
}

int import_value_new(Import *import, const char *name) {
    if (import->n_values == import->value_room && grow(import)) return VALUE_ABSENT;
    Value *value = memory_new(sizeof *value);
    if (!value) return VALUE_ABSENT;
    int at = import->n_values;
    *value = (Value){
        .name = name ? name : "", .step = -1, .alias = -1, .twin = -1, .role_step = -1, .slot = -1};
    import->values[import->n_values++] = value;
    import->chain[at] = 0;
    if (value->name[0] && import->n_buckets > 0) {
        int *bucket = &import->buckets[bucket_of(import, name)];
        import->chain[at] = *bucket;
        *bucket = at + 1;
    }
    return at;
}

int import_constant(Import *import, int type, Shape shape) {
    int at = import_value_new(import, NULL);
    if (at >= 0 && value_make(import, import->values[at], type, shape)) at = VALUE_ABSENT;
    return at;
}

Value *import_value(const Import *import, int index) {
    return index >= 0 ? import->values[index] : NULL;
}

// ---- numbers of constants ---------------------------------------------------------------------
Status import_work(Import *import, int64_t count) {
    import->worked += count < MOST_WORKED ? count : MOST_WORKED;
    if (import->worked <= MOST_WORKED) return STATUS_OK;
    return import_error(import, STATUS_OUT_OF_MEMORY,
                        "constants of more than %lld numbers in all. HINT: smaller inputs",
                        (long long)MOST_WORKED);
}

Status import_room(Import *import, int64_t count) {
    if (count <= MOST_HELD - import->held) return STATUS_OK;
    return import_error(import, STATUS_OUT_OF_MEMORY,
                        "constants of more than %lld numbers. HINT: smaller inputs",
                        (long long)MOST_HELD);
}

// Counts a constant of this shape; -1 with an error pending where it exceeds a bound.
static int64_t reserve(Import *import, Shape shape) {
    int64_t count = 1; // with 0 taken as 1, so that overflow shows anyway
    for (int i = 0; i < shape.ndim; i++)
        if (shape.dims[i] < 0 ||
            __builtin_mul_overflow(count, shape.dims[i] ? shape.dims[i] : 1, &count)) {
            import_error(import, STATUS_OVERFLOW, "a constant of the size %lld",
                         (long long)shape.dims[i]);
            return -1;
        }
    if (import_work(import, count)) return -1;
    count = shape_numel(shape);
    return import_room(import, count) ? -1 : count;
}

// A tensor on the host, with data: the walk's own context has no data.
static Tensor *host_new(Import *import, int type, Shape shape) {
    if (!onnx_is_known(type))
        import_error(import, STATUS_NOT_IMPLEMENTED, "a constant of type %s (%d) is not read",
                     onnx_type_name(type), type);
    if (error_pending() || reserve(import, shape) < 0) return NULL;
    context_push(import->host);
    Tensor *tensor = tensor_new(shape, onnx_dtype(type));
    context_pop();
    return tensor;
}

Status value_set(Import *import, Value *value, int type, Tensor *data) {
    if (!data) return error_status();
    value->kind = VALUE_CONSTANT;
    value->type = type;
    value->shape = data->shape;
    value->data = data;
    import->held += data->numel;
    return STATUS_OK;
}

Status value_make(Import *import, Value *value, int type, Shape shape) {
    Tensor *data = host_new(import, type, shape);
    if (data && data->numel > 0) memset(tensor_raw(data), 0, (size_t)tensor_bytes(data));
    return value_set(import, value, type, data);
}

const Tensor *value_data(Import *import, Value *value) {
    if (value->data || error_pending()) return value->data;
    if (value->kind == VALUE_RUN || !value->stored)
        return import_given_data(import, value) ? NULL : value->data;
    int64_t count = shape_numel(value->shape);
    if (onnx_stored_check(import, value->stored, count)) return NULL;
    Tensor *data = host_new(import, value->type, value->shape);
    if (!data) return NULL;
    Status status = data->dtype == DTYPE_INT64
                        ? onnx_stored_integers(import, value->stored, count, tensor_labels(data))
                        : onnx_stored_floats(import, value->stored, count, tensor_data(data));
    if (status) {
        tensor_free(data);
        return NULL;
    }
    import->held += count;
    value->data = data;
    return data;
}

bool value_is_one(Import *import, Value *value, const char *what) {
    if (!value_data(import, value)) return false;
    if (value->data->numel == 1) return true;
    import_error(import, STATUS_SHAPE, "its %s has %lld numbers and must have one", what,
                 (long long)value->data->numel);
    return false;
}

void value_drop(Import *import, Value *value) {
    if (!value->data) return;
    import->held -= value->data->numel;
    tensor_free(value->data);
    value->data = NULL;
}

int64_t *value_integers(const Value *value) { return (int64_t *)(void *)tensor_raw(value->data); }
float *value_floats(const Value *value) { return (float *)(void *)tensor_raw(value->data); }

double value_number(const Value *value, int64_t index) {
    if (value->data->dtype == DTYPE_INT64) return (double)value_integers(value)[index];
    return (double)value_floats(value)[index];
}

int64_t value_integer(const Value *value, int64_t index) {
    if (value->data->dtype == DTYPE_INT64) return value_integers(value)[index];
    return math_to_int64(value_floats(value)[index]);
}

Status import_copies(Import *import, const Value *value, int64_t count) {
    import->copied += count < MOST_COPIED ? count : MOST_COPIED;
    if (import->copied <= MOST_COPIED) return STATUS_OK;
    return import_error(import, STATUS_OUT_OF_MEMORY,
                        "copies of \"%s\" and others of more than %lld numbers", value->name,
                        (long long)MOST_COPIED);
}

void import_free(Import *import) {
    for (int i = 0; i < import->n_values; i++) {
        tensor_free(import->values[i]->tensor);
        tensor_free(import->values[i]->data);
        memory_free(import->values[i]->path);
        memory_free(import->values[i]);
    }
    for (int i = 0; i < import->n_steps; i++) {
        step_free(import->steps[i]);
    }
    memory_free(import->values);
    memory_free(import->steps);
    memory_free(import->chain);
    memory_free(import->buckets);
    memory_free(import->targets);
    memory_free(import->sizes);
    context_free(import->host);
    import_inline_free(import);
    onnx_file_free(import);
}

// ---- a node's inputs and attributes -----------------------------------------------------------
int node_input_index(const Import *import, const Node *node, int i) {
    return i < (int)node->n_input ? import_find(import, node->input[i]) : VALUE_ABSENT;
}

Value *node_input(const Import *import, const Node *node, int i) {
    return import_value(import, node_input_index(import, node, i));
}

Value *node_output(const Import *import, const Node *node, int i) {
    return i < (int)node->n_output ? import_value(import, import_find(import, node->output[i]))
                                   : NULL;
}

const Onnx__Attribute *attribute_find(const Node *node, const char *name) {
    for (size_t i = 0; i < node->n_attribute; i++)
        if (strcmp(node->attribute[i]->name, name) == 0) return node->attribute[i];
    return NULL;
}

int64_t attribute_int(const Node *node, const char *name, int64_t otherwise) {
    const Onnx__Attribute *found = attribute_find(node, name);
    return found ? found->i : otherwise; // a missing i is 0: proto3 writers leave zeros out
}

float attribute_float(const Node *node, const char *name, float otherwise) {
    const Onnx__Attribute *found = attribute_find(node, name);
    return found ? found->f : otherwise;
}

int attribute_ints(const Node *node, const char *name, int64_t *out, int room) {
    const Onnx__Attribute *found = attribute_find(node, name);
    if (!found) return -1;
    for (size_t i = 0; i < found->n_ints && i < (size_t)room; i++) out[i] = found->ints[i];
    return found->n_ints > INT32_MAX ? INT32_MAX : (int)found->n_ints;
}

bool attribute_is(const Node *node, const char *name, const char *text, bool otherwise) {
    const Onnx__Attribute *found = attribute_find(node, name);
    if (!found || !found->has_s) return otherwise;
    return found->s.len == strlen(text) && memcmp(found->s.data, text, found->s.len) == 0;
}

int import_ints(Import *import, const Node *node, const char *name, int i, int64_t *out, int room) {
    int count = name ? attribute_ints(node, name, out, room) : -1;
    Value *value = count < 0 ? node_input(import, node, i) : NULL;
    if (value && value_data(import, value)) {
        int64_t n = shape_numel(value->shape);
        for (int64_t k = 0; k < n && k < room; k++) out[k] = value_integer(value, k);
        count = n > INT32_MAX ? INT32_MAX : (int)n;
    }
    if (count > room)
        import_error(import, STATUS_FORMAT, "%d numbers where at most %d can be", count, room);
    return count;
}

int import_axis(Import *import, int64_t axis, int ndim) {
    if (axis >= -ndim && axis < ndim) return (int)(axis < 0 ? axis + ndim : axis);
    import_error(import, STATUS_FORMAT, "axis %lld of %d dimensions", (long long)axis, ndim);
    return -1;
}

const char *onnx_text_of(Onnx__Text *const entries[], size_t n, const char *key) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(entries[i]->key, key) == 0) return entries[i]->value;
    return NULL;
}

const char *onnx_recorded(const Node *node, const char *key) {
    return onnx_text_of(node->metadata_props, node->n_metadata_props, key);
}
