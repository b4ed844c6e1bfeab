// test_precision.c -- reals counted in fewer bytes, where nothing runs: every count but bytes
// stays, bytes follow formulas by hand, integers and masks keep theirs, and tensors with data are
// not touched.
#include <stdio.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/files/model_text.h"
#include "layers/transformer.h"
#include "profiler/measure/profile.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/run_program.h"

static void begin_with_data(void) {
    context_set_device(device_cpu());
    context_set_precision(PRECISION_FLOAT32);
}

static void begin(Precision precision) {
    context_set_device(device_meta());
    context_set_precision(precision);
}

// ---- precisions --------------------------------------------------------------------------------
START_TEST(names_and_bytes) {
    begin_with_data();
    ck_assert_str_eq(precision_name(PRECISION_FLOAT16), "float16");
    ck_assert_str_eq(precision_brief((Precision)17), "?");
    ck_assert_int_eq(precision_bytes(PRECISION_INT8), 1);
    ck_assert_int_eq(precision_bytes(PRECISION_COUNT), 0);
    context_set_precision(PRECISION_COUNT);
    expect_error(STATUS_INVALID_ARGUMENT, "precision 4");
    ck_assert_int_eq(context_current()->precision, PRECISION_FLOAT32);
}
END_TEST

// Existing tensors keep their bytes; so do integers, and tensors with data.
START_TEST(only_reals_without_data_are_narrow) {
    begin_with_data();
    context_set_precision(PRECISION_BFLOAT16);
    Tensor *real = tensor_zeros_new(SHAPE(3, 17));
    ck_assert_int_eq(tensor_bytes(real), 4 * 51);
    begin(PRECISION_BFLOAT16);
    Tensor *narrow = tensor_zeros_new(SHAPE(3, 17)), *none = tensor_zeros_new(SHAPE(0, 17));
    Tensor *ids = tensor_new(SHAPE(5), DTYPE_INT64), *bytes = tensor_new(SHAPE(5), DTYPE_UINT8);
    ck_assert_int_eq(tensor_bytes(narrow), 2 * 51);
    ck_assert_int_eq(narrow->storage->bytes, 2 * 51);
    ck_assert_int_eq(tensor_bytes(none), 0);
    ck_assert(tensor_bytes(ids) == 40 && tensor_bytes(bytes) == 5);
    begin(PRECISION_INT8);
    Scope *scope = scope_open();
    ck_assert_int_eq(tensor_bytes(tensor_reshape(tensor_relu(narrow), SHAPE(51))), 51);
    ck_assert_int_eq(tensor_bytes(tensor_transpose(narrow, 0, 1)), 2 * 51); // the base's bytes
    ck_assert_int_eq(tensor_bytes(narrow), 2 * 51);
    scope_close(scope);
    tensor_free(real);
    tensor_free(narrow);
    tensor_free(none);
    tensor_free(ids);
    tensor_free(bytes);
}
END_TEST

// A dry run of a model with data predicts the real run, in float32.
START_TEST(a_dry_run_of_what_has_data_is_in_float32) {
    begin_with_data();
    Layer *model = mlp_new((int64_t[]){3, 17, 257}, 3, mlp_defaults());
    Tensor *x = tensor_uniform_new(SHAPE(5, 3), 0.0f, 1.0f);
    LayerCost before, after, narrow;
    ck_assert_int_eq(layer_cost(model, &x, 1, &before), STATUS_OK);
    context_set_precision(PRECISION_FLOAT16);
    ck_assert_int_eq(layer_cost(model, &x, 1, &after), STATUS_OK);
    ck_assert_mem_eq(&before, &after, sizeof before);
    layer_free(model);
    tensor_free(x);
    begin(PRECISION_FLOAT16);
    model = mlp_new((int64_t[]){3, 17, 257}, 3, mlp_defaults());
    x = tensor_uniform_new(SHAPE(5, 3), 0.0f, 1.0f);
    ck_assert_int_eq(layer_cost(model, &x, 1, &narrow), STATUS_OK);
    ck_assert_int_eq(2 * narrow.peak.total, before.peak.total);
    ck_assert_int_eq(2 * narrow.saved_bytes, before.saved_bytes);
    layer_free(model);
    tensor_free(x);
}
END_TEST

