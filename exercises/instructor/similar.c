// similar.c -- weighs fingerprints by their rarity, and finds the pairs far above the rest.
#include "exercises/instructor/similar.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/memory.h"

enum { LEAST_PRINTS = 5, LEAST_RARE = 4, RARE_STUDENTS = 4 };
static const double least_bound = 0.4, most_bound = 0.95;

typedef struct Weighed { // a student's fingerprints with their weights
    const Fingerprints *prints;
    double *weights;
    int *students; // number of students with each
    double sum;
} Weighed;

typedef struct Comparison {
    Weighed *each; // owned: one entry for each student
    int students;
    float *shares; // owned: shares of all pairs compared
    Similar *similar;
} Comparison;

// ---- weights -----------------------------------------------------------------------------------
static int ascending(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static int count_equal(const uint64_t *all, size_t count, uint64_t hash) {
    const uint64_t *found = bsearch(&hash, all, count, sizeof *all, ascending);
    int equal = 0;
    while (found > all && found[-1] == hash) found--;
    while (found + equal < all + count && found[equal] == hash) equal++;
    return equal;
}

// A fingerprint's weight is the logarithm of its rarity; one that all have weighs almost nothing.
static Status weigh(const Fingerprints *prints, Comparison *comparison) {
    size_t count = 0, used = 0;
    int students = comparison->students;
    for (int i = 0; i < students; i++) count += (size_t)prints[i].count;
    uint64_t *all = memory_new((count + 1) * sizeof *all);
    for (int i = 0; all && i < students; i++) {
        size_t own = (size_t)prints[i].count;
        if (own > 0) memcpy(all + used, prints[i].hashes, own * sizeof *all);
        used += own;
    }
    if (all && count > 0) qsort(all, count, sizeof *all, ascending);
    for (int i = 0; all && i < students; i++) {
        Weighed *one = &comparison->each[i];
        size_t own = (size_t)prints[i].count + 1;
        *one = (Weighed){&prints[i], memory_new(own * sizeof(double)),
                         memory_new(own * sizeof(int)), 0.0};
        if (!one->weights || !one->students) break;
        for (int k = 0; k < prints[i].count; k++) {
            one->students[k] = count_equal(all, count, prints[i].hashes[k]);
            one->weights[k] = log((students + 1.0) / one->students[k]);
            one->sum += one->weights[k];
        }
    }
    memory_free(all);
    return error_status();
}

// ---- pairs -------------------------------------------------------------------------------------
static bool says_something(const Weighed *one) { return one->prints->count >= LEAST_PRINTS; }

static SimilarPair compare(const Comparison *comparison, int left, int right) {
    const Weighed *a = &comparison->each[left], *b = &comparison->each[right];
    SimilarPair pair = {.left = left, .right = right};
    int few = comparison->students / 10 > RARE_STUDENTS ? comparison->students / 10 : RARE_STUDENTS;
    double shared = 0.0;
    for (int i = 0, k = 0; i < a->prints->count && k < b->prints->count;) {
        uint64_t mine = a->prints->hashes[i], other = b->prints->hashes[k];
        if (mine == other) {
            shared += a->weights[i];
            pair.shared++;
            pair.rare += a->students[i] <= few;
        }
        i += mine <= other;
        k += other <= mine;
    }
    pair.of_left = shared / a->sum;
    pair.of_right = shared / b->sum;
    return pair;
}

static double share_of(const SimilarPair *pair) { return 0.5 * (pair->of_left + pair->of_right); }

static int by_value(const void *a, const void *b) {
    float left = *(const float *)a, right = *(const float *)b;
    return left < right ? -1 : left > right;
}

static void find_usual(Comparison *comparison) {
    Similar *similar = comparison->similar;
    float *shares = comparison->shares;
    for (int i = 0; i < comparison->students; i++) {
        for (int k = i + 1; k < comparison->students; k++) {
            if (!says_something(&comparison->each[i]) || !says_something(&comparison->each[k]))
                continue;
            SimilarPair pair = compare(comparison, i, k);
            shares[similar->compared++] = (float)share_of(&pair);
        }
    }
    if (similar->compared == 0) return;
    qsort(shares, (size_t)similar->compared, sizeof *shares, by_value);
    int last = similar->compared - 1;
    double first = (double)shares[last / 4], third = (double)shares[last - last / 4];
    similar->usual = (double)shares[last / 2];
    similar->bound = third + 3.0 * (third - first);
    if (similar->bound < least_bound) similar->bound = least_bound;
    if (similar->bound > most_bound) similar->bound = most_bound;
}

static int by_evidence(const void *a, const void *b) {
    const SimilarPair *left = a, *right = b;
    double difference = share_of(right) * right->rare - share_of(left) * left->rare;
    if (difference != 0.0) return difference < 0.0 ? -1 : 1;
    return left->left != right->left ? left->left - right->left : left->right - right->right;
}

static Status keep(Similar *similar, const SimilarPair *pair) {
    size_t used = (size_t)similar->count * sizeof *pair;
    SimilarPair *grown = memory_resize(similar->pairs, used, used + sizeof *pair);
    if (!grown) return error_status();
    similar->pairs = grown;
    similar->pairs[similar->count++] = *pair;
    return STATUS_OK;
}

static Status find_pairs(const Comparison *comparison) {
    Similar *similar = comparison->similar;
    Status status = STATUS_OK;
    for (int i = 0; i < comparison->students; i++) {
        for (int k = i + 1; k < comparison->students && !status; k++) {
            if (!says_something(&comparison->each[i]) || !says_something(&comparison->each[k]))
                continue;
            SimilarPair pair = compare(comparison, i, k);
            bool far = share_of(&pair) >= similar->bound && pair.rare >= LEAST_RARE;
            if (far) status = keep(similar, &pair);
        }
    }
    if (similar->count > 0)
        qsort(similar->pairs, (size_t)similar->count, sizeof *similar->pairs, by_evidence);
    return status;
}

Status similar_find(const Fingerprints *prints, int students, Similar *similar) {
    *similar = (Similar){.count = 0};
    size_t pairs = (size_t)students * (size_t)students / 2 + 1;
    Comparison comparison = {.students = students, .similar = similar};
    comparison.each = memory_new(((size_t)students + 1) * sizeof *comparison.each);
    comparison.shares = memory_new(pairs * sizeof *comparison.shares);
    bool fits = comparison.each && comparison.shares;
    Status status = fits ? weigh(prints, &comparison) : error_status();
    if (status == STATUS_OK) {
        find_usual(&comparison);
        status = find_pairs(&comparison);
    }
    for (int i = 0; comparison.each && i < students; i++) {
        memory_free(comparison.each[i].weights);
        memory_free(comparison.each[i].students);
    }
    memory_free(comparison.each);
    memory_free(comparison.shares);
    return status;
}

void similar_free(Similar *similar) {
    memory_free(similar->pairs);
    *similar = (Similar){.count = 0};
}
