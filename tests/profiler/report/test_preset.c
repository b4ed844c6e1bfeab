// test_preset.c -- other tools' counts: compared with the tools (fixtures/make_presets.py), and
// rules for any net. test_tinytorch.c tests the documents of --tinytorch.
#include <stdlib.h>
#include <string.h>

#include "layers/recurrent.h"
#include "profiler/report/preset.h"
#include "profiler/session/profiler.h"
#include "tests/fixtures/presets.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

enum {
    TOOL_MODELS = sizeof(tool_models) / sizeof(tool_models[0]),
    TOOL_OPS = sizeof(tool_ops) / sizeof(tool_ops[0]),
    TOOL_LAYERS = sizeof(tool_layers) / sizeof(tool_layers[0]),
};

// A profile of forward and backward, without a run; frees the model.
static Profile profile_of_dtype(Layer *model, Shape x_shape, DType dtype) {
    Profile profile;
    Tensor *x = tensor_new(x_shape, dtype);
    Status status = profile_backward(model, x, (ProfileOptions){0}, &profile);
    ck_assert_msg(!status, "%s", error_message());
    tensor_free(x);
    layer_free(model);
    return profile;
}

static Profile profile_of(Layer *model, Shape x_shape) {
    return profile_of_dtype(model, x_shape, DTYPE_FLOAT32);
}

static Profile net_profile_on_meta(const Net *net) {
    context_set_device(device_meta());
    return profile_of(mlp_new(net->sizes, net->n_sizes, net->options),
                      SHAPE(net->batch, net->sizes[0]));
}

static uint64_t forward_of(Preset preset, const Profile *profile) {
    return preset_count(preset, profile).forward;
}

static int layer_named(const Profile *profile, const char *path) {
    for (int i = 0; i < profile->n_layers; i++)
        if (strcmp(profile->layers[i].path, path) == 0) return i;
    return -1;
}

