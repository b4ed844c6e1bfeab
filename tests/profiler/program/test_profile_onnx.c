// test_profile_onnx.c -- profile_model of ONNX files that leave sizes open: sizes given by name,
// other batches, and the kind of profile. layers/test_onnx_sizes.c tests the sizes' reach.
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
#define QUICK " --iterations 1 --warmup 2 --peaks none"

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_model"), arguments, PROGRAM_CAPTURED);
}

// ---- counts ------------------------------------------------------------------------------------
static const struct {
    const char *arguments, *kind;
    int64_t macs; // of the forward
} counts[] = {
    // batch x seq x 8 x 8 twice, and batch x seq x seq x 8
    {OPEN "texts.onnx --input ids=4x32", "inference", 4 * 32 * 64 * 2 + 4 * 32 * 32 * 8},
    {OPEN "texts.onnx --size seq=32 --batch 4", "inference", 4 * 32 * 64 * 2 + 4 * 32 * 32 * 8},
    {OPEN "texts.onnx --size seq=9 --size seq=32", "inference", 32 * 64 * 2 + 32 * 32 * 8},
    {OPEN "texts.onnx --input ids=2x9 --input ids=4x32", "inference",
     4 * 32 * 64 * 2 + 4 * 32 * 32 * 8},
    {OPEN "texts.onnx --size seq=32 --train", "training", 32 * 64 * 2 + 32 * 32 * 8},
    {OPEN "texts.onnx --size seq=32 --optimizer sgd", "training", 32 * 64 * 2 + 32 * 32 * 8},
    {OPEN "texts.onnx --size seq=32 --train --inference", "inference", 32 * 64 * 2 + 32 * 32 * 8},
    {OPEN "many.onnx --batch 3", "inference", 3 * 40 * 4 * 3},
    {OPEN "image.onnx --size H=8 --size W=6 --batch 2", "inference", 2 * (4 * 27 * 48 + 20)},
    {OPEN "later.onnx --batch 7", "inference", 5 * 6 * 3 + 7 * 6 * 3 + 5 * 3 * 7},
    {"lenet5", "training", 416520},
};
enum { COUNTS = sizeof counts / sizeof counts[0] };

START_TEST(sizes_are_told_by_name_and_a_file_opens_as_inference) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, "%s --device meta", counts[_i].arguments);
    json_t *document = document_of("profile_model", arguments);
    ck_assert_int_eq(document_integer(document, "totals.forward.macs"), counts[_i].macs);
    ck_assert_str_eq(json_string_value(document_at(document, "kind")), counts[_i].kind);
    json_decref(document);
}
END_TEST

START_TEST(a_batch_that_nobody_told_is_said_to_be_one) {
    json_t *document = document_of("profile_model", OPEN "texts.onnx --size seq=3 --device meta");
    const json_t *assumed = document_at(document, "assumed"), *one = json_array_get(assumed, 0);
    ck_assert_str_eq(json_string_value(json_object_get(one, "what")), "batch size \"batch\"");
    ck_assert_str_eq(json_string_value(json_object_get(one, "taken")), "1");
    json_decref(document);
    ProgramRun got = run(OPEN "texts.onnx --size seq=3 --device meta");
    ck_assert_msg(strstr(got.out, "assumed: batch size \"batch\": 1") &&
                      strstr(got.out, "batch 1 | fp32 | inference\n"),
                  "%s", got.out);
    program_run_free(&got);
    got = run(OPEN "texts.onnx --size seq=3 --batch 1 --device meta");
    ck_assert_msg(!strstr(got.out, "assumed: batch"), "%s", got.out);
    program_run_free(&got);
}
END_TEST

