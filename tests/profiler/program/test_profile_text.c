// test_profile_text.c -- ./profile_model on texts: accepted ones, the report of training on one,
// and an interrupted training that ends with the same letters. test_profile_model.c tests networks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/files/corpus.h"
#include "profiler/base/text.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

#define QUICK " --iterations 1 --warmup 2 --peaks tests/fixtures/peaks.json"

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_model"), arguments, PROGRAM_CAPTURED);
}

// ---- refusals ----------------------------------------------------------------------------------
static const ProgramRefusal wrong[] = {
    {"char-gpt --data /nonexistent", "/nonexistent", "path", 3},
    {"char-gpt --data /dev", "/dev", "no regular file", 3},
    {"char-gpt --data /dev/null", "/dev/null", "no regular file", 3},
    {"char-gpt --data .clang-format --tokens 200", "200 tokens", "fewer --tokens", 3},
    {"Embedding(9,4)Linear(4,9)@2x8 --data Makefile", "9", "char-gpt", 3},
    {"Embedding(60,4)@2x8 --epochs 1", "no logits", "char-gpt", 2},
};

START_TEST(a_text_that_does_not_fit_is_refused_in_one_line) {
    program_refuses("profile_model", &wrong[_i]);
}
END_TEST

// ---- the report --------------------------------------------------------------------------------
// The part of `text` that starts with `from`; fails if there is none.
static const char *part(const char *text, const char *from) {
    const char *at = strstr(text, from);
    ck_assert_msg(at != NULL, "no \"%s\" in:\n%s", from, text);
    return at;
}

// The report has the loss beside that of pairs, a curve, and a sample. The sample is equal, letter
// for letter, if training stopped on the way and another process finished it.
START_TEST(it_trains_on_a_text_and_goes_on_with_it) {
    char file[] = "/tmp/ridgepoint-state-XXXXXX", arguments[240];
    close(mkstemp(file));
    const char *const how[] = {"--steps 60", "--steps 25 --sample 0 --checkpoint",
                               "--steps 60 --resume"};
    ProgramRun got[3];
    for (int i = 0; i < 3; i++) {
        snprintf(arguments, sizeof arguments,
                 "Embedding(256,16)Dropout(0.1)Linear(16,256)@8x32 --data CHANGELOG.md --lr 0.02 "
                 "%s %s" QUICK,
                 how[i], i > 0 ? file : "");
        got[i] = run(arguments);
        ck_assert_msg(got[i].status == 0 && !got[i].err[0], "%s", got[i].err);
        part(got[i].out, "TRAINING  CHANGELOG.md: ");
        part(got[i].out, " tokens/s): mean loss ");
        part(got[i].out, " nats a character, ");
        part(got[i].out, "*** training loss   --- a table of pairs, ");
    }
    ck_assert_ptr_null(strstr(got[1].out, "SAMPLE"));
    ck_assert_int_gt(strlen(part(got[0].out, "SAMPLE")), 200);
    ck_assert_str_eq(part(got[0].out, "SAMPLE"), part(got[2].out, "SAMPLE"));
    part(got[2].out, "\n        step 26 ");
    for (int i = 0; i < 3; i++) program_run_free(&got[i]);
    unlink(file);
}
END_TEST

// However long the path, and however large the losses.
START_TEST(what_is_told_stands_within_the_columns) {
    ProgramRun got = run("Embedding(256,16)Linear(16,256)@8x32 --data "
                         "././././././././././././././././././././././././././././CHANGELOG.md "
                         "--optimizer sgd --lr 300000 --steps 3 --sample 0" QUICK);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    part(got.out, "/CHANGELOG.md: ");
    part(got.out, "e+0");
    program_check_columns(got.out);
    program_run_free(&got);
}
END_TEST

