// names.c -- the places of steps and parameters in PyTorch's tree of modules, as far as the
// exporter recorded them. Ties between parameters: ties.c.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

enum { MOST_DEPTH = 64 }; // of modules, because recursion walks the tree

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

char *onnx_part(const char *text, size_t length) {
    char *part = memory_new(length + 1);
    if (part) memcpy(part, text, length);
    return part;
}

// True if the name is one of these, or one with a number after it: "exp_3".
static bool is_numbered(const char *name, const char *const these[], size_t count) {
    size_t n = strlen(name);
    while (n > 0 && isdigit((unsigned char)name[n - 1])) n--;
    if (name[n] != '\0' && n > 0 && name[n - 1] == '_') n--;
    for (size_t i = 0; i < count; i++)
        if (strlen(these[i]) == n && memcmp(name, these[i], n) == 0) return true;
    return false;
}

// True for "embedding", "expand_3": the folded result of a PyTorch operator. No parameter's own
// name is one of these without a dot, but the value may be a parameter in another shape.
static bool is_moved_by_op(const char *name) {
    static const char *const ops[] = {
        "embedding",  "expand",      "add",       "mul",     "sub", "div",    "view",   "reshape",
        "where",      "select",      "transpose", "permute", "cat", "stack",  "clone",  "slice",
        "index",      "unsqueeze",   "squeeze",   "gather",  "neg", "linear", "repeat", "sqrt",
        "getitem",    "masked_fill", "matmul",    "tile",    "log", "to",     "t",      "sigmoid",
        "contiguous", "conv2d",      "bmm",       "mm",      "pow"};
    return is_numbered(name, ops, sizeof ops / sizeof ops[0]);
}

bool onnx_name_is_turned(const char *name) {
    static const char *const ops[] = {"t",     "transpose",  "permute", "view",    "reshape",
                                      "clone", "contiguous", "squeeze", "to",      "unsqueeze",
                                      "flip",  "roll",       "val",     "_to_copy"};
    return is_numbered(name, ops, sizeof ops / sizeof ops[0]);
}

bool onnx_name_is_moved(const char *name) {
    static const char *const ops[] = {"embedding", "index", "select", "slice", "gather"};
    return is_numbered(name, ops, sizeof ops / sizeof ops[0]);
}

// True for the result of an operator on nothing learned: positions, frequencies, masks.
bool onnx_name_is_computed(const char *name) {
    static const char *const ops[] = {"full",      "zeros",     "ones",      "arange", "triu",
                                      "tril",      "linspace",  "sin",       "cos",    "exp",
                                      "full_like", "ones_like", "zeros_like"};
    return is_numbered(name, ops, sizeof ops / sizeof ops[0]) ||
           begins(name, "convert_element_type_default");
}

// True for "layer1.0.conv1.weight" or "cls_token"; not "onnx::Conv_193", "/Constant_output_0".
static bool is_path(const char *name) {
    int dots = 0;
    for (const char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("_.-", *c)) return false;
        if (*c == '.' && (c == name || c[1] == '.' || c[1] == '\0')) return false;
        dots += *c == '.';
    }
    return name[0] != '\0' && dots < MOST_DEPTH;
}

char *onnx_path_checked(char *path) {
    if (!path || is_path(path)) return path;
    memory_free(path);
    return NULL;
}

bool onnx_name_is_path(const char *name) {
    static const char *const made[] = {
        "val_", "_val", "lifted_tensor", "_tensor_constant", "scalar_tensor", "const_", "onnx_"};
    if (is_moved_by_op(name) || onnx_name_is_computed(name)) return false;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        if (begins(name, made[i])) return false;
    if (!isalpha((unsigned char)name[0]) && name[0] != '_' && !strchr(name, '.')) return false;
    return is_path(name);
}

