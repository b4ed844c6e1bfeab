// dialogue.h -- internal to the grader: a case's conversation with its worker, one run after the
// other. What the worker sends is read as if an enemy had sent it; what its function asks for is
// answered from the run's scene; what it returns is judged. How the worker ends is not known here.
#ifndef EXERCISES_GRADER_DIALOGUE_H
#define EXERCISES_GRADER_DIALOGUE_H

#include <stddef.h>

#include "exercises/course/scene.h"
#include "exercises/grader/judge.h"
#include "exercises/support/worker.h"

typedef enum DialogueEnd {
    DIALOGUE_OPEN,   // it goes on, or was cut off: run and begun say where
    DIALOGUE_DONE,   // every run has been answered
    DIALOGUE_FORGED, // without the nonce
    DIALOGUE_BROKEN, // out of order: its memory was written over
    DIALOGUE_FLOOD,  // more than anybody needs
    DIALOGUE_FAILED, // the grader could not go on: an error is pending
} DialogueEnd;

typedef struct Dialogue {
    const CaseRun *runs;
    int n_runs;
    WorkerHello hello;
    bool (*say)(void *to, const void *bytes, size_t count); // to the worker
    void *to;

    DialogueEnd end;
    int run;        // at hand
    bool begun;     // its function has been called
    Verdict first;  // of the first run that went wrong, and
    int first_run;  // that; first.right: none did
    Scene *scene;   // of the run at hand
    FrameKind last; // frame of the run at hand
    Reply reply;
    WorkerFrame frame; // the part of it that has come
    size_t frame_bytes;
    int64_t arguments[WORKER_ARGUMENTS], frames;
    int n_arguments;
} Dialogue;

// Greets the worker and gives it the first run. STATUS_IO: no random numbers.
Status dialogue_begin(Dialogue *dialogue);
// What came from the worker; false: it is not listened to any longer (end says why).
bool dialogue_hear(Dialogue *dialogue, const char *bytes, size_t count);
void dialogue_free(Dialogue *dialogue);

#endif
