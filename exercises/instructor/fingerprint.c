// fingerprint.c -- reads C as a sequence of tokens, hashes runs of them, and selects some hashes.
#include "exercises/instructor/similar.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/memory.h"

// ---- tokens ------------------------------------------------------------------------------------
enum {
    NAME = 1,
    NUMBER,
    STRING,
    FIRST_KEYWORD = 128
}; // the values between are the characters themselves

// Keywords of control flow. Types count as names, because replacing int by long, or a struct by a
// typedef, disguises code as well as renaming i to n.
static const char *const keywords[] = {"if",       "else",    "for",    "while", "do",
                                       "switch",   "case",    "return", "break", "goto",
                                       "continue", "default", "sizeof"};
static const char *const ignored[] = {"const",    "static", "inline",   "register", "volatile",
                                      "restrict", "signed", "unsigned", "struct",   "typedef"};

static int find_word(const char *const words[], int count, const char *text, size_t length) {
    for (int i = 0; i < count; i++) {
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0) return i;
    }
    return -1;
}

static const char *end_of_line(const char *at) {
    while (*at != '\0' && *at != '\n') at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    return at;
}

// Skips blanks, comments and #include lines, which do not count.
static const char *skip(const char *at) {
    for (;;) {
        const char *before = at;
        while (isspace((unsigned char)*at)) at++;
        if (at[0] == '/' && at[1] == '/') at = end_of_line(at);
        if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        }
        if (at[0] == '#') {
            const char *word = at + 1 + strspn(at + 1, " \t");
            at = strncmp(word, "include", 7) == 0 ? end_of_line(at) : at + 1;
        }
        if (strchr("{}\\", at[0]) != NULL && at[0] != '\0') at++;
        if (at == before) return at;
    }
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The token at *at, which moves to where the next may begin; 0: a token that does not count.
static unsigned char take_token(const char **at) {
    const char *begin = *at, *end = begin;
    if (*begin == '"' || *begin == '\'') {
        for (end++; *end != '\0' && *end != *begin && *end != '\n'; end++) {
            if (end[0] == '\\' && end[1] != '\0') end++;
        }
        *at = *end == *begin ? end + 1 : end;
        return STRING;
    }
    if (isdigit((unsigned char)*begin)) {
        while (is_word(*end) || *end == '.') end++;
        *at = end;
        return NUMBER;
    }
    if (!is_word(*begin)) {
        *at = begin + 1;
        return (unsigned char)*begin;
    }
    while (is_word(*end)) end++;
    *at = end;
    int count = (int)(sizeof keywords / sizeof keywords[0]);
    int keyword = find_word(keywords, count, begin, (size_t)(end - begin));
    if (keyword >= 0) return (unsigned char)(FIRST_KEYWORD + keyword);
    count = (int)(sizeof ignored / sizeof ignored[0]);
    return find_word(ignored, count, begin, (size_t)(end - begin)) >= 0 ? 0 : NAME;
}

// Stores a byte for each token, at most as many as the text has. Returns their number.
static size_t read_tokens(const char *source, unsigned char *tokens) {
    size_t count = 0;
    for (const char *at = skip(source); *at != '\0'; at = skip(at)) {
        unsigned char token = take_token(&at);
        if (token != 0) tokens[count++] = token;
    }
    return count;
}

// ---- hashes ------------------------------------------------------------------------------------
static uint64_t hash_run(const unsigned char *tokens) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a, then the bits are mixed
    for (int i = 0; i < FINGERPRINT_RUN; i++) hash = (hash ^ tokens[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static int ascending(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static int sort_once(uint64_t *hashes, int count) {
    int kept = 0;
    if (count > 0) qsort(hashes, (size_t)count, sizeof *hashes, ascending);
    for (int i = 0; i < count; i++) {
        if (kept == 0 || hashes[kept - 1] != hashes[i]) hashes[kept++] = hashes[i];
    }
    return kept;
}

// Keeps the least hash of each window, so the choice depends only on the window.
static int choose(uint64_t *hashes, int count, int window) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        int last = i + window <= count ? i + window : count;
        uint64_t least = hashes[i];
        for (int k = i + 1; k < last; k++) least = hashes[k] < least ? hashes[k] : least;
        hashes[kept++] = least; // written behind the reading position
        if (last == count) break;
    }
    return kept;
}

static Status make(const char *source, int window, Fingerprints *prints) {
    *prints = (Fingerprints){.count = 0};
    size_t room = strlen(source) + 1;
    unsigned char *tokens = memory_new(room);
    prints->hashes = memory_new(room * sizeof *prints->hashes);
    Status status = tokens && prints->hashes ? STATUS_OK : error_status();
    if (status == STATUS_OK) {
        size_t count = read_tokens(source, tokens);
        for (size_t i = 0; i + FINGERPRINT_RUN <= count; i++) {
            prints->hashes[prints->count++] = hash_run(tokens + i);
        }
        prints->count = choose(prints->hashes, prints->count, window);
        prints->count = sort_once(prints->hashes, prints->count);
    }
    memory_free(tokens);
    return status;
}

Status fingerprints_of(const char *source, Fingerprints *prints) {
    return make(source, FINGERPRINT_WINDOW, prints);
}

Status fingerprints_of_all(const char *source, Fingerprints *prints) {
    return make(source, 1, prints);
}

void fingerprints_remove(Fingerprints *prints, const Fingerprints *known) {
    int kept = 0, k = 0;
    for (int i = 0; i < prints->count; i++) {
        while (k < known->count && known->hashes[k] < prints->hashes[i]) k++;
        bool there = k < known->count && known->hashes[k] == prints->hashes[i];
        if (!there) prints->hashes[kept++] = prints->hashes[i];
    }
    prints->count = kept;
}

void fingerprints_free(Fingerprints *prints) {
    memory_free(prints->hashes);
    *prints = (Fingerprints){.count = 0};
}
