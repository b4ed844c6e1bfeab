// test_corpus.c -- texts: symbols, entropies, windows as batches, drawn sentences.
// test_corpus_training.c tests training on a text and generating from a model.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/corpus.h"
#include "tensor/memory.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/work_folder.h"

static Corpus corpus_of(const char *text) {
    Corpus corpus;
    ck_assert_msg(!corpus_from_bytes("it", text, (int64_t)strlen(text), &corpus), "%s",
                  error_message());
    return corpus;
}

// ---- a text ------------------------------------------------------------------------------------
START_TEST(symbols_are_the_distinct_bytes_in_their_order) {
    work_folder_begin();
    static const char text[] = "b\xc3\xa4\n a\xff";
    Corpus corpus;
    ck_assert_int_eq(corpus_read(byte_file_put("text", text, sizeof text - 1), &corpus), STATUS_OK);
    ck_assert_int_eq(corpus.count, 7);
    ck_assert_int_eq(corpus.vocabulary, 7);
    ck_assert_mem_eq(corpus.symbols, "\n ab\xa4\xc3\xff", 7);
    ck_assert_mem_eq(corpus.ids, "\3\5\4\0\1\2\6", 7);
    ck_assert_int_eq(corpus_id(&corpus, 'a'), 2);
    ck_assert_int_eq(corpus_id(&corpus, 'c'), -1);
    ck_assert_ptr_nonnull(strstr(corpus.name, "text"));
    Corpus rest;
    ck_assert_int_eq(corpus_split(&corpus, 3, &rest), STATUS_OK);
    ck_assert_int_eq(corpus.count, 4);
    ck_assert_int_eq(rest.count, 3);
    ck_assert_mem_eq(rest.ids, "\1\2\6", 3);
    ck_assert_int_eq(rest.vocabulary, 7); // of the whole text
    corpus_free(&rest);
    ck_assert(corpus_split(&corpus, 5, &rest));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "5 of 4");
    ck_assert_ptr_null(rest.ids);
    ck_assert_int_eq(corpus.count, 4);
    corpus_free(&corpus);
    corpus_free(&corpus);
    work_folder_end();
}
END_TEST

START_TEST(what_is_no_text_is_refused) {
    work_folder_begin();
    static const struct {
        const char *bytes;
        size_t size;
        const char *mention;
    } files[] = {{"", 0, "it is empty"},
                 {"aaaa", 4, "all of it is one symbol"},
                 {"ab\0c", 4, "a byte of it is 0"}};
    Corpus corpus;
    for (int i = 0; i < 3; i++) {
        ck_assert(corpus_read(byte_file_put("f", files[i].bytes, files[i].size), &corpus));
        byte_file_expect_error(STATUS_FORMAT, files[i].mention);
        ck_assert_ptr_null(corpus.ids);
    }
    ck_assert(corpus_read(work_folder, &corpus));
    byte_file_expect_error(STATUS_IO, "no regular file");
    ck_assert(corpus_read("/nonexistent", &corpus));
    byte_file_expect_error(STATUS_IO, "/nonexistent");
    ck_assert(corpus_read(NULL, &corpus));
    error_clear();
    work_folder_run("mkfifo pipe; truncate -s 2G large");
    ck_assert(corpus_read(byte_file_path("pipe"), &corpus)); // returns at once
    byte_file_expect_error(STATUS_IO, "no regular file");
    ck_assert(corpus_read(byte_file_path("large"), &corpus)); // without reading 2 GB
    byte_file_expect_error(STATUS_FORMAT, "larger than");
    ck_assert(corpus_from_bytes("it", NULL, 3, &corpus));
    expect_error(STATUS_INVALID_ARGUMENT, "NULL");
    ck_assert(corpus_generate(0, 1, &corpus));
    expect_error(STATUS_INVALID_ARGUMENT, "0 letters");
    work_folder_end();
}
END_TEST

// ---- entropies ---------------------------------------------------------------------------------
// By hand: aab has 2 of a and 1 of b; after a come a and b, after b nothing.
START_TEST(entropies_are_those_of_its_counts) {
    Corpus text = corpus_of("aab"), other = corpus_of("abba"), one, none;
    CorpusEntropy entropy;
    ck_assert_int_eq(corpus_entropy(&text, &entropy), STATUS_OK);
    ck_assert_double_eq_tol(entropy.unigram, log(3.0) - 2.0 / 3.0 * log(2.0), 1e-12);
    ck_assert_double_eq_tol(entropy.bigram, log(2.0), 1e-12);
    double loss;
    // ab: (1 + 1) / (2 + 2); bb and ba: (0 + 1) / (0 + 2).
    ck_assert_int_eq(corpus_bigram_loss(&text, &other, &loss), STATUS_OK);
    ck_assert_double_eq_tol(loss, log(2.0), 1e-12);
    // aa: (0 + 1) / (1 + 2); ab: (1 + 1) / (1 + 2).
    ck_assert_int_eq(corpus_bigram_loss(&other, &text, &loss), STATUS_OK);
    ck_assert_double_eq_tol(loss, (log(3.0) + log(1.5)) / 2.0, 1e-12);
    Corpus strange = corpus_of("aba");
    strange.symbols[1] = 'c'; // as many symbols, but different
    ck_assert(corpus_bigram_loss(&text, &strange, &loss));
    expect_error(STATUS_INVALID_ARGUMENT, "which have the same symbols");
    corpus_free(&strange);
    ck_assert_int_eq(corpus_split(&other, 1, &one), STATUS_OK);
    ck_assert_int_eq(corpus_split(&text, 3, &none), STATUS_OK);
    ck_assert(corpus_bigram_loss(&other, &one, &loss));
    expect_error(STATUS_INVALID_ARGUMENT, "cannot guess 1");
    ck_assert(corpus_entropy(&one, &entropy));
    expect_error(STATUS_INVALID_ARGUMENT, "no pair in 1");
    ck_assert(corpus_bigram_loss(&text, &other, &loss)); // the text is empty now
    expect_error(STATUS_INVALID_ARGUMENT, "no pair in 0");
    corpus_free(&text);
    corpus_free(&other);
    corpus_free(&one);
    corpus_free(&none);
}
END_TEST

