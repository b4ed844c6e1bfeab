// test_profile_stop.c -- programs that are told to stop: SIGINT and SIGTERM end them between two
// steps, with what they have reported and written; time limits end them as if all had been done.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/gemm.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

// Runs commands in the work folder: $mlp and $model are the programs, with ceilings from a file.
// `stop SIGNAL SECONDS COMMAND` signals the program SECONDS after it began to measure; then $code
// is its exit status. `begun PROCESS` waits for that beginning.
static void run_commands(const char *commands) {
    char script[3000];
    work_folder_begin();
    int size = snprintf(script, sizeof script,
                        "cp \"$OLDPWD\"/tests/fixtures/peaks.json .peaks\n"
                        "mlp='profile_mlp --peaks .peaks' model='profile_model --peaks .peaks'\n"
                        "stop() {\n"
                        "    code=0; env --default-signal=INT $3 >out 2>err &\n"
                        "    begun $!; sleep $2; kill -$1 $!; wait $! || code=$?\n"
                        "}\n"
                        "begun() {\n" // until it catches SIGTERM, or is gone
                        "    while kill -0 $1; do\n"
                        "        caught=$(sed -n 's/^SigCgt:.*\\(....\\)$/\\1/p' /proc/$1/status)\n"
                        "        test $((0x${caught:-0} & 0x4000)) = 0 || return 0; sleep 0.05\n"
                        "    done\n"
                        "}\n"
                        "%s",
                        commands);
    ck_assert_int_lt(size, (int)sizeof script);
    work_folder_run(script);
    work_folder_end();
}

static const struct {
    const char *signal;
    int status;
} signals[] = {{"INT", 130}, {"TERM", 143}};

START_TEST(a_profile_ends_with_what_was_measured) {
    char commands[1000];
    snprintf(commands, sizeof commands,
             "stop %s 1 \"$mlp --iterations 100000 --json j --epochs 5\"\n"
             "test $code = %d\n"
             "grep -q '^  CUT SHORT' out\n"
             "grep -q '^TRAINING  none: stopped' out\n"
             "grep -q '^stopping' err\n"
             "test $(grep -c . err) = 1\n"
             "test $(ls | wc -l) = 3\n"
             "grep -q '^  \"cut_short\": true' j\n"
             "grep -q '^  \"reconciled\": true' j\n"
             "grep -q 'training_reason\": \"stopped before it began\"' j\n"
             "tail -n 1 j | grep -q }",
             signals[_i].signal, signals[_i].status);
    run_commands(commands);
}
END_TEST

// Training from the kept state ends with the same bytes.
START_TEST(a_training_ends_where_it_can_go_on) {
    static const char *const ways[] = {"", "--accumulate 3"};
    char commands[1400];
    snprintf(commands, sizeof commands,
             "run=\"$mlp --layers 784,8,10 --iterations 2 --warmup 2 %s\"\n"
             "$run --epochs 100000 --checkpoint part --every 50 --json j >out 2>err &\n"
             "while ! test -e part; do sleep 0.1; done\n"
             "code=0; kill -TERM $!; wait $! || code=$?\n"
             "test $code = 143\n"
             "grep -q '^  CUT SHORT.* --resume goes on$' out\n"
             "grep -q '^  \"cut_short\": false' j\n"
             "grep -q '^    \"cut_short\": true' j\n"
             "steps=$(sed -n 's/^    \"steps\": \\([0-9]*\\),/\\1/p' j); all=$((steps + 2))\n"
             "$run --epochs 100000 --steps $all --resume part --checkpoint rest >told\n"
             "$run --epochs 100000 --steps $all --checkpoint whole >told\n"
             "cmp whole rest\n",
             ways[_i]);
    run_commands(commands);
}
END_TEST

START_TEST(other_processes_end_with_it) {
    run_commands(
        "stop TERM 4 \"$mlp --runs 1000 --iterations 2 --warmup 2 --json j\"\n"
        "test $code = 143\n"
        "grep -q '^    in [0-9]* runs' out\n"
        "not grep '^    in 1000 runs' out\n"
        "grep -q '^  \"cut_short\": true' j\n"
        "$mlp --runs 1000 --iterations 100000 --epochs 0 --quiet 2>err & begun $!; sleep 2\n"
        "code=0; kill -TERM $!; wait $! || code=$?\n" // the child is not signalled, but ends
        "test $code = 143\n"
        "stop INT 3 \"$mlp --runs 1000 --try --iterations 9 --warmup 2\"\n"
        "test $code = 130\n"
        "grep -q '^TRIED  ' out\n"
        "stop INT 4 \"$mlp --against --fuse --runs 333 --iterations 9 --json j\"\n"
        "test $code = 130\n"
        "grep -q '^CUT SHORT' out\n"
        "grep -q 'ridgepoint.diff/v1' j\n"
        "stop INT 0.4 \"$mlp --against --fuse --iterations 100000 --json none\"\n"
        "test $code = 130\n"
        "grep -q 'stopped before each had been measured once' err\n"
        "not test -e none");
}
END_TEST

