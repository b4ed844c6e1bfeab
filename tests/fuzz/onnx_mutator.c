// onnx_mutator.c -- one to four changes of a model that protobuf-c has unpacked. All memory comes
// from an arena, so that changes can allocate freely and nothing is freed before the end.
#include "tests/fuzz/onnx_mutator.h"

#include <onnx.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/onnx/schema.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_BYTES = 1 << 22, MOST_NAMES = 256 };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct Arena {
    size_t used;
    _Alignas(16) char bytes[ARENA_BYTES];
} Arena;

typedef struct Change {
    unsigned state; // of the random numbers
    Arena *arena;
    Onnx__Model *model;
    Onnx__Graph *graph;
} Change;

static unsigned below(Change *change, size_t n) {
    change->state = change->state * 1664525u + 1013904223u;
    return n ? (unsigned)((change->state >> 8) % n) : 0;
}

// ---- memory ------------------------------------------------------------------------------------
static void *take(void *of, size_t size) {
    Arena *arena = of;
    size_t rounded = (size + 15) / 16 * 16;
    if (rounded > sizeof arena->bytes - arena->used) return NULL;
    void *block = arena->bytes + arena->used;
    arena->used += rounded;
    return block;
}

static void give_back(void *of, void *block) { (void)of, (void)block; }

// A copy of the list with room for one more; the old list if memory runs out.
static void *longer(Change *change, const void *list, size_t n, size_t size) {
    void *copy = take(change->arena, (n + 1) * size);
    if (copy && n > 0) memcpy(copy, list, n * size);
    return copy;
}

// ---- values that often break readers -----------------------------------------------------------
static int64_t strange(Change *change, int64_t was) {
    static const int64_t numbers[] = {0,
                                      1,
                                      -1,
                                      2,
                                      3,
                                      7,
                                      -2,
                                      16,
                                      255,
                                      INT32_MAX,
                                      INT64_C(1) << 31,
                                      INT64_C(1) << 32,
                                      INT64_C(1) << 53,
                                      INT64_C(1) << 61,
                                      INT64_C(1) << 62,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT32_MIN};
    if (below(change, 3) == 0) return (int64_t)((uint64_t)was + below(change, 5) - 2);
    return numbers[below(change, COUNT(numbers))];
}

static float strange_real(Change *change) {
    static const float numbers[] = {0.0f, 1.0f, -1.0f, 0.5f, 2.5f, 1e-30f, 1e9f, 3e9f, 1e30f};
    return numbers[below(change, COUNT(numbers))];
}

static int32_t type(Change *change) { return (int32_t)below(change, 18); }

// ---- names -------------------------------------------------------------------------------------
// The name of any value, or of one that an earlier node, input or constant makes.
static char *value_name(Change *change) {
    const Onnx__Graph *graph = change->graph;
    char *names[MOST_NAMES];
    size_t n = 0;
    for (size_t i = 0; i < graph->n_input && n < MOST_NAMES; i++)
        names[n++] = graph->input[i]->name;
    for (size_t i = 0; i < graph->n_initializer && n < MOST_NAMES; i++)
        names[n++] = graph->initializer[i]->name;
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output && n < MOST_NAMES; k++)
            names[n++] = graph->node[i]->output[k];
    static char none[] = "";
    char *name = n == 0 || below(change, 16) == 0 ? none : names[below(change, n)];
    return name ? name : none; // a constant may have no name; a list of names has only names
}

