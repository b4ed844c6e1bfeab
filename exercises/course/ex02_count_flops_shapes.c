// ex02_count_flops_shapes.c -- mistakes about shapes: the library counts with changed attributes of
// a window, or with another input.
#include <string.h>

#include "exercises/course/parts.h"
#include "exercises/support/layer_shape.h"
#include "exercises/support/reference.h"

// ---- attributes --------------------------------------------------------------------------------
static int64_t *place(Layer *layer, const char *name) {
    const LayerType *type = layer->type;
    for (int i = 0; i < type->n_attributes; i++)
        if (strcmp(type->attributes[i].name, name) == 0)
            return (int64_t *)(void *)((char *)layer + type->attributes[i].offset);
    return NULL;
}

static int64_t get(const Layer *layer, const char *name) {
    int64_t value = 1;
    layer_attribute(layer, name, &value);
    return value;
}

static void set(Layer *layer, const char *name, int64_t value) {
    int64_t *at = place(layer, name);
    if (at) *at = value;
}

static void copy(Layer *layer, const char *name, const char *from) {
    set(layer, name, get(layer, from));
}

// ---- other windows -----------------------------------------------------------------------------
static void one_side(Layer *layer, Shape *in) {
    (void)in;
    set(layer, "padding_bottom", 0);
    set(layer, "padding_right", 0);
}
static void other_side(Layer *layer, Shape *in) {
    (void)in;
    set(layer, "padding_top", 0);
    set(layer, "padding_left", 0);
}
static void no_padding(Layer *layer, Shape *in) {
    one_side(layer, in);
    other_side(layer, in);
}
static void no_stride(Layer *layer, Shape *in) {
    (void)in;
    set(layer, "stride_h", 1);
    set(layer, "stride_w", 1);
}
static void no_dilation(Layer *layer, Shape *in) {
    (void)in;
    set(layer, "dilation_h", 1);
    set(layer, "dilation_w", 1);
}
static void first_sides(Layer *layer, Shape *in) {
    (void)in;
    copy(layer, "padding_bottom", "padding_top");
    copy(layer, "padding_right", "padding_left");
}
static void last_sides(Layer *layer, Shape *in) {
    (void)in;
    copy(layer, "padding_top", "padding_bottom");
    copy(layer, "padding_left", "padding_right");
}
static void high_padding(Layer *layer, Shape *in) {
    (void)in;
    copy(layer, "padding_left", "padding_top");
    copy(layer, "padding_right", "padding_bottom");
}
static void top_padding(Layer *layer, Shape *in) {
    first_sides(layer, in);
    high_padding(layer, in);
}
static void high_stride(Layer *layer, Shape *in) {
    (void)in;
    copy(layer, "stride_w", "stride_h");
}
static void wide_stride(Layer *layer, Shape *in) {
    (void)in;
    copy(layer, "stride_h", "stride_w");
}
static void high_dilation(Layer *layer, Shape *in) {
    (void)in;
    copy(layer, "dilation_w", "dilation_h");
}
static void wide_dilation(Layer *layer, Shape *in) {
    (void)in;
    copy(layer, "dilation_h", "dilation_w");
}
// A kernel of another size fits as often as this kernel does into an input smaller by as much.
static void high_kernel(Layer *layer, Shape *in) {
    in->dims[3] -= get(layer, "dilation_w") * (get(layer, "kernel_h") - get(layer, "kernel_w"));
}
static void wide_kernel(Layer *layer, Shape *in) {
    in->dims[2] -= get(layer, "dilation_h") * (get(layer, "kernel_w") - get(layer, "kernel_h"));
}
static void high_all(Layer *layer, Shape *in) {
    high_dilation(layer, in);
    high_kernel(layer, in);
    high_padding(layer, in);
    high_stride(layer, in);
}
static void dilated_taps(Layer *layer, Shape *in) {
    in->dims[2] -= get(layer, "dilation_h") - 1;
    in->dims[3] -= get(layer, "dilation_w") - 1;
}
static void one_less(Layer *layer, Shape *in) {
    in->dims[2] -= get(layer, "stride_h");
    in->dims[3] -= get(layer, "stride_w");
}
static void rounded_up(Layer *layer, Shape *in) {
    in->dims[2] += get(layer, "stride_h") - 1;
    in->dims[3] += get(layer, "stride_w") - 1;
}
// The input that a kernel of one tap fits into in / stride times, enlarged for this kernel.
static void steps_only(Layer *layer, Shape *in) {
    static const char *const strides[] = {"stride_h", "stride_w"};
    static const char *const kernels[] = {"kernel_h", "kernel_w"};
    no_padding(layer, in);
    no_dilation(layer, in);
    for (int i = 0; i < 2; i++) {
        int64_t *size = &in->dims[2 + i], stride = get(layer, strides[i]);
        *size += get(layer, kernels[i]) - stride - *size % stride;
    }
}
static void kernel_stride(Layer *layer, Shape *in) {
    (void)in;
    if (place(layer, "in_channels")) return; // not a pool
    copy(layer, "stride_h", "kernel_h");
    copy(layer, "stride_w", "kernel_w");
}
static void square_input(Layer *layer, Shape *in) {
    (void)layer;
    in->dims[3] = in->dims[2];
}

