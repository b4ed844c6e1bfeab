// zoo.c -- the table of networks by name. What they are is in the files of their families.
#include "layers/models/zoo.h"

#include <string.h>

#include "layers/models/models.h"

// ---- families ----------------------------------------------------------------------------------
static Layer *make_lenet5(const ZooModel *model, int64_t classes) {
    (void)model;
    return lenet5_new(classes);
}
static Layer *make_mnist_cnn(const ZooModel *model, int64_t classes) {
    (void)model;
    return mnist_cnn_new(classes);
}
static Layer *make_mnist_resnet(const ZooModel *model, int64_t classes) {
    (void)model;
    return mnist_resnet_new(classes);
}
static Layer *make_alexnet(const ZooModel *model, int64_t classes) {
    (void)model;
    return alexnet_new(classes);
}
// form: depth, whether with batch norm
static Layer *make_vgg(const ZooModel *model, int64_t classes) {
    return vgg_new((int)model->form[0], model->form[1] != 0, classes);
}
// form: blocks of the four stages, whether bottlenecks, groups, width per group
static Layer *make_resnet(const ZooModel *model, int64_t classes) {
    const int64_t *form = model->form;
    ResNetOptions options = {.blocks = {(int)form[0], (int)form[1], (int)form[2], (int)form[3]},
                             .bottleneck = form[4] != 0,
                             .groups = form[5],
                             .width_per_group = form[6],
                             .classes = classes};
    return resnet_new(options);
}
static Layer *make_mobilenet_v2(const ZooModel *model, int64_t classes) {
    (void)model;
    return mobilenet_v2_new(1.0f, classes);
}

// ---- the table ---------------------------------------------------------------------------------
#define IMAGENET .input = {3, 224, 224}, .classes = 1000
static const ZooModel models[] = {
    {"mnist-cnn", "small enough to train here", {1, 28, 28}, 0, 10, make_mnist_cnn, {0}},
    {"mnist-resnet", "", {1, 28, 28}, 0, 10, make_mnist_resnet, {0}},
    {"lenet5", "LeCun et al. 1998", {1, 32, 32}, 0, 10, make_lenet5, {0}},
    {"alexnet", "Krizhevsky 2014", IMAGENET, .make = make_alexnet},
    {"vgg11", "Simonyan and Zisserman 2015", IMAGENET, .make = make_vgg, .form = {11, 0}},
    {"vgg13", "", IMAGENET, .make = make_vgg, .form = {13, 0}},
    {"vgg16", "", IMAGENET, .make = make_vgg, .form = {16, 0}},
    {"vgg19", "", IMAGENET, .make = make_vgg, .form = {19, 0}},
    {"vgg11_bn", "with batch norms", IMAGENET, .make = make_vgg, .form = {11, 1}},
    {"vgg13_bn", "", IMAGENET, .make = make_vgg, .form = {13, 1}},
    {"vgg16_bn", "", IMAGENET, .make = make_vgg, .form = {16, 1}},
    {"vgg19_bn", "", IMAGENET, .make = make_vgg, .form = {19, 1}},
    {"resnet18", "He et al. 2016", IMAGENET, .make = make_resnet, .form = {2, 2, 2, 2, 0, 1, 64}},
    {"resnet34", "", IMAGENET, .make = make_resnet, .form = {3, 4, 6, 3, 0, 1, 64}},
    {"resnet50", "", IMAGENET, .make = make_resnet, .form = {3, 4, 6, 3, 1, 1, 64}},
    {"resnet101", "", IMAGENET, .make = make_resnet, .form = {3, 4, 23, 3, 1, 1, 64}},
    {"resnet152", "", IMAGENET, .make = make_resnet, .form = {3, 8, 36, 3, 1, 1, 64}},
    {"resnext50_32x4d", "Xie et al. 2017", IMAGENET, .make = make_resnet,
     .form = {3, 4, 6, 3, 1, 32, 4}},
    {"resnext101_32x8d", "", IMAGENET, .make = make_resnet, .form = {3, 4, 23, 3, 1, 32, 8}},
    {"resnext101_64x4d", "", IMAGENET, .make = make_resnet, .form = {3, 4, 23, 3, 1, 64, 4}},
    {"wide_resnet50_2", "Zagoruyko and Komodakis 2016", IMAGENET, .make = make_resnet,
     .form = {3, 4, 6, 3, 1, 1, 128}},
    {"wide_resnet101_2", "", IMAGENET, .make = make_resnet, .form = {3, 4, 23, 3, 1, 1, 128}},
    {"mobilenet_v2", "Sandler et al. 2018", IMAGENET, .make = make_mobilenet_v2},
};
#undef IMAGENET
enum { MODELS = sizeof(models) / sizeof(models[0]) };

const ZooModel *zoo_at(int index) { return index >= 0 && index < MODELS ? &models[index] : NULL; }

const ZooModel *zoo_find(const char *name) {
    for (int i = 0; i < MODELS; i++)
        if (strcmp(models[i].name, name) == 0) return &models[i];
    return NULL;
}

Layer *zoo_new(const ZooModel *model, int64_t classes) {
    return model->make(model, classes > 0 ? classes : model->classes);
}

// ---- a name that was meant ---------------------------------------------------------------------
enum { LONGEST = 32 };

// Letters to add, leave out or change, to make one of the other (Wagner and Fischer 1974).
static int distance(const char *a, const char *b) {
    int row[LONGEST + 1], length = (int)strlen(b);
    for (int k = 0; k <= length; k++) row[k] = k;
    for (int i = 1; *a; a++, i++) {
        int corner = row[0];
        row[0] = i;
        for (int k = 1; k <= length; k++) {
            int changed = corner + (*a != b[k - 1]);
            int added = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
            corner = row[k];
            row[k] = changed < added ? changed : added;
        }
    }
    return row[length];
}

const char *zoo_nearest(const char *name) {
    const char *nearest = NULL;
    int least = 4; // more would be another name
    if (strlen(name) > LONGEST) return NULL;
    for (int i = 0; i < MODELS; i++) {
        int apart = distance(name, models[i].name);
        if (apart >= least) continue;
        least = apart;
        nearest = models[i].name;
    }
    return nearest;
}
