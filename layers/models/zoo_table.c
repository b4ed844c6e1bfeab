// zoo_table.c -- the networks by name: the constructor of each family, its numbers and its input.
// zoo.c looks names up.
#include "layers/models/zoo_table.h"
#include "layers/models/models.h"
#include "layers/models/transformers.h"

// ---- images ------------------------------------------------------------------------------------
// form: depth, whether with batch norm
static Layer *vgg_of(const ZooModel *model, int64_t classes) {
    return vgg_new((int)model->form[0], model->form[1] != 0, classes);
}
// form: blocks of the four stages, whether bottlenecks, groups, width per group
static Layer *resnet_of(const ZooModel *model, int64_t classes) {
    const int64_t *form = model->form;
    ResNetOptions options = {.blocks = {(int)form[0], (int)form[1], (int)form[2], (int)form[3]},
                             .bottleneck = form[4] != 0,
                             .groups = form[5],
                             .width_per_group = form[6],
                             .classes = classes};
    return resnet_new(options);
}
static Layer *mobilenet_v2_of(const ZooModel *model, int64_t classes) {
    (void)model;
    return mobilenet_v2_new(1.0f, classes);
}
// form: depth
static Layer *densenet_of(const ZooModel *model, int64_t classes) {
    return densenet_new((int)model->form[0], classes);
}
// form: patch size, features, inner features, layers, heads
static Layer *vit_of(const ZooModel *model, int64_t classes) {
    VitOptions options = vit_defaults();
    options.image_size = model->input[1];
    options.patch_size = model->form[0];
    options.embed_dim = model->form[1];
    options.mlp_dim = model->form[2];
    options.layers = model->form[3];
    options.heads = model->form[4];
    options.classes = classes;
    return vit_new(options);
}

// ---- texts -------------------------------------------------------------------------------------
// form: features, layers, heads; inner features, heads of keys, base of angles
static Layer *bert_of(const ZooModel *model, int64_t classes) {
    BertOptions options = bert_defaults();
    (void)classes;
    options.embed_dim = model->form[0];
    options.layers = model->form[1];
    options.heads = model->form[2];
    options.mlp_dim = model->form[3];
    return bert_new(options);
}
static Layer *gpt2_of(const ZooModel *model, int64_t classes) {
    Gpt2Options options = gpt2_defaults();
    (void)classes;
    options.vocab_size = model->vocabulary;
    options.context = model->input[0];
    options.embed_dim = model->form[0];
    options.layers = model->form[1];
    options.heads = model->form[2];
    return gpt2_new(options);
}
static Layer *llama_of(const ZooModel *model, int64_t classes) {
    LlamaOptions options = llama_defaults();
    (void)classes;
    options.vocab_size = model->vocabulary;
    options.context = model->input[0];
    options.embed_dim = model->form[0];
    options.layers = model->form[1];
    options.heads = model->form[2];
    options.mlp_dim = model->form[3];
    options.key_value_heads = model->form[4];
    options.rotary_base = (float)model->form[5];
    return llama_new(options);
}

