// test_profile_inference.c -- profile_model --inference evaluates from its first look at shapes on,
// so that a batch of one, which training refuses, is counted, run, swept and compared; and the
// files of a network's outputs.
#include <string.h>

#include "tests/helpers/onnx_files.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

#define ONE "BatchNorm2d(8)@1x8x1x1 " // one value per channel, which has no variance

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_model"), arguments, PROGRAM_CAPTURED);
}

// torchvision 0.29.2's models in evaluation, a batch of one: parameters, and half of the count by
// FlopCounterMode of PyTorch 2.15. Images are so small that one pixel is left at the end.
static const struct {
    const char *arguments;
    int64_t parameters, macs;
} counted[] = {{"googlenet --image 32", 6624904, 31582208},
               {"inception_v3 --image 75", 23834568, 203525728},
               {"efficientnet_b0 --image 32", 5288548, 9742048},
               {"mobilenet_v3_small --image 32", 2542856, 3183552},
               {"densenet121 --image 32", 7978856, 58843136},
               {"shufflenet_v2_x0_5 --image 32", 1366792, 1829152},
               {"mnasnet0_5 --image 32", 2218512, 3385632},
               {"regnet_y_400mf --image 32", 4344144, 9281184},
               {"resnet18 --image 32", 11689512, 37523456},
               {ONE, 16, 0},
               {"BatchNorm1d(8)@1x8", 16, 0}};
enum { COUNTED = sizeof counted / sizeof counted[0] };

START_TEST(a_batch_of_one_is_counted_as_pytorch_counts_it) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, "%s --inference --device meta --batch 1 --json -",
             counted[_i].arguments);
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0, "%s: %s", arguments, got.err);
    json_t *document = json_loads(got.out, 0, NULL);
    ck_assert_int_eq(document_integer(document, "model.parameters"), counted[_i].parameters);
    ck_assert_int_eq(document_integer(document, "totals.forward.macs"), counted[_i].macs);
    json_decref(document);
    program_run_free(&got);
}
END_TEST

// Questions that must all work.
static const char *const asked[] = {
    "--device meta",
    "--device meta --summary",
    "--device meta --explain",
    "--device meta --by op",
    "--device meta --memory",
    "--device meta --fuse",
    "--device meta --dtype int8",
    "--device meta --sweep batch=1,2,3",
    "--device meta --strict",
    "--peaks none --iterations 2",
    "--peaks none --iterations 2 --fuse",
    "--peaks none --iterations 2 --shrink",
    "--peaks none --iterations 2 --runs 2",
    "--peaks none --iterations 2 --against --batch=2",
    "--peaks none --iterations 2 --sweep batch=1,2",
};
enum { ASKED = sizeof asked / sizeof asked[0] };

START_TEST(each_question_is_asked_of_an_evaluation) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, ONE "--inference %s", asked[_i]);
    ProgramRun got = run(arguments);
    bool judged = strstr(arguments, "--against") != NULL; // decided by times, so may fail
    ck_assert_msg(got.status <= judged && !got.err[0], "%s: %d, %s", arguments, got.status,
                  got.err);
    ck_assert(got.out[0] && !strstr(got.out, "training step"));
    program_run_free(&got);
}
END_TEST

// Without the flag it is refused, and the hint names the flag.
START_TEST(training_still_refuses_it) {
    ProgramRun got = run(ONE "--device meta");
    program_check_refusal(&got, 2, "x has one value per channel", "to evaluate");
    got = run("googlenet --image 32 --device meta");
    program_check_refusal(&got, 2, "x has one value per channel", "to evaluate");
    got = run(ONE "googlenet --inference --device meta");
    ck_assert_msg(got.status == 0 && strstr(got.out, "COMPARISON  inference"), "%s", got.err);
    program_run_free(&got);
}
END_TEST

