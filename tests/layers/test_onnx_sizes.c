// test_onnx_sizes.c -- sizes that ONNX files leave open: a name is one size in all inputs, however
// it is given; a size that nobody gives is refused, except for the batch. Files:
// tests/fixtures/make_onnx_sizes.py.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor/context.h"
#include "tensor/ops.h"
#include "tests/fixtures/onnx_sizes.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/onnx_files.h"

enum { RUNS = sizeof open_runs / sizeof open_runs[0], MOST_TOLD = 2 };

static Layer *load(const char *name, const OnnxOptions *options, OnnxModel *about) {
    char path[128];
    snprintf(path, sizeof path, FOLDER "open_%s.onnx", name);
    return onnx_load(path, options, about);
}

typedef struct Told {
    const char *name;
    Shape shape;
} Told;

typedef struct Telling { // ends with an entry without a size, or at MOST_TOLD
    const char *file;
    Told shapes[MOST_TOLD];
    OnnxSize sizes[MOST_TOLD];
    int64_t batch;
    bool other_batch;
} Telling;

static Layer *load_told(const Telling *told, OnnxModel *about) {
    OnnxShape shapes[MOST_TOLD];
    OnnxOptions options = {.shapes = shapes,
                           .sizes = told->sizes,
                           .batch = told->batch,
                           .other_batch = told->other_batch};
    for (int i = 0; i < MOST_TOLD && told->shapes[i].shape.ndim > 0; i++)
        shapes[options.n_shapes++] =
            (OnnxShape){.name = told->shapes[i].name, .shape = told->shapes[i].shape};
    while (options.n_sizes < MOST_TOLD && told->sizes[options.n_sizes].name) options.n_sizes++;
    return load(told->file, &options, about);
}

// ---- given sizes hold everywhere ---------------------------------------------------------------
static const struct {
    Telling told;
    Shape first, last; // shapes of the inputs; without `last` both have `first`
    bool unbatched;    // of the first input
    const char *assumed;
} good[] = {
    {.told = {.file = "texts", .shapes = {{"ids", SHAPE(4, 32)}}}, .first = SHAPE(4, 32)},
    {.told = {.file = "texts", .shapes = {{"ctx", SHAPE(4, 32)}}}, .first = SHAPE(4, 32)},
    {.told = {.file = "texts", .shapes = {{NULL, SHAPE(4, 32)}}}, .first = SHAPE(4, 32)},
    {.told = {.file = "texts", .shapes = {{"ctx", SHAPE(4, 9)}, {NULL, SHAPE(4, 9)}}},
     .first = SHAPE(4, 9)},
    {.told = {.file = "texts", .sizes = {{"seq", 7}}},
     .first = SHAPE(1, 7),
     .assumed = "\"batch\""},
    {.told = {.file = "texts", .sizes = {{"seq", 7}, {"batch", 2}}, .batch = 2},
     .first = SHAPE(2, 7)},
    {.told = {.file = "texts", .sizes = {{"seq", 7}}, .batch = 3}, .first = SHAPE(3, 7)},
    {.told = {.file = "texts", .shapes = {{"ids", SHAPE(4, 9)}}, .batch = 6, .other_batch = true},
     .first = SHAPE(6, 9)},
    {.told = {.file = "image", .sizes = {{"H", 6}, {"W", 4}}},
     .first = SHAPE(1, 3, 6, 4),
     .assumed = "\"N\""},
    {.told = {.file = "many", .batch = 3}, .first = SHAPE(3, 4)},
    {.told = {.file = "many", .shapes = {{"x39", SHAPE(2, 4)}}}, .first = SHAPE(2, 4)},
    {.told = {.file = "many"}, .first = SHAPE(1, 4), .assumed = "\"B\""},
    {.told = {.file = "unnamed", .shapes = {{"x", SHAPE(2, 5, 6)}}}, .first = SHAPE(2, 5, 6)},
    {.told =
         {.file = "unnamed", .shapes = {{"x", SHAPE(2, 5, 6)}}, .batch = 9, .other_batch = true},
     .first = SHAPE(9, 5, 6)},
    {.told = {.file = "listed", .batch = 5}, .first = SHAPE(5, 6)},
    {.told = {.file = "listed", .shapes = {{"z", SHAPE(3, 6)}}}, .first = SHAPE(3, 6)},
    {.told = {.file = "listed", .shapes = {{"x", SHAPE(2, 6)}, {"z", SHAPE(3, 6)}}},
     .first = SHAPE(2, 6),
     .last = SHAPE(3, 6)},
    {.told = {.file = "half", .shapes = {{"z", SHAPE(3, 6)}, {"x", SHAPE(2, 6)}}},
     .first = SHAPE(2, 6),
     .last = SHAPE(3, 6)},
    {.told = {.file = "half", .shapes = {{"z", SHAPE(3, 6)}}}, .first = SHAPE(3, 6)},
    {.told = {.file = "steps", .sizes = {{"time", 5}, {"batch_size", 2}}},
     .first = SHAPE(5, 2, 6),
     .unbatched = true},
    {.told = {.file = "apart", .shapes = {{"x", SHAPE(2, 6)}}, .sizes = {{"columns", 3}}},
     .first = SHAPE(2, 6),
     .last = SHAPE(3, 6),
     .unbatched = true},
    {.told = {.file = "fixed", .batch = 1}, .first = SHAPE(1, 6), .unbatched = true},
    {.told = {.file = "rank", .shapes = {{"x", SHAPE(2, 5, 6)}}},
     .first = SHAPE(2, 5, 6),
     .unbatched = true},
};
enum { GOOD = sizeof good / sizeof good[0] };

