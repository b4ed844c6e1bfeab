// pad2d.c -- padding at the sides of images, as layers
#include "layers/layers2d.h"

typedef struct Pad2d {
    Layer layer;
    int64_t left, right, top, bottom;
    float value;
    PadMode mode;
} Pad2d;

static const LayerAttribute attributes[] = {
    {"left", ATTRIBUTE_INTEGER, offsetof(Pad2d, left)},
    {"right", ATTRIBUTE_INTEGER, offsetof(Pad2d, right)},
    {"top", ATTRIBUTE_INTEGER, offsetof(Pad2d, top)},
    {"bottom", ATTRIBUTE_INTEGER, offsetof(Pad2d, bottom)},
    {"value", ATTRIBUTE_REAL, offsetof(Pad2d, value)},
};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const Pad2d *pad = (Pad2d *)self;
    int64_t before[TENSOR_MAX_DIMS] = {0, 0, pad->top, pad->left};
    int64_t after[TENSOR_MAX_DIMS] = {0, 0, pad->bottom, pad->right};
    (void)n_in;
    if (in[0]->shape.ndim == 4) return tensor_pad(in[0], before, after, pad->mode, pad->value);
    char text[SHAPE_TEXT];
    error_set(STATUS_SHAPE, "%s of %s. HINT: x is (n, c, h, w)", self->type->name,
              shape_text(in[0]->shape, text));
    return NULL;
}

static void print_sides(const Layer *self, FILE *file) {
    const Pad2d *pad = (const Pad2d *)self;
    fprintf(file, "(%lld, %lld, %lld, %lld)", (long long)pad->left, (long long)pad->right,
            (long long)pad->top, (long long)pad->bottom);
}

static void print_constant(const Layer *self, FILE *file) {
    fputs("padding=", file);
    print_sides(self, file);
    fprintf(file, ", value=%.9g", (double)((const Pad2d *)self)->value);
}

#define TYPE(text, many, how)                                                                      \
    {                                                                                              \
        .name = text, .size = sizeof(Pad2d), .attributes = attributes, .n_attributes = many,       \
        .forward = forward, .print = how                                                           \
    }
enum { ZERO = PAD_CIRCULAR + 1 };
static const LayerType types[] = {
    [PAD_CONSTANT] = TYPE("ConstantPad2d", 5, print_constant),
    [PAD_REFLECT] = TYPE("ReflectionPad2d", 4, print_sides),
    [PAD_REPLICATE] = TYPE("ReplicationPad2d", 4, print_sides),
    [PAD_CIRCULAR] = TYPE("CircularPad2d", 4, print_sides),
    [ZERO] = TYPE("ZeroPad2d", 4, print_sides),
};
#undef TYPE

Layer *pad2d_new(int64_t left, int64_t right, int64_t top, int64_t bottom, PadMode mode,
                 float value) {
    if ((unsigned)mode > PAD_CIRCULAR) {
        error_set(STATUS_INVALID_ARGUMENT, "pad2d_new: mode %d. HINT: one of PadMode", (int)mode);
        return NULL;
    }
    bool zero = mode == PAD_CONSTANT && value == 0.0f;
    Pad2d *self = (Pad2d *)layer_new(&types[zero ? (int)ZERO : (int)mode]);
    if (!self) return NULL;
    self->left = left;
    self->right = right;
    self->top = top;
    self->bottom = bottom;
    self->mode = mode;
    self->value = value;
    return &self->layer;
}