// ---- windows -----------------------------------------------------------------------------------
static bool window_is(const Batch *batch, int64_t row, int64_t tokens, const Corpus *corpus,
                      int64_t start) {
    const int64_t *x = tensor_labels(batch->images) + row * tokens,
                  *labels = tensor_labels(batch->labels) + row * tokens;
    for (int64_t i = 0; i < tokens; i++)
        if (x[i] != corpus->ids[start + i] || labels[i] != corpus->ids[start + i + 1]) return false;
    return true;
}

START_TEST(unshuffled_each_symbol_is_seen_once_and_told_its_next) {
    enum { TOKENS = 5 };
    Corpus text = corpus_of("the quick brown fox jumps over it"); // 33 bytes: 6 windows of 5
    LoaderOptions options = {.batch = 4, .prefetch = _i};
    Loader *loader = corpus_loader_new(&text, TOKENS, options);
    ck_assert_int_eq(loader_batches(loader), 2);
    Batch batch;
    int64_t start = 0;
    while (loader_next(loader, &batch)) {
        ck_assert(shape_equal(batch.images->shape, SHAPE(batch.count, TOKENS)));
        ck_assert(shape_equal(batch.labels->shape, SHAPE(batch.count, TOKENS)));
        ck_assert_int_eq(batch.images->dtype, DTYPE_INT64);
        for (int64_t row = 0; row < batch.count; row++, start += TOKENS)
            ck_assert(window_is(&batch, row, TOKENS, &text, start));
    }
    ck_assert_int_eq(start, 30);
    loader_free(loader);
    corpus_free(&text);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// Every place is drawn about as often, the first and the last included; another epoch draws other
// places, and the same seed draws the same.
START_TEST(shuffled_windows_begin_anywhere) {
    enum { TOKENS = 3, COUNT = 23, PLACES = COUNT - TOKENS, EPOCHS = 400 };
    Corpus text;
    uint8_t letters[COUNT];
    for (int i = 0; i < COUNT; i++) letters[i] = (uint8_t)('a' + i); // a window shows its place
    ck_assert_int_eq(corpus_from_bytes("it", letters, COUNT, &text), STATUS_OK);
    LoaderOptions options = {.batch = 2, .shuffle = true, .seed = 5}, ahead = options;
    ahead.prefetch = 3;
    Loader *loader = corpus_loader_new(&text, TOKENS, options),
           *other = corpus_loader_new(&text, TOKENS, ahead);
    int seen[PLACES] = {0};
    Batch batch, same;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        while (loader_next(loader, &batch)) {
            ck_assert(loader_next(other, &same));
            for (int64_t row = 0; row < batch.count; row++) {
                int64_t start = tensor_labels(batch.images)[row * TOKENS];
                ck_assert(window_is(&batch, row, TOKENS, &text, start));
                ck_assert(window_is(&same, row, TOKENS, &text, start));
                seen[start]++;
            }
        }
        loader_start_epoch(loader);
        loader_start_epoch(other);
    }
    int draws = EPOCHS * 7; // 22 / 3 windows an epoch
    for (int i = 0; i < PLACES; i++)
        ck_assert_msg(abs(seen[i] - draws / PLACES) < 60, "place %d: %d times", i, seen[i]);
    loader_free(loader);
    loader_free(other);
    corpus_free(&text);
}
END_TEST

