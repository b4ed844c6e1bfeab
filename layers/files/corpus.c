// corpus.c -- reads a text, finds its symbols, splits it, and counts its pairs. Generated
// sentences: sentences.c; windows for a loader: corpus_loader.c.
#include "layers/files/corpus.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/files/input_file.h"
#include "layers/train/source.h"
#include "tensor/given.h"
#include "tensor/memory.h"

enum { SYMBOLS = CORPUS_MOST_SYMBOLS };

// ---- making ------------------------------------------------------------------------------------
void corpus_free(Corpus *corpus) {
    if (!corpus) return;
    source_bytes_go(corpus->ids);
    memory_free(corpus->ids);
    *corpus = (Corpus){0};
}

int corpus_id(const Corpus *corpus, uint8_t symbol) {
    if (!GIVEN(corpus)) return 0;
    const uint8_t *found = memchr(corpus->symbols, symbol, (size_t)corpus->vocabulary);
    return found ? (int)(found - corpus->symbols) : -1;
}

static Status refuse(const char *name, const char *what, const char *hint) {
    return error_set(STATUS_FORMAT, "text: %s: %s. HINT: %s", name, what, hint);
}

// Replaces bytes by ids, in place. Ids are in the order of the symbols.
static Status number(Corpus *corpus) {
    bool seen[SYMBOLS] = {false};
    uint8_t id[SYMBOLS] = {0};
    for (int64_t i = 0; i < corpus->count; i++) seen[corpus->ids[i]] = true;
    if (seen[0])
        return refuse(corpus->name, "a byte of it is 0: it is no text",
                      "plain text, in UTF-8 or another code of single bytes");
    for (int symbol = 0; symbol < SYMBOLS; symbol++) {
        if (!seen[symbol]) continue;
        id[symbol] = (uint8_t)corpus->vocabulary;
        corpus->symbols[corpus->vocabulary++] = (uint8_t)symbol;
    }
    if (corpus->vocabulary < 2)
        return refuse(corpus->name, corpus->count ? "all of it is one symbol" : "it is empty",
                      "a text of some thousand letters");
    for (int64_t i = 0; i < corpus->count; i++) corpus->ids[i] = id[corpus->ids[i]];
    return STATUS_OK;
}

// Starts a corpus of `count` bytes that the caller fills in.
static Status begin(const char *name, int64_t count, Corpus *corpus) {
    *corpus = (Corpus){.count = count};
    snprintf(corpus->name, sizeof(corpus->name), "%s", name);
    if (count > CORPUS_MOST_BYTES) return refuse(name, "it is larger than 1 GiB", "a part of it");
    corpus->ids = memory_new((size_t)count + 1);
    return corpus->ids ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

static Status finish(Status status, Corpus *corpus) {
    if (!status) status = number(corpus);
    if (status) corpus_free(corpus);
    return status;
}

Status corpus_from_bytes(const char *name, const void *bytes, int64_t count, Corpus *out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    *out = (Corpus){0};
    if (error_pending()) return error_status();
    if (!name || !bytes || count < 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "text: %lld bytes at %s, named %s. HINT: give all", (long long)count,
                         bytes ? "some place" : "NULL", name ? name : "NULL");
    Status status = begin(name, count, out);
    if (!status) memcpy(out->ids, bytes, (size_t)count);
    return finish(status, out);
}

Status corpus_read(const char *path, Corpus *out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    *out = (Corpus){0};
    InputFile file;
    Status status = input_open("text", path, &file);
    if (status) return status;
    status = begin(path, file.size, out);
    if (!status) status = input_read(&file, 0, out->ids, (size_t)file.size);
    input_close(&file);
    return finish(status, out);
}

// ---- splitting ---------------------------------------------------------------------------------
static Status check(const Corpus *corpus) {
    if (error_pending()) return error_status();
    return corpus && corpus->ids
               ? STATUS_OK
               : error_set(STATUS_INVALID_ARGUMENT, "text: there is none. HINT: corpus_read");
}

Status corpus_split(Corpus *corpus, int64_t held_out, Corpus *rest) {
    if (!GIVEN(rest)) return STATUS_INVALID_ARGUMENT;
    *rest = (Corpus){0};
    if (check(corpus)) return error_status();
    if (held_out < 0 || held_out > corpus->count)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "text: cannot hold out %lld of %lld symbols. HINT: between 0 and all of "
                         "them",
                         (long long)held_out, (long long)corpus->count);
    uint8_t *ids = memory_new((size_t)held_out + 1);
    if (!ids) return STATUS_OUT_OF_MEMORY;
    corpus->count -= held_out;
    memcpy(ids, corpus->ids + corpus->count, (size_t)held_out);
    *rest = *corpus;
    rest->count = held_out;
    rest->ids = ids;
    return STATUS_OK;
}

