// googlenet.c -- GoogLeNet (Szegedy et al. 2015) as torchvision has it, with its names
// ("inception3a.branch2.0.conv"), without the two auxiliary classifiers that only training uses
#include "layers/containers.h"
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"

static Layer *conv_new(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    return basic_conv_new((ConvNorm){.in = in, .out = out, .kernel = kernel, .stride = stride});
}

// A 1 x 1 convolution to `between` channels, then a 3 x 3.
static Layer *two_convs_new(int64_t in, int64_t between, int64_t out) {
    Layer *self = sequential_new();
    layer_append(self, conv_new(in, between, 1, 1));
    layer_append(self, conv_new(between, out, 3, 1));
    return self;
}

static Layer *pooled_conv_new(int64_t in, int64_t out) {
    Layer *self = sequential_new();
    layer_append(self, max_pool_new(3, 1, 1, true));
    layer_append(self, conv_new(in, out, 1, 1));
    return self;
}

// Channels of the four branches, which have windows of different sizes. The third is 5 x 5 in the
// paper and 3 x 3 in torchvision, also in its trained weights.
typedef struct Inception {
    const char *name;
    int64_t branch1, between2, branch2, between3, branch3, branch4;
    int64_t pool; // kernel of the max pool after it; 0: none
} Inception;

static Layer *inception_new(int64_t in, const Inception *form) {
    Layer *self = concat_new(1);
    layer_add_child(self, "branch1", conv_new(in, form->branch1, 1, 1));
    layer_add_child(self, "branch2", two_convs_new(in, form->between2, form->branch2));
    layer_add_child(self, "branch3", two_convs_new(in, form->between3, form->branch3));
    layer_add_child(self, "branch4", pooled_conv_new(in, form->branch4));
    return self;
}

Layer *googlenet_new(int64_t classes) {
    static const Inception forms[] = {{"inception3a", 64, 96, 128, 16, 32, 32, 0},
                                      {"inception3b", 128, 128, 192, 32, 96, 64, 3},
                                      {"inception4a", 192, 96, 208, 16, 48, 64, 0},
                                      {"inception4b", 160, 112, 224, 24, 64, 64, 0},
                                      {"inception4c", 128, 128, 256, 24, 64, 64, 0},
                                      {"inception4d", 112, 144, 288, 32, 64, 64, 0},
                                      {"inception4e", 256, 160, 320, 32, 128, 128, 2},
                                      {"inception5a", 256, 160, 320, 32, 128, 128, 0},
                                      {"inception5b", 384, 192, 384, 48, 128, 128, 0}};
    Layer *model = sequential_new();
    layer_add_child(model, "conv1", conv_new(3, 64, 7, 2)); // (n, 64, 112, 112)
    layer_add_child(model, "maxpool1", max_pool_new(3, 2, 0, true));
    layer_add_child(model, "conv2", conv_new(64, 64, 1, 1));
    layer_add_child(model, "conv3", conv_new(64, 192, 3, 1)); // (n, 192, 56, 56)
    layer_add_child(model, "maxpool2", max_pool_new(3, 2, 0, true));
    int64_t in = 192;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const Inception *form = &forms[i];
        layer_add_child(model, form->name, inception_new(in, form));
        in = form->branch1 + form->branch2 + form->branch3 + form->branch4;
        if (form->pool)
            layer_add_child(model, form->pool == 3 ? "maxpool3" : "maxpool4",
                            max_pool_new(form->pool, 2, 0, true));
    }
    add_average(model); // of (n, 1024, 7, 7)
    layer_add_child(model, "dropout", dropout_new(0.2f));
    layer_add_child(model, "fc", linear_new(in, classes, true));
    return model_finished(model, (InitRules){.conv = {.gain = 0.01f}, .linear = {.gain = 0.01f}});
}
