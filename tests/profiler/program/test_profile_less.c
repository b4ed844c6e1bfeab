// test_profile_less.c -- the programs' ways to a step that takes less memory: layers that run
// again, chosen or named, and batches whose gradients add up. The report says what was done.
#include <stdio.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

#define QUICK " --iterations 2 --warmup 2 --peaks tests/fixtures/peaks.json"

static ProgramRun run(const char *program, const char *arguments) {
    return program_run(program_path(program), arguments, PROGRAM_CAPTURED);
}

static void expect_says(const char *arguments, int status, const char *const says[], int n) {
    ProgramRun got = run("profile_model", arguments);
    ck_assert_msg(got.status == status && !got.err[0], "%s: %d, %s", arguments, got.status,
                  got.err);
    for (int i = 0; i < n; i++)
        ck_assert_msg(strstr(got.out, says[i]) != NULL, "%s: no \"%s\" in\n%s", arguments, says[i],
                      got.out);
    program_check_columns(got.out);
    program_run_free(&got);
}

// ---- named layers ------------------------------------------------------------------------------
START_TEST(marked_layers_run_again_and_all_counts_follow) {
    static const char *const where[] = {" --device meta", QUICK};
    char arguments[200];
    snprintf(arguments, sizeof arguments, "mnist-resnet --batch 4%s", where[_i]);
    json_t *plain = document_of("profile_model", arguments);
    snprintf(arguments, sizeof arguments, "mnist-resnet --batch 4 --recompute stage*%s", where[_i]);
    json_t *marked = document_of("profile_model", arguments);
    static const char *const same[] = {"totals.forward.macs", "totals.backward_input.macs",
                                       "totals.backward_weight.macs",
                                       "totals.optimizer.total_flops"};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(document_integer(marked, same[i]), document_integer(plain, same[i]));
    json_int_t again = document_integer(marked, "totals.recomputed_flops");
    ck_assert(again > 0 && again < document_integer(plain, "totals.forward.flops"));
    ck_assert_int_eq(document_integer(marked, "totals.backward.flops") -
                         document_integer(plain, "totals.backward.flops"),
                     again);
    ck_assert_int_eq(document_integer(plain, "totals.recomputed_flops"), 0);
    ck_assert(json_is_null(document_at(plain, "memory.recompute")));
    ck_assert_int_eq(document_integer(marked, "memory.recompute.plain_peak_bytes"),
                     document_integer(plain, "memory.predicted.peak_bytes"));
    ck_assert_int_eq(document_integer(marked, "memory.recompute.plain_total_flops"),
                     document_integer(plain, "totals.step.total_flops"));
    ck_assert_int_eq(document_integer(marked, "memory.recompute.layers"), 3);
    // A recomputed layer keeps only its input; tensors kept in its second run do not count.
    ck_assert_int_lt(2 * document_integer(marked, "memory.predicted.saved_bytes"),
                     document_integer(plain, "memory.predicted.saved_bytes"));
    json_decref(plain);
    json_decref(marked);
}
END_TEST

START_TEST(the_report_says_what_runs_again) {
    expect_says("mnist-resnet --recompute stage* --device meta", 0,
                (const char *[]){"  recomputed: stage1-stage3 (3 layers):\n    peak ", "% FLOP (",
                                 " run again)\n", "  Recomputed layers add ",
                                 " x forward, run again.\n"},
                5);
    expect_says("mnist-resnet --recompute stage* --device meta --explain", 0,
                (const char *[]){" recomputed forward "}, 1);
}
END_TEST

// Reads "1.989 x forward": backward without the part that runs again.
static double times_forward(const char *arguments) {
    ProgramRun got = run("profile_model", arguments);
    const char *at = strstr(got.out, "their backward is\n");
    double times = 0.0;
    ck_assert_msg(at && sscanf(at, "their backward is %lf x forward", &times) == 1, "%s", got.out);
    program_run_free(&got);
    return times;
}

