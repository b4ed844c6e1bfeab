// worker.h -- the side of the wall where student code runs: reads inputs, calls the function, sends
// values. It links an engine that cannot count, and it knows no time: clocks, work, devices and the
// counts of earlier exercises are the grader's, and are asked for (support/remote.h).
//
// A worker is exercise_call of one exercise, worker.c and the student's object. On descriptor 3 the
// grader greets it (WorkerHello) and sends one input at a time (a length, then so many bytes;
// WORKER_GO: no more). It answers with frames, in this order, the last of a run is FRAME_END:
//
//     BEGIN  (ARGUMENT* CALL | NOTE)*  STATUS  (INTEGER | REAL)*  END
//
// The nonce comes with the greeting; a frame without it is a forgery, and ends the worker.
#ifndef EXERCISES_SUPPORT_WORKER_H
#define EXERCISES_SUPPORT_WORKER_H

#include <stdint.h>

#include "tensor/status.h"

enum { WORKER_CHANNEL = 3, WORKER_MAGIC = 0x52505759 };

typedef enum FrameKind {
    FRAME_BEGIN,    // the function is about to be called
    FRAME_STATUS,   // what it returned
    FRAME_INTEGER,  // a value
    FRAME_REAL,     // a value
    FRAME_END,      // of this run
    FRAME_ARGUMENT, // of the call that follows
    FRAME_CALL,     // bits: RemoteCall; WORKER_ANSWER words come back
    FRAME_NOTE,     // bits: RemoteNote, about `subject`, so often in a row
} FrameKind;

typedef struct WorkerFrame {
    uint32_t magic;
    uint16_t kind, run;
    uint64_t nonce;
    uint64_t bits; // raw, of an int64_t or a double
    int64_t subject, times;
} WorkerFrame;

enum { WORKER_ARGUMENTS = 12, WORKER_ANSWER = 8 };

typedef enum WorkerFlag { WORKER_FILTERED = 1 } WorkerFlag; // it is to give up all system calls

#define WORKER_GO UINT64_MAX

typedef struct WorkerHello {
    uint64_t nonce, flags;
} WorkerHello;

// What a call file uses. It reads `input` (its exercise's own language), sets up what the function
// needs, poisons what the function is to fill in, calls it between answer_begin and answer_status,
// and sends each value in the order in which the cases expect them; after a status other than
// STATUS_OK none. A failure of its own set-up is returned, and is the grader's fault.
typedef struct Answer Answer;
void answer_begin(Answer *answer);
void answer_status(Answer *answer, Status status);
void answer_integer(Answer *answer, int64_t value);
void answer_real(Answer *answer, double value);

// What the remote_ functions use, while the student's function runs.
void worker_note(int64_t note, int64_t subject);
void worker_call(int64_t call, const int64_t *arguments, int count, int64_t answer[WORKER_ANSWER]);

// Defined by each call file as <name>_call; the link gives it this name (--defsym).
typedef Status ExerciseCall(const char *input, Answer *answer);

// What a worker ends with: its own set-up failed, or a guard was written over.
enum { WORKER_SETUP_FAILED = 3, WORKER_OVERRUN = 86 };
_Noreturn void worker_overrun(void);

// Poison: no right answer of any exercise.
#define POISON_INTEGER INT64_C(-6148914691236517206) // 0xaaaaaaaaaaaaaaaa
#define POISON_REAL (-7.7777777e77)

#endif
