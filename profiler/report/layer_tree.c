// layer_tree.c -- walks the layers, assigns each forward op to its layer and to all enclosing
// layers, and prints layers down to a depth.
#include "profiler/report/layer_tree.h"

#include <string.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"
#include "tensor/given.h"
#include "tensor/memory.h"

typedef struct Node { // a layer, and all below
    const Layer *layer;
    char path[sizeof(((ProfileLayer *)0)->path)]; // "" if it is too long
    int depth, parent, end;                       // its subtree is [own index, end)
    int64_t parameters, trainable;                // those not counted in an earlier layer
    bool tied;                                    // it also has parameters counted earlier
    uint64_t macs;
    Shape output; // ndim -1: no op ran
} Node;

typedef struct Tree {
    Node *nodes; // in walking order: parents before children, the model first
    int n;
    const Tensor **seen; // parameters counted so far
    int n_seen;
} Tree;

// ---- layers and parameters ---------------------------------------------------------------------
static void count(const Layer *layer, int *layers, int *parameters) {
    ++*layers;
    *parameters += layer->n_parameters;
    for (int i = 0; i < layer->n_children; i++) count(layer->children[i], layers, parameters);
}

static bool see(Tree *tree, const Tensor *tensor) { // false: it was seen before
    for (int i = 0; i < tree->n_seen; i++)
        if (tree->seen[i] == tensor) return false;
    tree->seen[tree->n_seen++] = tensor;
    return true;
}

static void take_parameters(Tree *tree, Node *node) {
    for (int i = 0; i < node->layer->n_parameters; i++) {
        const Tensor *tensor = node->layer->parameters[i].tensor;
        bool first = see(tree, tensor);
        node->tied = node->tied || !first;
        if (first) node->parameters += tensor->numel;
        if (first && (tensor->flags & TENSOR_LEAF_GRAD)) node->trainable += tensor->numel;
    }
}

static void take_path(const Tree *tree, Node *node) {
    const char *around = node->parent >= 0 ? tree->nodes[node->parent].path : "";
    const char *name = node->parent >= 0 ? node->layer->name : "";
    bool hidden = node->parent > 0 && !around[0]; // the parent's path was too long
    size_t length = strlen(around) + strlen(name) + 2;
    if (!hidden && length <= sizeof(node->path))
        snprintf(node->path, sizeof(node->path), "%s%s%s", around, around[0] ? "." : "", name);
}

static void take_layer(Tree *tree, const Layer *layer, int parent) {
    int own = tree->n++;
    Node *node = &tree->nodes[own];
    *node = (Node){.layer = layer, .parent = parent, .output = {.ndim = -1}};
    node->depth = parent >= 0 ? tree->nodes[parent].depth + 1 : 0;
    take_path(tree, node);
    take_parameters(tree, node);
    for (int i = 0; i < layer->n_children; i++) take_layer(tree, layer->children[i], own);
    node->end = tree->n;
    if (parent < 0) return;
    tree->nodes[parent].parameters += node->parameters;
    tree->nodes[parent].trainable += node->trainable;
}

// ---- ops ---------------------------------------------------------------------------------------
// The innermost layer on a call site's path, because a layer may be called from outside its parent.
// -1: none, as for the loss.
static int find(const Tree *tree, const ProfileLayer *layer) {
    if (strcmp(layer->path, "(model)") == 0) return 0;
    int found = -1;
    size_t most = 0;
    for (int i = 1; i < tree->n; i++) {
        const char *path = tree->nodes[i].path;
        size_t length = strlen(path);
        bool around = length > most && strncmp(layer->path, path, length) == 0 &&
                      (layer->path[length] == '.' || !layer->path[length]);
        if (!around) continue;
        found = i;
        most = length;
    }
    return found;
}

static Status take_ops(Tree *tree, const Profile *profile) {
    int *nodes = memory_new((size_t)(profile->n_layers + 1) * sizeof(int));
    if (!nodes) return error_status();
    for (int i = 0; i < profile->n_layers; i++) nodes[i] = find(tree, &profile->layers[i]);
    for (int64_t i = 0; i < profile->n_ops; i++) {
        const ProfileOp *op = &profile->ops[i];
        if (op->record.phase != PHASE_FORWARD) continue;
        for (int at = nodes[op->layer]; at >= 0; at = tree->nodes[at].parent) {
            tree->nodes[at].macs += op->record.cost.macs;
            if (op->record.out.ndim >= 0) tree->nodes[at].output = op->record.out;
        }
    }
    memory_free(nodes);
    return STATUS_OK;
}

// ---- alike -------------------------------------------------------------------------------------
static bool same_layer(const Node *a, const Node *b) {
    char ours[512], theirs[512];
    return strcmp(a->layer->type->name, b->layer->type->name) == 0 &&
           a->parameters == b->parameters && a->trainable == b->trainable && a->tied == b->tied &&
           a->macs == b->macs && shape_equal(a->output, b->output) &&
           strcmp(layer_attributes_text(a->layer, ours, sizeof(ours)),
                  layer_attributes_text(b->layer, theirs, sizeof(theirs))) == 0;
}

