// test_zoo_steps.c -- each family of the zoo, in a small configuration, runs its steps on the CPU,
// and the counts on the meta device equal those of the run. Each network itself is counted, so that
// the results for the small ones hold for those that nobody here could run.
#include <string.h>

#include "layers/models/zoo.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

typedef struct Small {
    const char *name;       // a zoo name of the family
    int64_t input[3];       // as in ZooModel.input
    int64_t words;          // its vocabulary, for families that take one
    int64_t form[ZOO_FORM]; // as in ZooModel.form; all 0: the network's own
} Small;

// One for each family, and for each form of it with other layers.
static const Small smalls[] = {
    {.name = "mnist-cnn", .input = {1, 28, 28}},
    {.name = "mnist-resnet", .input = {1, 28, 28}},
    {.name = "lenet5", .input = {1, 32, 32}},
    {.name = "alexnet", .input = {3, 63, 63}},
    {.name = "vgg11_bn", .input = {3, 32, 32}},
    {.name = "googlenet", .input = {3, 33, 33}},
    {.name = "inception_v3", .input = {3, 75, 75}},
    {.name = "resnet18", .input = {3, 33, 33}, .form = {1, 1, 2, 1, 0, 1, 64}},
    {.name = "resnet50", .input = {3, 33, 33}, .form = {1, 1, 2, 1, 1, 1, 64}},
    {.name = "resnext50_32x4d", .input = {3, 33, 33}, .form = {1, 1, 1, 1, 1, 32, 4}},
    {.name = "densenet121", .input = {3, 33, 33}},
    {.name = "squeezenet1_1", .input = {3, 35, 35}},
    {.name = "mobilenet_v2", .input = {3, 33, 33}},
    {.name = "mobilenet_v3_small", .input = {3, 33, 33}},
    {.name = "shufflenet_v2_x0_5", .input = {3, 33, 33}},
    {.name = "mnasnet0_5", .input = {3, 33, 33}},
    {.name = "efficientnet_b0", .input = {3, 33, 33}},
    {.name = "regnet_y_400mf", .input = {3, 33, 33}},
    {.name = "regnet_x_400mf", .input = {3, 33, 33}},
    {.name = "convnext_tiny", .input = {3, 33, 33}},
    {.name = "vit_b_16", .input = {3, 32, 32}, .form = {8, 24, 40, 2, 3}},
    {.name = "bert-base", .input = {9}, .form = {24, 2, 3, 40}},
    {.name = "gpt2", .input = {9}, .words = 17, .form = {24, 2, 3}},
    {.name = "llama-2-7b", .input = {9}, .words = 17, .form = {32, 2, 4, 40, 4, 10000}},
    {.name = "llama-3-8b", .input = {9}, .words = 17, .form = {32, 2, 4, 40, 2, 500000}},
};
enum { SMALLS = sizeof smalls / sizeof smalls[0], BATCH = 2 };

static bool same_family(const ZooModel *a, const ZooModel *b) {
    return a->plain == b->plain && a->by_name == b->by_name && a->by_form == b->by_form;
}

START_TEST(each_family_has_a_small_configuration) {
    const ZooModel *model;
    for (int i = 0; (model = zoo_at(i)); i++) {
        bool found = false;
        for (int k = 0; k < SMALLS && !found; k++) {
            const ZooModel *small = zoo_find(smalls[k].name);
            ck_assert_msg(small != NULL, "%s is none of the zoo", smalls[k].name);
            found = same_family(small, model);
        }
        ck_assert_msg(found, "%s: nothing of its family is run here: add a line to smalls",
                      model->name);
    }
}
END_TEST

// ---- a step, on the context's device -----------------------------------------------------------
typedef struct Step {
    Layer *model;
    Tensor *x, *labels;
    LossFunction loss;
} Step;

static Tensor *numbers_new(Shape shape) { // 0 is a valid token and class
    Tensor *t = tensor_new(shape, DTYPE_INT64);
    if (t && t->device->has_data) memset(tensor_labels(t), 0, (size_t)tensor_bytes(t));
    return t;
}