START_TEST(of_several_networks_those_are_compared_that_were_profiled) {
    run_commands("stop INT 1 \"$model lenet5 mnist-cnn --iterations 100000 --json j\"\n"
                 "test $code = 130\n"
                 "grep -q '^CUT SHORT.*: 1 of 2' out\n"
                 "not grep mnist-cnn out\n"
                 "test $(grep -c '\"kind\"' j) = 1\n"
                 "tail -n 1 j | grep -q }");
}
END_TEST

// While the model is made there is nothing to report, and the program ends at once.
START_TEST(before_anything_is_measured_it_ends_at_once) {
    char commands[600];
    snprintf(commands, sizeof commands,
             "code=0; env --default-signal=INT $model gpt2 --json j >out 2>err & sleep 0.2\n"
             "kill -%s $!; wait $! || code=$?\n"
             "test $code = %d\n"
             "not grep stopping err\n"
             "not test -s out\n"
             "test $(ls | wc -l) = 2",
             signals[_i].signal, signals[_i].status);
    run_commands(commands);
}
END_TEST

START_TEST(without_room_for_a_product_it_says_so) {
    const char *alloc = getenv("RIDGEPOINT_ALLOC"); // set under a sanitizer
    if (alloc && strcmp(alloc, "raw") == 0) test_skip("sanitizers take addresses without limit");
    if (strstr(blas_name(), "plain")) test_skip("a plain product has no threads of its own");
    run_commands(
        "for kilobytes in 60000 100000 150000; do\n"
        // OpenBLAS 0.3.29 waits for addresses without end while it is loaded, before our code runs.
        "(ulimit -v $kilobytes; timeout -s KILL 5 profile_mlp --version >told) || continue\n"
        "code=0; (ulimit -v $kilobytes; exec timeout -s KILL 100 $mlp >out 2>err) || code=$?\n"
        "test $code = 3\n"
        "test $(grep -c . err) = 1\n"
        "grep -q 'HINT: ulimit -v unlimited' err\n"
        "done");
}
END_TEST

// Nothing is half-written; and processes meant to live on in the background do.
START_TEST(a_second_signal_ends_it_at_once) {
    run_commands("code=0; $mlp --batch 32768 --iterations 100000 --json j >out 2>err & begun $!\n"
                 "kill -TERM $!; sleep 0.4; kill -TERM $!; wait $! || code=$?\n"
                 "test $code = 143\n"
                 "not test -e j\n"
                 "not test -s out\n"
                 "trap '' INT; $mlp --epochs 0 --time-limit 1s >out 2>err & sleep 0.5\n"
                 "kill -INT $!; wait $!\n"
                 "not grep CUT out\n"
                 "not test -s err");
}
END_TEST

// ---- limits of time ----------------------------------------------------------------------------
START_TEST(samples_take_no_longer_than_is_said) {
    static const char *const ways[] = {"--percentiles", "--iterations 100000"};
    char arguments[200];
    snprintf(arguments, sizeof arguments,
             "--epochs 0 --layers 784,64,10 --time-limit 100ms "
             "--peaks tests/fixtures/peaks.json %s",
             ways[_i]);
    json_t *document = document_new(arguments);
    json_t *latency = document_at(document, "totals.step.latency");
    json_int_t n = json_integer_value(json_object_get(latency, "n"));
    ck_assert_msg(n >= 1 && n < 3838, "%lld samples", (long long)n);
    ck_assert(json_is_false(document_at(document, "cut_short")));
    json_decref(document);
}
END_TEST

START_TEST(times_that_are_none_are_refused) {
    static const char *const wrong[] = {"0", "-1s", "5parsecs", "s", "nan", "1e9", "inf", ""};
    char arguments[100];
    snprintf(arguments, sizeof arguments, "--time-limit=%s", wrong[_i]);
    ProgramRun got = program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
    ck_assert_int_eq(got.status, 2);
    ck_assert_msg(strstr(got.err, "a time as 500ms, 30s or 2min"), "%s", got.err);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_profile_ends_with_what_was_measured, 2},
                                 {a_training_ends_where_it_can_go_on, 2},
                                 {other_processes_end_with_it, 0},
                                 {of_several_networks_those_are_compared_that_were_profiled, 0},
                                 {before_anything_is_measured_it_ends_at_once, 2},
                                 {without_room_for_a_product_it_says_so, 0},
                                 {a_second_signal_ends_it_at_once, 0},
                                 {samples_take_no_longer_than_is_said, 2},
                                 {times_that_are_none_are_refused, 8},
                                 {NULL, 0}};
    return harness_main("profile_stop", tests);
}