START_TEST(backward_is_as_many_times_forward_as_it_was) {
    double plain = times_forward("mnist-resnet --device meta");
    ck_assert_double_eq(times_forward("mnist-resnet --recompute stage* --device meta"), plain);
}
END_TEST

// ---- chosen layers -----------------------------------------------------------------------------
START_TEST(layers_are_chosen_so_that_the_peak_fits_and_it_is_so) {
    json_t *plain = document_of("profile_model", "mnist-resnet --batch 16 --device meta");
    json_int_t peak = document_integer(plain, "memory.predicted.peak_bytes");
    char arguments[200];
    snprintf(arguments, sizeof arguments,
             "mnist-resnet --batch 16 --recompute auto --memory-budget %lld" QUICK,
             (long long)peak * 9 / 10);
    json_t *document = document_of("profile_model", arguments);
    ck_assert_int_le(document_integer(document, "memory.measured.peak_bytes"), peak * 9 / 10);
    ck_assert_int_eq(document_integer(document, "memory.recompute.plain_peak_bytes"), peak);
    ck_assert_int_eq(document_integer(document, "memory.budget_bytes"), peak * 9 / 10);
    expect_says(arguments, 0,
                (const char *[]){"  recomputed: stage", "  budget ", ": fits (measured), ",
                                 "predicted = executed: every count of every layer"},
                4);
    json_decref(document);
    json_decref(plain);
}
END_TEST

START_TEST(what_does_not_fit_is_told_and_no_success) {
    expect_says("mnist-resnet --batch 16 --device meta --recompute auto --memory-budget 1MB", 1,
                (const char *[]){"  recomputed: ", "  budget 1.00 MB: DOES NOT FIT; ", "--batch"},
                3);
    expect_says("mnist-resnet --batch 16 --device meta --recompute auto --memory-budget 1GB", 0,
                (const char *[]){"fits as it is (predicted), nothing is recomputed\n"}, 1);
    // Recomputing no layer would save anything.
    expect_says("Linear(9,4)@5x9 --device meta --recompute auto --memory-budget 1kB", 1,
                (const char *[]){"DOES NOT FIT; no layer that runs again would help.\n"}, 1);
    // Many layers with long names: all are named.
    expect_says("gpt2 --device meta --tokens 1024 --recompute transformer.h.*.mlp", 0,
                (const char *[]){"recomputed: transformer.h.0.mlp, ",
                                 "transformer.h.11.mlp\n    (12 layers):\n"},
                2);
}
END_TEST

// The trained model has the chosen layers marked, too.
START_TEST(what_was_chosen_is_trained) {
    expect_says(
        "mnist-cnn --batch 16 --recompute auto --memory-budget 3MB --accumulate 2 --epochs 1 "
        "--steps 3" QUICK,
        1,
        (const char *[]){"DOES NOT FIT", "batch 16 x 2 |", "1 epoch, 3 steps of 2 batches in ",
                         "  test accuracy "},
        4);
}
END_TEST

// ---- accumulated batches -----------------------------------------------------------------------
START_TEST(a_step_of_several_batches_is_reported_as_such) {
    static const char *const where[] = {" --device meta", QUICK};
    char arguments[200];
    snprintf(arguments, sizeof arguments, "mnist-cnn --batch 6%s", where[_i]);
    json_t *one = document_of("profile_model", arguments);
    snprintf(arguments, sizeof arguments, "mnist-cnn --batch 6 --accumulate 3%s", where[_i]);
    json_t *three = document_of("profile_model", arguments);
    json_t *large = document_of("profile_model", "mnist-cnn --batch 18 --device meta");
    ck_assert_int_eq(document_integer(three, "model.accumulate"), 3);
    ck_assert_int_eq(document_integer(three, "model.batch"), 6);
    ck_assert_int_eq(document_integer(one, "model.accumulate"), 1);
    ck_assert_int_eq(document_integer(three, "totals.forward.total_flops"),
                     3 * document_integer(one, "totals.forward.total_flops"));
    ck_assert_int_eq(document_integer(three, "totals.backward.macs"),
                     document_integer(large, "totals.backward.macs"));
    ck_assert_int_eq(document_integer(three, "totals.optimizer.total_flops"),
                     document_integer(one, "totals.optimizer.total_flops"));
    ck_assert_int_eq(document_integer(three, "memory.large_batch_peak_bytes"),
                     document_integer(large, "memory.predicted.peak_bytes"));
    ck_assert(json_is_null(document_at(one, "memory.large_batch_peak_bytes")));
    if (_i) {
        double seconds = document_real(three, "totals.step.latency.median");
        double rate = document_real(three, "totals.step.units_per_second");
        ck_assert_double_eq_tol(rate * seconds, 18.0, 1e-6);
    }
    json_decref(one);
    json_decref(three);
    json_decref(large);
}
END_TEST