// A kernel's workspace narrows, too: a convolution's unfolded image.
START_TEST(workspace_is_as_narrow) {
    int64_t bytes[2];
    for (int i = 0; i < 2; i++) {
        begin(i ? PRECISION_BFLOAT16 : PRECISION_FLOAT32);
        Tensor *x = tensor_new(SHAPE(2, 3, 9, 9), DTYPE_FLOAT32);
        Tensor *weight = tensor_new(SHAPE(4, 3, 3, 3), DTYPE_FLOAT32);
        ledger_reset_peak(context_ledger());
        Scope *scope = scope_open();
        tensor_conv2d(x, weight, NULL, conv2d_defaults());
        expect_no_error();
        scope_close(scope);
        bytes[i] = context_ledger()->peak.category[MEM_WORKSPACE];
        tensor_free(x);
        tensor_free(weight);
    }
    ck_assert(bytes[0] > 0 && bytes[0] == 2 * bytes[1]);
}
END_TEST

// ---- whole steps -------------------------------------------------------------------------------
// Every kind of layer that keeps masks, indices, statistics, tables or workspace.
static const char *const models[] = {
    "Conv2d(3,8,3,padding=1)BatchNorm2d(8)ReLU MaxPool2d(2)Flatten Linear(128,5)@3x3x8x8",
    "Embedding(11,8)LayerNorm(8)Linear(8,16)GELU Dropout(0.5)Linear(16,11)@2x17",
    "Conv2d(4,4,3,groups=2)GroupNorm(2,4)Sigmoid AvgPool2d(2)Flatten Linear(36,2)@1x4x8x8",
    "Linear(3,1)Tanh Linear(1,257)@257x3",
    "LeakyReLU Linear(7,3)@0x7",
};
enum { MODELS = sizeof models / sizeof models[0] };

static void profile_at(const char *text, Precision precision, Profile *profile) {
    Shape input, rows;
    begin(precision);
    context_set_threads(1);
    Layer *model = model_text_read(text, &input);
    ck_assert_msg(model != NULL, "%s", error_message());
    bool ids = strncmp(text, "Embedding", 9) == 0;
    Tensor *x = tensor_new(input, ids ? DTYPE_INT64 : DTYPE_FLOAT32);
    rows = ids ? input : SHAPE(input.dims[0]);
    Tensor *labels = tensor_new(rows, DTYPE_INT64);
    OptimizerConfig adam = optimizer_defaults(OPTIMIZER_ADAM);
    ck_assert_msg(!profile_training(model, adam, x, labels, profile_defaults(), profile), "%s: %s",
                  text, error_message());
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
}

// Bytes are integers' + each x reals, so that three widths lie on a line.
static void check_line(int64_t four, int64_t two, int64_t one, const char *what,
                       const char *where) {
    ck_assert_msg(four - two == 2 * (two - one), "%s of %s: %lld, %lld, %lld", what, where,
                  (long long)four, (long long)two, (long long)one);
    ck_assert_msg(four >= two && two >= one, "%s of %s", what, where);
}

// Bytes read that are not reals: ids, indices and masks, and an optimizer's settings.
static int64_t whole_bytes(const OpRecord *record) {
    int n;
    const DTypeSignature *types = op_dtypes(record->op, &n);
    int64_t bytes = 0;
    if (record->phase == PHASE_OPTIMIZER) return 4 * shape_numel(record->in[0]);
    for (int i = 0; i < record->n_in && i < OP_RECORD_INPUTS; i++) {
        DType dtype = (DType)types->in[i < types->n_in ? i : types->n_in - 1];
        if (dtype != DTYPE_FLOAT32 && record->op->dtypes != dtypes_any)
            bytes += dtype_size(dtype) * shape_numel(record->in[i]);
    }
    return bytes;
}