static Shape output_of(const Step *step) {
    no_grad_begin();
    layer_train(step->model, false);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(step->model, step->x);
    ck_assert_msg(y != NULL, "%s", error_message());
    Shape shape = y->shape;
    scope_close(scope);
    layer_train(step->model, true);
    no_grad_end();
    return shape;
}

// A step with ids of the longest length, and labels that fit the output.
static Step step_new(const ZooModel *model, int64_t batch) {
    const int64_t *d = model->input;
    bool words = model->vocabulary > 0;
    Step step = {.loss = loss_cross_entropy};
    step.model = zoo_new(model, 0);
    step.x = words ? numbers_new(SHAPE(batch, d[0]))
                   : tensor_uniform_new(SHAPE(batch, d[0], d[1], d[2]), 0.0f, 1.0f);
    ck_assert_msg(step.model && step.x, "%s: %s", model->name, error_message());
    Shape out = output_of(&step);
    if (words && out.dims[out.ndim - 1] != model->vocabulary) { // its output is hidden states
        step.loss = loss_mse;
        step.labels = tensor_full_new(out, 0.5f);
    } else {
        out.ndim--;
        step.labels = numbers_new(out);
    }
    expect_no_error();
    return step;
}

static void step_free(Step *step) {
    tensor_free(step->x);
    tensor_free(step->labels);
    layer_free(step->model);
}

static bool at_once(void) { return true; }

// A kind of step: for training the optimizer, the number of batches, and the layers that run again
// in backward. Marks stay, so the marked kind comes last.
typedef struct Kind {
    ProfileKind kind;
    OptimizerKind optimizer;
    int64_t accumulate;
    const char *marks;
} Kind;
static const Kind kinds[] = {{PROFILE_TRAINING, OPTIMIZER_ADAM, 1, NULL},
                             {PROFILE_INFERENCE, OPTIMIZER_SGD, 1, NULL},
                             {PROFILE_BACKWARD, OPTIMIZER_SGD, 1, NULL},
                             {PROFILE_TRAINING, OPTIMIZER_MOMENTUM, 2, "*.*"}};
enum { KINDS = sizeof kinds / sizeof kinds[0], ALWAYS = 2, LARGE = 4000000 };

static Profile profile_of(const Step *step, const Kind *kind, const char *name) {
    Profile profile;
    int64_t marked;
    ProfileOptions how = {.warmup = 2, .iterations = 1, .probe_seconds = -1.0, .stop = at_once};
    OptimizerConfig config = optimizer_defaults(kind->optimizer);
    how.loss = step->loss;
    how.accumulate = kind->accumulate;
    if (kind->marks) layer_recompute_matching(step->model, kind->marks, &marked);
    Status status =
        kind->kind == PROFILE_TRAINING
            ? profile_training(step->model, config, step->x, step->labels, how, &profile)
        : kind->kind == PROFILE_BACKWARD ? profile_backward(step->model, step->x, how, &profile)
                                         : profile_inference(step->model, step->x, how, &profile);
    ck_assert_msg(status == STATUS_OK, "%s: %s", name, error_message());
    return profile;
}

// ---- predictions and runs ----------------------------------------------------------------------
static void expect_same_layer(const ProfileLayer *counted, const ProfileLayer *ran) {
    ck_assert_str_eq(counted->path, ran->path);
    ck_assert_str_eq(counted->type, ran->type);
    ck_assert(shape_equal(counted->input, ran->input) && shape_equal(counted->output, ran->output));
    ck_assert_int_eq(counted->parameters, ran->parameters);
    ck_assert_msg(counted->saved_bytes == ran->saved_bytes, "%s: saved %lld, and %lld", ran->path,
                  (long long)counted->saved_bytes, (long long)ran->saved_bytes);
    for (int p = 0; p < REPORT_COUNT; p++) {
        const ProfilePhase *a = &counted->phase[p], *b = &ran->phase[p];
        ck_assert_msg(memcmp(&a->cost, &b->cost, sizeof a->cost) == 0 && a->ops == b->ops,
                      "%s, %s: other counts", ran->path, report_phase_name((ReportPhase)p));
    }
}