// --output names the file of the first output, and the others lie beside it. None of them may
// replace a file that is read, or that another flag writes.
START_TEST(each_output_of_a_file_has_a_file) {
    if (onnx_is_absent()) test_skip("this build reads no ONNX files");
    work_folder_begin();
    work_folder_run(
        "cp \"$OLDPWD\"/" FOLDER "topk_nan.onnx m.onnx\n"
        "run='profile_model m.onnx --peaks none --iterations 1 --warmup 2 --quiet'\n"
        "refused() {\n"
        "    code=0; $run \"$@\" >out 2>err || code=$?\n"
        "    [ $code = 2 ] && [ ! -s out ] && [ $(wc -l <err) = 1 ] && grep -q HINT err\n"
        "}\n"
        "$run --output y.npy; [ -s y.npy ] && [ -s y.1.npy ]; cp y.1.npy before\n"
        "refused --output y.npy --json y.1.npy\n"
        "refused --output y.npy --peaks y.1.npy\n"
        "refused --output -\n"
        "refused --output /dev/null\n"
        "cmp y.1.npy before; [ ! -e ./-.1 ]\n");
    work_folder_end();
}
END_TEST

// Outputs of one given and one drawn input are refused; that all inputs are drawn is said.
START_TEST(outputs_of_drawn_inputs_are_said_to_be_such) {
    if (onnx_is_absent()) test_skip("this build reads no ONNX files");
    work_folder_begin();
    work_folder_run(
        "cp \"$OLDPWD\"/" FOLDER "open_listed.onnx m.onnx\n"
        "run='profile_model m.onnx --inference --peaks none --iterations 1 --warmup 2'\n"
        "{ printf '\\223NUMPY\\1\\0\\166\\0'\n"
        "    printf '%-117s\\n' \"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 6), }\"\n"
        "    printf '\\0%.0s' $(seq 48); } >z.npy; code=0\n"
        "$run --input x=2x6 --input z=z.npy --output y.npy 2>err || code=$?\n"
        "[ $code = 2 ] && grep -q 'input \"x\", whose numbers are not' err && [ ! -e y.npy ]\n"
        "$run --input x=2x6 --output y.npy >told; grep -q 'drawn at random' told; [ -s y.npy ]\n"
        "$run --input x=z.npy --input z=z.npy --output y.npy >told; not grep -q drawn told\n");
    work_folder_end();
}
END_TEST

// A stopped sweep continues with the numbers that it began with; other numbers begin anew.
START_TEST(other_numbers_of_an_input_are_another_sweep) {
    if (onnx_is_absent()) test_skip("this build reads no ONNX files");
    work_folder_begin();
    work_folder_run(
        "cp \"$OLDPWD\"/" FOLDER "topk_nan.onnx m.onnx\n"
        "profile_model m.onnx --device meta --quiet\n"
        "run='profile_model m.onnx --input x.npy --iterations 1 --warmup 2 --peaks none'\n"
        "numbers() { { printf '\\223NUMPY\\1\\0\\166\\0'\n"
        "    printf '%-117s\\n' \"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 5), }\"\n"
        "    printf \"$1%.0s\" 0 1 2 3 4 5 6 7 8 9; } >x.npy; }\n"
        "numbers '\\0\\0\\200\\077'; $run --sweep threads=1 --save s.json >told\n"
        "not grep -q 'measured before' told\n"
        "$run --sweep threads=1 --save s.json >told; grep -q 'measured before' told\n"
        "numbers '\\0\\0\\0\\100'; $run --sweep threads=1 --save s.json >told 2>&1 || :\n"
        "not grep -q 'measured before' told\n");
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_batch_of_one_is_counted_as_pytorch_counts_it, COUNTED},
        {each_question_is_asked_of_an_evaluation, ASKED},
        {training_still_refuses_it, 0},
        {each_output_of_a_file_has_a_file, 0},
        {outputs_of_drawn_inputs_are_said_to_be_such, 0},
        {other_numbers_of_an_input_are_another_sweep, 0},
        {NULL, 0},
    };
    return harness_main("profile_inference", tests);
}
