// test_profile_paths.c -- files given to the programs: whatever their names are, in the wrong
// place, and as inputs of a model. test_profile_onnx.c: sizes and batches.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/npy.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/onnx_files.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

#define OPEN FOLDER "open_"

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_model"), arguments, PROGRAM_CAPTURED);
}

static const char *copy_of(const char *from, const char *to) {
    static char bytes[1 << 14];
    FILE *file = fopen(from, "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return byte_file_put(to, bytes, size);
}

static const char *zeros_file(const char *name, Shape shape) {
    Tensor *x = tensor_zeros_new(shape);
    ck_assert_int_eq(npy_write(x, byte_file_path(name)), STATUS_OK);
    tensor_free(x);
    return byte_file_path(name);
}

static int64_t batch_of(const char *arguments) {
    json_t *document = document_of("profile_model", arguments);
    int64_t batch = document_integer(document, "model.batch");
    json_decref(document);
    return batch;
}

// An existing file is a file, whatever characters its name has.
START_TEST(a_file_that_exists_is_a_file) {
    static const char *const names[] = {"net@2.onnx", "model(1).onnx", "Linear(3,4)@1x3.onnx",
                                        "NET.ONNX"};
    char arguments[400];
    work_folder_begin();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(arguments, sizeof arguments, "%s --device meta",
                 copy_of(OPEN "fixed.onnx", names[i]));
        ck_assert_int_eq(batch_of(arguments), 1);
    }
    ck_assert_int_eq(batch_of(OPEN "later.onnx --device meta --batch 7"), 7);
    snprintf(arguments, sizeof arguments, OPEN "listed.onnx --device meta --input x=2x6 --input %s",
             zeros_file("z.npy", SHAPE(3, 6))); // for the input without a name
    ck_assert_int_eq(batch_of(arguments), 2);
    snprintf(arguments, sizeof arguments, OPEN "listed.onnx --device meta --input %s",
             zeros_file("z=4.npy", SHAPE(2, 6)));
    ck_assert_int_eq(batch_of(arguments), 2);
    snprintf(arguments, sizeof arguments, OPEN "listed.onnx --device meta --input z=%s",
             zeros_file("z=4.npy", SHAPE(3, 6)));
    ck_assert_int_eq(batch_of(arguments), 3);
    snprintf(arguments, sizeof arguments, OPEN "signs.onnx --device meta --input a=b=%s",
             zeros_file("z=4.npy", SHAPE(4, 6))); // its input is called "a=b"
    ck_assert_int_eq(batch_of(arguments), 4);
    ck_assert_int_eq(batch_of(OPEN "signs.onnx --device meta --input a=b=5x6"), 5);
    work_folder_end();
}
END_TEST

// A file of one layer has the path of the optimizer's ops, and a row of its own.
START_TEST(a_model_of_one_layer_is_no_update) {
    ProgramRun got = run(FOLDER "learned_placed_masked.onnx --train --device meta");
    const char *model = strstr(got.out, "\n(model) "), *update = strstr(got.out, "\nAdam update ");
    ck_assert_msg(got.status == 0 && model && update, "%s%s", got.out, got.err);
    ck_assert_msg(strstr(model, " 64 ") < update, "%s", got.out); // its parameters
    ck_assert_msg(!strstr(update + 2, "Adam update"), "%s", got.out);
    program_run_free(&got);
    got = run(FOLDER "learned_placed_masked.onnx --train --device meta --quiet --tinytorch -");
    ck_assert_msg(strstr(got.out, "\"name\": \"(model)\""), "%s", got.out);
    program_run_free(&got);
}
END_TEST

// A path that looks like a flag, and a file for the program that takes none.
START_TEST(a_file_in_the_wrong_place_is_told_where_to_go) {
    work_folder_begin();
    work_folder_run("cp \"$OLDPWD\"/" OPEN "fixed.onnx ./-qx.onnx; cp ./-qx.onnx x.onnx\n"
                    "not profile_model -qx.onnx 2> dashed; not profile_mlp x.onnx 2> other\n"
                    "grep -q '^profile_model: -qx.onnx: .* write ./-qx.onnx$' dashed\n"
                    "grep -q '^profile_mlp: x.onnx: .* profile_model profiles files$' other\n"
                    "profile_model ./-qx.onnx --device meta > report");
    work_folder_end();
}
END_TEST

// Inputs of another command replace the first's, by name or by place; typed inputs likewise replace
// those of a file of options.
START_TEST(inputs_of_another_command_replace_the_first_ones) {
    char arguments[600], two[200], three[200];
    work_folder_begin();
    snprintf(two, sizeof two, "%s", zeros_file("two.npy", SHAPE(2, 6)));
    snprintf(three, sizeof three, "%s", zeros_file("three.npy", SHAPE(3, 6)));
    const char *commands[] = {
        OPEN "texts.onnx --input ids=2x5 --against --input=ids=3x5",
        OPEN "listed.onnx --input %s --against --input=%s",
        OPEN "listed.onnx --input=%s --input %s --against --input=%s",
        OPEN "listed.onnx --inp %s --against --input=%s",
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        snprintf(arguments, sizeof arguments, commands[i], two, i == 2 ? two : three, three);
        strcat(arguments, " --device meta");
        ProgramRun got = run(arguments);
        ck_assert_msg(got.status == 0 && !got.err[0] && strstr(got.out, "total_flops"), "%s%s",
                      got.out, got.err);
        program_run_free(&got);
    }
    int length = snprintf(arguments, sizeof arguments, "input = %s\n", two);
    char config[200];
    snprintf(config, sizeof config, "%s", byte_file_put("c.txt", arguments, (size_t)length));
    snprintf(arguments, sizeof arguments, OPEN "listed.onnx --device meta --config %s", config);
    ck_assert_int_eq(batch_of(arguments), 2);
    strcat(arguments, " --input ");
    strcat(arguments, three);
    ck_assert_int_eq(batch_of(arguments), 3);
    work_folder_end();
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("profile_paths");
    const HarnessTest tests[] = {{a_file_that_exists_is_a_file, 0},
                                 {a_model_of_one_layer_is_no_update, 0},
                                 {a_file_in_the_wrong_place_is_told_where_to_go, 0},
                                 {inputs_of_another_command_replace_the_first_ones, 0},
                                 {NULL, 0}};
    return harness_main("profile_paths", tests);
}
