// misconception.h -- looks up misconceptions.h, the list of known mistakes.
#ifndef EXERCISES_GRADER_MISCONCEPTION_H
#define EXERCISES_GRADER_MISCONCEPTION_H

typedef struct Misconception {
    const char *name; // "batch_multiplied"
    const char *text; // what a student is told, one line
} Misconception;

extern const Misconception misconceptions[];
extern const int misconception_count;

const char *misconception_text(const char *name); // NULL: not in the list

#endif
