// profile_document.h -- a program's JSON: made by running it, read with jansson, and checked for
// everything that it promises (keys, sums, null where nothing was measured).
#ifndef TESTS_HELPERS_PROFILE_DOCUMENT_H
#define TESTS_HELPERS_PROFILE_DOCUMENT_H

#include <jansson.h>

// The checked document of `profile_mlp <arguments> --quiet --json FILE`. Fails the test unless the
// program ends with 0 and prints nothing. Release it with json_decref.
json_t *document_new(const char *arguments);
json_t *document_of(const char *program, const char *arguments); // runs another program
json_t *document_parse(const char *text); // fails the test unless text is one JSON object

void document_check(json_t *document);
// Compares the integer counts of totals, layers and memory; `what` names the two documents.
void document_check_same_counts(json_t *a, json_t *b, const char *what);

// The value at a path such as "totals.step.latency.n". Fails the test when there is none.
json_t *document_at(json_t *document, const char *path);
json_int_t document_integer(json_t *document, const char *path);
double document_real(json_t *document, const char *path);

#endif
