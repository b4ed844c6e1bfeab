// test_onnx_refused.c -- refused ONNX files: the messages, no waiting, and nothing left behind.
// test_onnx.c tests files that are read, fuzz_onnx.c hostile bytes.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "layers/cost.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/onnx_files.h"
#include "tests/helpers/work_folder.h"

START_TEST(files_that_are_none_are_refused) {
    ck_assert_ptr_null(onnx_load("tests/fixtures/none.onnx", NULL, NULL));
    expect_error(STATUS_IO, "cannot be read: No such file");
    ck_assert_ptr_null(onnx_load("tests", NULL, NULL));
    expect_error(STATUS_IO, "tests");
    ck_assert_ptr_null(onnx_load(NULL, NULL, NULL));
    expect_error(STATUS_INVALID_ARGUMENT, "no path");
    ck_assert_ptr_null(onnx_load("tests/README.md", NULL, NULL));
    expect_error(STATUS_FORMAT, "no ONNX model");
}
END_TEST

START_TEST(hostile_files_are_refused) {
    static const struct {
        const char *name;
        Status status;
        const char *said;
    } files[] = {{"bad_outside", STATUS_FORMAT, "which is not beside it or below"},
                 {"bad_large", STATUS_FORMAT, "holds 1 numbers, not 3221225472"},
                 {"bad_fill", STATUS_OUT_OF_MEMORY, "constants of more than"},
                 {"bad_expand", STATUS_OUT_OF_MEMORY, "constants of more than"},
                 {"bad_cycle", STATUS_FORMAT, "\"b\" is stored nowhere, and no node before"},
                 {"bad_twice", STATUS_FORMAT, "\"y\" is computed twice"},
                 {"bad_output", STATUS_FORMAT, "\"y\" is computed by no node"},
                 {"learned_whole_sums", STATUS_NOT_IMPLEMENTED, "which would round int16 numbers"},
                 {"learned_spread_mean", STATUS_NOT_IMPLEMENTED, "its dilations are not 1"},
                 {"learned_whole_pool", STATUS_NOT_IMPLEMENTED,
                  "its input \"x\" is uint8, and only reals are read here"},
                 {"learned_projected", STATUS_SHAPE,
                  "its first cell has the shape (1, 2, 8), and needs (1, 2, 3)"},
                 {"bad_axes", STATUS_FORMAT, "it has not one size or scale for each of its"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, FOLDER "%s.onnx", files[i].name);
        Layer *model = onnx_load(path, NULL, NULL);
        ck_assert_ptr_null(model);
        ck_assert_ptr_nonnull(strstr(error_message(), " HINT: "));
        expect_error(files[i].status, files[i].said);
    }
}
END_TEST

// A link to the numbers may lead anywhere below the model's folder, and nowhere else.
START_TEST(a_link_out_of_the_folder_is_refused) {
    char path[64];
    work_folder_begin();
    work_folder_run("mkdir -p in/below; cp \"$OLDPWD\"/" FOLDER "mlp.dy.onnx* in\n"
                    "mv in/mlp.dy.onnx.data in/below/data\n"
                    "cp in/below/data out; ln -s below/data in/mlp.dy.onnx.data");
    snprintf(path, sizeof path, "%s/in/mlp.dy.onnx", work_folder);
    Layer *model = onnx_load(path, NULL, NULL);
    expect_no_error();
    layer_free(model);
    work_folder_run("ln -sf ../out in/mlp.dy.onnx.data");
    ck_assert_ptr_null(onnx_load(path, NULL, NULL));
    expect_error(STATUS_FORMAT, "is a link to a file that is not beside it or below");
    work_folder_end();
}
END_TEST

// Attributes that would give wrong numbers if they were ignored.
START_TEST(attributes_that_are_not_here_are_named) {
    static const struct {
        const char *name, *said;
    } files[] = {{"no_antialias", "its attribute antialias is 1, and 0 is what is read"},
                 {"no_exclude_outside", "its exclude_outside is not 0"},
                 {"no_cubic_coeff_a", "its cubic_coeff_a is -0.5, and -0.75 is"},
                 {"no_keep_aspect_ratio",
                  "its attribute keep_aspect_ratio_policy is \"not_larger\""},
                 {"no_before_reset", "linear_before_reset must be 1"},
                 {"no_clip", "its attribute \"clip\" is not read"},
                 {"no_reverse", "its attribute reverse is 1, and 0 is what is read"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, FOLDER "%s.onnx", files[i].name);
        ck_assert_ptr_null(onnx_load(path, NULL, NULL));
        expect_error(STATUS_NOT_IMPLEMENTED, files[i].said);
    }
}
END_TEST