static void check_ops(const Profile *a, const Profile *b, const Profile *c) {
    ck_assert(a->n_ops == b->n_ops && b->n_ops == c->n_ops && a->n_ops > 3);
    for (int64_t i = 0; i < a->n_ops; i++) {
        const OpRecord *r = &a->ops[i].record, *s = &b->ops[i].record, *t = &c->ops[i].record;
        ck_assert(r->op == s->op && s->op == t->op);
        ck_assert_uint_eq(r->cost.macs, s->cost.macs);
        ck_assert_uint_eq(op_cost_total_flops(r->cost), op_cost_total_flops(s->cost));
        check_line((int64_t)r->cost.bytes_read, (int64_t)s->cost.bytes_read,
                   (int64_t)t->cost.bytes_read, "bytes read", r->op->name);
        ck_assert_msg(2 * (int64_t)s->cost.bytes_read - (int64_t)r->cost.bytes_read ==
                          whole_bytes(r),
                      "%s reads %lld whole bytes", r->op->name, (long long)whole_bytes(r));
        check_line((int64_t)r->cost.bytes_written, (int64_t)s->cost.bytes_written,
                   (int64_t)t->cost.bytes_written, "bytes written", r->op->name);
    }
}

START_TEST(counts_stay_and_bytes_follow) {
    Profile four, two, half, one;
    profile_at(models[_i], PRECISION_FLOAT32, &four);
    profile_at(models[_i], PRECISION_BFLOAT16, &two);
    profile_at(models[_i], PRECISION_FLOAT16, &half);
    profile_at(models[_i], PRECISION_INT8, &one);
    check_ops(&four, &two, &one);
    for (int i = 0; i < four.n_layers; i++)
        check_line(four.layers[i].saved_bytes, two.layers[i].saved_bytes, one.layers[i].saved_bytes,
                   "saved bytes", four.layers[i].path);
    for (int c = 0; c < MEM_COUNT; c++)
        check_line(four.predicted.start.category[c], two.predicted.start.category[c],
                   one.predicted.start.category[c], "live bytes",
                   memory_category_name((MemoryCategory)c));
    ck_assert_int_eq(two.parameter_bytes, 2 * two.parameters);
    ck_assert_int_eq(two.predicted.start.category[MEM_OPTIMIZER], 2 * 2 * two.parameters);
    ck_assert_int_eq(two.predicted.start.category[MEM_GRADIENT], 2 * two.parameters);
    ck_assert_int_eq(two.predicted.start.category[MEM_STAGING],
                     four.predicted.start.category[MEM_STAGING]);
    ck_assert_int_eq(half.predicted.peak.total, two.predicted.peak.total);
    ck_assert(two.precision == PRECISION_BFLOAT16);
    profile_expect_counted_only(&two);
    profile_free(&four);
    profile_free(&two);
    profile_free(&half);
    profile_free(&one);
}
END_TEST

// ---- hand formulas -----------------------------------------------------------------------------
enum { B = 2, S = 24, H = 32, HEADS = 4 };

// Korthikanti et al. 2022, 16 bits a number: s b h (34 + 5 a s/h), without dropout (32 + 2 a s/h).
// test_transformer_layers.c explains what PyTorch's layer, and so ours, keeps and leaves out; here
// numbers have 2 bytes instead of 4, and masks one.
static int64_t published(bool by_formula, bool drops) {
    int64_t sb = S * B, paper = sb * H * (drops ? 34 : 32),
            scores = sb * HEADS * S * (drops ? 5 : 2);
    int64_t beside = 8 * sb + (drops ? 4 * sb * H : 0) - 2 * sb * H;
    return paper + beside + (by_formula ? scores : 2 * sb * H + 2 * sb * HEADS);
}