// Both see equal images in equal order: the result of training is equal except for rounding.
START_TEST(training_by_several_batches_is_training_by_a_large_one) {
    json_t *small = document_new("--accumulate 4 --batch 16 --epochs 1 --steps 20" QUICK);
    json_t *large = document_new("--batch 64 --epochs 1 --steps 20" QUICK);
    ck_assert_int_eq(document_integer(small, "training.steps"), 20);
    ck_assert_double_eq_tol(document_real(small, "training.final_loss"),
                            document_real(large, "training.final_loss"), 1e-4);
    ck_assert_double_eq_tol(document_real(small, "training.test_accuracy"),
                            document_real(large, "training.test_accuracy"), 0.01);
    json_decref(small);
    json_decref(large);
}
END_TEST

START_TEST(every_answer_takes_several_batches) {
    ProgramRun got =
        run("profile_mlp", "--accumulate 3 --batch 8 --epochs 0 --layers 20,9,4 --leaks "
                           "--memory --memory-budget 90kB --explain fc2" QUICK);
    ck_assert_msg(got.status == 0 && !got.err[0], "%d: %s", got.status, got.err);
    ck_assert_ptr_nonnull(strstr(got.out, "memory does not grow"));
    ck_assert_ptr_nonnull(strstr(got.out, "  a step is 3 batches of 8: peak "));
    ck_assert_ptr_nonnull(strstr(got.out, "3 times in a step of 3 batches\n"));
    ck_assert_ptr_nonnull(strstr(got.out, "2 times in a step of 3 batches\n")); // the additions
    ck_assert_ptr_nonnull(strstr(got.out, " B for a training step with Adam, of 3 batches\n"));
    ck_assert_ptr_nonnull(strstr(got.out, ": as predicted"));
    program_run_free(&got);
    got = run("profile_mlp", "--accumulate 3 --batch 8 --epochs 0 --layers 20,9,4" QUICK);
    ck_assert_ptr_nonnull(strstr(got.out, "| batch 8 x 3 |"));
    ck_assert_ptr_nonnull(strstr(got.out, "step = 24 samples;"));
    ck_assert_ptr_nonnull(strstr(got.out, "  a step is 3 batches of 8: peak "));
    ck_assert_ptr_nonnull(strstr(got.out, ";\n    one batch of 24 would take "));
    program_run_free(&got);
}
END_TEST

