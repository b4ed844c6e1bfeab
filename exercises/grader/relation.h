// relation.h -- how a wrong value stands to the right one: "= expected * 64". A hint that is
// arithmetic only; what mistake leads there is the cases' knowledge.
#ifndef EXERCISES_GRADER_RELATION_H
#define EXERCISES_GRADER_RELATION_H

#include "exercises/grader/exercise.h"

typedef struct Relation {
    char text[64];       // "= expected * 64", "= 1 / expected"; "" where there is nothing to say
    char difference[40]; // "+12 %"; of an expected zero, the value itself
} Relation;

// Both are words or numbers of the same kind; a word has no relation.
Relation relation_of(ValueKind kind, Value expected, Value got);

#endif
