// worker.c -- the program around a student's function: inputs in, frames out. It knows no answers;
// the grader judges its frames and its end.
#include "exercises/support/worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exercises/support/filter.h"
#include "tensor/context.h"

struct Answer {
    WorkerHello hello;
    uint16_t run;
};

enum { MOST_INPUT = 4096, GUARD = 512 };

Status exercise_call(const char *input, Answer *answer);

// The current run, and a note that may repeat before it is sent: a million runs of the work are one
// frame. The zeros around it are guards: code that writes beyond an array hits them first.
static struct {
    uint64_t before[GUARD];
    Answer now;
    struct {
        int64_t note, subject, times;
    } waiting;
    uint64_t after[GUARD];
} own;

// ---- guards ------------------------------------------------------------------------------------
_Noreturn void worker_overrun(void) { _exit(WORKER_OVERRUN); }

// The compiler's stack guards call this in place of the C library's function.
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void) { worker_overrun(); }

static void look_at_guards(void) {
    uint64_t written = 0;
    for (int i = 0; i < GUARD; i++) written |= own.before[i] | own.after[i];
    if (written) worker_overrun();
}

// ---- the channel -------------------------------------------------------------------------------
static void write_all(const void *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        ssize_t part = write(WORKER_CHANNEL, (const char *)bytes + at, count - at);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) _exit(WORKER_SETUP_FAILED);
        at += (size_t)part;
    }
}

static void read_all(void *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        ssize_t part = read(WORKER_CHANNEL, (char *)bytes + at, count - at);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) _exit(WORKER_SETUP_FAILED); // the grader is gone
        at += (size_t)part;
    }
}

static void write_frame(FrameKind kind, uint64_t bits, int64_t subject, int64_t times) {
    WorkerFrame frame = {.magic = WORKER_MAGIC,
                         .kind = (uint16_t)kind,
                         .run = own.now.run,
                         .nonce = own.now.hello.nonce,
                         .bits = bits,
                         .subject = subject,
                         .times = times};
    write_all(&frame, sizeof frame);
}

static void send(FrameKind kind, uint64_t bits) {
    look_at_guards();
    int64_t times = own.waiting.times;
    own.waiting.times = 0;
    if (times > 0) write_frame(FRAME_NOTE, (uint64_t)own.waiting.note, own.waiting.subject, times);
    write_frame(kind, bits, 0, 0);
}

void worker_note(int64_t note, int64_t subject) {
    bool again =
        own.waiting.times > 0 && own.waiting.note == note && own.waiting.subject == subject;
    if (own.waiting.times > 0 && !again)
        write_frame(FRAME_NOTE, (uint64_t)own.waiting.note, own.waiting.subject, own.waiting.times);
    own.waiting.note = note;
    own.waiting.subject = subject;
    own.waiting.times = again ? own.waiting.times + 1 : 1;
}

void worker_call(int64_t call, const int64_t *arguments, int count, int64_t answer[WORKER_ANSWER]) {
    for (int i = 0; i < count; i++) send(FRAME_ARGUMENT, (uint64_t)arguments[i]);
    send(FRAME_CALL, (uint64_t)call);
    read_all(answer, WORKER_ANSWER * sizeof *answer);
}

// ---- answers -----------------------------------------------------------------------------------
void answer_begin(Answer *answer) {
    (void)answer;
    send(FRAME_BEGIN, 0);
}

void answer_status(Answer *answer, Status status) {
    (void)answer;
    send(FRAME_STATUS, (uint64_t)(int64_t)(int)status);
}

void answer_integer(Answer *answer, int64_t value) {
    (void)answer;
    send(FRAME_INTEGER, (uint64_t)value);
}

void answer_real(Answer *answer, double value) {
    (void)answer;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    send(FRAME_REAL, bits);
}

// ---- the program -------------------------------------------------------------------------------
static void fail(const char *what) {
    fprintf(stderr, "set-up: %s\n", what);
    _exit(WORKER_SETUP_FAILED);
}

// After this nothing can be opened, so the library asks for facts about the machine now.
static void give_up_calls(void) {
    Filter filter;
    context_set_device(device_meta());
    int error = filter_make(FILTER_RUN, NULL, &filter);
    if (!error) error = filter_enter(&filter);
    if (error) fail(strerror(error));
}

static bool read_input(char text[MOST_INPUT]) {
    uint64_t length;
    read_all(&length, sizeof length);
    if (length == WORKER_GO) return false;
    if (length >= MOST_INPUT) fail("an input that is too long");
    read_all(text, length);
    text[length] = '\0';
    return true;
}

int main(void) {
    static char printed[BUFSIZ], text[MOST_INPUT];
    setvbuf(stdout, printed, _IOLBF, sizeof printed); // so that output before a crash is not lost
    read_all(&own.now.hello, sizeof own.now.hello);
    if (own.now.hello.flags & WORKER_FILTERED) give_up_calls();
    for (; read_input(text); own.now.run++) {
        error_clear(); // left by the previous run
        if (exercise_call(text, &own.now) != STATUS_OK) fail(error_message());
        send(FRAME_END, 0);
        fflush(stdout);
    }
    _exit(0); // skips all functions registered to run at exit
}
