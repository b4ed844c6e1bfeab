// inception.c -- Inception v3 (Szegedy et al. 2016) as torchvision has it, with its names
// ("Mixed_6b.branch7x7_1.conv"), without the auxiliary classifier of training. Its predecessor:
// googlenet.c.
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/ops.h"

// ---- a block: branches of convolutions, whose results are concatenated -------------------------
enum { MOST_NODES = 11, X = 0, VARIES = -1 };

typedef struct Node {
    const char *name;
    int back;                   // its input is that many nodes before it; X: the block's input
    int64_t out;                // channels; VARIES: given by the block; 0 for a pool
    int64_t kernel_h, kernel_w; // 0: a 3 x 3 pool, of the mean, or of the maximum if it reduces
    bool reduces;               // strides of 2 and no padding
} Node;

typedef struct Inception {
    Layer layer;
    int64_t back[MOST_NODES];
    bool ends[MOST_NODES]; // no other node reads its result
} Inception;

static Tensor *inception_forward(Layer *self, Tensor *const in[], int n_in) {
    const Inception *block = (Inception *)self;
    Tensor *value[MOST_NODES], *ends[MOST_NODES];
    int n_ends = 0;
    (void)n_in;
    for (int i = 0; i < self->n_children && i < MOST_NODES; i++) {
        Tensor *x = block->back[i] == X ? in[0] : value[i - block->back[i]];
        value[i] = layer_forward(self->children[i], x);
        if (block->ends[i]) ends[n_ends++] = value[i];
    }
    return tensor_concat(ends, n_ends, 1);
}

static const LayerType inception_type = {.name = "Inception",
                                         .size = sizeof(Inception),
                                         .forward = inception_forward};

static Layer *pool_new(bool reduces) {
    if (reduces) return max_pool_new(3, 2, 0, false);
    Pool2dOptions options = pool2d_padded(pool2d_defaults(3), 1);
    options.stride_h = options.stride_w = 1;
    return avg_pool2d_new(options);
}

// Takes *channels as the input's and sets it to the output's.
static Layer *inception_new(const Node *nodes, int64_t varying, int64_t *channels) {
    Inception *self = (Inception *)layer_new(&inception_type);
    if (!self) return NULL;
    int64_t out[MOST_NODES], total = 0;
    int count = 0;
    for (const Node *node = nodes; count < MOST_NODES && node->name; node++, count++) {
        int64_t in = node->back == X ? *channels : out[count - node->back];
        ConvNorm part = {.in = in,
                         .out = node->out == VARIES ? varying : node->out,
                         .kernel = node->kernel_h,
                         .kernel_w = node->kernel_w,
                         .stride = node->reduces ? 2 : 1,
                         .valid = node->reduces};
        bool pools = node->kernel_h == 0;
        out[count] = pools ? in : part.out;
        layer_add_child(&self->layer, node->name,
                        pools ? pool_new(node->reduces) : basic_conv_new(part));
        self->back[count] = node->back;
        self->ends[count] = true;
        if (node->back != X) self->ends[count - node->back] = false;
    }
    for (int i = 0; i < count; i++) total += self->ends[i] ? out[i] : 0;
    *channels = total;
    return &self->layer;
}

static const Node block_a[] = {{"branch1x1", X, 64, 1, 1, false},
                               {"branch5x5_1", X, 48, 1, 1, false},
                               {"branch5x5_2", 1, 64, 5, 5, false},
                               {"branch3x3dbl_1", X, 64, 1, 1, false},
                               {"branch3x3dbl_2", 1, 96, 3, 3, false},
                               {"branch3x3dbl_3", 1, 96, 3, 3, false},
                               {"pool", X, 0, 0, 0, false},
                               {"branch_pool", 1, VARIES, 1, 1, false},
                               {0}};
static const Node block_b[] = {{"branch3x3", X, 384, 3, 3, true},
                               {"branch3x3dbl_1", X, 64, 1, 1, false},
                               {"branch3x3dbl_2", 1, 96, 3, 3, false},
                               {"branch3x3dbl_3", 1, 96, 3, 3, true},
                               {"pool", X, 0, 0, 0, true},
                               {0}};