// ---- counting ----------------------------------------------------------------------------------
typedef struct Pairs {
    int64_t of[SYMBOLS][SYMBOLS], begin_with[SYMBOLS];
} Pairs;

// Counts the pairs; yours to memory_free. NULL with an error pending.
static Pairs *count_pairs(const Corpus *corpus) {
    if (check(corpus)) return NULL;
    if (corpus->count < 2)
        error_set(STATUS_INVALID_ARGUMENT, "text: %s: there is no pair in %lld symbols. HINT: more",
                  corpus->name, (long long)corpus->count);
    Pairs *pairs = error_pending() ? NULL : memory_new(sizeof(*pairs));
    for (int64_t i = 1; pairs && i < corpus->count; i++) {
        pairs->of[corpus->ids[i - 1]][corpus->ids[i]]++;
        pairs->begin_with[corpus->ids[i - 1]]++;
    }
    return pairs;
}

// n times -ln(n / of); 0 for n = 0.
static double surprise(int64_t n, int64_t of) {
    return n > 0 ? (double)n * log((double)of / (double)n) : 0.0;
}

Status corpus_entropy(const Corpus *corpus, CorpusEntropy *entropy) {
    if (!GIVEN(entropy)) return STATUS_INVALID_ARGUMENT;
    Pairs *pairs = count_pairs(corpus);
    if (!pairs) return error_status();
    *entropy = (CorpusEntropy){0};
    for (int a = 0; a < corpus->vocabulary; a++) {
        int64_t n = pairs->begin_with[a] + (corpus->ids[corpus->count - 1] == a);
        entropy->unigram += surprise(n, corpus->count);
        for (int b = 0; b < corpus->vocabulary; b++)
            entropy->bigram += surprise(pairs->of[a][b], pairs->begin_with[a]);
    }
    entropy->unigram /= (double)corpus->count;
    entropy->bigram /= (double)(corpus->count - 1);
    memory_free(pairs);
    return STATUS_OK;
}

Status corpus_bigram_loss(const Corpus *counted, const Corpus *guessed, double *loss) {
    if (!GIVEN(loss)) return STATUS_INVALID_ARGUMENT;
    if (check(counted) || check(guessed)) return error_status();
    bool alike = counted->vocabulary == guessed->vocabulary &&
                 memcmp(counted->symbols, guessed->symbols, (size_t)counted->vocabulary) == 0;
    if (!alike || guessed->count < 2)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "text: pairs of %d symbols cannot guess %lld of %d. HINT: two parts by "
                         "corpus_split, which have the same symbols, of two or more",
                         counted->vocabulary, (long long)guessed->count, guessed->vocabulary);
    Pairs *pairs = count_pairs(counted);
    if (!pairs) return error_status();
    double sum = 0.0;
    for (int64_t i = 1; i < guessed->count; i++) {
        int a = guessed->ids[i - 1], b = guessed->ids[i];
        sum += log((double)(pairs->begin_with[a] + counted->vocabulary) /
                   (double)(pairs->of[a][b] + 1));
    }
    *loss = sum / (double)(guessed->count - 1);
    memory_free(pairs);
    return STATUS_OK;
}