static void expect_same_memory(const ProfileMemory *counted, const ProfileMemory *ran) {
    for (int c = 0; c < MEM_COUNT; c++)
        ck_assert_msg(counted->peak.category[c] == ran->peak.category[c],
                      "%s: counted %lld, executed %lld", memory_category_name((MemoryCategory)c),
                      (long long)counted->peak.category[c], (long long)ran->peak.category[c]);
    ck_assert_mem_eq(&counted->start, &ran->start, sizeof ran->start);
    ck_assert_int_eq(counted->peak.total, ran->peak.total);
    ck_assert_int_eq(counted->saved_bytes, ran->saved_bytes);
    ck_assert_str_eq(counted->peak_op, ran->peak_op);
}

static void expect_same(const Profile *counted, const Profile *ran) {
    ck_assert_int_eq(counted->n_layers, ran->n_layers);
    ck_assert_int_eq(counted->n_ops, ran->n_ops);
    for (int i = 0; i < ran->n_layers; i++) expect_same_layer(&counted->layers[i], &ran->layers[i]);
    expect_same_memory(&counted->predicted, &ran->measured);
    ck_assert_int_eq(counted->inference_bytes, ran->inference_bytes);
    ck_assert_int_eq(counted->bytes_per_sample, ran->bytes_per_sample);
    ck_assert(!counted->one_batch && !ran->one_batch);
}

static ZooModel small_of(const Small *small) {
    ZooModel model = *zoo_find(small->name);
    memcpy(model.input, small->input, sizeof model.input);
    if (small->form[0]) memcpy(model.form, small->form, sizeof model.form);
    if (small->words) model.vocabulary = small->words;
    return model;
}

// Most of AlexNet and of VGG is a head that would take gigabytes and seconds, so it is frozen.
static int kinds_that_fit(const Step *here, const Step *there) {
    int64_t parameters = layer_parameter_count(here->model), frozen;
    if (parameters > 10 * LARGE) {
        layer_freeze(here->model, "classifier", true, &frozen);
        layer_freeze(there->model, "classifier", true, &frozen);
        ck_assert_int_gt(frozen, 0);
    }
    return parameters > LARGE ? ALWAYS : KINDS;
}

START_TEST(what_is_counted_is_what_is_executed) {
    context_set_threads(1); // counts do not depend on it
    const ZooModel model = small_of(&smalls[_i]);
    Step here = step_new(&model, BATCH);
    context_set_device(device_meta());
    Step there = step_new(&model, BATCH);
    int n = kinds_that_fit(&here, &there);
    for (int k = 0; k < n; k++) {
        context_set_device(device_cpu());
        Profile ran = profile_of(&here, &kinds[k], model.name);
        ck_assert_msg(ran.reconciled, "%s, %d: %s", model.name, k, ran.difference);
        context_set_device(device_meta());
        Profile counted = profile_of(&there, &kinds[k], model.name);
        profile_expect_counted_only(&counted);
        expect_same(&counted, &ran);
        profile_free(&counted);
        profile_free(&ran);
    }
    step_free(&here);
    step_free(&there);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// ---- the networks themselves -------------------------------------------------------------------
START_TEST(each_network_is_counted_alike_twice) {
    context_set_device(device_meta());
    for (int i = 0; zoo_at(i); i++) {
        Step step = step_new(zoo_at(i), 1 + i % 2);
        Profile counted = profile_of(&step, &kinds[_i], zoo_at(i)->name);
        profile_expect_counted_only(&counted);
        profile_free(&counted);
        step_free(&step);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {each_family_has_a_small_configuration, 0},
        {what_is_counted_is_what_is_executed, SMALLS},
        {each_network_is_counted_alike_twice, ALWAYS},
        {NULL, 0},
    };
    return harness_main("zoo_steps", tests);
}
