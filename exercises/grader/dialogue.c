// dialogue.c -- a small automaton that accepts nothing but the one order of frames (worker.h).
#include "exercises/grader/dialogue.h"

#include <string.h>
#include <sys/random.h>

enum { MOST_FRAMES = 1 << 22 };

// ---- to the worker -----------------------------------------------------------------------------
static bool say(Dialogue *self, const void *bytes, size_t count) {
    if (self->say(self->to, bytes, count)) return true;
    self->end = DIALOGUE_FLOOD; // it does not take its answers
    return false;
}

// The next run, with a scene of its own; after the last, the word to go.
static bool give_run(Dialogue *self) {
    char message[sizeof(uint64_t) + sizeof self->runs->input];
    bool last = self->run == self->n_runs;
    const char *input = last ? "" : self->runs[self->run].input;
    uint64_t length = strlen(input), said_length = last ? WORKER_GO : length;
    memcpy(message, &said_length, sizeof said_length);
    memcpy(message + sizeof said_length, input, length);
    scene_free(self->scene);
    self->scene = last ? NULL : scene_new(&self->runs[self->run]);
    self->last = FRAME_END;
    self->n_arguments = 0;
    self->reply.n_values = 0;
    self->begun = false;
    if (last) self->end = DIALOGUE_DONE;
    if (!last && !self->scene) self->end = DIALOGUE_FAILED;
    if (self->end == DIALOGUE_FAILED) return false;
    bool said = self->say(self->to, message, sizeof said_length + length);
    if (!said && !last) self->end = DIALOGUE_FLOOD;
    return said || last;
}

Status dialogue_begin(Dialogue *self) {
    if (getrandom(&self->hello.nonce, sizeof self->hello.nonce, 0) != sizeof self->hello.nonce)
        return error_set(STATUS_IO, "grade: no random numbers. HINT: getrandom failed");
    self->first.right = true;
    // One that does not listen has ended, or will be; how, is seen elsewhere.
    if (say(self, &self->hello, sizeof self->hello)) (void)give_run(self);
    return error_status();
}

// ---- from the worker ---------------------------------------------------------------------------
static bool ends(Dialogue *self, DialogueEnd end) {
    if (self->end == DIALOGUE_OPEN || self->end == DIALOGUE_DONE) self->end = end;
    return false;
}

static const ExpectedValue *next_expected(const CaseRun *run, Reply *reply) {
    while (reply->n_values < run->n_values && run->values[reply->n_values].recorded)
        reply->n_values++;
    return reply->n_values < run->n_values ? &run->values[reply->n_values] : NULL;
}

// A value is judged only after a success: for a failure no right values are known, only the record.
static bool hear_value(Dialogue *self, const WorkerFrame *frame) {
    const CaseRun *run = &self->runs[self->run];
    Reply *reply = &self->reply;
    if (reply->status != STATUS_OK) return false;
    if (run->status != STATUS_OK) return true;
    const ExpectedValue *expected = next_expected(run, reply);
    if (!expected || (expected->kind == VALUE_REAL) != (frame->kind == FRAME_REAL)) return false;
    memcpy(&reply->values[reply->n_values++], &frame->bits, sizeof frame->bits);
    return true;
}

static bool hear_end(Dialogue *self) {
    const CaseRun *run = &self->runs[self->run];
    Reply *reply = &self->reply;
    bool compared = reply->status == run->status;
    if (compared && next_expected(run, reply)) return false; // there should have been more
    for (int i = 0; compared && i < run->n_values; i++)
        if (run->values[i].recorded)
            reply->values[i].integer = scene_recorded(self->scene, run->values[i].recorded);
    if (self->first.right) {
        self->first = judge(run, reply);
        self->first_run = self->run;
    }
    self->run++;
    return true;
}

static bool hear_call(Dialogue *self, const WorkerFrame *frame) {
    int64_t answer[WORKER_ANSWER] = {0};
    bool known =
        scene_call(self->scene, (int64_t)frame->bits, self->arguments, self->n_arguments, answer);
    self->n_arguments = 0;
    return known && say(self, answer, sizeof answer);
}

static bool hear_argument(Dialogue *self, const WorkerFrame *frame) {
    if (self->n_arguments == WORKER_ARGUMENTS) return false;
    self->arguments[self->n_arguments++] = (int64_t)frame->bits;
    return true;
}

// The order: BEGIN, calls and notes, STATUS, values, END.
static bool hear_frame(Dialogue *self, const WorkerFrame *frame) {
    FrameKind kind = (FrameKind)frame->kind, last = self->last;
    bool called = last == FRAME_BEGIN;
    bool answered = last == FRAME_STATUS || last == FRAME_INTEGER || last == FRAME_REAL;
    if (frame->run != (uint16_t)self->run) return false;
    switch (kind) {
    case FRAME_BEGIN:
        self->last = kind;
        self->begun = true;
        return last == FRAME_END;
    case FRAME_ARGUMENT:
        return called && hear_argument(self, frame);
    case FRAME_CALL:
        return called && hear_call(self, frame);
    case FRAME_NOTE:
        return called && self->n_arguments == 0 &&
               (scene_note(self->scene, (int64_t)frame->bits, frame->subject, frame->times) ||
                ends(self, DIALOGUE_FLOOD));
    case FRAME_STATUS:
        self->reply.status = (Status)(int)frame->bits;
        self->last = kind;
        return called;
    case FRAME_INTEGER:
    case FRAME_REAL:
        self->last = kind;
        return answered && hear_value(self, frame);
    case FRAME_END:
        return answered && hear_end(self) && give_run(self);
    }
    return false;
}

static bool is_own(const Dialogue *self, const WorkerFrame *frame) {
    return frame->magic == WORKER_MAGIC && frame->nonce == self->hello.nonce;
}

bool dialogue_hear(Dialogue *self, const char *bytes, size_t count) {
    while (count > 0) {
        size_t wanted = sizeof self->frame - self->frame_bytes;
        size_t part = count < wanted ? count : wanted;
        if (self->end != DIALOGUE_OPEN) return ends(self, DIALOGUE_BROKEN); // after the last word
        memcpy((char *)&self->frame + self->frame_bytes, bytes, part);
        self->frame_bytes += part;
        bytes += part;
        count -= part;
        if (part < wanted) return true;
        self->frame_bytes = 0;
        if (++self->frames > MOST_FRAMES) return ends(self, DIALOGUE_FLOOD);
        if (!is_own(self, &self->frame)) return ends(self, DIALOGUE_FORGED);
        if (!hear_frame(self, &self->frame)) return ends(self, DIALOGUE_BROKEN);
    }
    return true;
}

void dialogue_free(Dialogue *self) {
    scene_free(self->scene);
    self->scene = NULL;
}
