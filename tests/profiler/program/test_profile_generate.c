// test_profile_generate.c -- profile_model --generate, and the prompt and temperature of a sample:
// the print, the JSON, and refusals.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

#define QUICK " --iterations 1 --warmup 2 --peaks tests/fixtures/peaks.json"

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_model"), arguments, PROGRAM_CAPTURED);
}

// ---- refusals ----------------------------------------------------------------------------------
static const ProgramRefusal wrong[] = {
    {"gpt2 --generate 0", "--generate 0", "from 1 to", 2},
    {"gpt2 --generate 64 --tokens 1000", "64 tokens behind 1000", "1024 positions of gpt2", 2},
    {"gpt2 --generate 1025", "1025 tokens behind 1", "HINT: fewer", 2},
    {"gpt2 --generate 2 --batch 3", "--generate", "leave out --batch", 2},
    {"gpt2 --generate 2 --epochs 1", "--epochs", "leave out --generate", 2},
    {"gpt2 --generate 2 --leaks", "--leaks", "leave out --generate", 2},
    {"gpt2 --generate 2 --json -", "--json -", "name a file", 2},
    {"resnet18 --generate 2", "--generate", "takes images", 2},
    {"bert-base --device meta --generate 2", "--generate", "not causal", 2},
    {"Linear(3,4)@2x3 --generate 2", "--generate", "--list", 2},
    {"gpt2 --temperature 1", "--temperature", "--generate", 2},
    {"gpt2 --temperature -1 --generate 2", "--temperature -1", "from 0 on", 2},
    {"gpt2 --temperature nan --generate 2", "--temperature nan", "from 0 on", 2},
    {"char-gpt --prompt abc", "--prompt", "--epochs N", 2},
    {"char-gpt --sample 5", "--sample", "--epochs N", 2},
    {"mnist-cnn --device meta --steps 3", "--steps", "--device cpu", 2},
    {"lenet5 --epochs 1 --temperature 1", "--temperature", "lenet5 1x32x32 writes no text", 2},
    {"lenet5 --epochs 1 --prompt abc", "--prompt", "lenet5 1x32x32 writes no text. HINT: char-gpt",
     2},
    {"char-gpt --steps 1 --prompt=", "--prompt", "begins with", 2},
    {"char-gpt --steps 1 --data CHANGELOG.md --prompt a\x01", "byte 0x01 at place 1",
     "nowhere in CHANGELOG.md", 2},
    {"mnist-cnn --epochs 1 --sample 3", "--sample", "char-gpt", 2},
    {"lenet5 --output - --json -", "--output -", "--json", 2},
    {"lenet5 --output - --weights", "--output -", "name a file", 2},
    {"lenet5 --output x --json x", "--output x", "name another", 2},
    {"mnist-cnn --steps 1 --checkpoint x --trace x", "--checkpoint x", "name another", 2},
    {"mnist-cnn --steps 1 --checkpoint -", "--checkpoint -", "name a file", 2},
    {"m.onnx --input x=README.md --output ./README.md", "--output ./README.md", "is read", 2},
    {"lenet5 --fuse", "--fuse", "--inference", 2},
    {"lenet5 --inference --lr 1", "--lr", "--inference", 2},
    {"mnist-cnn --inference --steps 3", "--steps", "--inference", 2},
    {"mnist-cnn --summary --steps 3", "--steps", "add --epochs N", 2},
    {"gpt2 --generate 2 --optimizer sgd", "--optimizer", "leave out --generate", 2},
    {"char-gpt --steps 1 --sample 0 --prompt a", "--prompt", "--sample 0", 2},
    {"char-gpt --steps 1 --sample 0 --temperature 1", "--temperature", "--sample N", 2},
    {"lenet5 --calibrate --peaks x", "--calibrate", "--peaks", 2},
    {"lenet5 --device meta --peaks x", "x: cannot be read", "--help peaks", 3},
};

START_TEST(what_does_not_fit_is_refused_in_one_line) {
    program_refuses("profile_model", &wrong[_i]);
}
END_TEST