START_TEST(a_transformers_layer_keeps_what_is_published) {
    begin(_i & 4 ? PRECISION_FLOAT16 : PRECISION_BFLOAT16);
    TransformerLayerOptions options = transformer_layer_defaults();
    options.d_model = H;
    options.nhead = HEADS;
    options.dim_feedforward = 4 * H;
    options.norm_first = true;
    options.activation = &op_gelu;
    options.by_formula = _i & 1;
    options.dropout = _i & 2 ? 0.1f : 0.0f;
    Layer *layer = transformer_encoder_layer_new(options);
    Tensor *x = tensor_uniform_new(SHAPE(B, S, H), -1.0f, 1.0f);
    LayerCost cost;
    ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
    ck_assert_int_eq(cost.saved_bytes, published(_i & 1, _i & 2));
    tensor_free(x);
    layer_free(layer);
}
END_TEST

// ---- the program -------------------------------------------------------------------------------
START_TEST(gpt2_in_two_bytes_each) {
    ProgramRun got = program_run(program_path("profile_model"),
                                 "gpt2 --device meta --dtype bf16 --json -", PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0, "%s", got.err);
    ck_assert_ptr_nonnull(strstr(got.out, "\"dtype\": \"bfloat16\""));
    ck_assert_ptr_nonnull(strstr(got.out, "\"parameter_bytes\": 248879616"));
    ck_assert_ptr_nonnull(strstr(got.out, "\"optimizer_bytes\": 497759232"));
    ck_assert_ptr_nonnull(strstr(got.out, "\"macs\": 145824153600"));
    ck_assert_ptr_nonnull(strstr(got.out, "\"data_bytes\": 16384")); // ids and labels, 8 bytes each
    program_run_free(&got);
    got = program_run(program_path("profile_model"),
                      "resnet18 vgg11 --device meta --dtype int8 --inference", PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && strstr(got.out, "inference, int8, counted"), "%s%s", got.err,
                  got.out);
    program_run_free(&got);
    got = program_run(program_path("profile_model"), "lenet5 --summary --dtype bf16",
                      PROGRAM_CAPTURED); // nothing needs to run
    ck_assert_ptr_nonnull(strstr(got.out, "SUMMARY  lenet5 1x32x32, batch 1, bf16\n"));
    ck_assert_ptr_nonnull(strstr(got.out, "61,706 (123 kB)"));
    program_run_free(&got);
    got = program_run(program_path("profile_mlp"), "--device meta --dtype fp16 --explain",
                      PROGRAM_CAPTURED);
    ck_assert_ptr_nonnull(strstr(got.out, "any other, bytes those of fp16;\n"));
    ck_assert_ptr_nonnull(strstr(got.out, "2 x 535,818 = 1,071,636 B (fp16)"));
    ck_assert_ptr_nonnull(strstr(got.out, "weight 2 + gradient 2 + m 2 + v 2 = 8 B with Adam"));
    program_run_free(&got);
}
END_TEST

static const struct {
    const char *arguments, *what, *hint;
} wrong[] = {
    {"lenet5 --dtype bf16", "--dtype bf16", "--device meta"},
    {"lenet5 --dtype bf16 --device cuda", "--dtype bf16", "--device meta"},
    {"lenet5 --dtype int8 --device meta", "--dtype int8", "--inference"},
    {"lenet5 --dtype int4 --device meta", "--dtype int4", "fp32, bf16, fp16 or int8"},
    {"lenet5 --dtype= --device meta", "--dtype", "bf16"},
};
enum { WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(what_cannot_be_counted_is_refused) {
    ProgramRun got =
        program_run(program_path("profile_model"), wrong[_i].arguments, PROGRAM_CAPTURED);
    program_check_refusal(&got, 2, wrong[_i].what, wrong[_i].hint);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {names_and_bytes, 0},
        {only_reals_without_data_are_narrow, 0},
        {workspace_is_as_narrow, 0},
        {a_dry_run_of_what_has_data_is_in_float32, 0},
        {counts_stay_and_bytes_follow, MODELS},
        {a_transformers_layer_keeps_what_is_published, 8},
        {gpt2_in_two_bytes_each, 0},
        {what_cannot_be_counted_is_refused, WRONG},
        {NULL, 0},
    };
    return harness_main("precision", tests);
}