START_TEST(a_loader_of_windows_goes_to_any_place) {
    enum { TOKENS = 4, STEPS = 14 };
    const char *const line = "how much wood would a woodchuck chuck";
    Corpus text = corpus_of(line), near = corpus_of("How much wood would a woodchuck chuck");
    LoaderOptions options = {.batch = 2, .shuffle = true, .seed = 9, .prefetch = _i};
    Loader *loader = corpus_loader_new(&text, TOKENS, options);
    for (int step = 0; step < STEPS; step++) {
        LoaderPosition place = loader_position(loader);
        Loader *again = corpus_loader_new(&text, TOKENS, options);
        Batch batch, same;
        ck_assert_int_eq(loader_seek(again, place), STATUS_OK);
        if (!loader_next(loader, &batch)) {
            ck_assert(!loader_next(again, &same));
            loader_start_epoch(loader);
            loader_start_epoch(again);
            ck_assert(loader_next(loader, &batch));
        }
        ck_assert(loader_next(again, &same));
        ck_assert_int_eq(batch.count, same.count);
        ck_assert_mem_eq(tensor_labels(batch.images), tensor_labels(same.images),
                         (size_t)batch.count * TOKENS * sizeof(int64_t));
        loader_free(again);
    }
    LoaderPosition place = loader_position(loader);
    Loader *other = corpus_loader_new(&text, TOKENS - 1, options);
    ck_assert(loader_seek(other, place));
    expect_error(STATUS_INVALID_ARGUMENT, "(9 samples");
    loader_free(other);
    Loader *longer = corpus_loader_new(&text, 20, options); // both have one window an epoch
    other = corpus_loader_new(&text, 19, options);
    ck_assert(loader_seek(other, loader_position(longer)));
    expect_error(STATUS_INVALID_ARGUMENT, "in windows as long");
    loader_free(longer);
    loader_free(other);
    other = corpus_loader_new(&near, TOKENS, options);
    ck_assert(loader_seek(other, place));
    expect_error(STATUS_INVALID_ARGUMENT, "in other data");
    loader_free(other);
    corpus_free(&near);
    loader_free(loader);
    corpus_free(&text);
}
END_TEST

START_TEST(windows_that_do_not_fit_are_refused) {
    Corpus text = corpus_of("abcd");
    const LoaderOptions options = {.batch = 1};
    static const int64_t tokens[] = {4, 0, -1, INT64_MAX};
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(corpus_loader_new(&text, tokens[i], options));
        expect_error(STATUS_INVALID_ARGUMENT, "does not fit into 4");
    }
    ck_assert_ptr_null(corpus_loader_new(NULL, 1, options));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT");
    Loader *one = corpus_loader_new(&text, 3, options);
    ck_assert_int_eq(loader_batches(one), 1);
    loader_free(one);
    corpus_free(&text);
}
END_TEST

// ---- drawn sentences ---------------------------------------------------------------------------
START_TEST(sentences_are_lines_and_the_seed_decides) {
    Corpus text, same, other;
    ck_assert_int_eq(corpus_generate(5000, 3, &text), STATUS_OK);
    ck_assert_int_eq(corpus_generate(5000, 3, &same), STATUS_OK);
    ck_assert_int_eq(corpus_generate(5000, 4, &other), STATUS_OK);
    ck_assert(text.count >= 5000 && text.count == same.count);
    ck_assert_mem_eq(text.ids, same.ids, (size_t)text.count);
    ck_assert_mem_ne(text.ids, other.ids, 5000);
    ck_assert_int_eq(text.symbols[text.ids[text.count - 1]], '\n');
    for (int64_t i = 1; i < text.count; i++) { // no two spaces, none at the end of a line
        char a = (char)text.symbols[text.ids[i - 1]], b = (char)text.symbols[text.ids[i]];
        ck_assert_msg(a != ' ' || (b >= 'a' && b <= 'z'), "'%c%c' at %lld", a, b, (long long)i);
        ck_assert_msg(b != '\n' || a == '.', "'%c' ends a line", a);
    }
    corpus_free(&text);
    corpus_free(&same);
    corpus_free(&other);
}
END_TEST

START_TEST(a_failing_allocation_leaves_nothing) {
    Status status = STATUS_OUT_OF_MEMORY;
    uint64_t nth = 0;
    while (status == STATUS_OUT_OF_MEMORY) {
        Corpus text = {0}, rest = {0};
        CorpusEntropy entropy;
        double loss;
        Loader *loader = NULL;
        memory_fail_at(++nth);
        status = corpus_generate(500, 1, &text);
        if (!status) status = corpus_split(&text, 50, &rest);
        if (!status) status = corpus_entropy(&text, &entropy);
        if (!status) status = corpus_bigram_loss(&text, &rest, &loss);
        if (!status) loader = corpus_loader_new(&text, 7, (LoaderOptions){.batch = 4});
        memory_fail_at(0);
        if (!status) status = error_status();
        ck_assert_int_eq(error_status(), status);
        ck_assert(status == STATUS_OK || loader == NULL);
        loader_free(loader);
        corpus_free(&text);
        corpus_free(&rest);
        error_clear();
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
    ck_assert_int_eq(status, STATUS_OK);
    ck_assert_uint_gt(nth, 6);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {symbols_are_the_distinct_bytes_in_their_order, 0},
        {what_is_no_text_is_refused, 0},
        {entropies_are_those_of_its_counts, 0},
        {unshuffled_each_symbol_is_seen_once_and_told_its_next, 2},
        {shuffled_windows_begin_anywhere, 0},
        {a_loader_of_windows_goes_to_any_place, 2},
        {windows_that_do_not_fit_are_refused, 0},
        {sentences_are_lines_and_the_seed_decides, 0},
        {a_failing_allocation_leaves_nothing, 0},
        {NULL, 0},
    };
    return harness_main("corpus", tests);
}