// ---- the numbers -------------------------------------------------------------------------------
// Multiply-adds of each layer: 12 e e, and 2 e for each position; and e for each word: for the
// prompt, and for a token after 159.
START_TEST(a_prompt_and_a_token_of_gpt2_are_counted) {
    enum { E = 768, LAYERS = 12, WORDS = 50257, PROMPT = 128 };
    json_t *document = document_of("profile_model", "gpt2 --generate 64 --device meta");
    const int64_t products = LAYERS * INT64_C(12) * E * E + (int64_t)WORDS * E;
    ck_assert_int_eq(document_integer(document, "generation.prompt_tokens"), PROMPT);
    ck_assert_int_eq(document_integer(document, "generation.tokens"), 64);
    ck_assert_int_eq(document_integer(document, "generation.token_position"), 159);
    ck_assert_int_eq(document_integer(document, "generation.first_token.macs"),
                     PROMPT * (products + LAYERS * 2 * PROMPT * E));
    ck_assert_int_eq(document_integer(document, "generation.token.macs"),
                     products + LAYERS * INT64_C(2) * 160 * E);
    ck_assert_int_eq(document_integer(document, "generation.cache_bytes_per_token"),
                     LAYERS * 2 * E * 4);
    ck_assert_int_eq(document_integer(document, "generation.cache_bytes"),
                     INT64_C(191) * LAYERS * 2 * E * 4);
    // One token reads every weight, and does little with it.
    ck_assert_int_gt(document_integer(document, "generation.token.bytes_read"), 4 * products);
    ck_assert_double_lt(document_real(document, "generation.token.intensity"), 0.6);
    ck_assert(json_is_null(document_at(document, "generation.token.latency")));
    ck_assert(json_is_null(document_at(document, "generation.tokens_per_second")));
    ck_assert(json_is_string(document_at(document, "generation.latency_reason")));
    ck_assert_str_eq(json_string_value(document_at(document, "kind")), "inference");
    ck_assert(json_is_null(document_at(document, "totals.backward"))); // there is no backward
    ck_assert(json_is_null(document_at(document, "totals.backward_weight")));
    ck_assert(json_is_null(document_at(document, "totals.optimizer")));
    ck_assert(json_is_null(document_at(document, "model.optimizer")));
    json_decref(document);
    document = document_of("profile_model", "gpt2 --device meta --generate 1");
    ck_assert(json_is_null(document_at(document, "generation.token")));
    ck_assert(json_is_null(document_at(document, "generation.token_position")));
    json_decref(document);
    document = document_of("profile_model", "gpt2 --device meta --tokens 8");
    ck_assert(json_is_null(document_at(document, "generation")));
    ck_assert(json_is_string(document_at(document, "generation_reason")));
    json_decref(document);
}
END_TEST

START_TEST(times_are_told) {
    json_t *document = document_of("profile_model", "char-gpt-mini --generate 12" QUICK);
    ck_assert_int_eq(document_integer(document, "generation.prompt_tokens"), 117);
    int64_t n = document_integer(document, "generation.token.latency.n");
    ck_assert(n >= 11 && n % 11 == 0);
    double median = document_real(document, "generation.token.latency.median");
    ck_assert_double_eq_tol(document_real(document, "generation.tokens_per_second") * median, 1.0,
                            1e-9);
    ck_assert(document_integer(document, "generation.first_token.latency.n") >= 10);
    ck_assert(json_is_string(document_at(document, "generation.token.bound")));
    json_decref(document);
    ProgramRun got = run("char-gpt-mini --generate 12 --tokens 20 --temperature 0.5" QUICK);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    static const char *const told[] = {"GENERATION  12 tokens behind a prompt of 20, at "
                                       "temperature 0.5\n",
                                       "\n  first token ",
                                       " tokens of the prompt/s\n",
                                       "\n  each after it ",
                                       " tokens/s\n",
                                       "median of ",
                                       "\n  cache            127 kB  4,096 B for each of 31 "
                                       "positions\n",
                                       "\n  token 26 ",
                                       " FLOP/B\n",
                                       " of the roof ("};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        ck_assert_msg(strstr(got.out, told[i]) != NULL, "no \"%s\" in:\n%s", told[i], got.out);
    program_check_columns(got.out);
    program_run_free(&got);
}
END_TEST

// The prompt is part of the output; temperature 0 draws nothing.
START_TEST(a_sample_goes_on_from_the_prompt) {
    ProgramRun got = run("Embedding(256,16)Linear(16,256)@8x32 --data CHANGELOG.md --steps 20 "
                         "--sample 30 --temperature 0 --prompt Newest" QUICK);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    const char *sample = strstr(got.out, "SAMPLE  at temperature 0\n  Newest");
    ck_assert_msg(sample != NULL, "%s", got.out);
    program_run_free(&got);
}
END_TEST

START_TEST(the_help_names_what_it_takes) {
    ProgramRun got = run("--help questions");
    ck_assert_msg(strstr(got.out, "--generate N  ") != NULL, "%s", got.out);
    program_run_free(&got);
    got = run("--help training");
    ck_assert_msg(strstr(got.out, "--prompt TEXT ") && strstr(got.out, "--temperature T "), "%s",
                  got.out);
    program_run_free(&got);
}
END_TEST

START_TEST(bytes_in_other_precisions_are_told_as_such) {
    ProgramRun got = run("gpt2 --device meta --dtype bf16 --generate 2");
    ck_assert_msg(strncmp(got.out, "Bytes are those of bf16: ", 25) == 0, "%s", got.out);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_does_not_fit_is_refused_in_one_line, sizeof wrong / sizeof wrong[0]},
        {a_prompt_and_a_token_of_gpt2_are_counted, 0},
        {times_are_told, 0},
        {a_sample_goes_on_from_the_prompt, 0},
        {the_help_names_what_it_takes, 0},
        {bytes_in_other_precisions_are_told_as_such, 0},
        {NULL, 0},
    };
    return harness_main("profile_generate", tests);
}