static const struct {
    const char *name;
    void (*change)(Layer *layer, Shape *in);
} windows[] = {{"padding_ignored", no_padding},
               {"padding_on_one_side", one_side},
               {"padding_on_one_side", other_side},
               {"stride_ignored", no_stride},
               {"dilation_ignored", no_dilation},
               {"dilation_ignored", dilated_taps},
               {"plus_one_forgotten", one_less},
               {"ceil_for_floor", rounded_up},
               {"output_in_over_stride", steps_only},
               {"pool_stride_assumed", kernel_stride},
               {"sides_alike", first_sides},
               {"sides_alike", last_sides},
               {"sides_alike", high_padding},
               {"sides_alike", top_padding},
               {"sides_alike", high_stride},
               {"sides_alike", wide_stride},
               {"sides_alike", high_dilation},
               {"sides_alike", wide_dilation},
               {"sides_alike", high_kernel},
               {"sides_alike", wide_kernel},
               {"sides_alike", high_all},
               {"sides_alike", square_input}};

// ---- one leaf after the other ------------------------------------------------------------------
// The attributes of a window that mistakes change, to be saved and restored.
static const char *const kept[] = {"padding_top", "padding_bottom", "padding_left", "padding_right",
                                   "stride_h",    "stride_w",       "dilation_h",   "dilation_w"};
enum { KEPT = sizeof kept / sizeof kept[0] };

// Counts a leaf with input `in`, and stores its output shape. Reuses the known count if it applies.
static Status count_leaf(const Leaf *leaf, bool changed, Shape in, Shape *out, int64_t *flops) {
    if (!changed && shape_equal(in, leaf->in)) {
        *flops = leaf->flops;
        *out = leaf->out;
        return STATUS_OK;
    }
    Status status = reference_count_flops(leaf->layer, in, flops);
    return status ? status : layer_output_shape(leaf->layer, in, out);
}

// Like count_leaf, with changed windows, which it restores.
static Status count_changed(const Leaf *leaf, void (*change)(Layer *layer, Shape *in), Shape *shape,
                            int64_t *flops) {
    int64_t values[KEPT];
    bool changed = false;
    Shape in = *shape;
    for (int i = 0; i < KEPT; i++) values[i] = get(leaf->layer, kept[i]);
    if (place(leaf->layer, "kernel_h")) change(leaf->layer, &in);
    for (int i = 0; i < KEPT; i++) changed |= values[i] != get(leaf->layer, kept[i]);
    Status status = count_leaf(leaf, changed, in, shape, flops);
    for (int i = 0; i < KEPT; i++) set(leaf->layer, kept[i], values[i]);
    return status;
}

