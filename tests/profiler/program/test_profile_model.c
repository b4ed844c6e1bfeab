// test_profile_model.c -- the program that profiles networks by name: the list of names, the
// options on their inputs, and numbers that are the networks'.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/files/npy.h"
#include "layers/models/zoo.h"
#include "profiler/base/text.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_model"), arguments, PROGRAM_CAPTURED);
}

// ---- the list ----------------------------------------------------------------------------------
START_TEST(the_list_has_every_network_and_its_parameters) {
    ProgramRun got = run("--list");
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    context_set_device(device_meta());
    int n = 0;
    for (const ZooModel *model; (model = zoo_at(n)); n++) {
        char line[240];
        Layer *layer = zoo_new(model, 0);
        snprintf(line, sizeof(line), "\n%-20s %14s  ", model->name,
                 text_count(layer_parameter_count(layer)).s);
        ck_assert_msg(strstr(got.out, line) != NULL, "no line \"%s\"", line + 1);
        layer_free(layer);
    }
    ck_assert_int_eq(program_count_lines(got.out), n + 1);
    char *rest = got.out;
    for (char *line; (line = strsep(&rest, "\n"));) ck_assert_int_le((int)strlen(line), 80);
    program_run_free(&got);
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
static const ProgramRefusal wrong[] = {
    {"", "name a network", "--list", 2},
    {"--batch 2", "name a network", "resnet50", 2},
    {"resnet51", "resnet51", "did you mean resnet50", 2},
    {"nothing-like-it", "nothing-like-it", "--list", 2},
    {"lenet5 --tokens 5", "--tokens", "--image", 2},
    {"lenet5 --image 32x", "--image 32x", "HEIGHTxWIDTH", 2},
    {"lenet5 --image 0", "--image 0", "224", 2},
    {"lenet5 --image 32x32x3", "--image 32x32x3", "224", 2},
    {"lenet5 --layers 3,4", "--layers", "unknown", 2},
    {"lenet5 --freeze=", "--freeze", "features", 2},
    {"lenet5 --device meta --freeze nope", "--freeze nope", "matches", 2},
    {"lenet5 --device meta --recompute nope", "--recompute nope", "matches", 2},
    {"lenet5 --device meta --image 8", "conv2", "", 2}, // the kernel is larger than the image there
    {"lenet5 --inference --freeze fc1", "--freeze", "--inference", 2},
    {"lenet5 --inference --leaks", "--leaks", "--inference", 2},
    {"vgg16 --batch 100000", "vgg16 3x224x224: a step takes 7", "--device meta", 3},
    {"gpt2 --classes 3", "--classes", "texts", 2},
    {"gpt2 --device meta --tokens 1025", "1025 tokens", "context", 2},
    {"vit_b_16 --device meta --image 225", "225", "", 2},
    {"Liner(3,4)@2x3", "Liner", "line 1, column 1", 2},
    {"Linear(3,4)", "the input's shape", "@", 2},
    {"Linear(3,4)@2x3 --tokens 5", "--tokens", "--list", 2},
    {"Linear(3,4)@2x5", "linear", "", 2},
    {"/dev", "/dev", "file", 3},
    {"Linear(3,4)@0x3", "Linear(3,4)@0x3", "at least 1", 2},
    {"mnist-cnn --data /nonexistent", "/nonexistent", "", 3},
};

START_TEST(what_does_not_fit_is_refused_in_one_line) {
    program_refuses("profile_model", &wrong[_i]);
}
END_TEST

// ---- the numbers -------------------------------------------------------------------------------
// The table of conventions.md, at another batch.
START_TEST(counts_are_the_networks) {
    json_t *document = document_of("profile_model", "resnet18 --batch 3 --device meta");
    ck_assert_int_eq(document_integer(document, "model.parameters"), 11689512);
    ck_assert_int_eq(document_integer(document, "totals.forward.macs"), 3 * 1814073344LL);
    ck_assert_int_eq(document_integer(document, "totals.backward.flops"), 3 * 7020265472LL);
    json_decref(document);
    document = document_of("profile_model", "lenet5 --device meta --classes 7");
    ck_assert_int_eq(document_integer(document, "model.parameters"), 61706 - 3 * 85);
    json_decref(document);
}
END_TEST

START_TEST(what_is_frozen_has_no_gradient) {
    json_t *whole = document_of("profile_model", "lenet5 --device meta");
    json_t *frozen =
        document_of("profile_model", "lenet5 --device meta --freeze conv* --freeze fc1");
    ck_assert_int_eq(document_integer(frozen, "model.parameters"), 61706);
    const char *command = json_string_value(document_at(frozen, "command"));
    ck_assert_ptr_nonnull(strstr(command, " --freeze 'conv*' --freeze fc1")); // quoted for a shell
    ck_assert_int_eq(document_integer(frozen, "model.trainable_parameters"), 120 * 84 + 84 + 850);
    // fc2 and fc3: the weight gradients of both, and fc3's input gradient.
    ck_assert_int_eq(document_integer(frozen, "totals.backward.macs"), 120 * 84 + 2 * 840);
    ck_assert_int_gt(document_integer(whole, "totals.backward.macs"), 120 * 84 + 2 * 840);
    json_decref(whole);
    json_decref(frozen);
}
END_TEST

START_TEST(counted_and_run_are_the_same) {
    static const char *const calls[] = {"lenet5 --batch 2", "mnist-resnet --freeze stage1",
                                        "mnist-cnn --inference --batch 3"};
    char arguments[120];
    snprintf(arguments, sizeof(arguments), "%s --iterations 1 --warmup 2", calls[_i]);
    json_t *ran = document_of("profile_model", arguments);
    snprintf(arguments, sizeof(arguments), "%s --device meta", calls[_i]);
    json_t *counted = document_of("profile_model", arguments);
    document_check_same_counts(ran, counted, calls[_i]);
    ck_assert_str_eq(json_string_value(document_at(ran, "totals.step.unit")), "images");
    json_decref(ran);
    json_decref(counted);
}
END_TEST

// Equal on the command line and in a file; --batch beats the text's batch.
START_TEST(a_model_as_text_is_a_network) {
    char path[] = "/tmp/ridgepoint-model-XXXXXX", arguments[160];
    int file = mkstemp(path);
    static const char text[] = "# two of them\nfc1: Linear(5,4)\nReLU\nfc2: Linear(4,3) @ 7x5\n";
    ck_assert_int_eq(write(file, text, sizeof text - 1), (ssize_t)(sizeof text - 1));
    close(file);
    json_t *typed = document_of("profile_model", "Linear(5,4)Linear(4,3)@7x5 --device meta");
    ck_assert_int_eq(document_integer(typed, "model.batch"), 7);
    ck_assert_int_eq(document_integer(typed, "totals.forward.macs"), 7 * (20 + 12));
    json_decref(typed);
    snprintf(arguments, sizeof arguments, "%s --batch 9 --device meta --freeze fc1", path);
    json_t *read = document_of("profile_model", arguments);
    ck_assert_int_eq(document_integer(read, "model.parameters"), 24 + 15);
    ck_assert_int_eq(document_integer(read, "model.trainable_parameters"), 15);
    ck_assert_int_eq(document_integer(read, "totals.forward.macs"), 9 * (20 + 12));
    json_decref(read);
    unlink(path);
}
END_TEST

// Ids are below the table's size; each token has a label.
START_TEST(a_text_that_begins_with_words_is_given_words) {
    json_t *document =
        document_of("profile_model", "Embedding(11,4)Linear(4,11)@3x5 --iterations 1 --warmup 2");
    ck_assert_str_eq(json_string_value(document_at(document, "totals.step.unit")), "tokens");
    ck_assert_int_eq(document_integer(document, "totals.forward.macs"), 15 * 44);
    json_decref(document);
}
END_TEST

#define ONNX "tests/fixtures/onnx/"
static bool reads_onnx(void) {
    ProgramRun got = run(ONNX "mlp.ts.onnx --device meta --quiet");
    bool reads = !strstr(got.err, "protobuf-c");
    program_run_free(&got);
    return reads;
}

// Counts equal those of the run; the network's output for an input goes to a file.
START_TEST(an_onnx_file_is_a_network) {
    if (!reads_onnx()) test_skip("this was built without protobuf-c");
    char folder[] = "/tmp/ridgepoint-onnx-XXXXXX", arguments[300], path[80];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/y.npy", folder);
    snprintf(arguments, sizeof arguments, ONNX "cnn.ts.onnx --iterations 1 --warmup 2 --output %s",
             path);
    json_t *ran = document_of("profile_model", arguments);
    json_t *counted = document_of("profile_model", ONNX "cnn.ts.onnx --device meta");
    document_check_same_counts(ran, counted, "cnn.ts.onnx");
    Tensor *y = npy_read_new(path);
    ck_assert_msg(y && y->shape.ndim == 2, "%s", error_message());
    tensor_free(y);
    // The output, as input of the next network: accepted only with the right shape.
    snprintf(arguments, sizeof arguments, ONNX "cnn.ts.onnx --device meta --input %s", path);
    ProgramRun got = run(arguments);
    program_check_refusal(&got, 2, "input", "dimensions");
    got = run(ONNX "cnn.ts.onnx --device meta --memory-budget 3kB"); // its shapes are fixed
    ck_assert_msg(got.status == 1 && strstr(got.out, "takes no batch but 1"), "%s", got.out);
    program_run_free(&got);
    // Only those of its layers with one step are tried.
    got = run(ONNX "chargpt.dy.onnx --device meta --recompute auto --memory-budget 9kB");
    ck_assert_msg(got.status == 1 && strstr(got.out, "budget 9.00 kB: DOES NOT FIT"), "%s%s",
                  got.out, got.err);
    program_run_free(&got);
    json_decref(ran);
    json_decref(counted);
    unlink(path);
    rmdir(folder);
}
END_TEST

// The document lists missing operators, and parameters that the file stores several times.
START_TEST(the_document_says_what_the_file_was) {
    if (!reads_onnx()) test_skip("this was built without protobuf-c");
    ProgramRun got = run(ONNX "missing.onnx --device meta --partial --json -");
    json_t *partial = json_loads(got.out, 0, NULL), *names = document_at(partial, "uncounted");
    ck_assert_int_eq(json_array_size(names), 2);
    ck_assert_str_eq(json_string_value(json_array_get(names, 0)), "Strange");
    ck_assert_str_eq(json_string_value(json_array_get(names, 1)), "elsewhere.Odd");
    json_decref(partial);
    program_run_free(&got);
    json_t *tied = document_of("profile_model", ONNX "chargpt.ts.onnx --device meta");
    ck_assert_int_eq(json_array_size(document_at(tied, "uncounted")), 0);
    int64_t parameters = document_integer(tied, "model.parameters");
    // the head again, transposed; one set of ones and zeros for all five norms
    int64_t stored = document_integer(tied, "model.parameters_stored");
    ck_assert_int_eq(stored, parameters + 11 * 8 - 4 * (8 + 8));
    json_decref(tied);
    json_t *guessed =
        document_of("profile_model", ONNX "learned_added_random_pe.onnx --device meta");
    json_t *assumed = json_array_get(document_at(guessed, "assumed"), 0);
    ck_assert_int_eq(document_integer(guessed, "model.parameters_guessed"), 48);
    ck_assert_str_eq(json_string_value(document_at(assumed, "taken")),
                     "learned: 48 parameters in all; 0 if they are buffers");
    json_decref(guessed);
}
END_TEST

static const ProgramRefusal wrong_onnx[] = {
    {"none.onnx", "none.onnx", "", 2},
    {ONNX "cnn.ts.onnx --input nope=1x2x3x3", "whose inputs are", "", 2},
    {ONNX "cnn.ts.onnx --input 1x2x3x3", "NAME=1x3x224x224", "", 2},
    {ONNX "cnn.ts.onnx --input x=", "NAME=1x3x224x224", "", 2},
    {ONNX "cnn.ts.onnx --input /nonexistent/x.npy", "/nonexistent/x.npy", "", 3},
    {ONNX "cnn.ts.onnx --tokens 3", "--input", "", 2},
    {ONNX "steps.dy.onnx --input x=3x2x3 --batch 4", "--batch 4: \"x\" takes 3", "", 2},
    {ONNX "cnn.ts.onnx --output /nonexistent/y.npy --iterations 1", "/nonexistent/y.npy", "", 3},
    {ONNX "cnn.ts.onnx --output y.npy --device meta", "--output", "", 2},
    {"resnet18 --input x=1x3x4x4", "--image", "", 2},
    {"resnet18 --partial --device meta", "--partial", "", 2},
    {ONNX "missing.onnx --partial", "--device meta", "", 2},
    {ONNX "chargpt.dy.onnx --recompute h.0 --device meta", "one that the file runs as one step", "",
     2},
    {"Linear(3,2)@4x3 --freeze * --device meta", "--inference", "", 2},
    {"ReLU@4x3 --device meta", "--inference", "", 2},
    {"x\x1b[2J --device meta", "x?[2J", "", 2},
};

START_TEST(what_does_not_fit_an_onnx_file_is_refused_in_one_line) {
    if (!reads_onnx()) test_skip("this was built without protobuf-c");
    program_refuses("profile_model", &wrong_onnx[_i]);
}
END_TEST

START_TEST(the_report_is_in_images_and_it_trains_where_images_fit) {
    ProgramRun got = run("mnist-cnn --batch 16 --iterations 2 --warmup 2 --epochs 1 --steps 3");
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    ck_assert_ptr_nonnull(strstr(got.out, "mnist-cnn 1x28x28 | batch 16"));
    ck_assert_ptr_nonnull(strstr(got.out, " images/s\n"));
    ck_assert_ptr_nonnull(strstr(got.out, "step = 16 images;"));
    ck_assert_ptr_nonnull(strstr(got.out, "predicted = executed"));
    ck_assert_ptr_nonnull(strstr(got.out, "1 epoch, 3 steps in "));
    ck_assert_ptr_nonnull(strstr(got.out, "learning rate 0.001, cosine to 0 in 625 steps\n"));
    program_run_free(&got);
    got = run("lenet5 --epochs 1");
    program_check_refusal(&got, 2, "--epochs: lenet5 1x32x32 does not train", "--data");
    got = run("lenet5 --steps 2 --checkpoint x.st");
    program_check_refusal(&got, 2, "--checkpoint: lenet5 1x32x32 does not train", "--data");
}
END_TEST

// A row for each of the hundred layers would bury the important ones.
START_TEST(of_many_layers_the_report_shows_those_that_matter) {
    ProgramRun got = run("resnet50 --device meta");
    ck_assert_ptr_nonnull(strstr(got.out, "\nl4.conv2 x3 "));
    ck_assert_ptr_nonnull(strstr(got.out, " others "));
    ck_assert_int_lt(program_count_lines(got.out), 50);
    program_run_free(&got);
    got = run("gpt2 --device meta --tokens 64"); // equal layers share a row; --by layer has all
    ck_assert_ptr_nonnull(strstr(got.out, "\nh.m.c_fc x12   28.3M "));
    ck_assert_ptr_null(strstr(got.out, " others "));
    program_run_free(&got);
    got = run("resnet50 --device meta --by layer");
    ck_assert_int_gt(program_count_lines(got.out), 170);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_list_has_every_network_and_its_parameters, 0},
        {what_does_not_fit_is_refused_in_one_line, sizeof wrong / sizeof wrong[0]},
        {counts_are_the_networks, 0},
        {what_is_frozen_has_no_gradient, 0},
        {a_model_as_text_is_a_network, 0},
        {a_text_that_begins_with_words_is_given_words, 0},
        {counted_and_run_are_the_same, 3},
        {an_onnx_file_is_a_network, 0},
        {the_document_says_what_the_file_was, 0},
        {what_does_not_fit_an_onnx_file_is_refused_in_one_line,
         sizeof wrong_onnx / sizeof wrong_onnx[0]},
        {the_report_is_in_images_and_it_trains_where_images_fit, 0},
        {of_many_layers_the_report_shows_those_that_matter, 0},
        {NULL, 0},
    };
    return harness_main("profile_model", tests);
}