// ---- other batches -----------------------------------------------------------------------------
static const struct {
    const char *file;
    int64_t budget;
} open_files[] = {
    {OPEN "image.onnx --size H=8 --size W=6", 200000},
    {OPEN "image.onnx --size H=8 --size W=6 --train", 300000},
    {OPEN "texts.onnx --size seq=5", 50000},
    {OPEN "many.onnx --input x7=2x4", 9000},
    {OPEN "later.onnx", 9000},
    {"lenet5 --inference", 1000000},
};
enum { OPEN_FILES = sizeof open_files / sizeof open_files[0] };

// reads "1,234"
static int64_t whole(const char *text) {
    int64_t number = 0;
    for (; *text; text++)
        if (*text != ',') number = number * 10 + (*text - '0');
    return number;
}

static int64_t peak_of(const char *file, int64_t batch, const char *key) {
    char arguments[200];
    const char *told = strstr(file, " --input"); // that fixes the batch; use --batch instead
    snprintf(arguments, sizeof arguments, "%.*s --device meta --batch %lld",
             told ? (int)(told - file) : 150, file, (long long)batch);
    json_t *document = document_of("profile_model", arguments);
    int64_t bytes = document_integer(document, key);
    json_decref(document);
    return bytes;
}

// A profile of the largest batch that a budget allows has the predicted peak, and one sample more
// has the peak that was too much; the bytes per sample are the difference of two profiles.
START_TEST(other_batches_are_those_of_profiles_of_their_own) {
    const char *peak = "memory.predicted.peak_bytes", *file = open_files[_i].file;
    char arguments[200], largest[32], predicted[32], next[32];
    snprintf(arguments, sizeof arguments, "%s --memory-budget %lld" QUICK, file,
             (long long)open_files[_i].budget);
    ProgramRun got = run(arguments);
    const char *answer = strstr(got.out, "largest batch");
    ck_assert_msg(got.status == 0 && answer && strstr(got.out, "as predicted"), "%s%s", got.out,
                  got.err);
    ck_assert_msg(strstr(got.out, strstr(file, "--train") ? "for a training step with Adam"
                                                          : "for inference") != NULL,
                  "%s", got.out);
    ck_assert_int_eq(sscanf(answer, "largest batch %31s", largest), 1);
    ck_assert_int_eq(sscanf(strstr(answer, "predicted peak"), "predicted peak %31s", predicted), 1);
    ck_assert_int_eq(sscanf(strstr(answer, "one sample more"), "one sample more %31s", next), 1);
    int64_t batch = whole(largest);
    ck_assert_int_gt(batch, 2);
    ck_assert_int_eq(peak_of(file, batch, peak), whole(predicted));
    ck_assert_int_eq(peak_of(file, batch + 1, peak), whole(next));
    ck_assert_int_eq(peak_of(file, 3, peak) - peak_of(file, 2, peak),
                     peak_of(file, 2, "memory.bytes_per_sample"));
    program_run_free(&got);
}
END_TEST

