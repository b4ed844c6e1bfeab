// worker.h -- the process in which student code runs: it reads inputs, calls the function, and
// sends values. It links an engine that cannot count, and it knows no time: it asks the grader for
// clocks, work, devices and the counts of earlier exercises (support/remote.h).
//
// A worker consists of an exercise's call file, worker.c and the student's object. On descriptor 3
// the grader greets it (WorkerHello) and sends one input at a time (a length, then that many bytes;
// WORKER_GO: no more). The worker answers with frames in this order, ending each run with END:
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
    FRAME_STATUS,   // the status that it returned
    FRAME_INTEGER,  // a value
    FRAME_REAL,     // a value
    FRAME_END,      // the end of the run
    FRAME_ARGUMENT, // an argument of the call that follows
    FRAME_CALL,     // bits: RemoteCall; WORKER_ANSWER words come back
    FRAME_NOTE,     // bits: RemoteNote, about `subject`, `times` times in a row
} FrameKind;

typedef struct WorkerFrame {
    uint32_t magic;
    uint16_t kind, run;
    uint64_t nonce;
    uint64_t bits; // raw bits of an int64_t or a double
    int64_t subject, times;
} WorkerFrame;

enum { WORKER_ARGUMENTS = 12, WORKER_ANSWER = 8 };

typedef enum WorkerFlag { WORKER_FILTERED = 1 } WorkerFlag; // the worker gives up all system calls

#define WORKER_GO UINT64_MAX

typedef struct WorkerHello {
    uint64_t nonce, flags;
} WorkerHello;

// Functions for call files. A call file reads `input` (in its exercise's own language), prepares
// the function's arguments, poisons the results, calls the function between answer_begin and
// answer_status, and sends the values in the order in which the cases expect them; after a status
// other than STATUS_OK none. It returns failures of its own set-up, which are the grader's fault.
typedef struct Answer Answer;
void answer_begin(Answer *answer);
void answer_status(Answer *answer, Status status);
void answer_integer(Answer *answer, int64_t value);
void answer_real(Answer *answer, double value);

// Functions for the remote_ functions, while the student's function runs.
void worker_note(int64_t note, int64_t subject);
void worker_call(int64_t call, const int64_t *arguments, int count, int64_t answer[WORKER_ANSWER]);

// Each call file defines <name>_call; the link renames it (--defsym).
typedef Status ExerciseCall(const char *input, Answer *answer);

// Exit statuses of a worker: its own set-up failed, or a guard was overwritten.
enum { WORKER_SETUP_FAILED = 3, WORKER_OVERRUN = 86 };
_Noreturn void worker_overrun(void);

// Poison values, which are not the right answer of any exercise.
#define POISON_INTEGER INT64_C(-6148914691236517206) // 0xaaaaaaaaaaaaaaaa
#define POISON_REAL (-7.7777777e77)

#endif
