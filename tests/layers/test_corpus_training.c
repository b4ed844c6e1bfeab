// test_corpus_training.c -- a language model learns a text, resumes after a kill, and writes.
// test_corpus.c tests texts and their windows.
#include <math.h>
#include <string.h>

#include "layers/containers.h"
#include "layers/files/checkpoint.h"
#include "layers/files/corpus.h"
#include "layers/models/transformers.h"
#include "layers/train/fit.h"
#include "layers/train/generate.h"
#include "tensor/ops.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/work_folder.h"

enum { TOKENS = 16 };

static Layer *letters_new(const Corpus *text, float dropout) {
    return gpt2_new((Gpt2Options){.vocab_size = text->vocabulary,
                                  .context = TOKENS,
                                  .embed_dim = 16,
                                  .layers = 1,
                                  .heads = 2,
                                  .dropout = dropout});
}

static Optimizer *adam_new(Layer *model, float rate) {
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_ADAM);
    config.learning_rate = rate;
    return optimizer_new(model, config);
}

static double held_out_loss(Layer *model, const Corpus *text) {
    double loss;
    Loader *loader = corpus_loader_new(text, TOKENS, (LoaderOptions){.batch = 16});
    ck_assert_msg(!train_mean_loss(model, loader, NULL, &loss), "%s", error_message());
    loader_free(loader);
    return loss;
}