// True for "layer.0.weight", "rnn.weight_ih_l0", "attn.in_proj_bias" or
// "parametrizations.weight.original0"; not for u and v, the buffers of a spectral norm.
bool onnx_name_is_layers(const char *name) {
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    const char *projection = strstr(last, "proj_"), *word = projection ? projection + 5 : last;
    size_t n = strcspn(word, "_");
    return ((n == 6 && strncmp(word, "weight", n) == 0) ||
            (n == 4 && strncmp(word, "bias", n) == 0) || strncmp(word, "original", 8) == 0) &&
           strcmp(word, "weight_u") != 0 && strcmp(word, "weight_v") != 0;
}

// True for "dense/bias", and for a plain word as "t", which an exporter may give to what it folds.
bool onnx_name_has_word(const char *name) {
    static const char *const words[] = {"weight", "bias", "kernel", "gamma", "beta", "alpha"};
    bool has = strspn(name, "abcdefghijklmnopqrstuvwxyz") == strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) has |= !!strstr(name, words[i]);
    return has;
}

bool onnx_name_ends_as_weight(const char *name) {
    static const char *const words[] = {"weight", "bias", "gamma", "beta"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(name), m = strlen(words[i]);
        if (n >= m && strcmp(name + n - m, words[i]) == 0) return true;
    }
    return false;
}

// True for "onnx::Conv_193": the older exporter keeps the name of every weight that a convolution,
// or a product by rows, reads as it was. And for "c1.weight_bias", by which the newer one calls the
// bias of a convolution that had none.
bool onnx_name_is_lost(const char *name) {
    static const char made[] = ".weight_bias";
    size_t n = strlen(name), m = sizeof made - 1;
    return strncmp(name, "onnx::Conv", 10) == 0 || strncmp(name, "onnx::Gemm_", 11) == 0 ||
           (n > m && strcmp(name + n - m, made) == 0);
}

// True if two paths differ in numbers only. "layers.0.fc.weight" and "layers.1.fc.weight" come from
// a block that was copied before training; tied weights have other names.
bool onnx_paths_are_copies(const char *a, const char *b) {
    while (*a || *b) {
        while (*a >= '0' && *a <= '9') a++;
        while (*b >= '0' && *b <= '9') b++;
        if (*a != *b) return false;
        if (*a) a++, b++;
    }
    return true;
}

// ---- the place of a node ----------------------------------------------------------------------
// "/layer1/layer1.0/conv1/Conv": a component that extends the previous one replaces it.
static char *path_of_node_name(const char *name) {
    size_t length = 0, last = 0, last_length = 0;
    char *path = memory_new(strlen(name) + 1);
    if (!path) return NULL;
    for (const char *part = name + 1, *end; (end = strchr(part, '/')); part = end + 1) {
        size_t n = (size_t)(end - part);
        bool goes_on = last_length > 0 && n > last_length && part[last_length] == '.' &&
                       strncmp(part, path + last, last_length) == 0;
        if (goes_on)
            length = last;
        else if (length > 0)
            path[length++] = '.';
        last = length;
        last_length = n;
        memcpy(path + length, part, n);
        length += n;
        path[length] = '\0';
    }
    return path;
}

// The second to last of "['', 'layer1', 'layer1.0', 'layer1.0.relu', 'relu_1']".
static char *path_of_scopes(const char *scopes) {
    const char *begin[2] = {"", ""};
    size_t length[2] = {0};
    for (const char *at = strchr(scopes, '\''); at; at = strchr(at, '\'')) {
        const char *end = strchr(at + 1, '\'');
        if (!end) break;
        begin[0] = begin[1], length[0] = length[1];
        begin[1] = at + 1, length[1] = (size_t)(end - at - 1);
        at = end + 1;
    }
    return onnx_part(begin[0], length[0]);
}

static const char *scopes_of(const Node *node) {
    return onnx_recorded(node, "pkg.torch.onnx.name_scopes");
}

bool onnx_is_placed(const Node *node) { return node->name[0] == '/' || scopes_of(node); }