// Figures per sample stay equal; figures per step count the samples of all batches.
START_TEST(a_sample_is_a_sample_however_many_batches_add_up) {
    static const char *const presets[] = {"textbook", "tinytorch", "fvcore", "torch"};
    for (int i = 0; i < 4; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "lenet5 --device meta --batch 2 --flop-convention %s",
                 presets[i]);
        ProgramRun one = run("profile_model", arguments);
        snprintf(arguments + strlen(arguments), 40, " --accumulate 3");
        ProgramRun three = run("profile_model", arguments);
        if (i >= 2) ck_assert_ptr_nonnull(strstr(three.out, "; a batch of 6\n"));
        const char *a = i < 2 ? one.out : strstr(one.out, "\n  a sample") + 1;
        const char *b = i < 2 ? three.out : strstr(three.out, "\n  a sample") + 1;
        size_t all = i < 2 ? strlen(a) + 1 : strcspn(a, "\n");
        ck_assert_msg(strncmp(a, b, all) == 0, "%s and\n%s", one.out, three.out);
        program_run_free(&one);
        program_run_free(&three);
    }
    expect_says("lenet5 --device meta --batch 2 --accumulate 3 --summary", 0,
                (const char *[]){", batch 2 x 3, ", " forward, of all batches of a step\n"}, 2);
    expect_says("lenet5 --device meta --batch 2 --accumulate 3 --explain", 0,
                (const char *[]){" of 6 samples, "}, 1);
    expect_says("lenet5 --device meta --batch 2 --accumulate 3 --explain conv2", 0,
                (const char *[]){"\n  kept            x 9,408 B for backward\n",
                                 "\n  so often        3 times in a step of 3 batches\n"},
                2);
    expect_says("lenet5 alexnet --device meta --batch 2 --accumulate 3", 0,
                (const char *[]){", 3 times in a step\n"}, 1);
}
END_TEST

// A failure is reported even without the report.
START_TEST(a_budget_that_nothing_fits_is_told_without_a_report) {
    static const char *const ways[] = {"--quiet", "--json -", "--summary", "--by op"};
    for (int i = 0; i < 4; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments,
                 "lenet5 --device meta --recompute auto --memory-budget 100kB %s", ways[i]);
        ProgramRun got = run("profile_model", arguments);
        ck_assert_int_eq(got.status, 1);
        ck_assert_msg(strstr(got.err, "--recompute auto: the lowest peak found is ") &&
                          strstr(got.err, ", and the budget 100 kB\n"),
                      "%s: %s", ways[i], got.err);
        program_run_free(&got);
    }
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
static const struct {
    const char *program, *arguments, *what, *hint;
} wrong[] = {
    {"profile_model", "lenet5 --recompute auto", "--recompute auto", "--memory-budget SIZE"},
    {"profile_model", "lenet5 --recompute auto --memory-budget 0", "--memory-budget", "500MB"},
    {"profile_model", "lenet5 --device meta --recompute x.*", "--recompute x.*", "--by layer"},
    {"profile_model", "lenet5 --inference --recompute fc1", "--recompute", "--inference"},
    {"profile_model", "lenet5 --inference --accumulate 2", "--accumulate", "--inference"},
    {"profile_model", "lenet5 --accumulate 0", "--accumulate 0", "from 1 to"},
    {"profile_mlp", "--accumulate -3", "--accumulate -3", "from 1 to"},
    {"profile_mlp", "--accumulate 99999999", "--accumulate 99999999", "from 1 to 1024"},
    {"profile_mlp", "--recompute fc1", "--recompute", "unknown"},
};
enum { WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(what_does_not_fit_together_is_refused_in_one_line) {
    ProgramRun got = run(wrong[_i].program, wrong[_i].arguments);
    ck_assert_msg(!got.out[0], "standard output: %s", got.out);
    program_check_refusal(&got, 2, wrong[_i].what, wrong[_i].hint);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {marked_layers_run_again_and_all_counts_follow, 2},
        {the_report_says_what_runs_again, 0},
        {backward_is_as_many_times_forward_as_it_was, 0},
        {layers_are_chosen_so_that_the_peak_fits_and_it_is_so, 0},
        {what_does_not_fit_is_told_and_no_success, 0},
        {what_was_chosen_is_trained, 0},
        {a_step_of_several_batches_is_reported_as_such, 2},
        {training_by_several_batches_is_training_by_a_large_one, 0},
        {every_answer_takes_several_batches, 0},
        {a_sample_is_a_sample_however_many_batches_add_up, 0},
        {a_budget_that_nothing_fits_is_told_without_a_report, 0},
        {what_does_not_fit_together_is_refused_in_one_line, WRONG},
        {NULL, 0},
    };
    return harness_main("profile_less", tests);
}
