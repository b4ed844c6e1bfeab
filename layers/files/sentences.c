// sentences.c -- generates English sentences by a small grammar, for training without a text file.
// Beyond pairs of letters they teach words, number, and the reference of pronouns.
#include <stdio.h>
#include <string.h>

#include "layers/files/corpus.h"
#include "tensor/given.h"
#include "tensor/memory.h"

static const char *const adjectives[] = {"old", "young", "small", "quiet", "brave", "hungry"};
static const char *const nouns[] = {"dog", "bird", "farmer", "girl", "boat", "teacher", "river"};
static const char *const verbs[] = {"see", "follow", "like", "know", "paint", "remember"};
static const char *const endings[] = {"in the morning", "by the sea", "every day", "again"};

typedef struct Writer {
    char line[256];
    RandomState random;
} Writer;

#define ONE_OF(words) words[random_next_below(&writer->random, sizeof(words) / sizeof(words[0]))]

static bool toss(Writer *writer) { return random_next_below(&writer->random, 2) == 1; }

static void say(Writer *writer, const char *word) {
    size_t used = strlen(writer->line);
    snprintf(writer->line + used, sizeof(writer->line) - used, "%s", word);
}

static void say_who(Writer *writer, bool many) {
    say(writer, toss(writer) || !many ? "the " : "all ");
    if (toss(writer)) say(writer, ONE_OF(adjectives));
    if (writer->line[strlen(writer->line) - 1] != ' ') say(writer, " ");
    say(writer, ONE_OF(nouns));
    say(writer, many ? "s" : "");
}

static void say_verb(Writer *writer, bool many) {
    say(writer, " ");
    say(writer, ONE_OF(verbs));
    say(writer, many ? " " : "s ");
}

// Writes "the old dog sees the birds, and it likes all boats by the sea.\n"
static void write_line(Writer *writer) {
    bool many = toss(writer);
    writer->line[0] = '\0';
    say_who(writer, many);
    say_verb(writer, many);
    say_who(writer, toss(writer));
    if (toss(writer)) {
        say(writer, many ? ", and they" : ", and it");
        say_verb(writer, many);
        say_who(writer, toss(writer));
    }
    if (toss(writer)) say(writer, " ");
    if (writer->line[strlen(writer->line) - 1] == ' ') say(writer, ONE_OF(endings));
    say(writer, ".\n");
}

Status corpus_generate(int64_t count, uint64_t seed, Corpus *out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    *out = (Corpus){0};
    if (error_pending()) return error_status();
    if (count < 1 || count > CORPUS_MOST_BYTES - (int64_t)sizeof(((Writer *)0)->line))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "text: cannot draw %lld letters. HINT: from 1 to about a billion",
                         (long long)count);
    Writer writer = {.random = {.seed = seed}};
    char *text = memory_new((size_t)count + sizeof(writer.line));
    if (!text) return STATUS_OUT_OF_MEMORY;
    int64_t used = 0;
    while (used < count) {
        write_line(&writer);
        size_t length = strlen(writer.line);
        memcpy(text + used, writer.line, length);
        used += (int64_t)length;
    }
    Status status = corpus_from_bytes("generated sentences", text, used, out);
    memory_free(text);
    return status;
}