static bool alike(const Tree *tree, int a, int b) {
    int size = tree->nodes[a].end - a;
    bool same = tree->nodes[b].end - b == size;
    for (int i = 0; i < size && same; i++) {
        const Node *ours = &tree->nodes[a + i], *theirs = &tree->nodes[b + i];
        same = same_layer(ours, theirs) && ours->end - a == theirs->end - b &&
               (i == 0 || strcmp(ours->layer->name, theirs->layer->name) == 0);
    }
    return same;
}

// ---- rows --------------------------------------------------------------------------------------
static const char *trains(const Node *node) {
    if (node->parameters == 0) return "";
    return node->trainable == node->parameters ? "yes" : node->trainable ? "part" : "no";
}

static void add_row(const Table *table, const Node *node, const Node *last, int times) {
    char label[256], shape[SHAPE_TEXT] = "-";
    int used = snprintf(label, sizeof(label), "%*s%.60s", 2 * (node->depth < 12 ? node->depth : 12),
                        "", node->layer->name);
    if (times > 1)
        used += snprintf(label + used, sizeof(label) - (size_t)used, "..%.60s x%d",
                         last->layer->name, times);
    snprintf(label + used, sizeof(label) - (size_t)used, "%s%.60s", node->parent >= 0 ? ": " : "",
             node->layer->type->name);
    if (node->output.ndim >= 0) shape_text(node->output, shape);
    Text count = text_short_count(node->parameters);
    if (node->parameters == 0) snprintf(count.s, sizeof(count.s), node->tied ? "(tied)" : "-");
    Text macs = node->macs ? text_short_count((int64_t)node->macs) : (Text){"-"};
    table_add(table, (TableCells){label, text_fit(shape, 20).s, count.s, trains(node), macs.s});
}

static void add_below(const Table *table, const Tree *tree, int around, int depth) {
    int end = tree->nodes[around].end, next;
    if (tree->nodes[around].depth >= depth) return;
    for (int at = around + 1; at < end; at = next) {
        int times = 1, last = at;
        next = tree->nodes[at].end;
        for (; next < end && alike(tree, at, next); times++) {
            last = next;
            next = tree->nodes[next].end;
        }
        add_row(table, &tree->nodes[at], &tree->nodes[last], times);
        add_below(table, tree, at, depth);
    }
}

// ---- totals ------------------------------------------------------------------------------------
static void print_totals(const Profile *profile, FILE *file) {
    int64_t frozen = profile->parameters - profile->trainable_parameters;
    const MemoryUse *peak = &profile->predicted.peak;
    fprintf(file, "\nparameters          %s (%s), of them frozen %s\n",
            text_count(profile->parameters).s, text_bytes_si(profile->parameter_bytes).s,
            text_count(frozen).s);
    fprintf(file, "MACs                %s forward, of %s\n",
            text_count((int64_t)profile->totals[REPORT_FORWARD].cost.macs).s,
            profile->accumulate > 1 ? "all batches of a step" : "the whole batch");
    fprintf(file, "inference           %s at its peak\n",
            text_bytes_si(profile->inference_bytes).s);
    if (profile->kind == PROFILE_INFERENCE) return;
    fprintf(file, "activations         %s kept by forward for backward\n",
            text_bytes_si(profile->predicted.saved_bytes).s);
    fprintf(file, "a training step     %s at its peak%s%s: all of the above,\n",
            text_bytes_si(peak->total).s, profile->optimizer[0] ? " with " : "",
            profile->optimizer);
    fprintf(file, "                    gradients, state, batch; %s of it activations\n",
            text_bytes_si(peak->category[MEM_ACTIVATION]).s);
}

static Status make(Tree *tree, const Profile *profile, const Layer *model) {
    int layers = 0, parameters = 0;
    count(model, &layers, &parameters);
    tree->nodes = memory_new((size_t)layers * sizeof(Node));
    tree->seen = memory_new((size_t)(parameters + 1) * sizeof(Tensor *));
    if (!tree->nodes || !tree->seen) return error_status();
    take_layer(tree, model, -1);
    return take_ops(tree, profile);
}

Status layer_tree_print(const Profile *profile, const Layer *model, int depth, FILE *file) {
    if (!GIVEN(profile) || !GIVEN(model) || !GIVEN(file)) return STATUS_INVALID_ARGUMENT;
    if (depth < 0)
        return error_set(STATUS_INVALID_ARGUMENT, "layer_tree_print: a depth of %d", depth);
    Tree tree = {0};
    Status status = make(&tree, profile, model);
    if (!status) {
        Text batches = {""};
        Table table = {.headings = {"layer", "output", "params", "train", "MACs"},
                       .widths = {36, 20, 9, 6, 9},
                       .kinds = {TABLE_NAME}};
        if (profile->accumulate > 1)
            snprintf(batches.s, sizeof(batches.s), " x %lld", (long long)profile->accumulate);
        snprintf(table.title, sizeof(table.title), "SUMMARY  %s, batch %lld%s, %s",
                 text_fit(profile->model, 42).s, (long long)profile->batch, batches.s,
                 precision_brief(profile->precision));
        table_begin(&table, file);
        add_row(&table, &tree.nodes[0], NULL, 1);
        add_below(&table, &tree, 0, depth);
        print_totals(profile, file);
    }
    memory_free(tree.nodes);
    memory_free(tree.seen);
    return status;
}