// For "sides_alike" it also counts the taps of a kernel as if it were as wide as it is high.
static void add_window_mistake(const LeafList *list, int index, CaseRun *run) {
    Shape shape = list->leaves[0].in;
    int64_t total = 0, square = 0, flops;
    for (int i = 0; i < list->count; i++) {
        const Leaf *leaf = &list->leaves[i];
        if (count_changed(leaf, windows[index].change, &shape, &flops)) return;
        bool conv = place(leaf->layer, "in_channels") != NULL;
        total += flops;
        square +=
            conv ? flops / get(leaf->layer, "kernel_w") * get(leaf->layer, "kernel_h") : flops;
    }
    run_mistake_integer(run, windows[index].name, total);
    if (strcmp(windows[index].name, "sides_alike") == 0)
        run_mistake_integer(run, "sides_alike", square);
}

// ---- shapes that are not carried on ------------------------------------------------------------
typedef struct Walk {
    const LeafList *list;
    int next; // index of the next leaf
    Shape shape;
    const char *stuck; // layers of this type keep the shape; "": every child gets the first shape
    int deepest;       // deeper leaves are left out
    int64_t total;
    bool fits;
} Walk;

// The shape that a function uses if it does not check the input, and takes sizes from the layer.
static Shape fitted(const Layer *layer, Shape shape) {
    int64_t size;
    if (layer_attribute(layer, "in_features", &size)) shape.dims[shape.ndim - 1] = size;
    if (layer_attribute(layer, "in_channels", &size)) shape.dims[1] = size;
    return shape;
}

static void walk_on(Walk *walk, const Layer *layer, int depth) {
    int64_t flops = 0;
    Shape first = walk->shape, out = first;
    for (int i = 0; i < layer->n_children; i++) {
        if (walk->stuck[0] == '\0') walk->shape = first;
        walk_on(walk, layer->children[i], depth + 1);
    }
    if (strcmp(layer->type->name, "Sequential") == 0) return;
    const Leaf *leaf = &walk->list->leaves[walk->next++];
    if (depth > walk->deepest || !walk->fits) return;
    if (count_leaf(leaf, false, fitted(layer, first), &out, &flops)) walk->fits = false;
    walk->total += flops;
    if (strcmp(layer->type->name, walk->stuck) != 0) walk->shape = out;
}

static void add_walk(const char *name, Walk walk, Layer *model, CaseRun *run) {
    walk.shape = walk.list->leaves[0].in;
    walk.fits = true;
    walk_on(&walk, model, 0);
    if (walk.fits) run_mistake_integer(run, name, walk.total);
}

void add_shape_mistakes(const LeafList *list, Layer *model, CaseRun *run) {
    static const char *const stuck[] = {"",          "Linear",    "Conv2d",
                                        "MaxPool2d", "AvgPool2d", "Flatten"};
    enum { ANY_DEPTH = 1000 };
    bool slides = false;
    if (list->count == 0) return;
    for (int i = 0; i < list->count; i++) slides |= place(list->leaves[i].layer, "kernel_h") != 0;
    for (size_t i = 0; slides && i < sizeof windows / sizeof windows[0]; i++)
        add_window_mistake(list, (int)i, run);
    if (model->n_children == 0) return;
    add_walk("nested_ignored", (Walk){.list = list, .stuck = "none", .deepest = 1}, model, run);
    for (size_t i = 0; list->count > 1 && i < sizeof stuck / sizeof stuck[0]; i++)
        add_walk("shape_not_propagated",
                 (Walk){.list = list, .stuck = stuck[i], .deepest = ANY_DEPTH}, model, run);
    run_mistake_status(run, "shape_not_propagated", STATUS_SHAPE); // a function that checks gets it
}
