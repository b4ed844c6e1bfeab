// talk.h -- plays the worker in the grader's dialogue: frames with the right nonce, in any order,
// on runs of real exercises. For test_dialogue and fuzz_dialogue.
#ifndef TESTS_EXERCISES_GRADER_TALK_H
#define TESTS_EXERCISES_GRADER_TALK_H

#include "exercises/grader/dialogue.h"

enum { TALK_MOST_RUNS = 3 };

typedef struct Talk {
    Dialogue dialogue;
    CaseRun runs[TALK_MOST_RUNS];
    uint16_t run; // the run that frames name
    int64_t answer[WORKER_ANSWER];
    size_t said_bytes, room; // bytes from the grader; and bytes still accepted
} Talk;

// Uses the first `n` runs of an exercise's first code case whose function succeeds. STATUS_OK, or
// the pending error.
Status talk_begin(Talk *talk, const char *number, int n);
WorkerFrame talk_frame(const Talk *talk, FrameKind kind, int64_t bits);
bool talk_hear(Talk *talk, WorkerFrame frame); // false: it has stopped listening
bool talk_send(Talk *talk, FrameKind kind, int64_t bits);
bool talk_note(Talk *talk, int64_t note, int64_t subject, int64_t times);
bool talk_call(Talk *talk, int64_t call, const int64_t *arguments, int count);
bool talk_answer(Talk *talk); // all of this run's frames, correct: STATUS, values, END
void talk_end(Talk *talk);

#endif
