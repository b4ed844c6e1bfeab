// talk.c -- makes frames by hand and lets the grader hear them as if from a worker.
#include "tests/exercises/grader/talk.h"

#include <stdlib.h>
#include <string.h>

static bool take(void *to, const void *bytes, size_t count) {
    Talk *talk = to;
    if (talk->said_bytes + count > talk->room) return false;
    if (count == sizeof talk->answer) memcpy(talk->answer, bytes, count);
    talk->said_bytes += count;
    return true;
}

static Status make(const Exercise *exercise, const ExerciseCase *one, int n, CaseRun runs[]) {
    const DrawKey practice = {.secret = "", .student = ""};
    Status status = STATUS_OK;
    for (int i = 0; i < n && !status; i++)
        status = exercise_run_make(exercise, one, practice, i % one->runs, NULL, &runs[i]);
    return status;
}

Status talk_begin(Talk *talk, const char *number, int n) {
    const Exercise *exercise = exercise_by_number(number);
    Status status = exercise ? STATUS_OK : STATUS_INVALID_ARGUMENT;
    bool found = false;
    memset(talk, 0, sizeof *talk);
    for (int i = 0; exercise && i < exercise->n_cases && !status && !found; i++) {
        if (exercise->cases[i].by_hand) continue;
        status = make(exercise, &exercise->cases[i], n, talk->runs);
        found = talk->runs[0].status == STATUS_OK && talk->runs[0].n_values > 0;
    }
    talk->room = SIZE_MAX / 2;
    talk->dialogue = (Dialogue){.runs = talk->runs, .n_runs = n, .say = take, .to = talk};
    return status ? status : dialogue_begin(&talk->dialogue);
}

WorkerFrame talk_frame(const Talk *talk, FrameKind kind, int64_t bits) {
    return (WorkerFrame){.magic = WORKER_MAGIC,
                         .kind = (uint16_t)kind,
                         .run = talk->run,
                         .nonce = talk->dialogue.hello.nonce,
                         .bits = (uint64_t)bits};
}

bool talk_hear(Talk *talk, WorkerFrame frame) {
    return dialogue_hear(&talk->dialogue, (const char *)&frame, sizeof frame);
}

bool talk_send(Talk *talk, FrameKind kind, int64_t bits) {
    return talk_hear(talk, talk_frame(talk, kind, bits));
}

bool talk_note(Talk *talk, int64_t note, int64_t subject, int64_t times) {
    WorkerFrame frame = talk_frame(talk, FRAME_NOTE, note);
    frame.subject = subject;
    frame.times = times;
    return talk_hear(talk, frame);
}

bool talk_call(Talk *talk, int64_t call, const int64_t *arguments, int count) {
    for (int i = 0; i < count; i++)
        if (!talk_send(talk, FRAME_ARGUMENT, arguments[i])) return false;
    return talk_send(talk, FRAME_CALL, call);
}

bool talk_answer(Talk *talk) {
    const CaseRun *run = &talk->runs[talk->run];
    bool heard = talk_send(talk, FRAME_STATUS, run->status);
    for (int i = 0; i < run->n_values && heard && !run->status; i++)
        if (!run->values[i].recorded)
            heard = talk_send(talk, run->values[i].kind == VALUE_REAL ? FRAME_REAL : FRAME_INTEGER,
                              run->values[i].value.integer);
    heard = heard && talk_send(talk, FRAME_END, 0);
    talk->run++;
    return heard;
}

void talk_end(Talk *talk) { dialogue_free(&talk->dialogue); }
