// worker.h -- the side of the wall where student code runs: reads inputs, calls the function, sends
// values. It links tensor/, autograd/ and layers/ without what counts costs, and nothing of the
// profiler, so that there is nobody to ask for the answer.
//
// A worker is exercise_call of one exercise, worker.c and the student's object. It reads one input
// a line from standard input and answers each with frames on descriptor 3:
//
//     WorkerFrame {magic, kind, run, nonce, bits}     24 bytes each, in order; the last is
//     FRAME_END
//
// The nonce comes with the inputs; a frame without it is a forgery, and ends the run.
#ifndef EXERCISES_GRADER_WORKER_H
#define EXERCISES_GRADER_WORKER_H

#include <stdint.h>

#include "tensor/status.h"

enum { WORKER_DESCRIPTOR = 3, WORKER_MAGIC = 0x52505758 };

typedef enum FrameKind {
    FRAME_BEGIN,   // the function is about to be called
    FRAME_STATUS,  // what it returned
    FRAME_INTEGER, // a value
    FRAME_REAL,
    FRAME_END, // of this run
} FrameKind;

typedef struct WorkerFrame {
    uint32_t magic;
    uint16_t kind, run;
    uint64_t nonce;
    uint64_t bits; // raw, of an int64_t or a double
} WorkerFrame;

// What a call file uses. It reads `input` (its exercise's own language), sets up what the function
// needs, poisons what the function is to fill in, calls it between answer_begin and answer_status,
// and sends each value in the order in which the cases expect them; after a status other than
// STATUS_OK none. A failure of its own set-up is returned, and is the grader's fault.
typedef struct Answer Answer;
void answer_begin(Answer *answer);
void answer_status(Answer *answer, Status status);
void answer_integer(Answer *answer, int64_t value);
void answer_real(Answer *answer, double value);

// Defined by each call file as <name>_call; the link gives it this name (--defsym).
typedef Status ExerciseCall(const char *input, Answer *answer);

// Poison: no right answer of any exercise.
#define POISON_INTEGER INT64_C(-6148914691236517206) // 0xaaaaaaaaaaaaaaaa
#define POISON_REAL (-7.7777777e77)

#endif