// ---- the table ---------------------------------------------------------------------------------
#define MNIST .input = {1, 28, 28}, .classes = 10
#define IMAGES(side) .input = {3, side, side}, .classes = 1000
#define TOKENS(tokens, words) .input = {tokens}, .vocabulary = words
#define FORM(function, ...) .by_form = function, .form = {__VA_ARGS__}
#define NAMED(function, name) .by_name = function, .variant = name
const ZooModel zoo_models[] = {
    {"mnist-cnn", "small enough to train here", MNIST, .plain = mnist_cnn_new},
    {"mnist-resnet", "", MNIST, .plain = mnist_resnet_new},
    {"char-gpt", "", TOKENS(256, 65), .of_characters = true, FORM(gpt2_of, 384, 6, 6)},
    {"char-gpt-mini", "", TOKENS(128, 65), .of_characters = true, FORM(gpt2_of, 128, 4, 4)},

    {"lenet5", "LeCun et al. 1998", .input = {1, 32, 32}, .classes = 10, .plain = lenet5_new},
    {"alexnet", "Krizhevsky 2014", IMAGES(224), .plain = alexnet_new},
    {"vgg11", "Simonyan and Zisserman 2015", IMAGES(224), FORM(vgg_of, 11, 0)},
    {"vgg13", "", IMAGES(224), FORM(vgg_of, 13, 0)},
    {"vgg16", "", IMAGES(224), FORM(vgg_of, 16, 0)},
    {"vgg19", "", IMAGES(224), FORM(vgg_of, 19, 0)},
    {"vgg11_bn", "with batch norms", IMAGES(224), FORM(vgg_of, 11, 1)},
    {"vgg13_bn", "", IMAGES(224), FORM(vgg_of, 13, 1)},
    {"vgg16_bn", "", IMAGES(224), FORM(vgg_of, 16, 1)},
    {"vgg19_bn", "", IMAGES(224), FORM(vgg_of, 19, 1)},
    {"googlenet", "Szegedy et al. 2015", IMAGES(224), .plain = googlenet_new},
    {"inception_v3", "Szegedy et al. 2016", IMAGES(299), .plain = inception_v3_new},
    {"resnet18", "He et al. 2016", IMAGES(224), FORM(resnet_of, 2, 2, 2, 2, 0, 1, 64)},
    {"resnet34", "", IMAGES(224), FORM(resnet_of, 3, 4, 6, 3, 0, 1, 64)},
    {"resnet50", "", IMAGES(224), FORM(resnet_of, 3, 4, 6, 3, 1, 1, 64)},
    {"resnet101", "", IMAGES(224), FORM(resnet_of, 3, 4, 23, 3, 1, 1, 64)},
    {"resnet152", "", IMAGES(224), FORM(resnet_of, 3, 8, 36, 3, 1, 1, 64)},
    {"resnext50_32x4d", "Xie et al. 2017", IMAGES(224), FORM(resnet_of, 3, 4, 6, 3, 1, 32, 4)},
    {"resnext101_32x8d", "", IMAGES(224), FORM(resnet_of, 3, 4, 23, 3, 1, 32, 8)},
    {"resnext101_64x4d", "", IMAGES(224), FORM(resnet_of, 3, 4, 23, 3, 1, 64, 4)},
    {"wide_resnet50_2", "Zagoruyko and Komodakis 2016", IMAGES(224),
     FORM(resnet_of, 3, 4, 6, 3, 1, 1, 128)},
    {"wide_resnet101_2", "", IMAGES(224), FORM(resnet_of, 3, 4, 23, 3, 1, 1, 128)},
    {"densenet121", "Huang et al. 2017", IMAGES(224), FORM(densenet_of, 121)},
    {"densenet161", "", IMAGES(224), FORM(densenet_of, 161)},
    {"densenet169", "", IMAGES(224), FORM(densenet_of, 169)},
    {"densenet201", "", IMAGES(224), FORM(densenet_of, 201)},
    {"squeezenet1_0", "Iandola et al. 2016", IMAGES(224), NAMED(squeezenet_new, "1_0")},
    {"squeezenet1_1", "", IMAGES(224), NAMED(squeezenet_new, "1_1")},
    {"mobilenet_v2", "Sandler et al. 2018", IMAGES(224), FORM(mobilenet_v2_of, 0)},
    {"mobilenet_v3_small", "Howard et al. 2019", IMAGES(224), NAMED(mobilenet_v3_new, "small")},
    {"mobilenet_v3_large", "", IMAGES(224), NAMED(mobilenet_v3_new, "large")},
    {"shufflenet_v2_x0_5", "Ma et al. 2018", IMAGES(224), NAMED(shufflenet_v2_new, "x0_5")},
    {"shufflenet_v2_x1_0", "", IMAGES(224), NAMED(shufflenet_v2_new, "x1_0")},
    {"shufflenet_v2_x1_5", "", IMAGES(224), NAMED(shufflenet_v2_new, "x1_5")},
    {"shufflenet_v2_x2_0", "", IMAGES(224), NAMED(shufflenet_v2_new, "x2_0")},
    {"mnasnet0_5", "Tan et al. 2019", IMAGES(224), NAMED(mnasnet_new, "0_5")},
    {"mnasnet0_75", "", IMAGES(224), NAMED(mnasnet_new, "0_75")},
    {"mnasnet1_0", "", IMAGES(224), NAMED(mnasnet_new, "1_0")},
    {"mnasnet1_3", "", IMAGES(224), NAMED(mnasnet_new, "1_3")},
    {"efficientnet_b0", "Tan and Le 2019", IMAGES(224), NAMED(efficientnet_new, "b0")},
    {"efficientnet_b1", "", IMAGES(240), NAMED(efficientnet_new, "b1")},
    {"efficientnet_b2", "", IMAGES(288), NAMED(efficientnet_new, "b2")},
    {"efficientnet_b3", "", IMAGES(300), NAMED(efficientnet_new, "b3")},
    {"efficientnet_b4", "", IMAGES(380), NAMED(efficientnet_new, "b4")},
    {"efficientnet_b5", "", IMAGES(456), NAMED(efficientnet_new, "b5")},
    {"efficientnet_b6", "", IMAGES(528), NAMED(efficientnet_new, "b6")},
    {"efficientnet_b7", "", IMAGES(600), NAMED(efficientnet_new, "b7")},
    {"efficientnet_v2_s", "Tan and Le 2021", IMAGES(384), NAMED(efficientnet_new, "v2_s")},
    {"efficientnet_v2_m", "", IMAGES(480), NAMED(efficientnet_new, "v2_m")},
    {"efficientnet_v2_l", "", IMAGES(480), NAMED(efficientnet_new, "v2_l")},
    {"regnet_y_400mf", "Radosavovic et al. 2020", IMAGES(224), NAMED(regnet_new, "y_400mf")},
    {"regnet_y_800mf", "", IMAGES(224), NAMED(regnet_new, "y_800mf")},
    {"regnet_y_1_6gf", "", IMAGES(224), NAMED(regnet_new, "y_1_6gf")},
    {"regnet_y_3_2gf", "", IMAGES(224), NAMED(regnet_new, "y_3_2gf")},
    {"regnet_y_8gf", "", IMAGES(224), NAMED(regnet_new, "y_8gf")},
    {"regnet_y_16gf", "", IMAGES(224), NAMED(regnet_new, "y_16gf")},
    {"regnet_y_32gf", "", IMAGES(224), NAMED(regnet_new, "y_32gf")},
    {"regnet_y_128gf", "", IMAGES(224), NAMED(regnet_new, "y_128gf")},
    {"regnet_x_400mf", "", IMAGES(224), NAMED(regnet_new, "x_400mf")},
    {"regnet_x_800mf", "", IMAGES(224), NAMED(regnet_new, "x_800mf")},
    {"regnet_x_1_6gf", "", IMAGES(224), NAMED(regnet_new, "x_1_6gf")},
    {"regnet_x_3_2gf", "", IMAGES(224), NAMED(regnet_new, "x_3_2gf")},
    {"regnet_x_8gf", "", IMAGES(224), NAMED(regnet_new, "x_8gf")},
    {"regnet_x_16gf", "", IMAGES(224), NAMED(regnet_new, "x_16gf")},
    {"regnet_x_32gf", "", IMAGES(224), NAMED(regnet_new, "x_32gf")},
    {"convnext_tiny", "Liu et al. 2022", IMAGES(224), NAMED(convnext_new, "tiny")},
    {"convnext_small", "", IMAGES(224), NAMED(convnext_new, "small")},
    {"convnext_base", "", IMAGES(224), NAMED(convnext_new, "base")},
    {"convnext_large", "", IMAGES(224), NAMED(convnext_new, "large")},
    {"vit_b_16", "Dosovitskiy et al. 2021", IMAGES(224), FORM(vit_of, 16, 768, 3072, 12, 12)},
    {"vit_b_32", "", IMAGES(224), FORM(vit_of, 32, 768, 3072, 12, 12)},
    {"vit_l_16", "", IMAGES(224), FORM(vit_of, 16, 1024, 4096, 24, 16)},
    {"vit_l_32", "", IMAGES(224), FORM(vit_of, 32, 1024, 4096, 24, 16)},
    {"vit_h_14", "", IMAGES(224), FORM(vit_of, 14, 1280, 5120, 32, 16)},

    {"bert-base", "Devlin et al. 2019", TOKENS(512, 30522), FORM(bert_of, 768, 12, 12, 3072)},
    {"bert-large", "", TOKENS(512, 30522), FORM(bert_of, 1024, 24, 16, 4096)},
    {"gpt2", "Radford et al. 2019", TOKENS(1024, 50257), FORM(gpt2_of, 768, 12, 12)},
    {"gpt2-medium", "", TOKENS(1024, 50257), FORM(gpt2_of, 1024, 24, 16)},
    {"gpt2-large", "", TOKENS(1024, 50257), FORM(gpt2_of, 1280, 36, 20)},
    {"gpt2-xl", "", TOKENS(1024, 50257), FORM(gpt2_of, 1600, 48, 25)},
    {"gpt3-175b", "Brown et al. 2020", TOKENS(2048, 50257), FORM(gpt2_of, 12288, 96, 96)},
    {"llama-2-7b", "Touvron et al. 2023", TOKENS(4096, 32000),
     FORM(llama_of, 4096, 32, 32, 11008, 32, 10000)},
    {"llama-2-13b", "", TOKENS(4096, 32000), FORM(llama_of, 5120, 40, 40, 13824, 40, 10000)},
    {"llama-2-70b", "", TOKENS(4096, 32000), FORM(llama_of, 8192, 80, 64, 28672, 8, 10000)},
    {"llama-3-8b", "Llama 3 2024", TOKENS(8192, 128256),
     FORM(llama_of, 4096, 32, 32, 14336, 8, 500000)},
    {"tinyllama-1.1b", "Zhang et al. 2024", TOKENS(2048, 32000),
     FORM(llama_of, 2048, 22, 32, 5632, 4, 10000)},
};
const int zoo_model_count = (int)(sizeof(zoo_models) / sizeof(zoo_models[0]));