static const Node block_c[] = {
    {"branch1x1", X, 192, 1, 1, false},         {"branch7x7_1", X, VARIES, 1, 1, false},
    {"branch7x7_2", 1, VARIES, 1, 7, false},    {"branch7x7_3", 1, 192, 7, 1, false},
    {"branch7x7dbl_1", X, VARIES, 1, 1, false}, {"branch7x7dbl_2", 1, VARIES, 7, 1, false},
    {"branch7x7dbl_3", 1, VARIES, 1, 7, false}, {"branch7x7dbl_4", 1, VARIES, 7, 1, false},
    {"branch7x7dbl_5", 1, 192, 1, 7, false},    {"pool", X, 0, 0, 0, false},
    {"branch_pool", 1, 192, 1, 1, false},       {0}};
static const Node block_d[] = {{"branch3x3_1", X, 192, 1, 1, false},
                               {"branch3x3_2", 1, 320, 3, 3, true},
                               {"branch7x7x3_1", X, 192, 1, 1, false},
                               {"branch7x7x3_2", 1, 192, 1, 7, false},
                               {"branch7x7x3_3", 1, 192, 7, 1, false},
                               {"branch7x7x3_4", 1, 192, 3, 3, true},
                               {"pool", X, 0, 0, 0, true},
                               {0}};
static const Node block_e[] = {{"branch1x1", X, 320, 1, 1, false},
                               {"branch3x3_1", X, 384, 1, 1, false},
                               {"branch3x3_2a", 1, 384, 1, 3, false},
                               {"branch3x3_2b", 2, 384, 3, 1, false},
                               {"branch3x3dbl_1", X, 448, 1, 1, false},
                               {"branch3x3dbl_2", 1, 384, 3, 3, false},
                               {"branch3x3dbl_3a", 1, 384, 1, 3, false},
                               {"branch3x3dbl_3b", 2, 384, 3, 1, false},
                               {"pool", X, 0, 0, 0, false},
                               {"branch_pool", 1, 192, 1, 1, false},
                               {0}};

// ---- the network -------------------------------------------------------------------------------
static void add_stem(Layer *model) {
    static const struct {
        const char *name;
        int64_t in, out, kernel, stride;
        bool valid;
        const char *pool; // after it
    } convs[] = {{"Conv2d_1a_3x3", 3, 32, 3, 2, true, NULL},
                 {"Conv2d_2a_3x3", 32, 32, 3, 1, true, NULL},
                 {"Conv2d_2b_3x3", 32, 64, 3, 1, false, "maxpool1"},
                 {"Conv2d_3b_1x1", 64, 80, 1, 1, true, NULL},
                 {"Conv2d_4a_3x3", 80, 192, 3, 1, true, "maxpool2"}};
    for (size_t i = 0; i < sizeof(convs) / sizeof(convs[0]); i++) {
        layer_add_child(model, convs[i].name,
                        basic_conv_new((ConvNorm){.in = convs[i].in,
                                                  .out = convs[i].out,
                                                  .kernel = convs[i].kernel,
                                                  .stride = convs[i].stride,
                                                  .valid = convs[i].valid}));
        if (convs[i].pool) layer_add_child(model, convs[i].pool, max_pool_new(3, 2, 0, false));
    }
}

Layer *inception_v3_new(int64_t classes) {
    static const struct {
        const char *name;
        const Node *nodes;
        int64_t varying;
    } blocks[] = {{"Mixed_5b", block_a, 32},  {"Mixed_5c", block_a, 64},
                  {"Mixed_5d", block_a, 64},  {"Mixed_6a", block_b, 0},
                  {"Mixed_6b", block_c, 128}, {"Mixed_6c", block_c, 160},
                  {"Mixed_6d", block_c, 160}, {"Mixed_6e", block_c, 192},
                  {"Mixed_7a", block_d, 0},   {"Mixed_7b", block_e, 0},
                  {"Mixed_7c", block_e, 0}};
    int64_t channels = 192;
    Layer *model = sequential_new();
    add_stem(model); // (n, 192, 35, 35) of (n, 3, 299, 299)
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        layer_add_child(model, blocks[i].name,
                        inception_new(blocks[i].nodes, blocks[i].varying, &channels));
    add_average(model); // of (n, 2048, 8, 8)
    layer_add_child(model, "dropout", dropout_new(0.5f));
    layer_add_child(model, "fc", linear_new(channels, classes, true));
    return model_finished(model, (InitRules){.conv = {.gain = 0.1f}, .linear = {.gain = 0.1f}});
}
