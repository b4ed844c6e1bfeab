// model_text_words.c -- the words of a model text, and the position that an error message gives.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/model_text_parts.h"

enum { LARGEST_BITS = 53, MESSAGE = 640, PLACE = 160, QUOTED = 40 };

// ---- positions --------------------------------------------------------------------------------
// Writes "lenet.txt: line 3, column 14".
static void write_place(const TextReader *reader, const char *at, char place[PLACE]) {
    int line = 1;
    const char *begin = reader->text;
    for (const char *c = reader->text; c < at; c++) {
        if (*c != '\n') continue;
        begin = c + 1;
        line++;
    }
    snprintf(place, PLACE, "%.100s: line %d, column %d", reader->name, line, (int)(at - begin) + 1);
}

// Number of characters from `at` that a one-line message can print.
static int quotable(const char *at) {
    int length = 0;
    while (length < QUOTED && isprint((unsigned char)at[length])) length++;
    return length;
}

Status reader_malformed(const TextReader *reader, const char *at, const char *what) {
    char place[PLACE];
    write_place(reader, at, place);
    return error_set(STATUS_FORMAT,
                     "%s: %s, at \"%.*s\". HINT: as in Linear(784,512) ReLU "
                     "Linear(512,10,bias=false) @ 64x784",
                     place, what, quotable(at), at);
}

Status reader_placed(const TextReader *reader, const char *at) {
    char place[PLACE], message[MESSAGE];
    Status status = error_status();
    write_place(reader, at, place);
    snprintf(message, sizeof message, "%s", error_message());
    error_clear();
    return error_set(status, "%s: %s", place, message);
}

// ---- words -------------------------------------------------------------------------------------
char reader_peek(TextReader *reader) {
    for (;; reader->at++) {
        if (*reader->at == '#') reader->at += strcspn(reader->at, "\n");
        if (*reader->at == '\0' || !strchr(" \t\r\n", *reader->at)) return *reader->at;
    }
}

bool reader_take(TextReader *reader, char wanted) {
    if (reader_peek(reader) != wanted) return false;
    reader->at++;
    return true;
}

Status reader_expect(TextReader *reader, char wanted, const char *complaint) {
    return reader_take(reader, wanted) ? STATUS_OK
                                       : reader_malformed(reader, reader->at, complaint);
}

static size_t word_length(const char *at) {
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_.+-", at[length])))
        length++;
    return length;
}

Status reader_word(TextReader *reader, char word[TEXT_WORD], const char *complaint) {
    reader_peek(reader);
    size_t length = word_length(reader->at);
    if (length == 0 || length >= TEXT_WORD) return reader_malformed(reader, reader->at, complaint);
    memcpy(word, reader->at, length);
    word[length] = '\0';
    reader->word = reader->at;
    reader->at += length;
    return STATUS_OK;
}

char reader_behind_word(const TextReader *reader) {
    TextReader ahead = *reader;
    reader_peek(&ahead);
    size_t length = word_length(ahead.at);
    ahead.at += length;
    return (char)(length > 0 ? reader_peek(&ahead) : '\0');
}

// strtod also reads "0x10", "nan" and "inf", which are not numbers here.
bool word_is_number(const char *word, bool whole, double *value) {
    char *end;
    if (!strchr("0123456789.-", word[0]) || word[strcspn(word, "xXpPnN")]) return false;
    *value = strtod(word, &end);
    if (*end || !isfinite(*value)) return false;
    return !whole || (fabs(*value) <= ldexp(1.0, LARGEST_BITS) && !word[strcspn(word, ".eE")]);
}