START_TEST(what_is_told_holds_in_every_input) {
    OnnxModel about;
    Layer *model = load_told(&good[_i].told, &about);
    ck_assert_msg(model != NULL, "%s", error_message());
    const OnnxPort *first = &about.inputs[0], *last = &about.inputs[about.n_inputs - 1];
    char got[SHAPE_TEXT], wanted[SHAPE_TEXT];
    ck_assert_str_eq(shape_text(first->shape, got), shape_text(good[_i].first, wanted));
    Shape other = good[_i].last.ndim ? good[_i].last : good[_i].first;
    ck_assert_str_eq(shape_text(last->shape, got), shape_text(other, wanted));
    ck_assert_int_eq(first->batched, !good[_i].unbatched);
    int assumed = 0;
    for (int i = 0; i < about.n_assumed; i++)
        assumed += strncmp(about.assumed[i].what, "batch size", 10) == 0;
    ck_assert_int_eq(assumed, good[_i].assumed != NULL);
    if (assumed) ck_assert_ptr_nonnull(strstr(about.assumed[0].what, good[_i].assumed));
    if (assumed) ck_assert_str_eq(about.assumed[0].taken, "1");
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
static const struct {
    Telling told;
    const char *what, *hint;
} wrong[] = {
    {{.file = "texts", .shapes = {{"ids", SHAPE(4, 32)}, {"ctx", SHAPE(4, 16)}}},
     "\"seq\" is 32 by input \"ids\", and 16 by input \"ctx\"",
     "tell it once"},
    {{.file = "texts", .shapes = {{"ids", SHAPE(4, 32)}}, .sizes = {{"seq", 16}}},
     "\"seq\" is 16 by --size seq, and 32 by input \"ids\"",
     "tell it once"},
    {{.file = "texts", .shapes = {{"ids", SHAPE(4, 32)}}, .batch = 8},
     "\"batch\" is 4 by input \"ids\", and 8 by --batch",
     "tell it once"},
    {{.file = "texts", .batch = 4}, "how large \"seq\" is", "--size seq=128"},
    {{.file = "texts", .sizes = {{"sq", 3}}}, "no input has a size \"sq\"", "batch, seq"},
    {{.file = "fixed", .sizes = {{"sq", 3}}}, "no input has a size \"sq\"", "has a name"},
    {{.file = "image"}, "how large \"H\", \"W\" are", "--size H=224 --size W=224"},
    {{.file = "image", .sizes = {{"H", 32}}}, "how large \"W\" is", "--size W=224"},
    {{.file = "unnamed", .batch = 2}, "dimension 1 of input \"x\"", "--input x=2x128x6"},
    {{.file = "steps"}, "\"time\", \"batch_size\"", "--size time=128 --size batch_size=1"},
    {{.file = "steps", .batch = 4}, "no input begins with \"batch_size\"", "--size batch_size=4"},
    {{.file = "apart", .batch = 4}, "which of its sizes is the batch", "--size NAME=4"},
    {{.file = "apart", .sizes = {{"rows", 4}}}, "how large \"columns\" is", "--size columns=128"},
    {{.file = "fixed", .batch = 8}, "\"x\" takes 1 at a time", "dynamic_shapes"},
    {{.file = "rank"}, "how many dimensions", "--input x="},
    {{.file = "many", .shapes = {{"x3", SHAPE(2, 4)}, {"x30", SHAPE(3, 4)}}},
     "\"B\" is 2 by input \"x3\", and 3 by input \"x30\"",
     "tell it once"},
};
enum { WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(what_does_not_fit_is_refused_by_its_names) {
    OnnxModel about;
    ck_assert_ptr_null(load_told(&wrong[_i].told, &about));
    ck_assert_msg(strstr(error_message(), wrong[_i].what) &&
                      strstr(error_message(), wrong[_i].hint),
                  "%s", error_message());
    error_clear();
    onnx_model_free(&about);
}
END_TEST

// ---- numbers -----------------------------------------------------------------------------------
static Tensor *counting_up_new(Shape shape, DType dtype) {
    int64_t numbers[512];
    float tenths[512];
    int below = dtype == DTYPE_INT64 ? 20 : 11;
    for (int64_t i = 0; i < shape_numel(shape); i++) {
        numbers[i] = i * 5 % below;
        tenths[i] = (float)numbers[i] / 10.0f;
    }
    return dtype == DTYPE_INT64 ? tensor_from_labels_new(shape, numbers)
                                : tensor_from_floats_new(shape, tenths);
}

// At each size the results are onnxruntime's for the same numbers.
START_TEST(numbers_are_right_at_every_size) {
    const Telling told = {.file = open_runs[_i].name, .shapes = {{NULL, open_runs[_i].shape}}};
    OnnxModel about;
    Layer *model = load_told(&told, &about);
    ck_assert_msg(model != NULL, "%s", error_message());
    Tensor *in[2];
    for (int i = 0; i < about.n_inputs; i++)
        in[i] = counting_up_new(about.inputs[i].shape, about.inputs[i].dtype);
    Scope *scope = scope_open();
    Tensor *y = layer_forward_many(model, in, about.n_inputs);
    ck_assert_msg(y && y->numel <= 512, "%s", error_message());
    float got[512];
    double sum = 0.0, squares = 0.0;
    ck_assert_int_eq(tensor_read_floats(y, got), STATUS_OK);
    for (int64_t i = 0; i < y->numel; i++) {
        sum += (double)got[i];
        squares += (double)got[i] * (double)got[i];
    }
    ck_assert_double_eq_tol(sum, open_runs[_i].sum, 1e-5 * (1.0 + fabs(open_runs[_i].sum)));
    ck_assert_double_eq_tol(squares, open_runs[_i].squares, 1e-5 * open_runs[_i].squares);
    scope_close(scope);
    for (int i = 0; i < about.n_inputs; i++) tensor_free(in[i]);
    layer_free(model);
    onnx_model_free(&about);
}
END_TEST

// ---- given numbers -----------------------------------------------------------------------------
static const struct {
    int64_t batch;
    bool other_batch, floats, apart;
    int64_t numbers[2];
    int64_t n; // how many of them
    Shape y;   // ndim 0: refused
    const char *said;
} tellings[] = {
    {0, false, false, false, {6}, 1, SHAPE(6, 2), NULL},
    {4, false, false, false, {6}, 1, SHAPE(6, 8), NULL},
    {4, false, false, false, {-1}, 1, SHAPE_SCALAR, "HINT: other numbers in --input n=FILE.npy"},
    {4, false, false, false, {7}, 1, SHAPE_SCALAR, "(4, 12) cannot become (7, 6). HINT: other"},
    {4, true, false, false, {6}, 1, SHAPE_SCALAR, "for the batch that they were told with"},
    {4, false, true, false, {6}, 1, SHAPE_SCALAR, "is int8, and the numbers told of it are reals"},
    {4, false, false, false, {6, 1}, 2, SHAPE_SCALAR, "the size 1 as dimension 0, not 2"},
    {4, false, false, false, {128}, 1, SHAPE_SCALAR, "128 is told of input \"n\", and is no int8"},
    {4, false, false, false, {-129}, 1, SHAPE_SCALAR, "-129 is told of input \"n\""},
    {4, false, false, true, {6}, 1, SHAPE_SCALAR, "(1,), and the numbers told of it are (1, 1)"},
    {4, false, false, false, {0}, 0, SHAPE_SCALAR, "HINT: --input n=FILE.npy"}, // no numbers
};
enum { TELLINGS = sizeof tellings / sizeof tellings[0] };

START_TEST(numbers_that_decide_hold_for_one_batch) {
    OnnxModel about;
    const int64_t *numbers = tellings[_i].numbers;
    int64_t n = tellings[_i].n;
    Tensor *told = tensor_from_labels_new(tellings[_i].apart ? SHAPE(1, 1) : SHAPE(n), numbers);
    Tensor *floats = tensor_full_new(SHAPE(1), 6.0f);
    OnnxShape shape = {"n", tellings[_i].apart ? SHAPE(1) : SHAPE(n),
                       tellings[_i].floats ? floats : told};
    OnnxOptions options = {.shapes = &shape,
                           .n_shapes = n > 0,
                           .batch = tellings[_i].batch,
                           .other_batch = tellings[_i].other_batch};
    Layer *model = load("told", &options, &about);
    if (tellings[_i].y.ndim == 0) {
        ck_assert_ptr_null(model);
        ck_assert_msg(strstr(error_message(), tellings[_i].said), "%s", error_message());
        ck_assert_ptr_null(strchr(error_message(), '\n'));
        error_clear();
    } else {
        ck_assert_msg(model != NULL, "%s", error_message());
        ck_assert(shape_equal(about.outputs[0].shape, tellings[_i].y));
        ck_assert(!about.inputs[0].batched && !about.inputs[0].decides && about.inputs[1].decides);
        ck_assert_int_eq(about.steps, 2); // the steps behind the shape do not run
        ck_assert_str_eq(about.assumed[about.n_assumed - 1].what, "numbers of input \"n\"");
        ck_assert_int_eq(strncmp(about.assumed[about.n_assumed - 1].taken, "6, as", 5), 0);
    }
    layer_free(model);
    onnx_model_free(&about);
    tensor_free(told);
    tensor_free(floats);
}
END_TEST

// Shapes without a name go to the inputs in the graph's order, whichever input comes first.
START_TEST(the_input_that_the_batch_leads_comes_first_where_asked) {
    const OnnxShape shapes[] = {{NULL, SHAPE(5, 6), NULL}, {NULL, SHAPE(4, 6), NULL}};
    for (int first = 0; first < 2; first++) {
        OnnxModel about;
        OnnxOptions options = {.batch_first = first, .shapes = shapes, .n_shapes = 2};
        Layer *model = load("later", &options, &about);
        ck_assert_msg(model != NULL, "%s", error_message());
        ck_assert_str_eq(about.inputs[0].name, first ? "z" : "x");
        for (int i = 0; i < 2; i++) {
            const OnnxPort *port = &about.inputs[i];
            bool batch = port->name[0] == 'z';
            ck_assert_int_eq(port->told, batch);
            ck_assert_int_eq(port->batched, batch);
            ck_assert_int_eq(port->shape.dims[0], batch ? 4 : 5);
        }
        Tensor *in[2], *y;
        for (int i = 0; i < 2; i++) in[i] = tensor_uniform_new(about.inputs[i].shape, 0.0f, 1.0f);
        ck_assert_int_eq(layer_forward_each(model, in, 2, &y, 1), STATUS_OK);
        ck_assert(shape_equal(y->shape, SHAPE(5, 4)));
        for (int i = 0; i < 2; i++) tensor_free(in[i]);
        layer_free(model);
        onnx_model_free(&about);
    }
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("onnx_sizes");
    const HarnessTest tests[] = {{what_is_told_holds_in_every_input, GOOD},
                                 {what_does_not_fit_is_refused_by_its_names, WRONG},
                                 {numbers_are_right_at_every_size, RUNS},
                                 {numbers_that_decide_hold_for_one_batch, TELLINGS},
                                 {the_input_that_the_batch_leads_comes_first_where_asked, 0},
                                 {NULL, 0}};
    return harness_main("onnx_sizes", tests);
}
