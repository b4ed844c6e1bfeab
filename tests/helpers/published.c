// published.c -- torchvision's names of networks, and the calls that make them here.
#include "tests/helpers/published.h"

#include <stdio.h>
#include <string.h>

#include "tests/helpers/harness.h"

// ResNets by their blocks; of a bottleneck its groups and their width.
static const struct {
    const char *name;
    ResNetOptions options;
} resnets[] = {
    {"resnet18", {{2, 2, 2, 2}, false, 1, 64, 0}},
    {"resnet34", {{3, 4, 6, 3}, false, 1, 64, 0}},
    {"resnet50", {{3, 4, 6, 3}, true, 1, 64, 0}},
    {"resnet101", {{3, 4, 23, 3}, true, 1, 64, 0}},
    {"resnet152", {{3, 8, 36, 3}, true, 1, 64, 0}},
    {"resnext50_32x4d", {{3, 4, 6, 3}, true, 32, 4, 0}},
    {"resnext101_32x8d", {{3, 4, 23, 3}, true, 32, 8, 0}},
    {"resnext101_64x4d", {{3, 4, 23, 3}, true, 64, 4, 0}},
    {"wide_resnet50_2", {{3, 4, 6, 3}, true, 1, 128, 0}},
    {"wide_resnet101_2", {{3, 4, 23, 3}, true, 1, 128, 0}},
};

// Families whose constructor takes the rest of the name.
static const struct {
    const char *prefix;
    Layer *(*make)(const char *variant, int64_t classes);
} families[] = {{"mobilenet_v3_", mobilenet_v3_new},
                {"squeezenet", squeezenet_new},
                {"efficientnet_", efficientnet_new},
                {"convnext_", convnext_new},
                {"shufflenet_v2_", shufflenet_v2_new},
                {"mnasnet", mnasnet_new},
                {"regnet_", regnet_new}};

Layer *published_new(const char *name, int64_t classes) {
    int depth;
    if (strcmp(name, "alexnet") == 0) return alexnet_new(classes);
    if (strcmp(name, "mobilenet_v2") == 0) return mobilenet_v2_new(1.0f, classes);
    if (strcmp(name, "googlenet") == 0) return googlenet_new(classes);
    if (strcmp(name, "inception_v3") == 0) return inception_v3_new(classes);
    if (sscanf(name, "densenet%d", &depth) == 1) return densenet_new(depth, classes);
    if (sscanf(name, "vgg%d", &depth) == 1)
        return vgg_new(depth, strstr(name, "_bn") != NULL, classes);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        size_t length = strlen(families[i].prefix);
        if (strncmp(name, families[i].prefix, length) == 0)
            return families[i].make(name + length, classes);
    }
    for (size_t i = 0; i < sizeof(resnets) / sizeof(resnets[0]); i++)
        if (strcmp(name, resnets[i].name) == 0) {
            ResNetOptions options = resnets[i].options;
            options.classes = classes;
            return resnet_new(options);
        }
    ck_abort_msg("no model %s", name);
    return NULL;
}
