// op_cases.c -- the table: families of calls, each run over a list of input shapes. How the text
// "transposed (3, 4) positive (4)" becomes tensors: op_inputs.c. Some shapes are as large as they
// are because kernels split their work over threads from there on.
#include "tests/op_cases.h"

typedef struct Family {
    const char *op;
    const char *const *inputs; // one case each, NULL at the end
    OpValues values;           // of inputs that name none
    OpArguments arguments;
    bool differentiable;
    double absolute, relative;
} Family;

static const char *const one[] = {
    "()",
    "(1)",
    "(3)",
    "(17)",
    "(257)",
    "(0)",
    "(0, 3)",
    "(33, 17)",
    "(2, 3, 1, 5)",
    "transposed (3, 5)",
    "stepped (3, 4)",
    "expanded (3, 4)",
    "(300, 257)",
    NULL,
};
static const char *const strided[] = {"transposed (3, 5)", "stepped (3, 4)",
                                      "expanded (3, 4)",   "transposed (2, 33, 17)",
                                      "expanded (0, 3)",   NULL};
static const char *const pair[] = {
    "() ()",
    "(3) (3)",
    "(257) (257)",
    "(3, 1) (1, 4)",
    "(17) (33, 17)",
    "(33, 17) ()",
    "(1) (3)",
    "(0, 3) (3)",
    "(0, 3) (1, 3)",
    "(0) (1)",
    "(2, 1, 3) (4, 1)",
    "(3, 4) same",
    "transposed (5, 3) (5, 3)",
    "stepped (4, 3) expanded (4, 3)",
    "transposed (17, 33) (33)",
    "expanded (2, 3) expanded (2, 3)",
    "(300, 257) (257)",
    NULL,
};
static const char *const cube[] = {
    "(3, 17, 5)",         "(2, 3, 4)",         "(1, 1, 1)",     "transposed (2, 3, 4)",
    "expanded (2, 3, 4)", "stepped (2, 3, 4)", "(130, 4, 150)", NULL,
};
static const char *const hollow_cube[] = {"(2, 0, 3)", "(0, 2, 3)", "(0, 0, 0)", NULL};
static const char *const line[] = {"()", "(1)", "(257)", "(3, 4)", "(300, 257)", NULL};
static const char *const products[] = {
    "(1, 1) (1, 1)",
    "(3, 4) (4, 5)",
    "(17, 33) (33, 3)",
    "(1, 257) (257, 1)",
    "(257, 33) (33, 33)",
    "(33, 33) (33, 257)",
    "(3, 1) (1, 4)",
    "transposed (3, 1) transposed (1, 4)",
    "transposed (17, 33) (33, 17)",
    "(17, 33) transposed (33, 17)",
    "transposed (17, 33) transposed (33, 17)",
    "(3, 4) transposed (4, 5)",
    "transposed (3, 4) transposed (4, 5)",
    "stepped (3, 4) (4, 2)",
    "expanded (3, 4) (4, 2)",
    "(3, 4) expanded (4, 2)",
    "(3, 3) same",
    "(2, 3, 4) (2, 4, 2)",
    "(2, 3, 4) (4, 5)",
    "(3, 4) (2, 4, 1)",
    "(2, 1, 3, 4) (3, 4, 2)",
    "transposed (2, 3, 4) transposed (2, 4, 2)",
    "(3, 0) (0, 4)",
    "(0, 3) (3, 4)",
    "(0, 2, 3) (3, 4)",
    NULL,
};
static const char *const layers[] = {
    "(1, 1) (1, 1) (1)",
    "(3, 5) (4, 5) (4)",
    "(3, 5) (4, 5)",
    "(17, 33) (3, 33) (3)",
    "(257, 33) (33, 33) (33)",
    "(3, 1) (4, 1) (4)",
    "(1, 257) (17, 257) (17)",
    "(2, 3, 5) (4, 5) (4)",
    "(2, 1, 5) (3, 5)",
    "(5) (4, 5) (4)",
    "transposed (3, 5) transposed (4, 5) (4)",
    "stepped (3, 4) (2, 4) stepped (2)",
    "expanded (3, 4) (2, 4) (2)",
    "(0, 5) (4, 5) (4)",
    "(3, 0) (4, 0) (4)",
    NULL,
};
static const char *const classified[] = {
    "(3, 4) labels (3)",         "(17, 10) labels (17)",
    "(1, 3) labels (1)",         "(3, 1) labels (3)",
    "(70, 257) labels (70)",     "(2, 5000) labels (2)",
    "(0, 10) labels (0)",        "transposed (4, 3) labels (4)",
    "stepped (4, 3) labels (4)", NULL,
};
static const char *const alike[] = {
    "() ()",   "(3) (3)",     "(17) (17)",     "(33, 257) (33, 257)",
    "(0) (0)", "(3, 4) same", "(0, 3) (0, 3)", "transposed (3, 4) (3, 4)",
    NULL,
};
static const char *const into[] = {
    "() ()", "(17) (17)", "(0) (0)", "(3, 4) transposed (3, 4)", "(33, 257) expanded (33, 257)",
    NULL};
