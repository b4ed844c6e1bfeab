// dialogue.h -- internal to the grader: a case's conversation with its worker, one run after the
// other. It reads the worker's bytes as if an enemy had sent them, answers the function's questions
// from the run's scene, and judges the results. The end of the worker is handled elsewhere.
#ifndef EXERCISES_GRADER_DIALOGUE_H
#define EXERCISES_GRADER_DIALOGUE_H

#include <stddef.h>

#include "exercises/course/scene.h"
#include "exercises/grader/judge.h"
#include "exercises/support/worker.h"

typedef enum DialogueEnd {
    DIALOGUE_OPEN,   // goes on, or was cut off: `run` and `begun` say where
    DIALOGUE_DONE,   // every run has been answered
    DIALOGUE_FORGED, // a frame without the nonce
    DIALOGUE_BROKEN, // a frame out of order: the worker's memory was overwritten
    DIALOGUE_FLOOD,  // more frames than any function needs
    DIALOGUE_FAILED, // the grader could not go on: an error is pending
} DialogueEnd;

typedef struct Dialogue {
    const CaseRun *runs;
    int n_runs;
    WorkerHello hello;
    bool (*say)(void *to, const void *bytes, size_t count); // sends to the worker
    void *to;

    DialogueEnd end;
    int run;        // index of the current run
    bool begun;     // the function has been called
    Verdict first;  // verdict on the first wrong run; first.right: no run was wrong
    int first_run;  // index of that run
    Scene *scene;   // scene of the current run
    FrameKind last; // last frame of the current run
    Reply reply;
    WorkerFrame frame; // the next frame, received in part
    size_t frame_bytes;
    int64_t arguments[WORKER_ARGUMENTS], frames;
    int n_arguments;
} Dialogue;

// Greets the worker and sends it the first run. STATUS_IO: no random numbers.
Status dialogue_begin(Dialogue *dialogue);
// Takes bytes from the worker. False: the dialogue is over (`end` says why).
bool dialogue_hear(Dialogue *dialogue, const char *bytes, size_t count);
void dialogue_free(Dialogue *dialogue);

#endif
