// screen.h -- one failure on one screen: the question, the expected and actual values, the likely
// mistake, where to look, how to try again. It shows the results of grade.h, and decides nothing.
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

// A failed case in words: all texts that a screen or a format shows. For a hidden case the texts
// that would reveal its input or answer are empty; for a sealed case those that would reveal the
// answer.
typedef struct Failure {
    const Exercise *exercise;
    const char *case_name; // "": the whole file
    CaseState state;
    bool hidden, by_hand;
    int function;           // index of the exercise's function that the case calls
    int points, most, lost; // points of the exercise, its maximum, and points that this case lost
    char shown[CASE_LINE], asked[CASE_LINE];
    char expected[SCREEN_TEXT], formula[CASE_LINE];
    char value[CASE_NAME]; // name of the value, if there are several
    char got[SCREEN_TEXT], relation[64];
    char likely[SCREEN_TEXT]; // "batch_multiplied: ..."; "no known pattern, difference +12 %";
                              // or a remark that the numbers are practice
    char mistake[64];         // name of the mistake; "": unknown
    char look_at[SCREEN_TEXT];
    char again[SCREEN_TEXT], more[SCREEN_TEXT];
    const char *compiler; // the compiler's output, borrowed; NULL: none
    const char *printed;  // the program's output, borrowed; NULL: none
} Failure;

// `folder` is the student's, as in GradeOptions; "" leaves out look_at, again and more.
Failure failure_of(const GradeResult *grade, const ExerciseResult *exercise,
                   const CaseResult *result, const char *folder);

// Adds the screen, at most 80 columns wide whatever the names and values are.
void screen_failure(Page *page, const Failure *failure);

// The word for a state: "FAIL", "CRASHED", "TIMED OUT", "EXITED", ...
const char *screen_word(CaseState state);

// The arithmetic relation of a wrong value to the right one. Only the cases know the mistakes.
typedef struct Relation {
    char text[64];       // "= expected * 64", "= 1 / expected"; "": no simple relation
    char difference[40]; // "+12 %"; the value itself if the expected value is zero
} Relation;

// Both values have the same kind; a word has no relation.
Relation relation_of(ValueKind kind, Value expected, Value got);

// Shortens a compiler's output in place to the errors (at most three), each with its line of
// source, or to the warnings if there was no error.
void compiler_shorten(char *text);

#endif
