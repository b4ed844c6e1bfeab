// flatten.c -- several adjacent dimensions seen as one; a view, as a layer
#include "layers/layer.h"

typedef struct Flatten {
    Layer layer;
    int64_t start_dim, end_dim; // as given: negative ones count from the end
} Flatten;

static const LayerAttribute attributes[] = {
    {"start_dim", ATTRIBUTE_INTEGER, offsetof(Flatten, start_dim)},
    {"end_dim", ATTRIBUTE_INTEGER, offsetof(Flatten, end_dim)},
};

static int64_t from_start(int64_t dim, int ndim) { return dim < 0 ? dim + ndim : dim; }

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const Flatten *flatten = (Flatten *)self;
    (void)n_in;
    Shape shape = in[0]->shape, flat = {0};
    if (shape.ndim == 0) shape = SHAPE(1); // like PyTorch, a scalar counts as one element
    int64_t start = from_start(flatten->start_dim, shape.ndim);
    int64_t end = from_start(flatten->end_dim, shape.ndim);
    if (start < 0 || start > end || end >= shape.ndim) {
        char text[SHAPE_TEXT];
        error_set(
            STATUS_SHAPE,
            "Flatten of %s: there are no dimensions %lld to %lld. HINT: the first comes first; "
            "negative ones count from the end",
            shape_text(in[0]->shape, text), (long long)flatten->start_dim,
            (long long)flatten->end_dim);
        return NULL;
    }
    for (int i = 0; i < shape.ndim; i++) {
        bool joins = i > start && i <= end;
        if (!joins) flat.dims[flat.ndim++] = 1;
        flat.dims[flat.ndim - 1] *= shape.dims[i];
    }
    return tensor_reshape(in[0], flat);
}

static const LayerType flatten_type = {.name = "Flatten",
                                       .size = sizeof(Flatten),
                                       .attributes = attributes,
                                       .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                       .forward = forward};

Layer *flatten_new(int start_dim, int end_dim) {
    Flatten *self = (Flatten *)layer_new(&flatten_type);
    if (!self) return NULL;
    self->start_dim = start_dim;
    self->end_dim = end_dim;
    return &self->layer;
}