// ---- the tools -------------------------------------------------------------------------------
static void check_tools(const Profile *profile, const ToolCounts *want, const char *what) {
    const struct {
        const char *tool;
        uint64_t got, want;
    } counts[] = {
        {"torch", forward_of(PRESET_TORCH, profile), want->torch},
        {"torch's backward", preset_count(PRESET_TORCH, profile).backward, want->torch_backward},
        {"paper", forward_of(PRESET_PAPER, profile), want->torch / 2},
        {"fvcore", forward_of(PRESET_FVCORE, profile), want->fvcore},
        {"deepspeed", forward_of(PRESET_DEEPSPEED, profile), want->deepspeed},
        {"torchinfo", forward_of(PRESET_TORCHINFO, profile), want->torchinfo},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        ck_assert_msg(counts[i].got == counts[i].want, "%s: %s: %llu, the tool says %llu", what,
                      counts[i].tool, (unsigned long long)counts[i].got,
                      (unsigned long long)counts[i].want);
}

START_TEST(perceptrons_count_as_their_tools_say_fused_or_not) {
    const int64_t *sizes = tool_models[_i].sizes;
    int64_t batch = tool_models[_i].batch, rows = tool_models[_i].rows;
    uint64_t per_sample = 0, per_row = rows ? (uint64_t)rows : 1;
    bool activated = tool_models[_i].activation != NULL;
    for (int i = 0; i + 1 < tool_models[_i].n_sizes; i++)
        per_sample +=
            per_row * (uint64_t)(2 * sizes[i] * sizes[i + 1] + (i > 0 && activated ? sizes[i] : 0));
    context_set_device(device_meta());
    for (int fuse = 0; fuse < 2; fuse++) {
        MlpOptions options = {.activation = tool_models[_i].activation,
                              .bias = tool_models[_i].bias,
                              .fuse = fuse};
        Profile profile = profile_of(mlp_new(sizes, tool_models[_i].n_sizes, options),
                                     rows ? SHAPE(batch, rows, sizes[0]) : SHAPE(batch, sizes[0]));
        check_tools(&profile, &tool_models[_i].want, fuse ? "fused" : "not fused");
        ck_assert_uint_eq(forward_of(PRESET_TEXTBOOK, &profile), per_sample);
        ck_assert_uint_eq(forward_of(PRESET_TINYTORCH, &profile), per_sample);
        profile_free(&profile);
    }
}
END_TEST

static Tensor *leaky(Tensor *x) { return tensor_leaky_relu(x, 0.1f); }
static Tensor *gelu(Tensor *x) { return tensor_gelu(x); }
static Tensor *softmax(Tensor *x) { return tensor_softmax(x, -1); }
static Tensor *log_softmax(Tensor *x) { return tensor_log_softmax(x, -1); }
static Tensor *dropout(Tensor *x) { return tensor_dropout(x, 0.5f); }
static Tensor *matmul(Tensor *x) { return tensor_matmul(x, tensor_permute(x, (int[]){1, 0})); }
static Tensor *add(Tensor *x) { return tensor_add(x, x); }
static Tensor *sum(Tensor *x) { return tensor_sum(x, -1, false); }

static const struct {
    const char *name;
    Tensor *(*run)(Tensor *x);
    uint64_t textbook, tinytorch; // for one sample of (6, 10)
} ops[] = {
    {"relu", tensor_relu, 10, 10},
    {"leaky_relu", leaky, 10, 10},
    {"gelu", gelu, 10, 10},
    {"silu", tensor_silu, 10, 10},
    {"sigmoid", tensor_sigmoid, 10, 10},
    {"tanh", tensor_tanh, 10, 10},
    {"softmax", softmax, 10, 10},
    {"log_softmax", log_softmax, 10, 10},
    {"dropout", dropout, 0, 10},
    {"matmul", matmul, 120, 120},
    {"add", add, 0, 0},
    {"exp", tensor_exp, 0, 0},
    {"sum", sum, 0, 0},
};
static int op_index;

static Tensor *run_op(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return ops[op_index].run(in[0]);
}
static const LayerType op_type = {.name = "Op", .size = sizeof(Layer), .forward = run_op};

START_TEST(single_ops_count_as_their_tools_say) {
    context_set_device(device_meta());
    ck_assert_int_eq(sizeof(ops) / sizeof(ops[0]), TOOL_OPS);
    op_index = _i;
    ck_assert_str_eq(ops[_i].name, tool_ops[_i].op);
    Profile profile = profile_of(layer_new(&op_type), SHAPE(6, 10));
    check_tools(&profile, &tool_ops[_i].want, ops[_i].name);
    ck_assert_uint_eq(forward_of(PRESET_TEXTBOOK, &profile), ops[_i].textbook);
    ck_assert_uint_eq(forward_of(PRESET_TINYTORCH, &profile), ops[_i].tinytorch);
    profile_free(&profile);
}
END_TEST

static Layer *norm_new(void) { return layer_norm_new(SHAPE(10), 1e-5f, true); }
static Layer *matrix_norm_new(void) { return layer_norm_new(SHAPE(5, 10), 1e-5f, true); }
static Layer *plain_norm_new(void) { return layer_norm_new(SHAPE(10), 1e-5f, false); }
static Layer *table_new(void) { return embedding_new(100, 7); }
static Layer *wide_table_new(void) { return embedding_new(4, 30); }
static Layer *flat_new(void) { return flatten_new(1, -1); }

static const struct {
    const char *name;
    Layer *(*make)(void);
    uint64_t tinytorch; // for one sample
} layers[] = {
    {"norm", norm_new, 10},
    {"norm of a sequence", norm_new, 50},
    {"norm of matrices", matrix_norm_new, 50},
    {"norm without weight", plain_norm_new, 50},
    {"embedding", table_new, 10},
    {"embedding of one each", wide_table_new, 1},
    {"flatten", flat_new, 0},
};

START_TEST(single_layers_count_as_their_tools_say) {
    context_set_device(device_meta());
    ck_assert_int_eq(sizeof(layers) / sizeof(layers[0]), TOOL_LAYERS);
    ck_assert_str_eq(layers[_i].name, tool_layers[_i].layer);
    Profile profile = profile_of_dtype(layers[_i].make(), tool_layers[_i].input,
                                       tool_layers[_i].indices ? DTYPE_INT64 : DTYPE_FLOAT32);
    check_tools(&profile, &tool_layers[_i].want, layers[_i].name);
    ck_assert_uint_eq(forward_of(PRESET_TEXTBOOK, &profile), 0);
    ck_assert_uint_eq(forward_of(PRESET_TINYTORCH, &profile), layers[_i].tinytorch);
    profile_free(&profile);
}
END_TEST

START_TEST(the_truth_table_holds) {
    Net net = {.sizes = {784, 512, 10}, .n_sizes = 3, .batch = 1, .options = mlp_defaults()};
    static const struct {
        Preset preset;
        uint64_t total, fc1, relu1;
    } truth[] = {
        {PRESET_TORCH, 813056, 802816, 0},       {PRESET_PAPER, 406528, 401408, 0},
        {PRESET_TEXTBOOK, 813568, 802816, 512},  {PRESET_FVCORE, 406528, 401408, 0},
        {PRESET_DEEPSPEED, 813568, 802816, 512}, {PRESET_TORCHINFO, 407050, 401920, 0},
        {PRESET_TINYTORCH, 813568, 802816, 512},
    };
    Profile profile = net_profile_on_meta(&net);
    ck_assert_int_eq(sizeof(truth) / sizeof(truth[0]), PRESET_COUNT);
    for (int i = 0; i < PRESET_COUNT; i++) {
        Preset preset = truth[i].preset;
        int fc1 = layer_named(&profile, "fc1"), relu1 = layer_named(&profile, "relu1");
        ck_assert_uint_eq(forward_of(preset, &profile), truth[i].total);
        ck_assert_uint_eq(preset_count_layer(preset, &profile, fc1).forward, truth[i].fc1);
        ck_assert_uint_eq(preset_count_layer(preset, &profile, relu1).forward, truth[i].relu1);
        bool torch = preset == PRESET_TORCH;
        ck_assert(preset_count(preset, &profile).counts_backward == torch);
        ck_assert_uint_eq(preset_count(preset, &profile).backward, torch ? 823296 : 0);
    }
    profile_free(&profile);
}
END_TEST

// ---- laws ------------------------------------------------------------------------------------
// The count of every layer called <stem><number>.
static uint64_t of_block(Preset preset, const Profile *profile, int number) {
    uint64_t count = 0;
    for (int i = 0; i < profile->n_layers; i++) {
        const char *path = profile->layers[i].path;
        if (atoi(path + strcspn(path, "0123456789")) == number)
            count += preset_count_layer(preset, profile, i).forward;
    }
    return count;
}

START_TEST(fusing_changes_no_count) {
    Net net = net_random(_i);
    net.options.fuse = false;
    Profile apart = net_profile_on_meta(&net);
    net.options.fuse = true;
    Profile fused = net_profile_on_meta(&net);
    for (Preset preset = 0; preset < PRESET_COUNT; preset++) {
        PresetCount a = preset_count(preset, &apart), b = preset_count(preset, &fused);
        ck_assert_uint_eq(a.forward, b.forward);
        ck_assert_uint_eq(a.backward, b.backward);
        for (int block = 1; block < net.n_sizes; block++)
            ck_assert_uint_eq(of_block(preset, &apart, block), of_block(preset, &fused, block));
    }
    profile_free(&apart);
    profile_free(&fused);
}
END_TEST

START_TEST(layers_add_up_and_the_batch_multiplies) {
    Net net = net_random(_i);
    Profile all = net_profile_on_meta(&net);
    uint64_t batch = (uint64_t)net.batch;
    net.batch = 1;
    Profile one = net_profile_on_meta(&net);
    for (Preset preset = 0; preset < PRESET_COUNT; preset++) {
        PresetCount total = preset_count(preset, &all), sample = preset_count(preset, &one);
        uint64_t times = preset_per_sample(preset) ? 1 : batch;
        ck_assert_uint_gt(total.forward, 0);
        ck_assert_uint_eq(total.forward, times * sample.forward);
        ck_assert_uint_eq(total.backward, times * sample.backward);
        for (int i = 0; i < all.n_layers; i++) {
            PresetCount layer = preset_count_layer(preset, &all, i);
            total.forward -= layer.forward;
            total.backward -= layer.backward;
        }
        ck_assert_uint_eq(total.forward, 0);
        ck_assert_uint_eq(total.backward, 0);
    }
    profile_free(&all);
    profile_free(&one);
}
END_TEST

// Loss and optimizer do not count; a run, or no need of backward, makes no difference.
START_TEST(training_and_inference_count_as_the_model_alone) {
    Net net = net_random(_i);
    Profile training = net_profile(&net, 1), inference, model;
    NetTask task = net_task_new(&net);
    ck_assert_int_eq(
        profile_inference(task.model, task.x, (ProfileOptions){.iterations = 1}, &inference), 0);
    net_task_free(&task);
    model = net_profile_on_meta(&net);
    uint64_t dropouts = 0; // only in training; TinyTorch counts them
    for (int i = 1; i + 1 < net.n_sizes && net.options.dropout > 0.0f; i++)
        dropouts += (uint64_t)net.sizes[i];
    for (Preset preset = 0; preset < PRESET_COUNT; preset++) {
        PresetCount want = preset_count(preset, &model), got = preset_count(preset, &training);
        ck_assert_uint_eq(got.forward, want.forward);
        ck_assert_uint_eq(got.backward, want.backward);
        int loss = layer_named(&training, "loss");
        ck_assert_uint_eq(preset_count_layer(preset, &training, loss).forward, 0);
        got = preset_count(preset, &inference);
        ck_assert_uint_eq(got.forward + (preset == PRESET_TINYTORCH ? dropouts : 0), want.forward);
        ck_assert_uint_eq(got.backward, 0);
    }
    profile_free(&training);
    profile_free(&inference);
    profile_free(&model);
}
END_TEST

// Multiplies x (4, 3) by its own (3, 3) squared: 27 multiply-adds that 4 samples share, and 36.
static Tensor *share(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    Tensor *w = tensor_slice(in[0], 0, 0, 3, 1);
    return tensor_matmul(in[0], tensor_matmul(w, w));
}
static const LayerType sharing_type = {.name = "Sharing", .size = sizeof(Layer), .forward = share};

START_TEST(work_that_samples_share_is_each_ones_whole) {
    context_set_device(device_meta());
    Profile profile = profile_of(layer_new(&sharing_type), SHAPE(4, 3));
    ck_assert_uint_eq(forward_of(PRESET_TORCH, &profile), 2 * (27 + 36));
    ck_assert_uint_eq(forward_of(PRESET_TEXTBOOK, &profile), 2 * (27 + 36 / 4));
    ck_assert_uint_eq(forward_of(PRESET_TINYTORCH, &profile), 2 * (27 + 36 / 4));
    ck_assert_uint_eq(forward_of(PRESET_TORCHINFO, &profile), 0);
    profile_free(&profile);
}
END_TEST

static Tensor *kernel(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    PROFILE_KERNEL("by hand", 1000, 1000) {}
    return tensor_relu(in[0]);
}
static const LayerType kernel_type = {.name = "Kernel", .size = sizeof(Layer), .forward = kernel};

START_TEST(no_tool_knows_a_kernel_of_the_users) {
    context_set_device(device_meta());
    Profile profile = profile_of(layer_new(&kernel_type), SHAPE(4, 3));
    ck_assert_uint_eq(profile.totals[REPORT_FORWARD].cost.elementwise_flops, 1000 + 12);
    ck_assert_uint_eq(forward_of(PRESET_TORCH, &profile), 0);
    ck_assert_uint_eq(forward_of(PRESET_DEEPSPEED, &profile), 12);
    ck_assert_uint_eq(forward_of(PRESET_TINYTORCH, &profile), 3);
    profile_free(&profile);
}
END_TEST

// PyTorch counts 5,760 and 7,560 for this LSTM, 4,320 and 5,670 for this GRU.
START_TEST(whatever_multiplies_is_a_product_to_the_tools) {
    for (int i = 1; i < OP_COUNT; i++) {
        const OpStory *story = op_by_id(i)->story;
        bool known = story && (story->kind == KIND_LINEAR || story->kind == KIND_CONVOLUTION ||
                               story->kind == KIND_MATMUL);
        ck_assert_msg(!story || known == (story->products != NULL), "%s", op_by_id(i)->name);
    }
    context_set_device(device_meta());
    for (int gru = 0; gru < 2; gru++) {
        RecurrentOptions options = {.layers = 1, .bias = true, .batch_first = true};
        Profile profile =
            profile_of(gru ? gru_new(7, 5, options) : lstm_new(7, 5, options), SHAPE(3, 4, 7));
        ck_assert_uint_eq(forward_of(PRESET_TORCH, &profile), gru ? 4320 : 5760);
        ck_assert_uint_eq(forward_of(PRESET_FVCORE, &profile), gru ? 2160 : 2880);
        ck_assert_uint_eq(preset_count(PRESET_TORCH, &profile).backward, gru ? 5670 : 7560);
        profile_free(&profile);
    }
}
END_TEST

START_TEST(rules_fit_a_line_of_help) {
    for (int i = 0; i < PRESET_COUNT; i++) {
        const char *name = preset_name((Preset)i), *rule = preset_rule((Preset)i);
        ck_assert_msg(strlen(rule) > 10 && strlen(rule) <= 64 && !strchr(rule, '\n'), "%s: %s",
                      name, rule);
    }
    ck_assert_str_eq(preset_name(PRESET_COUNT), "?");
    ck_assert(preset_per_sample(PRESET_TEXTBOOK) && preset_per_sample(PRESET_TINYTORCH));
    ck_assert(!preset_per_sample(PRESET_TORCH) && !preset_per_sample(PRESET_TORCHINFO));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {perceptrons_count_as_their_tools_say_fused_or_not, TOOL_MODELS},
        {single_ops_count_as_their_tools_say, TOOL_OPS},
        {single_layers_count_as_their_tools_say, TOOL_LAYERS},
        {the_truth_table_holds, 0},
        {fusing_changes_no_count, 30},
        {layers_add_up_and_the_batch_multiplies, 30},
        {training_and_inference_count_as_the_model_alone, 12},
        {work_that_samples_share_is_each_ones_whole, 0},
        {no_tool_knows_a_kernel_of_the_users, 0},
        {whatever_multiplies_is_a_product_to_the_tools, 0},
        {rules_fit_a_line_of_help, 0},
        {NULL, 0},
    };
    return harness_main("preset", tests);
}