static const char *const sgd_plain[] = {"state (1) (17) (17)",
                                        "state (1) (3) (3) (257, 130) (257, 130)",
                                        "state (1) (0) (0)", NULL};
static const char *const sgd_momentum[] = {"state (1) (17) (17) (17)",
                                           "state (1) (3) (3) (3) (33, 17) (33, 17) (33, 17)",
                                           NULL};
static const char *const adam[] = {
    "state (2) (17) (17) (17) positive (17)",
    "state (2) (3) (3) (3) positive (3) (257, 130) (257, 130) (257, 130) positive (257, 130)",
    NULL};

#define EACH_GELU(op, inputs, absolute, relative)                                                  \
    {op, inputs, VALUES_ANY, {.activation = ACTIVATION_GELU}, true, absolute, relative}, {         \
        op, inputs, VALUES_ANY, {.activation = ACTIVATION_GELU_TANH}, true, absolute, relative     \
    }
#define EACH_DIM(op, inputs, values, differentiable, absolute)                                     \
    {op, inputs, values, {.dim = 0}, differentiable, absolute, 2e-6},                              \
        {op, inputs, values, {.dim = 1}, differentiable, absolute, 2e-6}, {                        \
        op, inputs, values, {.dim = -1}, differentiable, absolute, 2e-6                            \
    }
#define EACH_REDUCTION(op, inputs, values, differentiable, of_all)                                 \
    EACH_DIM(op, inputs, values, differentiable, 1e-5),                                            \
        {op, inputs, values, {.dim = -2, .flag = true}, differentiable, 1e-5, 2e-6},               \
        {op, inputs, values, {.dim = DIM_ALL}, differentiable, of_all, 2e-6}, {                    \
        op, inputs, values, {.dim = DIM_ALL, .flag = true}, differentiable, of_all, 2e-6           \
    }

