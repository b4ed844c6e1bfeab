// images.c -- the parts that AlexNet and VGG share
#include "layers/models/images.h"

#include <stdio.h>

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    const Tensor *x = in[0];
    int64_t columns = 1;
    for (int i = 1; i < x->shape.ndim; i++) columns *= x->shape.dims[i];
    return tensor_reshape(in[0], SHAPE(x->shape.ndim ? x->shape.dims[0] : 1, columns));
}

static const LayerType flatten_type = {.name = "Flatten",
                                       .size = sizeof(Layer),
                                       .forward = forward};

Layer *to_rows_new(void) { return layer_new(&flatten_type); }

void images_add_named(Layer *sequential, const char *name, Layer *child) {
    if (sequential && !error_pending())
        layer_add_child(sequential, name, child);
    else
        layer_free(child);
}

void images_add(Layer *sequential, Layer *child) {
    char name[16];
    snprintf(name, sizeof(name), "%d", sequential ? sequential->n_children : 0);
    images_add_named(sequential, name, child);
}

Layer *images_finish(Layer *model) {
    if (!error_pending()) return model;
    layer_free(model);
    return NULL;
}

void images_add_conv_relu(Layer *sequential, int64_t in, int64_t out, int64_t kernel,
                          int64_t stride, int64_t padding) {
    Conv2dOptions options = conv2d_padded(conv2d_defaults(), padding);
    options.stride_h = options.stride_w = stride;
    images_add(sequential, conv2d_new(in, out, kernel, kernel, options, true));
    images_add(sequential, relu_new());
}

Layer *images_classifier_new(int64_t in, int64_t classes, bool relu_first) {
    enum { HIDDEN = 4096 };
    Layer *self = sequential_new();
    for (int i = 0; i < 2; i++) {
        if (!relu_first) images_add(self, dropout_new(0.5f));
        images_add(self, linear_new(i ? HIDDEN : in, HIDDEN, true));
        images_add(self, relu_new());
        if (relu_first) images_add(self, dropout_new(0.5f));
    }
    images_add(self, linear_new(HIDDEN, classes, true));
    return self;
}

Layer *images_model_new(Layer *features, Layer *pool, Layer *classifier) {
    Layer *model = sequential_new();
    images_add_named(model, "features", features);
    images_add_named(model, "avgpool", pool);
    images_add_named(model, "flatten", to_rows_new());
    images_add_named(model, "classifier", classifier);
    return images_finish(model);
}
