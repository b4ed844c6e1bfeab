// test_profile_config.c -- options from a file: used as if typed, overridden by typed ones, and
// refused with their place.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

static char path[64];

static void begin_with(const char *text, size_t size) {
    work_folder_begin();
    snprintf(path, sizeof path, "%s/file", work_folder);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static ProgramRun run(const char *program, const char *format) {
    char arguments[300];
    snprintf(arguments, sizeof arguments, format, path);
    return program_run(program_path(program), arguments, PROGRAM_CAPTURED);
}

// One line of each kind; the document shows the effect of each.
START_TEST(lines_are_taken_as_if_they_were_typed) {
    static const char text[] = "# what we run\n"
                               "  batch=12   # samples\r\n"
                               "layers = 30, 20,10\n"
                               "\n\t\n"
                               "--optimizer = sgd\n"
                               "quiet\n"
                               "device = meta";
    char arguments[200];
    begin_with(text, sizeof text - 1);
    snprintf(arguments, sizeof arguments, "--config %s --epochs 0", path);
    json_t *document = document_new(arguments);
    ck_assert_int_eq(json_integer_value(document_at(document, "model.batch")), 12);
    ck_assert_str_eq(json_string_value(document_at(document, "model.optimizer")), "SGD");
    static const char *const lines[] = {"batch = 12", "layers = 30, 20,10", "--optimizer = sgd",
                                        "quiet", "device = meta"};
    json_t *config = document_at(document, "config");
    ck_assert_int_eq((int)json_array_size(config), 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(json_string_value(json_array_get(config, i)), lines[i]);
    json_decref(document);
    document = document_new("--device meta");
    ck_assert(json_is_null(document_at(document, "config")));
    json_decref(document);
    work_folder_end();
}
END_TEST

static const struct {
    const char *program, *text, *arguments, *head;
} typed[] = {
    {"profile_mlp", "batch = 12\n", "--batch 7 --config %s --device meta", "| batch 7 |"},
    {"profile_mlp", "batch = 12\n", "--device meta --config=%s", "| batch 12 |"},
    {"profile_mlp", "batch = 12\n", "--device meta --conf %s --batch 7", "| batch 7 |"},
    {"profile_model", "model = lenet5\ndevice = meta\n", "--config %s", "lenet5 1x32x32"},
    {"profile_model", "model = lenet5\ndevice = meta\n", "vgg16 --config %s", "vgg16 3x224x224"},
    {"profile_model", "model = lenet5\nmodel = vgg16\ndevice = meta\n", "--config %s",
     "COMPARISON  training step"},
    {"profile_model", "model = lenet5\nmodel = vgg16\ndevice = meta\n", "alexnet --config %s",
     "alexnet 3x224x224"},
    {"profile_mlp", "nonsense\n", "--help --config %s", "Profiles training steps"},
    {"profile_mlp", "", "--config %s --device meta", "MLP 784-512-256-10"},
    {"profile_mlp", "fuse\n", "--device meta --no-fuse --config %s", "\nrelu1 "},
    {"profile_mlp", "fuse\n", "--summary --config %s", "401,920   yes    25.7M\n  fc2: "},
    {"profile_mlp", "no-fuse\n", "--summary --fuse --config %s", "401,920   yes    25.7M\n  fc2: "},
};

START_TEST(what_is_typed_counts) {
    begin_with(typed[_i].text, strlen(typed[_i].text));
    ProgramRun got = run(typed[_i].program, typed[_i].arguments);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    ck_assert_msg(strstr(got.out, typed[_i].head), "%.300s", got.out);
    program_run_free(&got);
    work_folder_end();
}
END_TEST

// Options of the file count to the end, as for --json -: a reader that stops early is no failure.
START_TEST(the_output_may_be_a_file_s_word) {
    begin_with("json = -\ndevice = meta\n", 23);
    ProgramRun got = run("profile_mlp", "--config %s");
    ck_assert_msg(got.status == 0 && !got.err[0] && got.out[0] == '{', "%s", got.err);
    program_run_free(&got);
    char commands[300];
    snprintf(commands, sizeof commands,
             "{ profile_mlp --config %s; echo $? >status; } 2>err | head -n 3 >out\n"
             "test $(cat status) = 0\n"
             "not test -s err",
             path);
    work_folder_run(commands);
    work_folder_end();
}
END_TEST

// size counts the text's bytes: one of them ends with a 0.
static const struct {
    const char *text;
    int size, status;
    const char *says;
} wrong[] = {
    {"\nbacth = 3\n", 11, 2, "file:2: bacth: unknown option; did you mean batch?\n"},
    {"batch = x\n", 10, 2, "file:1: --batch x: expected a whole number"},
    {"batch\n", 6, 2, "file:1: batch needs a value, as in batch = N\n"},
    {"batch =\n", 8, 2, "file:1: batch needs a value, as in batch = N\n"},
    {"batch = 3#x\n", 12, 2, "file:1: --batch 3#x: expected a whole number"},
    {"batch 3\n", 8, 2, "file:1: batch 3: expected NAME = VALUE, or a switch's name\n"},
    {"= 3\n", 4, 2, "file:1: : unknown option"},
    {"fuse = yes\n", 11, 2, "file:1: fuse takes no value: "},
    {"image = 224\n", 12, 2, "file:1: image: unknown option"}, // an option of the other program
    {"config = x\n", 11, 2, "file:1: config: a file of options cannot name another"},
    {"epochs = 1\ncalibrate\npeaks = x\n", 31, 2, "--calibrate and --peaks exclude each other\n"},
    {"batch = 1\0\n", 11, 3, "file: it is no text; expected a text of lines as 'batch = 256'\n"},
};

START_TEST(what_cannot_be_taken_is_refused_with_its_place) {
    begin_with(wrong[_i].text, (size_t)wrong[_i].size);
    ProgramRun got = run("profile_mlp", "--config %s --device cpu");
    ck_assert_int_eq(got.status, wrong[_i].status);
    ck_assert_msg(strstr(got.err, wrong[_i].says), "%s", got.err);
    ck_assert(strchr(got.err, '\n') == got.err + strlen(got.err) - 1 && !got.out[0]);
    program_run_free(&got);
    work_folder_end();
}
END_TEST

START_TEST(files_that_are_none_are_refused) {
    char *text = calloc(70000, 1);
    memset(text, '\n', 70000);
    begin_with(text, 70000);
    free(text);
    static const struct {
        const char *arguments;
        int status;
        const char *says;
    } cases[] = {{"--config %s", 3, "longer than 65,535 bytes"},
                 {"--config %sx", 3, "No such file"},
                 {"--config /tmp", 3, "Is a directory"},
                 {"--config", 2, "--config needs a value"},
                 {"--device meta --config /dev/null --config %s", 2, "one file only"}};
    for (int i = 0; i < 5; i++) {
        ProgramRun got = run("profile_mlp", cases[i].arguments);
        ck_assert_msg(got.status == cases[i].status && strstr(got.err, cases[i].says), "%d: %s",
                      got.status, got.err);
        program_run_free(&got);
    }
    work_folder_end();
}
END_TEST

START_TEST(the_file_is_not_overwritten) {
    begin_with("device = meta\n", 14);
    char arguments[200];
    snprintf(arguments, sizeof arguments, "--config %s --json %s", path, path);
    ProgramRun got = program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 2 && strstr(got.err, "this file is read"), "%s", got.err);
    program_run_free(&got);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{lines_are_taken_as_if_they_were_typed, 0},
                                 {what_is_typed_counts, sizeof typed / sizeof typed[0]},
                                 {the_output_may_be_a_file_s_word, 0},
                                 {what_cannot_be_taken_is_refused_with_its_place,
                                  sizeof wrong / sizeof wrong[0]},
                                 {files_that_are_none_are_refused, 0},
                                 {the_file_is_not_overwritten, 0},
                                 {NULL, 0}};
    return harness_main("profile_config", tests);
}