// ---- learning ----------------------------------------------------------------------------------
// A model with attention uses the letter before last, which a table of pairs cannot; a trained
// table of weights reaches the loss of the table of pairs, and no less.
START_TEST(attention_is_below_the_pairs_and_a_table_is_not) {
    Corpus text, rest;
    ck_assert_int_eq(corpus_generate(20000, 2, &text), STATUS_OK);
    ck_assert_int_eq(corpus_split(&text, 2000, &rest), STATUS_OK);
    double pairs;
    ck_assert_int_eq(corpus_bigram_loss(&text, &rest, &pairs), STATUS_OK);
    context_seed(1);
    Layer *model = letters_new(&text, 0.0f), *table = sequential_new();
    if (_i == 1) {
        layer_append(table, embedding_new(text.vocabulary, text.vocabulary));
        layer_free(model);
        model = table;
    } else {
        layer_free(table);
    }
    Optimizer *adam = adam_new(model, _i == 1 ? 0.1f : 0.02f);
    Loader *loader =
        corpus_loader_new(&text, TOKENS, (LoaderOptions){.batch = 16, .shuffle = true});
    FitResult result;
    double before = held_out_loss(model, &rest);
    ck_assert_msg(!train_fit(model, adam, loader, (FitOptions){.epochs = 3, .max_steps = 150},
                             &result),
                  "%s", error_message());
    double after = held_out_loss(model, &rest);
    ck_assert_msg(before > 2.5, "untrained: %g", before);
    if (_i == 0) ck_assert_msg(after < pairs - 0.05, "%g, pairs %g", after, pairs);
    if (_i == 1) ck_assert_msg(fabs(after - pairs) < 0.05, "%g, pairs %g", after, pairs);
    loader_free(loader);
    optimizer_free(adam);
    layer_free(model);
    corpus_free(&text);
    corpus_free(&rest);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// The mean over batches of different sizes weighs all samples equally.
START_TEST(the_mean_loss_is_of_all_samples) {
    Corpus text;
    ck_assert_int_eq(corpus_generate(200, 2, &text), STATUS_OK); // 12 windows: 5, 5 and 2
    context_seed(1);
    Layer *model = letters_new(&text, 0.5f); // inference skips dropout
    double loss[2];
    for (int i = 0; i < 2; i++) {
        LoaderOptions options = {.batch = i == 0 ? 5 : 12};
        Loader *loader = corpus_loader_new(&text, TOKENS, options);
        ck_assert_int_eq(train_mean_loss(model, loader, loss_cross_entropy, &loss[i]), STATUS_OK);
        loader_free(loader);
    }
    ck_assert_double_eq_tol(loss[0], loss[1], 1e-5);
    ck_assert_double_eq_tol(loss[0], log((double)text.vocabulary), 0.2);
    layer_free(model);
    corpus_free(&text);
}
END_TEST

// ---- killed and resumed ------------------------------------------------------------------------
typedef struct Saver {
    Checkpoint *training;
    int64_t at;
} Saver;

static void save_at(void *argument, const FitProgress *progress) {
    Saver *saver = argument;
    Checkpoint now = *saver->training;
    now.step = progress->step;
    now.epoch = progress->epoch;
    if (progress->step == saver->at)
        ck_assert_int_eq(checkpoint_write(&now, byte_file_path("killed")), STATUS_OK);
    if (progress->step == progress->steps)
        ck_assert_int_eq(checkpoint_write(&now, byte_file_path("end")), STATUS_OK);
}

// Kills in the middle of an epoch, at its end, in a later one: the final file is the same.
START_TEST(a_killed_training_on_a_text_goes_on_bit_for_bit) {
    static const int64_t kills[] = {1, 5, 6, 9};
    work_folder_begin();
    Corpus text;
    ck_assert_int_eq(corpus_generate(400, 2, &text), STATUS_OK);
    FitOptions options = {.epochs = 2, .progress = save_at};
    FitResult result;
    for (int run = 0; run < 2; run++) {
        context_seed(run == 0 ? 1 : 77); // the second starts differently
        Layer *model = letters_new(&text, 0.2f);
        Checkpoint all = {.model = model,
                          .optimizer = adam_new(model, 0.01f),
                          .loader = corpus_loader_new(
                              &text, TOKENS,
                              (LoaderOptions){.batch = 4, .shuffle = true, .prefetch = run})};
        ck_assert_int_ge(loader_batches(all.loader), 6);
        Saver saver = {&all, run == 0 ? kills[_i] : 0};
        options.argument = &saver;
        if (run == 1)
            ck_assert_msg(!checkpoint_read(&all, byte_file_path("killed")), "%s", error_message());
        options.steps_done = all.step;
        ck_assert_int_eq(all.step, run == 1 ? kills[_i] : 0);
        ck_assert_int_eq(train_fit(model, all.optimizer, all.loader, options, &result), STATUS_OK);
        if (run == 0) work_folder_run("mv end whole");
        loader_free(all.loader);
        optimizer_free(all.optimizer);
        layer_free(model);
    }
    work_folder_run("cmp whole end");
    corpus_free(&text);
    work_folder_end();
}
END_TEST

// ---- writing -----------------------------------------------------------------------------------
// Logits from the last token alone: after token i, i + 1 has `height` and the others 0.
static Layer *successor_new(int n, float height) {
    Layer *table = embedding_new(n, n), *model = sequential_new();
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            tensor_data(table->parameters[0].tensor)[i * n + k] = k == (i + 1) % n ? height : 0.0f;
    layer_append(model, table);
    return model;
}

// A model that knows "abcd" by heart misses the two symbols of the second text that break the row.
START_TEST(the_accuracy_is_of_all_symbols) {
    static const char *const texts[] = {"abcdabcdabcda", "abcdabcaabcda"};
    static const double want[] = {1.0, 10.0 / 12.0};
    for (int i = 0; i < 2; i++) {
        Corpus text;
        double accuracy;
        ck_assert_int_eq(corpus_from_bytes("row", texts[i], 13, &text), STATUS_OK);
        Layer *model = successor_new(4, 3.0f);
        for (int64_t batch = 1; batch < 4; batch++) { // the text has 3 windows
            Loader *loader = corpus_loader_new(&text, 4, (LoaderOptions){.batch = batch});
            ck_assert_int_eq(train_accuracy(model, loader, &accuracy), STATUS_OK);
            ck_assert_double_eq_tol(accuracy, want[i], 1e-12);
            loader_free(loader);
        }
        layer_free(model);
        corpus_free(&text);
    }
}
END_TEST

START_TEST(tokens_are_drawn_by_their_probabilities) {
    enum { N = 4, COUNT = 3000 };
    int64_t ids[COUNT] = {2};
    Layer *model = successor_new(N, 1.0f);
    const float temperatures[] = {0.0f, 1.0f, 0.5f};
    for (int i = 0; i < 3; i++) {
        context_seed(3);
        GenerateOptions how = {.window = 2, .temperature = temperatures[i]};
        int64_t count = i == 0 ? 10 : COUNT, next = 0;
        RandomState before = context_current()->random;
        ck_assert_msg(!generate_tokens(model, how, ids, 1, count), "%s", error_message());
        ck_assert((context_current()->random.offset == before.offset) == (i == 0)); // if greedy
        for (int64_t at = 1; at < count; at++) next += ids[at] == (ids[at - 1] + 1) % N;
        double height = i == 0 ? (double)INFINITY : exp(1.0 / (double)temperatures[i]);
        double want = i == 0 ? 1.0 : height / (height + N - 1.0);
        double share = (double)next / (double)(count - 1);
        ck_assert_double_eq_tol(share, want, 0.03);
    }
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// The text is longer than the model's context; the model's training mode is restored.
START_TEST(the_window_slides_and_dropout_rests) {
    Corpus text;
    ck_assert_int_eq(corpus_generate(200, 2, &text), STATUS_OK);
    context_seed(5);
    Layer *model = letters_new(&text, 0.9f);
    layer_train(model, true);
    int64_t ids[2][3 * TOKENS] = {{1}, {1}};
    GenerateOptions how = {.window = TOKENS};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(generate_tokens(model, how, ids[i], 1, 3 * TOKENS), STATUS_OK);
    ck_assert_mem_eq(ids[0], ids[1], sizeof ids[0]);
    ck_assert(model->training);
    how.window = TOKENS + 1; // longer than the model's context
    ck_assert(generate_tokens(model, how, ids[0], 1, 3 * TOKENS));
    expect_error(STATUS_SHAPE, "context");
    ck_assert(model->training);
    ck_assert(generate_tokens(model, how, ids[0], 0, 5));
    expect_error(STATUS_INVALID_ARGUMENT, "0 tokens given");
    layer_free(model);
    model = successor_new(4, (float)NAN);
    for (int i = 0; i < 2; i++) {
        GenerateOptions drawn = {.window = 1, .temperature = (float)i};
        ck_assert(generate_tokens(model, drawn, ids[0], 1, 3));
        expect_error(STATUS_NON_FINITE, "token 1");
    }
    layer_free(model);
    corpus_free(&text);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{attention_is_below_the_pairs_and_a_table_is_not, 2},
                                 {the_mean_loss_is_of_all_samples, 0},
                                 {the_accuracy_is_of_all_symbols, 0},
                                 {a_killed_training_on_a_text_goes_on_bit_for_bit, 4},
                                 {tokens_are_drawn_by_their_probabilities, 0},
                                 {the_window_slides_and_dropout_rests, 0},
                                 {NULL, 0}};
    return harness_main("corpus_training", tests);
}
