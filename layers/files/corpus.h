// corpus.h -- a text to train a language model on: its symbols as ids, their entropy, and windows
// of it as batches for a loader.
//
//     Corpus text, held_out;
//     corpus_read("book.txt", &text);
//     corpus_split(&text, text.count / 10, &held_out);
//     LoaderOptions options = {.batch = 16, .shuffle = true};
//     Loader *loader = corpus_loader_new(&text, 128, options);
//
// A symbol is a byte, so any text has at most 256 of them and none is unknown; a letter outside
// ASCII is two or more symbols in UTF-8.
#ifndef LAYERS_FILES_CORPUS_H
#define LAYERS_FILES_CORPUS_H

#include "layers/train/dataset.h"

RIDGEPOINT_API_BEGIN

enum { CORPUS_MOST_SYMBOLS = 256, CORPUS_MOST_BYTES = 1 << 30 };

typedef struct Corpus {
    int64_t count;                        // symbols in it
    uint8_t *ids;                         // count, in [0, vocabulary); owned
    int vocabulary;                       // distinct symbols
    uint8_t symbols[CORPUS_MOST_SYMBOLS]; // the byte of each id, ascending
    char name[160];                       // for reports: "generated sentences", a file
} Corpus;

// Reads a whole file. STATUS_IO: it cannot be read, or is a folder; STATUS_FORMAT: it is empty, has
// one distinct symbol, exceeds CORPUS_MOST_BYTES, or has a byte 0. On failure *out is empty.
Status corpus_read(const char *path, Corpus *out);
// As corpus_read, from `count` bytes, which are copied.
Status corpus_from_bytes(const char *name, const void *bytes, int64_t count, Corpus *out);
// Makes at least `count` symbols of English sentences from a small grammar, with agreement in
// number and pronouns for their subject; deterministic by seed.
Status corpus_generate(int64_t count, uint64_t seed, Corpus *out);
void corpus_free(Corpus *corpus); // frees what it holds, not the struct; safe on {0}

int corpus_id(const Corpus *corpus, uint8_t symbol); // -1: it is not in the vocabulary

// Moves the last `held_out` symbols into *rest, with the same vocabulary. A failure changes nothing
// and leaves *rest empty.
Status corpus_split(Corpus *corpus, int64_t held_out, Corpus *rest);

// Entropies in nats per symbol, from the corpus' own counts n: H(b) = -sum n(b)/n ln n(b)/n, and
// for its n - 1 pairs H(b|a) = -sum n(ab)/(n - 1) ln n(ab)/n(a), with n(a) as the first of a pair.
// The second is the loss of a table of pairs on the very text that it was counted on.
typedef struct CorpusEntropy {
    double unigram, bigram;
} CorpusEntropy;
Status corpus_entropy(const Corpus *corpus, CorpusEntropy *entropy);

// The mean loss, in nats per symbol, when pairs counted in one text predict another of the same
// vocabulary: -ln (n(ab) + 1) / (n(a) + vocabulary) for each symbol b after an a. A model that
// knows more than pairs has a lower loss on text that it was not trained on.
Status corpus_bigram_loss(const Corpus *counted, const Corpus *guessed, double *loss);

// Batches of windows: ids x (batch, tokens) int64 and, as labels (batch, tokens), the symbol after
// each. An epoch is (count - 1) / tokens windows. With `shuffle` they begin anywhere, determined by
// the seed and the window's number since training began; without, one follows the other, and each
// symbol comes once. Borrows the corpus as loader_new does. Ignores `mean`, `scale` and `planes`.
// NULL with an error pending when the text is shorter than tokens + 1.
Loader *corpus_loader_new(const Corpus *corpus, int64_t tokens, LoaderOptions options);

RIDGEPOINT_API_END

#endif
