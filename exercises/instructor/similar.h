// similar.h -- which files of a class are alike: what stays of a C file when it is renamed,
// reformatted, commented and put into another order, and what two of them share, against what any
// two of the class do. Numbers only: who is shown, and how, is similar_command.c's.
#ifndef EXERCISES_INSTRUCTOR_SIMILAR_H
#define EXERCISES_INSTRUCTOR_SIMILAR_H

#include <stdint.h>

#include "tensor/status.h"

// ---- fingerprints (fingerprint.c) --------------------------------------------------------------
// Hashes of runs of tokens, chosen by winnowing (Schleimer, Wilkerson, Aiken 2003): a hash is of
// FINGERPRINT_RUN tokens; of each FINGERPRINT_WINDOW that follow each other one is kept, so no
// common passage of RUN + WINDOW - 1 tokens goes unseen.
enum { FINGERPRINT_RUN = 12, FINGERPRINT_WINDOW = 5 };

typedef struct Fingerprints {
    uint64_t *hashes; // owned, in ascending order, each once
    int count;
} Fingerprints;

// Of a source text. Names, numbers and strings count as such, whatever they are; comments,
// includes, braces and words like const and static not at all. STATUS_OUT_OF_MEMORY;
// fingerprints_free, also after a failure.
Status fingerprints_of(const char *source, Fingerprints *prints);
// Every run's hash, not only the chosen ones: of what is taken off (a skeleton).
Status fingerprints_of_all(const char *source, Fingerprints *prints);
void fingerprints_remove(Fingerprints *prints, const Fingerprints *known);
void fingerprints_free(Fingerprints *prints);

// ---- pairs (similar.c) -------------------------------------------------------------------------
// What many have weighs little.
typedef struct SimilarPair {
    int left, right;          // students, left < right
    double of_left, of_right; // of each one's weight, the part that both have
    int shared, rare;         // fingerprints that both have; of them with hardly anybody else
} SimilarPair;

typedef struct Similar {
    double usual; // median share of all pairs
    double bound; // beyond it a pair stands out: third quartile + 3 interquartile ranges, at least
                  // half
    int compared; // pairs; files that are too short to say anything are in none
    SimilarPair *pairs; // owned: those that stand out, most first
    int count;
} Similar;

// Of one exercise; prints[i] is of student i, empty where there is no file. The share of a pair is
// the mean of the two. STATUS_OUT_OF_MEMORY; similar_free, also after a failure.
Status similar_find(const Fingerprints *prints, int students, Similar *similar);
void similar_free(Similar *similar);

#endif
