// lenet.c -- LeNet-5: two convolutions, each with tanh and an average pool, and three linear layers
#include "layers/models/images.h"

Layer *lenet5_new(void) {
    Layer *model = sequential_new();
    images_add_named(model, "conv1", conv2d_new(1, 6, 5, 5, conv2d_defaults(), true));
    images_add_named(model, "tanh1", activation_new(&op_tanh)); // (n, 6, 28, 28)
    images_add_named(model, "pool1", avg_pool2d_new(pool2d_defaults(2)));
    images_add_named(model, "conv2", conv2d_new(6, 16, 5, 5, conv2d_defaults(), true));
    images_add_named(model, "tanh2", activation_new(&op_tanh)); // (n, 16, 10, 10)
    images_add_named(model, "pool2", avg_pool2d_new(pool2d_defaults(2)));
    images_add_named(model, "flatten", to_rows_new()); // (n, 400)
    images_add_named(model, "fc1", linear_new(400, 120, true));
    images_add_named(model, "tanh3", activation_new(&op_tanh));
    images_add_named(model, "fc2", linear_new(120, 84, true));
    images_add_named(model, "tanh4", activation_new(&op_tanh));
    images_add_named(model, "fc3", linear_new(84, 10, true));
    return images_finish(model);
}
