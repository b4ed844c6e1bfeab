// screen.h -- one failure on one screen: what was asked, expected and got, what likely went wrong,
// where to look, how to try again. It shows what grade.h found; it decides nothing.
//
//     02 count_flops              12/15   case linear_512_b64   FAIL   -3
//       input      Linear(512 -> 512, bias)   batch 64
//                  asked: FLOPs for ONE sample
//       expected   524288      = 2 * in * out = 2 * 512 * 512
//       got        33554432    = expected * 64
//       likely     batch_multiplied: the result is per sample
//       look at    exercises/ex02_count_flops.c:41  count_flops()
//       again      ./lab check 02 --case linear_512_b64 --seed 7
//       more       ./lab hint 02   ./lab explain batch_multiplied
#ifndef EXERCISES_LAB_SCREEN_H
#define EXERCISES_LAB_SCREEN_H

#include "exercises/grader/grade.h"
#include "exercises/lab/page.h"

enum { SCREEN_TEXT = 320 };

// A case that did not pass, in words: everything that a screen, or a format, says of it. Of a
// hidden case the texts that would tell its input or answer are empty; of a sealed one those that
// would tell the answer.
typedef struct Failure {
    const Exercise *exercise;
    const char *case_name; // "": the file as a whole
    CaseState state;
    bool hidden, by_hand;
    int function;           // of the exercise's functions, the one that the case calls
    int points, most, lost; // the exercise's, of so many; by this case
    char shown[CASE_LINE], asked[CASE_LINE];
    char expected[SCREEN_TEXT], formula[CASE_LINE];
    char value[CASE_NAME]; // which of several results
    char got[SCREEN_TEXT], relation[64];
    char likely[SCREEN_TEXT]; // "batch_multiplied: ..."; "no known pattern, difference +12 %";
                              // of practice that it is practice
    char mistake[64];         // its name; "": unknown
    char look_at[SCREEN_TEXT];
    char again[SCREEN_TEXT], more[SCREEN_TEXT];
    const char *compiler; // what it said, borrowed; NULL: nothing
    const char *printed;  // what the program wrote, borrowed; NULL: nothing
} Failure;

// `folder` is the student's, as in GradeOptions; "" leaves out where to look and what to type.
Failure failure_of(const GradeResult *grade, const ExerciseResult *exercise,
                   const CaseResult *result, const char *folder);

// Adds the screen. It is at most 80 columns wide whatever the names and values are.
void screen_failure(Page *page, const Failure *failure);

// "FAIL", "CRASHED", "TIMED OUT", "EXITED", ...: a word for each state.
const char *screen_word(CaseState state);

// How a wrong value stands to the right one. Arithmetic only: what mistake leads there is the
// cases' knowledge.
typedef struct Relation {
    char text[64];       // "= expected * 64", "= 1 / expected"; "" where there is nothing to say
    char difference[40]; // "+12 %"; of an expected zero, the value itself
} Relation;

// Both are words or numbers of the same kind; a word has no relation.
Relation relation_of(ValueKind kind, Value expected, Value got);

// A compiler's words without what only repeats them: the errors (at most three) with the line of
// source that each is about, then the warnings if there was no error. `text` is cut in place.
void compiler_shorten(char *text);

#endif