// Besides the try of a larger batch, whose model is a separate one.
START_TEST(a_sample_more_is_known_where_the_file_leaves_it_open) {
    static const char *const says[][2] = {{OPEN "many.onnx", "per extra sample +964 B"},
                                          {OPEN "fixed.onnx", "the model takes no other batch"}};
    for (int i = 0; i < 2; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "%s --peaks tests/fixtures/peaks.json", says[i][0]);
        ProgramRun got = run(arguments);
        ck_assert_msg(got.status == 0 && strstr(got.out, says[i][1]), "%s%s", got.out, got.err);
        program_run_free(&got);
    }
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
static const ProgramRefusal wrong[] = {
    {OPEN "texts.onnx", "\"seq\"", "--size seq=128", 2},
    {OPEN "image.onnx", "\"H\", \"W\"", "--size H=224 --size W=224", 2},
    {OPEN "texts.onnx --input ids=4x32 --input ctx=4x16", "input \"ids\"", "input \"ctx\"", 2},
    {OPEN "fixed.onnx --batch 8", "--batch 8", "dynamic_shapes={\"x\"", 2},
    {OPEN "flat.onnx --batch 4", "(1, 24), (6, 3): inner sizes 24 and 6 differ",
     "the file may fix its batch, and 4 is told", 2},
    {OPEN "texts.onnx --size seq", "--size seq", "as seq=128", 2},
    {OPEN "texts.onnx --size seq=", "--size seq=", "as seq=128", 2},
    {OPEN "texts.onnx --size seq=-1", "--size seq=-1", "as seq=128", 2},
    {OPEN "texts.onnx --size seq=1x", "--size seq=1x", "as seq=128", 2},
    {OPEN "texts.onnx --size =1", "--size =1", "as seq=128", 2},
    {OPEN "texts.onnx --size seq=99999999999999999999", "--size seq=", "as seq=128", 2},
    {"lenet5 --size N=1", "--size", "ONNX", 2},
    {"lenet5 " OPEN "fixed.onnx --device meta", "opens as inference", "--inference or --train", 2},
    {OPEN "fixed.onnx --against lenet5", "opens as a training step", "--inference or --train", 2},
    {"gpt2 --generate 2 --train", "--generate", "leave out --train", 2},
    {"no(such)file@.onnx", "no(such)file@.onnx", "no such file", 2},
};

START_TEST(what_does_not_fit_is_refused_in_one_line) {
    program_refuses("profile_model", &wrong[_i]);
}
END_TEST

// ---- numbers that decide the graph -------------------------------------------------------------
static const struct {
    const char *more;
    int64_t number;   // in the .npy file
    const char *said; // in the report, or in a refusal's one line
    bool is_refused;
} decided[] = {
    {"", 6, "numbers of input \"n\": 6, as they were told", false},
    {" --batch 4", 6, "numbers of input \"n\": 6, as they were told", false},
    {" --batch 4", 7, "(4, 12) cannot become (7, 6). HINT: other numbers in --input n=", true},
    {" --batch 4", 300, "300 is told of input \"n\", and is no int8", true},
    {" --sweep batch=1,2", 6, "--sweep batch: the numbers told of input \"n\" decide shapes", true},
};
enum { DECIDED = sizeof decided / sizeof decided[0] };

START_TEST(numbers_of_a_file_decide_and_it_is_said) {
    char arguments[600];
    work_folder_begin();
    Tensor *n = tensor_from_labels_new(SHAPE(1), &decided[_i].number);
    ck_assert_int_eq(npy_write(n, byte_file_path("n.npy")), STATUS_OK);
    snprintf(arguments, sizeof arguments, OPEN "told.onnx --input n=%s --inference%s",
             byte_file_path("n.npy"), decided[_i].more);
    if (!decided[_i].is_refused) strcat(arguments, QUICK);
    ProgramRun got = run(arguments);
    ck_assert_int_eq(got.status != 0, decided[_i].is_refused);
    const char *text = decided[_i].is_refused ? got.err : got.out;
    ck_assert_msg(strstr(text, decided[_i].said), "%s%s", got.out, got.err);
    if (decided[_i].is_refused) ck_assert_str_eq(strchr(got.err, '\n'), "\n");
    program_run_free(&got);
    tensor_free(n);
    work_folder_end();
}
END_TEST

int main(void) {
    if (onnx_is_absent()) return onnx_all_skipped("profile_onnx");
    const HarnessTest tests[] = {{sizes_are_told_by_name_and_a_file_opens_as_inference, COUNTS},
                                 {a_batch_that_nobody_told_is_said_to_be_one, 0},
                                 {other_batches_are_those_of_profiles_of_their_own, OPEN_FILES},
                                 {a_sample_more_is_known_where_the_file_leaves_it_open, 0},
                                 {what_does_not_fit_is_refused_in_one_line,
                                  sizeof wrong / sizeof wrong[0]},
                                 {numbers_of_a_file_decide_and_it_is_said, DECIDED},
                                 {NULL, 0}};
    return harness_main("profile_onnx", tests);
}