// A model written as text is trained on images if it takes images and tells classes apart.
START_TEST(a_model_written_as_text_learns_digits) {
    char file[] = "/tmp/ridgepoint-state-XXXXXX", arguments[240];
    close(mkstemp(file));
    json_t *document = document_of("profile_model", "Linear(784,10)@16x784 --epochs 1" QUICK);
    ck_assert_double_gt(document_real(document, "training.test_accuracy"), 0.5);
    json_decref(document);
    snprintf(arguments, sizeof arguments, "Linear(784,10)@16x784 --steps 2 --checkpoint %s" QUICK,
             file);
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0, "%s", got.err);
    program_run_free(&got);
    snprintf(arguments, sizeof arguments, "Linear(784,10)@16x784 --steps 2 --resume %s" QUICK,
             file);
    document = document_of("profile_model", arguments); // all steps are done
    ck_assert(json_is_null(document_at(document, "training.samples_per_second")));
    json_decref(document);
    unlink(file);
    got = run("Linear(784,9)@16x784 --epochs 1");
    program_check_refusal(&got, 2, "drawn digits have 784 pixels", "--data");
    got = run("Linear(784,9)@16x784 --data /nonexistent");
    program_check_refusal(&got, 3, "/nonexistent", "");
}
END_TEST

// char-gpt takes its text's vocabulary; gpt2 keeps its own, which is large enough.
START_TEST(a_model_of_characters_is_made_for_its_text) {
    Corpus text;
    char line[160];
    ck_assert_int_eq(corpus_read("CHANGELOG.md", &text), STATUS_OK);
    int64_t parameters = 10770816 + (text.vocabulary - 65) * 384; // 10,770,816 for 65 symbols
    ck_assert_int_ne(text.vocabulary, 65);
    ProgramRun got = run("char-gpt --device meta --data CHANGELOG.md");
    snprintf(line, sizeof line, "char-gpt 256 tokens of %d characters", text.vocabulary);
    part(got.out, line);
    snprintf(line, sizeof line, "  parameters %17s ", text_count(4 * parameters).s);
    part(got.out, line);
    program_run_free(&got);
    got = run("gpt2 --device meta --tokens 64 --data CHANGELOG.md");
    part(got.out, text_count(4 * 124439808LL).s);
    program_run_free(&got);
    corpus_free(&text);
}
END_TEST

// Without a text, sentences are drawn; the JSON has both losses, exactly.
START_TEST(without_a_text_sentences_are_drawn) {
    json_t *document =
        document_of("profile_model", "Embedding(64,64)@32x32 --lr 0.1 --steps 400" QUICK);
    ck_assert_str_eq(json_string_value(document_at(document, "training.data")),
                     "generated sentences");
    double loss = document_real(document, "training.held_out_loss"),
           pairs = document_real(document, "training.bigram_loss");
    ck_assert_msg(pairs > 1.4 && pairs < 1.8, "pairs lose %g", pairs);
    ck_assert_msg(loss > pairs && loss < pairs + 0.1, "%g, pairs %g", loss, pairs);
    json_decref(document);
}
END_TEST

// Where nothing runs a batch takes no memory: 0.8 GB of ids, and as much for labels.
START_TEST(what_is_only_counted_is_not_made) {
    json_t *document = document_of("profile_model", "gpt2 --batch 100000 --device meta");
    ck_assert_int_lt(document_integer(document, "memory.process_peak_bytes"), 400000000);
    ck_assert_int_gt(document_integer(document, "memory.predicted.data_bytes"), 1600000000);
    json_decref(document);
}
END_TEST

// A head that shares the word table; tables that the enclosing layer reads. document_of checks that
// the layers add up to the model.
START_TEST(parameters_of_layers_add_up_whoever_shares_them) {
    static const char *const models[] = {"gpt2", "bert-base", "char-gpt-mini --inference"};
    char arguments[60];
    snprintf(arguments, sizeof arguments, "%s --device meta", models[_i]);
    json_decref(document_of("profile_model", arguments));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_text_that_does_not_fit_is_refused_in_one_line, sizeof wrong / sizeof wrong[0]},
        {it_trains_on_a_text_and_goes_on_with_it, 0},
        {what_is_told_stands_within_the_columns, 0},
        {a_model_written_as_text_learns_digits, 0},
        {a_model_of_characters_is_made_for_its_text, 0},
        {without_a_text_sentences_are_drawn, 0},
        {what_is_only_counted_is_not_made, 0},
        {parameters_of_layers_add_up_whoever_shares_them, 3},
        {NULL, 0},
    };
    return harness_main("profile_text", tests);
}