// mlp.dy's numbers are in a file beside it.
START_TEST(numbers_beside_the_file_must_be_there) {
    char folder[] = "/tmp/onnx.XXXXXX", to[64], command[160];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(to, sizeof to, "%s/mlp.onnx", folder);
    snprintf(command, sizeof command, "cp " FOLDER "mlp.dy.onnx %s", to);
    ck_assert_int_eq(system(command), 0);
    ck_assert_ptr_null(onnx_load(to, NULL, NULL));
    expect_error(STATUS_IO, "mlp.onnx: its numbers: ");
    snprintf(command, sizeof command, "mkfifo %s/mlp.dy.onnx.data", folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_ptr_null(onnx_load(to, NULL, NULL)); // does not wait for a writer
    expect_error(STATUS_IO, "mlp.dy.onnx.data: cannot be read: it is no regular file");
    snprintf(command, sizeof command, "rm %s/mlp.dy.onnx.data", folder);
    ck_assert_int_eq(system(command), 0);
    snprintf(command, sizeof command, "head -c 50 " FOLDER "mlp.dy.onnx.data >%s/mlp.dy.onnx.data",
             folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_ptr_null(onnx_load(to, NULL, NULL));
    expect_error(STATUS_FORMAT, "ends before");
    unlink(to);
    snprintf(to, sizeof to, "%s/mlp.dy.onnx.data", folder);
    unlink(to);
    rmdir(folder);
}
END_TEST

// All missing operators are named at once; a partial model counts the others.
START_TEST(operators_that_are_missing_are_named) {
    OnnxModel about;
    ck_assert_ptr_null(onnx_load(FOLDER "missing.onnx", NULL, &about));
    expect_error(STATUS_NOT_IMPLEMENTED, "2 operators are missing: Strange (2), elsewhere.Odd (1)");
    onnx_model_free(&about);
    const OnnxOptions partial = {.partial = true};
    Layer *model = onnx_load(FOLDER "missing.onnx", &partial, &about);
    ck_assert_msg(model != NULL, "%s", error_message());
    ck_assert_int_eq(about.n_missing, 2);
    ck_assert_str_eq(about.missing[0].name, "Strange");
    ck_assert_int_eq(about.missing[0].count, 2);
    ck_assert_int_eq(about.outputs[0].shape.dims[0], 5); // from the file
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_int_eq((int64_t)cost.phase[PHASE_FORWARD].macs, 2 * 3 * 3 + 5 * 3 * 3);
    tensor_free(x);
    layer_free(model);
    onnx_model_free(&about);
    ck_assert_ptr_null(onnx_load(FOLDER "missing_end.onnx", &partial, &about));
    expect_error(STATUS_NOT_IMPLEMENTED, "infer_shapes");
    onnx_model_free(&about);
}
END_TEST

START_TEST(memory_that_runs_out_is_said) {
    const char *const files[] = {"mlp.dy",    "chargpt.ts",    "gru_both",
                                 "router.ts", "lstm_stack.ts", "split_uneven"};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        char path[128];
        snprintf(path, sizeof path, FOLDER "%s.onnx", files[k]);
        bool loaded = false;
        for (uint64_t n = 1; !loaded; n = n < 60 ? n + 1 : n + 37) {
            OnnxModel about;
            memory_fail_at(n);
            Layer *model = onnx_load(path, NULL, &about);
            memory_fail_at(0);
            loaded = model != NULL;
            if (!loaded) expect_error(STATUS_OUT_OF_MEMORY, "");
            layer_free(model);
            onnx_model_free(&about);
            ck_assert_int_eq(expect_live_bytes(), 0);
        }
    }
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("onnx_refused");
    const HarnessTest tests[] = {
        {files_that_are_none_are_refused, 0},       {hostile_files_are_refused, 0},
        {a_link_out_of_the_folder_is_refused, 0},   {attributes_that_are_not_here_are_named, 0},
        {numbers_beside_the_file_must_be_there, 0}, {operators_that_are_missing_are_named, 0},
        {memory_that_runs_out_is_said, 0},          {NULL, 0}};
    return harness_main("onnx_refused", tests);
}
