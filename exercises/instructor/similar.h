// similar.h -- finds similar files in a class: it compares features of C files that survive
// renaming, reformatting, comments and reordering, and measures what a pair shares against all
// pairs of the class. Numbers only: similar_command.c decides whom to show, and how.
#ifndef EXERCISES_INSTRUCTOR_SIMILAR_H
#define EXERCISES_INSTRUCTOR_SIMILAR_H

#include <stdint.h>

#include "tensor/status.h"

// ---- fingerprints (fingerprint.c) --------------------------------------------------------------
// Hashes of runs of FINGERPRINT_RUN tokens, chosen by winnowing (Schleimer, Wilkerson, Aiken 2003):
// of every FINGERPRINT_WINDOW successive hashes one is kept, so no common passage of
// RUN + WINDOW - 1 tokens goes unseen.
enum { FINGERPRINT_RUN = 12, FINGERPRINT_WINDOW = 5 };

typedef struct Fingerprints {
    uint64_t *hashes; // owned, in ascending order, without duplicates
    int count;
} Fingerprints;

// Makes the fingerprints of a source text. All names are equal, and so are all numbers and all
// strings; comments, includes, braces and words like const and static do not count.
// STATUS_OUT_OF_MEMORY. Free with fingerprints_free, also after a failure.
Status fingerprints_of(const char *source, Fingerprints *prints);
// Like fingerprints_of, but keeps the hashes of all runs: for code to remove (a skeleton).
Status fingerprints_of_all(const char *source, Fingerprints *prints);
void fingerprints_remove(Fingerprints *prints, const Fingerprints *known);
void fingerprints_free(Fingerprints *prints);

// ---- pairs (similar.c) -------------------------------------------------------------------------
// A fingerprint that many students have weighs little.
typedef struct SimilarPair {
    int left, right;          // students, left < right
    double of_left, of_right; // shared part of the left one's weight, of the right one's
    int shared, rare;         // fingerprints that both have; those that hardly anybody else has
} SimilarPair;

typedef struct Similar {
    double usual; // median share of all pairs
    double bound; // a pair with a larger share stands out: third quartile + 3 interquartile ranges,
                  // at least half
    int compared; // number of pairs; files that are too short are in no pair
    SimilarPair *pairs; // owned: pairs that stand out, largest share first
    int count;
} Similar;

// Compares the files of one exercise; prints[i] is student i's, empty without a file. The share of
// a pair is the mean of both parts. STATUS_OUT_OF_MEMORY; similar_free, also after a failure.
Status similar_find(const Fingerprints *prints, int students, Similar *similar);
void similar_free(Similar *similar);

#endif