static char *text_copy(Change *change, const char *text, size_t length) {
    char *copy = take(change->arena, length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static const Schema *any_schema(Change *change) {
    const SchemaDomain *domain = &onnx_domains[below(change, 8) == 0];
    size_t n = 0;
    while (domain->operators[n].name) n++;
    return &domain->operators[below(change, n)];
}

static Onnx__Node *any_node(Change *change) {
    const Onnx__Graph *graph = change->graph;
    return graph->n_node ? graph->node[below(change, graph->n_node)] : NULL;
}

// ---- nodes -------------------------------------------------------------------------------------
static void change_operator(Change *change, Onnx__Node *node) {
    const char *name = any_schema(change)->name;
    node->op_type = text_copy(change, name, strlen(name));
}

static void change_wire(Change *change, Onnx__Node *node) {
    unsigned kind = below(change, 4);
    if (kind == 0 && node->n_input > 0) {
        node->n_input--;
    } else if (kind == 1 || node->n_input == 0) {
        char **inputs = longer(change, node->input, node->n_input, sizeof *inputs);
        if (!inputs) return;
        inputs[node->n_input++] = value_name(change);
        node->input = inputs;
    } else {
        node->input[below(change, node->n_input)] = value_name(change);
    }
}

// Inserts a copy of the node after it, with results of its own; or removes a node; or swaps two.
static void change_nodes(Change *change, Onnx__Node *node) {
    Onnx__Graph *graph = change->graph;
    size_t at = below(change, graph->n_node), other = below(change, graph->n_node);
    unsigned kind = below(change, 3);
    if (kind == 0) {
        graph->node[at] = graph->node[--graph->n_node];
    } else if (kind == 1) {
        Onnx__Node *kept = graph->node[at];
        graph->node[at] = graph->node[other];
        graph->node[other] = kept;
    } else {
        Onnx__Node **nodes = longer(change, graph->node, graph->n_node, sizeof *nodes);
        Onnx__Node *copy = take(change->arena, sizeof *copy);
        char **outputs = longer(change, node->output, node->n_output, sizeof *outputs);
        char name[24];
        int length = snprintf(name, sizeof name, "v%u", change->state >> 16);
        char *result = text_copy(change, name, (size_t)length);
        if (!nodes || !copy || !outputs || !result) return;
        *copy = *node;
        copy->output = outputs;
        if (copy->n_output > 0) copy->output[0] = result;
        if (below(change, 2)) change_operator(change, copy);
        nodes[graph->n_node++] = copy;
        graph->node = nodes;
    }
}

// ---- attributes --------------------------------------------------------------------------------
static void fill_attribute(Change *change, Onnx__Attribute *attribute,
                           const SchemaAttribute *told) {
    switch (told->type) {
    case 'i':
        attribute->has_i = true;
        attribute->i = told->values ? atoi(told->values) : strange(change, 1);
        attribute->type = 2;
        break;
    case 'f':
        attribute->has_f = true;
        attribute->f = strange_real(change);
        attribute->type = 1;
        break;
    case 's':
        attribute->has_s = true;
        attribute->s.data = (uint8_t *)text_copy(change, told->values ? told->values : "same",
                                                 told->values ? strcspn(told->values, "| <") : 4);
        attribute->s.len = attribute->s.data ? strlen((char *)attribute->s.data) : 0;
        attribute->type = 3;
        break;
    default:
        attribute->ints = take(change->arena, 4 * sizeof *attribute->ints);
        attribute->n_ints = attribute->ints ? below(change, 5) : 0;
        for (size_t i = 0; i < attribute->n_ints; i++) attribute->ints[i] = strange(change, 1);
        attribute->type = 7;
        break;
    }
    attribute->has_type = true;
}

// Adds an attribute from the schema of the node's operator or, without a schema, another node's.
static void add_attribute(Change *change, Onnx__Node *node) {
    const Schema *schema = schema_find(node->domain, node->op_type);
    Onnx__Attribute **all = longer(change, node->attribute, node->n_attribute, sizeof *all);
    Onnx__Attribute *attribute = take(change->arena, sizeof *attribute);
    const Onnx__Node *other = any_node(change);
    if (!all || !attribute) return;
    const char *at = schema ? schema->attributes : NULL;
    SchemaAttribute told = {.name = NULL}, next;
    for (unsigned left = below(change, 8); at && schema_next(&at, false, &next);) {
        told = next;
        if (left-- == 0) break;
    }
    onnx__attribute__init(attribute);
    if (told.name) {
        attribute->name = text_copy(change, told.name, (size_t)told.length);
        fill_attribute(change, attribute, &told);
    } else if (other->n_attribute > 0) {
        *attribute = *other->attribute[below(change, other->n_attribute)];
    }
    all[node->n_attribute++] = attribute;
    node->attribute = all;
}

static void change_tensor(Change *change, Onnx__Tensor *tensor);

static void change_attribute(Change *change, Onnx__Node *node) {
    unsigned kind = below(change, 4);
    if (kind == 0 || node->n_attribute == 0) {
        add_attribute(change, node);
        return;
    }
    Onnx__Attribute *attribute = node->attribute[below(change, node->n_attribute)];
    if (kind == 1 && below(change, 2)) {
        node->attribute[0] = node->attribute[--node->n_attribute];
    } else if (attribute->t) {
        change_tensor(change, attribute->t);
    } else if (attribute->n_ints > 0) {
        int64_t *one = &attribute->ints[below(change, attribute->n_ints)];
        *one = strange(change, *one);
        attribute->n_ints -= below(change, 8) == 0;
    } else if (attribute->has_i) {
        attribute->i = strange(change, attribute->i);
    } else if (attribute->n_floats > 0) {
        attribute->floats[below(change, attribute->n_floats)] = strange_real(change);
    } else if (attribute->has_s && attribute->s.len > 0) {
        attribute->s.len = LLVMFuzzerMutate(attribute->s.data, attribute->s.len, attribute->s.len);
    } else {
        attribute->f = strange_real(change);
    }
}

// ---- constants, sizes, versions ----------------------------------------------------------------
// Changes one of the tensor's numbers; an integer mostly to one that often breaks readers.
static void change_numbers(Change *change, Onnx__Tensor *tensor) {
    if (tensor->n_int64_data > 0) {
        int64_t *one = &tensor->int64_data[below(change, tensor->n_int64_data)];
        *one = strange(change, *one);
    } else if (tensor->data_type == 7 && tensor->raw_data.len >= 8) {
        uint8_t *at = tensor->raw_data.data + 8 * below(change, tensor->raw_data.len / 8);
        int64_t number;
        memcpy(&number, at, 8);
        number = strange(change, number);
        memcpy(at, &number, 8);
    } else if (tensor->data_type == 1 && tensor->raw_data.len >= 4) {
        float number = strange_real(change);
        memcpy(tensor->raw_data.data + 4 * below(change, tensor->raw_data.len / 4), &number, 4);
    } else if (tensor->n_float_data > 0) {
        tensor->float_data[below(change, tensor->n_float_data)] = strange_real(change);
    }
}

static void change_tensor(Change *change, Onnx__Tensor *tensor) {
    switch (below(change, 6)) {
    case 0:
        if (tensor->n_dims > 0) tensor->n_dims--;
        break;
    case 1:
        if (tensor->n_dims > 0) {
            int64_t *one = &tensor->dims[below(change, tensor->n_dims)];
            *one = strange(change, *one);
        }
        break;
    case 2:
        tensor->has_data_type = true;
        tensor->data_type = type(change);
        break;
    default:
        change_numbers(change, tensor);
    }
}

static void change_dimension(Change *change, Onnx__Dimension *dim) {
    static char open[] = "n";
    if (below(change, 4) == 0) {
        dim->has_dim_value = false;
        dim->dim_param = open;
    } else {
        dim->dim_param = NULL;
        dim->has_dim_value = true;
        dim->dim_value = strange(change, dim->dim_value);
    }
}

static void change_value(Change *change, Onnx__ValueInfo *value) {
    Onnx__TensorType *tensor = value->type ? value->type->tensor_type : NULL;
    Onnx__Sizes *shape = tensor ? tensor->shape : NULL;
    if (shape && shape->n_dim > 0 && below(change, 4))
        change_dimension(change, shape->dim[below(change, shape->n_dim)]);
    else if (shape && shape->n_dim > 0 && below(change, 2))
        shape->n_dim--;
    else if (tensor)
        tensor->elem_type = type(change);
    if (below(change, 16) == 0) value->name = value_name(change);
}

static void change_version(Change *change) {
    Onnx__Model *model = change->model;
    if (model->n_opset_import == 0) return;
    Onnx__Opset *opset = model->opset_import[below(change, model->n_opset_import)];
    opset->has_version = true;
    opset->version = 5 + (int64_t)below(change, 25);
}

static void change_graph(Change *change) {
    Onnx__Graph *graph = change->graph;
    unsigned kind = below(change, 16);
    Onnx__Node *node = any_node(change);
    if (kind < 3 && graph->n_initializer > 0)
        change_tensor(change, graph->initializer[below(change, graph->n_initializer)]);
    else if (kind < 6 && graph->n_input > 0)
        change_value(change, graph->input[below(change, graph->n_input)]);
    else if (kind == 6 && graph->n_value_info > 0)
        change_value(change, graph->value_info[below(change, graph->n_value_info)]);
    else if (kind == 7 && graph->n_output > 0)
        graph->output[below(change, graph->n_output)]->name = value_name(change);
    else if (kind == 8)
        change_version(change);
    else if (node && kind < 10)
        change_operator(change, node);
    else if (node && kind < 12)
        change_wire(change, node);
    else if (node && kind < 13)
        change_nodes(change, node);
    else if (node)
        change_attribute(change, node);
}

size_t onnx_mutate(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    static Arena arena;
    ProtobufCAllocator allocator = {take, give_back, &arena};
    arena.used = 0;
    Change change = {.state = seed, .arena = &arena};
    if (below(&change, 10)) change.model = onnx__model__unpack(&allocator, size, bytes);
    if (!change.model || !change.model->graph) return LLVMFuzzerMutate(bytes, size, most);
    change.graph = change.model->graph;
    for (unsigned i = 1 + below(&change, 4); i > 0; i--) change_graph(&change);
    size_t packed = onnx__model__get_packed_size(change.model);
    if (packed > most) return LLVMFuzzerMutate(bytes, size, most);
    return onnx__model__pack(change.model, bytes);
}