char *onnx_path_of_node(const Node *node) {
    const char *scopes = scopes_of(node);
    if (scopes) return path_of_scopes(scopes);
    return onnx_is_placed(node) ? path_of_node_name(node->name) : memory_copy_string("");
}

// True if both nodes are in the same layer or, with `copies`, in two copies of one.
static bool are_alike(const Node *a, const Node *b, bool copies) {
    char *left = onnx_path_of_node(a), *right = left ? onnx_path_of_node(b) : NULL;
    bool same = right && strcmp(left, right) == 0;
    bool alike = copies ? right && !same && onnx_paths_are_copies(left, right) : same;
    memory_free(left);
    memory_free(right);
    return alike;
}

bool onnx_copied_layer(const Node *a, const Node *b) { return are_alike(a, b, true); }
bool onnx_same_layer(const Node *a, const Node *b) { return are_alike(a, b, false); }

char *onnx_path_moved(const char *of, const Node *from, const Node *to) {
    char *left = onnx_path_of_node(from), *right = left ? onnx_path_of_node(to) : NULL;
    size_t n = left ? strlen(left) : 0;
    bool below = right && n > 0 && strncmp(of, left, n) == 0 && of[n] == '.';
    char *moved = below ? memory_new(strlen(right) + strlen(of) + 1) : NULL;
    if (moved) sprintf(moved, "%s%s", right, of + n);
    memory_free(left);
    memory_free(right);
    return onnx_path_checked(moved);
}

// Tied weights have one layer's name; the other layers are where their nodes say. So are lookup
// tables, which no exporter fuses, and whose numbers a product may have transposed.
static bool is_elsewhere(const Value *weight, const Step *step, const char *path) {
    bool tied = weight->readers > 1 || strcmp(step->op->name, "Gather") == 0;
    char *said = tied ? onnx_path_of_node(step->node) : NULL;
    size_t length = said ? strlen(said) : 0;
    bool around = strncmp(path, said ? said : "", length) == 0 &&
                  (length == 0 || path[length] == '.' || path[length] == '\0');
    memory_free(said);
    return !around;
}

// A layer with a weight is at the weight's path, because fused nodes have the last one's name.
static char *path_of_weight(const Import *import, const Step *step) {
    for (int i = 0; i < step->n_in && step->op->module; i++) {
        const Value *value = import_value(import, step->in[i]);
        const char *own = value && value->kind == VALUE_PARAMETER ? value_path(value) : NULL;
        const char *dot = own ? strrchr(own, '.') : NULL;
        if (!dot) continue;
        char *path = onnx_part(own, (size_t)(dot - own));
        if (!path || !is_elsewhere(value, step, path)) return path;
        memory_free(path);
        return NULL;
    }
    return NULL;
}

// The older exporter numbers a module that is called again: "relu_1" becomes "relu", if that
// exists.
static void undo_number(const Import *import, char *path) {
    size_t n = strlen(path);
    while (n > 0 && isdigit((unsigned char)path[n - 1])) n--;
    if (n < 2 || path[n] == '\0' || path[n - 1] != '_') return;
    for (int i = 0; i < import->n_steps; i++) {
        const char *other = import->steps[i]->path;
        if (other && strncmp(other, path, n - 1) == 0 && other[n - 1] == '\0') {
            path[n - 1] = '\0';
            return;
        }
    }
}

Status import_paths(Import *import) {
    for (int i = 0; i < import->n_steps && !error_pending(); i++) {
        Step *step = import->steps[i];
        if (step->dead) continue;
        step->path = path_of_weight(import, step);
        bool by_weight = step->path != NULL;
        if (!step->path && !error_pending()) step->path = onnx_path_of_node(step->node);
        if (step->path && step->path[0] && !is_path(step->path)) step->path[0] = '\0';
        if (step->path && !by_weight && step->node->name[0] == '/') undo_number(import, step->path);
    }
    return error_status();
}