static const Family families[] = {
    {"contiguous", strided, VALUES_ANY, {0}, true, 0, 0},
    {"detach", one, VALUES_ANY, {0}, false, 0, 0},
    {"flatten", one, VALUES_ANY, {0}, true, 0, 0},
    {"permute", one, VALUES_ANY, {0}, true, 0, 1e-6},
    {"expand", one, VALUES_ANY, {0}, true, 0, 1e-6},
    {"transpose", cube, VALUES_ANY, {0}, true, 0, 0},
    {"slice", cube, VALUES_ANY, {.dim = 0}, true, 0, 0},
    {"slice", cube, VALUES_ANY, {.dim = 1, .flag = true}, true, 0, 0},
    {"slice", cube, VALUES_ANY, {.dim = 2, .flag = true}, true, 0, 0},
    {"add", pair, VALUES_ANY, {0}, true, 1e-4, 1e-6},
    {"sub", pair, VALUES_ANY, {0}, true, 1e-4, 1e-6},
    {"mul", pair, VALUES_ANY, {0}, true, 1e-4, 1e-6},
    {"div", pair, VALUES_AWAY, {0}, true, 1e-4, 1e-6},
    {"add_scalar", one, VALUES_ANY, {.value = 0.75f}, true, 0, 1e-6},
    {"sub_scalar", one, VALUES_ANY, {.value = 0.3f}, true, 1e-7, 1e-6},
    {"mul_scalar", one, VALUES_ANY, {.value = -1.5f}, true, 0, 1e-6},
    {"div_scalar", one, VALUES_ANY, {.value = 3.0f}, true, 0, 1e-6},
    {"exp", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"log", one, VALUES_POSITIVE, {0}, true, 1e-6, 1e-6},
    {"sqrt", one, VALUES_POSITIVE, {0}, true, 1e-6, 1e-6},
    {"relu", one, VALUES_AWAY, {0}, true, 0, 1e-6},
    {"sigmoid", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"tanh", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"activation", line, VALUES_AWAY, {.activation = ACTIVATION_RELU}, true, 0, 1e-6},
    {"activation", line, VALUES_ANY, {.activation = ACTIVATION_SIGMOID}, true, 1e-6, 1e-6},
    {"activation", line, VALUES_ANY, {.activation = ACTIVATION_TANH}, true, 1e-6, 1e-6},
    EACH_GELU("activation", line, 2e-6, 2e-6),
    EACH_GELU("gelu", one, 2e-6, 2e-6),
    {"matmul", products, VALUES_ANY, {0}, true, 1e-4, 1e-5},
    {"linear", layers, VALUES_ANY, {.activation = ACTIVATION_NONE}, true, 1e-4, 1e-5},
    {"linear", layers, VALUES_ANY, {.activation = ACTIVATION_RELU}, true, 1e-4, 1e-5},
    {"linear", layers, VALUES_ANY, {.activation = ACTIVATION_SIGMOID}, true, 1e-4, 1e-5},
    {"linear", layers, VALUES_ANY, {.activation = ACTIVATION_TANH}, true, 1e-4, 1e-5},
    EACH_GELU("linear", layers, 1e-4, 1e-5),
    EACH_REDUCTION("sum", cube, VALUES_ANY, true, 5e-4),
    EACH_REDUCTION("sum", hollow_cube, VALUES_ANY, true, 5e-4),
    {"sum", line, VALUES_ANY, {.dim = DIM_ALL}, true, 1e-4, 2e-6},
    EACH_REDUCTION("mean", cube, VALUES_ANY, true, 1e-6),
    EACH_REDUCTION("mean", hollow_cube, VALUES_ANY, true, 1e-6),
    {"mean", line, VALUES_ANY, {.dim = DIM_ALL}, true, 1e-4, 2e-6},
    EACH_REDUCTION("max", cube, VALUES_DISTINCT, true, 0),
    {"max", line, VALUES_DISTINCT, {.dim = DIM_ALL}, true, 0, 0},
    EACH_REDUCTION("argmax", cube, VALUES_DISTINCT, false, 0),
    {"argmax", line, VALUES_DISTINCT, {.dim = DIM_ALL}, false, 0, 0},
    EACH_DIM("softmax", cube, VALUES_ANY, true, 1e-6),
    EACH_DIM("softmax", hollow_cube, VALUES_ANY, true, 0),
    EACH_DIM("log_softmax", cube, VALUES_ANY, true, 2e-6),
    EACH_DIM("log_softmax", hollow_cube, VALUES_ANY, true, 0),
    {"cross_entropy", classified, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"mse", alike, VALUES_ANY, {0}, true, 1e-6, 1e-5},
    {"dropout", one, VALUES_ANY, {.value = 0.0f}, true, 0, 1e-6},
    {"dropout", one, VALUES_ANY, {.value = 0.3f}, true, 0, 1e-6},
    {"dropout", one, VALUES_ANY, {.value = 1.0f}, true, 0, 1e-6},
    {"fill", line, VALUES_ANY, {.value = 2.5f}, false, 0, 0},
    {"accumulate", into, VALUES_ANY, {0}, false, 0, 1e-6},
    {"sgd_step", sgd_plain, VALUES_ANY, {0}, false, 1e-6, 1e-6},
    {"sgd_step", sgd_plain, VALUES_ANY, {.decay = 0.01f}, false, 1e-6, 1e-6},
    {"sgd_step", sgd_momentum, VALUES_ANY, {.value = 0.9f}, false, 1e-6, 1e-6},
    {"sgd_step", sgd_momentum, VALUES_ANY, {.value = 0.9f, .decay = 0.01f}, false, 1e-6, 1e-6},
    {"adam_step", adam, VALUES_ANY, {0}, false, 1e-6, 2e-6},
    {"adam_step", adam, VALUES_ANY, {.decay = 0.01f}, false, 1e-6, 2e-6},
    {"adam_step", adam, VALUES_ANY, {.flag = true}, false, 1e-6, 2e-6},
    {"adam_step", adam, VALUES_ANY, {.decay = 0.01f, .flag = true}, false, 1e-6, 2e-6},
};
enum { FAMILY_COUNT = sizeof families / sizeof *families };

int op_case_count(void) {
    int count = 0;
    for (int f = 0; f < FAMILY_COUNT; f++) {
        for (const char *const *inputs = families[f].inputs; *inputs != NULL; inputs++) count++;
    }
    return count;
}

OpCase op_case_at(int index) {
    const Family *family = families;
    const char *const *inputs = family->inputs;
    for (int i = 0; i < index; i++) {
        if (*++inputs == NULL) inputs = (++family)->inputs;
    }
    OpCase self = op_case_of(family->op, *inputs, family->arguments);
    for (int i = 0; i < self.n_in; i++) {
        if (self.in[i].values == VALUES_ANY) self.in[i].values = family->values;
    }
    self.differentiable = family->differentiable;
    self.absolute = family->absolute;
    self.relative = family->relative;
    self.seed = (uint64_t)index + 1;
    return self;
}
